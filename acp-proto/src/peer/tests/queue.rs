//! The queue and its writer: coalescing, back-pressure, order, limits.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use serde_json::{Value, json};
use tokio::io::AsyncWrite;

use super::harness::{Rig, Stage, within};
use crate::peer::{Connection, PeerOptions, serve};
use crate::{Caller, Duplex, Line, TrySendError};

/// A transport that notes what the writer does with it.
#[derive(Clone, Default)]
struct Recorder {
    calls: Arc<Mutex<Vec<Call>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    Write(usize),
    Flush,
    Shutdown,
}

impl Recorder {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }
}

impl AsyncWrite for Recorder {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.note(Call::Write(bytes.len()));
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note(Call::Flush);
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note(Call::Shutdown);
        Poll::Ready(Ok(()))
    }
}

/// Queues these lines before the writer runs, and then ends the connection.
async fn calls_for(lines: Vec<Line>) -> Vec<Call> {
    let recorder = Recorder::default();
    let (_client, reader) = tokio::io::duplex(64);
    let duplex = Duplex {
        reader: Box::new(reader),
        writer: Box::new(recorder.clone()),
        label: "recorded".to_owned(),
        caller: Caller::Known,
    };
    let (connection, serving) = serve(duplex, Stage::default().router(), PeerOptions::default());
    for line in lines {
        connection.try_send(line).unwrap();
    }
    connection.close();
    within(serving).await;
    recorder.calls.lock().unwrap().clone()
}

fn line(bytes: usize) -> Line {
    let empty = Line::notification("n", &json!({"x": ""})).as_bytes().len();
    Line::notification("n", &json!({"x": "x".repeat(bytes - empty)}))
}

#[tokio::test]
async fn everything_queued_leaves_in_one_write_and_one_flush() {
    let calls = calls_for((0..100).map(|_| line(300)).collect()).await;
    assert_eq!(calls, [Call::Write(30_000), Call::Flush, Call::Shutdown]);
}

#[tokio::test]
async fn writes_are_bounded_and_a_long_line_is_written_by_itself() {
    let long = 1024 * 1024;
    let calls = calls_for(vec![line(100), line(100), line(long), line(100)]).await;
    assert_eq!(
        calls,
        [
            Call::Write(200),
            Call::Write(long),
            Call::Write(100),
            Call::Flush,
            Call::Shutdown
        ]
    );
    let many = calls_for((0..1000).map(|_| line(1024)).collect()).await;
    let writes: Vec<usize> = many
        .iter()
        .filter_map(|call| {
            if let Call::Write(bytes) = call {
                Some(*bytes)
            } else {
                None
            }
        })
        .collect();
    assert!(writes.iter().all(|bytes| *bytes <= 64 * 1024));
    assert_eq!(writes.iter().sum::<usize>(), 1000 * 1024);
    assert_eq!(writes.len(), 16);
}

#[tokio::test]
async fn a_lone_message_is_flushed_without_another_one_behind_it() {
    let mut rig = Rig::new();
    rig.connection.send(line(100)).await.unwrap();
    rig.client.message().await;
    rig.connection.send(line(100)).await.unwrap();
    rig.client.message().await;
}

/// Sends until nothing more fits. Returns how many lines that were.
async fn fill(connection: &Connection) -> usize {
    let mut sent = 0;
    loop {
        // The writer takes what fits into the pipe.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        match connection.try_send(line(64)) {
            Ok(()) => sent += 1,
            Err(TrySendError::Full(_)) => return sent,
            Err(TrySendError::Closed) => panic!("closed"),
        }
    }
}

#[tokio::test]
async fn a_client_that_reads_nothing_stops_the_senders_until_it_reads() {
    let options = PeerOptions {
        queue_lines: 4,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 64);
    let sent = fill(&rig.connection).await;
    assert!(
        (4..=6).contains(&sent),
        "one line in the pipe, one being written, four queued: {sent}"
    );
    let mut ready = Box::pin(rig.connection.ready());
    assert!(futures::poll!(&mut ready).is_pending());
    for _ in 0..sent {
        rig.client.message().await;
    }
    within(ready)
        .await
        .unwrap()
        .send(Line::notification("after", &json!({})));
    assert_eq!(rig.client.message().await["method"], json!("after"));
}

#[tokio::test]
async fn the_queue_is_bounded_in_bytes_too() {
    let options = PeerOptions {
        queue_bytes: 256,
        ..PeerOptions::default()
    };
    let rig = Rig::with(options, 64);
    let sent = fill(&rig.connection).await;
    assert!((4..=6).contains(&sent), "{sent}");
}

#[tokio::test]
async fn a_line_larger_than_the_whole_queue_passes() {
    let options = PeerOptions {
        queue_bytes: 256,
        queue_lines: 1,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 64);
    let connection = rig.connection.clone();
    let sender = tokio::spawn(async move {
        for _ in 0..3 {
            connection.send(line(10_000)).await.unwrap();
        }
    });
    for _ in 0..3 {
        assert_eq!(rig.client.line().await.unwrap().len(), 9_999);
    }
    within(sender).await.unwrap();
}

#[tokio::test]
async fn senders_are_served_in_the_order_they_came() {
    let options = PeerOptions {
        queue_lines: 1,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 16);
    fill(&rig.connection).await;
    let mut waiting: Vec<_> = (0..10)
        .map(|number| {
            Box::pin(
                rig.connection
                    .send(Line::notification("n", &json!({ "number": number }))),
            )
        })
        .collect();
    for send in &mut waiting {
        assert!(futures::poll!(send).is_pending());
    }
    // Two of them lose interest: the others keep their order.
    drop(waiting.remove(3));
    drop(waiting.remove(0));
    assert!(
        matches!(rig.connection.try_send(line(64)), Err(TrySendError::Full(_))),
        "nobody gets in front"
    );
    let (_, numbers) = within(futures::future::join(futures::future::join_all(waiting), async {
        let mut numbers = Vec::new();
        while numbers.len() < 8 {
            let message = rig.client.message().await;
            numbers.extend(message["params"]["number"].as_u64());
        }
        numbers
    }))
    .await;
    assert_eq!(numbers, [1, 2, 4, 5, 6, 7, 8, 9]);
}

#[tokio::test]
async fn a_place_that_is_given_back_can_be_taken_again() {
    let options = PeerOptions {
        queue_lines: 2,
        ..PeerOptions::default()
    };
    let rig = Rig::with(options, 16);
    let first = rig.connection.ready().await.unwrap();
    let second = rig.connection.ready().await.unwrap();
    let mut third = Box::pin(rig.connection.ready());
    assert!(futures::poll!(&mut third).is_pending());
    drop(second);
    let third = within(third).await.unwrap();
    drop((first, third));
    drop(within(rig.connection.ready()).await.unwrap());
}

#[tokio::test]
async fn answers_of_a_client_that_reads_nothing_wait_and_none_is_lost() {
    let options = PeerOptions {
        queue_lines: 1,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 4096);
    for id in 0..100 {
        rig.client
            .request(&id.to_string(), "echo", json!({"fill": "x".repeat(200)}))
            .await;
    }
    let mut ids: Vec<u64> = Vec::new();
    while ids.len() < 100 {
        ids.push(rig.client.message().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_flood_of_garbage_from_a_client_that_reads_nothing_stops_the_reader_and_not_the_memory() {
    let options = PeerOptions {
        queue_lines: 1,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 256);
    let Rig {
        client, connection, ..
    } = &mut rig;
    let flooding = async {
        for _ in 0..5000 {
            client.send("garbage").await;
        }
    };
    let mut flooding = Box::pin(flooding);
    let mut rounds = 0;
    let mut unchanged = 0;
    // Until the reader has stopped: the number of waiting answers stays the same.
    while unchanged < 1000 {
        assert!(
            futures::poll!(&mut flooding).is_pending(),
            "the reader stopped taking garbage"
        );
        let before = connection.outbox().queued();
        tokio::task::yield_now().await;
        unchanged = if connection.outbox().queued() == before {
            unchanged + 1
        } else {
            0
        };
        rounds += 1;
        assert!(rounds < 1_000_000);
    }
    assert!(
        connection.outbox().queued() <= 1026,
        "{}",
        connection.outbox().queued()
    );
    drop(flooding);
    // Once it reads, the reader goes on.
    let mut seen = 0;
    while seen < 1000 {
        let message: Value = rig.client.message().await;
        assert_eq!(message["error"]["code"], json!(-32700));
        seen += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_senders_on_many_threads_lose_nothing_and_keep_their_own_order() {
    const SENDERS: u64 = 8;
    const LINES: u64 = 500;
    let options = PeerOptions {
        queue_lines: 3,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 512);
    for sender in 0..SENDERS {
        let connection = rig.connection.clone();
        tokio::spawn(async move {
            for number in 0..LINES {
                let line = Line::notification("n", &json!({ "sender": sender, "number": number }));
                match number % 4 {
                    // A wait that is given up, as in a `select!`.
                    0 => {
                        let _ = futures::poll!(Box::pin(connection.ready()));
                        connection.send(line).await.unwrap();
                    }
                    1 => connection.ready().await.unwrap().send(line),
                    2 => match connection.try_send(line) {
                        Err(TrySendError::Full(line)) => connection.send(line).await.unwrap(),
                        sent => sent.unwrap(),
                    },
                    _ => connection.send(line).await.unwrap(),
                }
            }
        });
    }
    let mut next = vec![0; SENDERS as usize];
    for _ in 0..SENDERS * LINES {
        let message = rig.client.message().await;
        let sender = message["params"]["sender"].as_u64().unwrap() as usize;
        assert_eq!(message["params"]["number"], json!(next[sender]));
        next[sender] += 1;
    }
    assert_eq!(next, vec![LINES; SENDERS as usize]);
}
