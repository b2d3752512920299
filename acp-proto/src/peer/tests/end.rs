//! How connections end, and that everything that is open is settled then.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::harness::{Rig, Stage, within};
use crate::peer::{Closed, PeerOptions, RequestFailed, serve};
use crate::{Caller, ConnectionClosed, Duplex, Line, TrySendError};

#[tokio::test]
async fn at_the_end_of_the_input_every_open_request_is_cancelled_and_answered() {
    let mut rig = Rig::new();
    for id in 0..5 {
        rig.client
            .request(&id.to_string(), "hold", json!({"name": id.to_string()}))
            .await;
    }
    rig.client.close_input().await;
    let mut answers = rig.client.rest().await;
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let expected: Vec<_> = (0..5)
        .map(|id| json!({"jsonrpc": "2.0", "id": id, "result": {"cancelled": id.to_string()}}))
        .collect();
    assert_eq!(answers, expected);
    assert!(matches!(within(rig.served).await.unwrap(), Closed::EndOfInput));
    assert!(rig.connection.closed().is_cancelled());
}

#[tokio::test]
async fn at_the_end_our_own_requests_fail_as_closed_and_so_do_later_ones() {
    let mut rig = Rig::new();
    let (line, sent) = rig.connection.prepare_request("ask", &json!({}));
    rig.connection.send(line).await.unwrap();
    let (_line, unsent) = rig.connection.prepare_request("ask", &json!({}));
    rig.client.close_input().await;
    assert!(matches!(within(sent).await, Err(RequestFailed::Closed)));
    assert!(matches!(within(unsent).await, Err(RequestFailed::Closed)));
    let (line, late) = rig.connection.prepare_request("ask", &json!({}));
    assert!(matches!(within(late).await, Err(RequestFailed::Closed)));
    assert_eq!(
        rig.client.rest().await.len(),
        1,
        "no cancellation is sent to who cannot answer"
    );
    within(rig.served).await.unwrap();
    assert!(rig.connection.send(line).await.is_err());
}

#[tokio::test]
async fn a_closed_connection_takes_nothing() {
    let mut rig = Rig::new();
    rig.client.close_input().await;
    within(rig.connection.closed().cancelled()).await;
    let line = || Line::notification("late", &json!({}));
    assert_eq!(rig.connection.ready().await.err(), Some(ConnectionClosed));
    assert!(matches!(
        rig.connection.try_send(line()),
        Err(TrySendError::Closed)
    ));
    assert_eq!(rig.connection.send(line()).await, Err(ConnectionClosed));
    assert_eq!(rig.client.rest().await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn closing_from_our_side_answers_what_is_open_and_ends() {
    let mut rig = Rig::new();
    rig.client.request("1", "hold", json!({"name": "a"})).await;
    rig.client.expect_silence().await;
    rig.connection.close();
    assert_eq!(
        rig.client.rest().await,
        [json!({"jsonrpc": "2.0", "id": 1, "result": {"cancelled": "a"}})]
    );
    assert!(matches!(within(rig.served).await.unwrap(), Closed::ByUs));
}

#[tokio::test]
async fn output_that_was_queued_before_the_end_is_written() {
    let mut rig = Rig::with(PeerOptions::default(), 32);
    for number in 0..50 {
        rig.connection
            .send(Line::notification("n", &json!({ "number": number })))
            .await
            .unwrap();
    }
    rig.client.close_input().await;
    let rest = rig.client.rest().await;
    assert_eq!(rest.len(), 50);
    assert!(
        rest.iter()
            .enumerate()
            .all(|(at, message)| message["params"]["number"] == json!(at))
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ignores_its_cancellation_holds_the_end_up_for_a_bounded_time() {
    let options = PeerOptions {
        drain: Duration::from_secs(3),
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 1024);
    rig.client.request("1", "stuck", json!({})).await;
    rig.client.close_input().await;
    let before = tokio::time::Instant::now();
    assert!(matches!(within(rig.served).await.unwrap(), Closed::EndOfInput));
    assert_eq!(before.elapsed(), Duration::from_secs(3));
    assert!(rig.connection.closed().is_cancelled());
    assert_eq!(rig.stage.log(), ["stuck"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_holds_the_end_up_for_a_bounded_time() {
    let options = PeerOptions {
        drain: Duration::from_secs(3),
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 16);
    rig.client.request("1", "hold", json!({"name": "a"})).await;
    rig.connection
        .send(Line::notification("fill", &json!({"x": "x".repeat(100)})))
        .await
        .unwrap();
    rig.client.close_input().await;
    assert!(matches!(within(rig.served).await.unwrap(), Closed::EndOfInput));
    // What waits for space now is told.
    assert_eq!(rig.connection.ready().await.err(), Some(ConnectionClosed));
}

#[tokio::test]
async fn who_waits_for_space_is_told_of_the_end() {
    let options = PeerOptions {
        queue_lines: 1,
        drain: Duration::ZERO,
        ..PeerOptions::default()
    };
    let rig = Rig::with(options, 1);
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let connection = rig.connection.clone();
        waiting.push(tokio::spawn(async move {
            while connection
                .send(Line::notification("fill", &json!({})))
                .await
                .is_ok()
            {}
        }));
    }
    tokio::task::yield_now().await;
    rig.connection.close();
    for task in waiting {
        within(task).await.unwrap();
    }
}

#[tokio::test]
async fn dropping_the_future_ends_the_connection_at_once() {
    let rig = Rig::new();
    let (line, pending) = rig.connection.prepare_request("ask", &json!({}));
    rig.connection.send(line).await.unwrap();
    rig.served.abort();
    within(rig.connection.closed().cancelled()).await;
    assert!(matches!(within(pending).await, Err(RequestFailed::Closed)));

    // Also when it never ran.
    let (ours, _theirs) = Duplex::pair(16);
    let (connection, serving) = serve(ours, Stage::default().router(), PeerOptions::default());
    drop(serving);
    assert!(connection.closed().is_cancelled());
    assert!(connection.ready().await.is_err());
}

#[tokio::test]
async fn a_failing_write_ends_the_connection() {
    let stage = Stage::default();
    let (_keep_open, reader) = tokio::io::duplex(64);
    let duplex = Duplex {
        reader: Box::new(reader),
        writer: Box::new(Broken),
        label: "broken".to_owned(),
        caller: Caller::Known,
    };
    let (connection, serving) = serve(duplex, stage.router(), PeerOptions::default());
    connection
        .send(Line::notification("x", &json!({})))
        .await
        .unwrap();
    match within(serving).await {
        Closed::WriteFailed(error) => assert_eq!(error.kind(), io::ErrorKind::BrokenPipe),
        other => panic!("{other:?}"),
    }
    assert!(connection.closed().is_cancelled());
}

#[tokio::test]
async fn a_handler_may_tidy_up_also_when_nobody_can_be_answered() {
    let (asked, tidied) = tokio::sync::oneshot::channel();
    let asked = std::sync::Mutex::new(Some(asked));
    let router = crate::RouterBuilder::new()
        .request(
            "work",
            move |context: crate::RequestContext, _: serde_json::Value| {
                let asked = asked.lock().unwrap().take().expect("one call");
                async move {
                    context.cancel.cancelled().await;
                    context.connection.closed().cancelled().await;
                    asked.send("tidy").expect("the test waits");
                    Ok(())
                }
            },
        )
        .unwrap()
        .build();
    let (mut client, reader) = tokio::io::duplex(64);
    let duplex = Duplex {
        reader: Box::new(reader),
        writer: Box::new(Broken),
        label: "broken".to_owned(),
        caller: Caller::Known,
    };
    let (connection, serving) = serve(duplex, router, PeerOptions::default());
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"work\"}\n";
    tokio::io::AsyncWriteExt::write_all(&mut client, request)
        .await
        .unwrap();
    let served = tokio::spawn(serving);
    while connection.in_flight().is_idle() {
        tokio::task::yield_now().await;
    }
    connection
        .send(Line::notification("x", &json!({})))
        .await
        .unwrap();
    assert!(matches!(within(served).await.unwrap(), Closed::WriteFailed(_)));
    assert_eq!(within(tidied).await, Ok("tidy"));
}

#[tokio::test]
async fn a_failing_read_ends_the_connection_after_what_is_open_is_answered() {
    let (theirs, ours) = tokio::io::duplex(1024);
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"hold","params":{"name":"a"}}
"#;
    let reader = FailsAfter { bytes: line.to_vec() };
    let duplex = Duplex {
        reader: Box::new(reader),
        writer: Box::new(ours),
        label: "failing".to_owned(),
        caller: Caller::Known,
    };
    let (_, serving) = serve(duplex, Stage::default().router(), PeerOptions::default());
    assert!(matches!(within(serving).await, Closed::ReadFailed(_)));
    let mut written = String::new();
    let mut theirs = theirs;
    within(tokio::io::AsyncReadExt::read_to_string(&mut theirs, &mut written))
        .await
        .unwrap();
    assert_eq!(
        written,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"cancelled\":\"a\"}}\n"
    );
}

/// Fails every write.
struct Broken;

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Yields these bytes and then an error.
struct FailsAfter {
    bytes: Vec<u8>,
}

impl AsyncRead for FailsAfter {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.bytes.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        buffer.put_slice(&std::mem::take(&mut self.bytes));
        Poll::Ready(Ok(()))
    }
}
