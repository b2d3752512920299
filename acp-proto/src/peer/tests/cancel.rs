//! `$/cancel_request`, in and out.

use serde_json::{Value, json};

use super::harness::{Rig, within};
use crate::peer::{PeerOptions, RequestFailed};

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
}

#[tokio::test]
async fn a_cancelled_request_answers_as_its_handler_decides_and_others_go_on() {
    for (id, named) in [
        ("3", "3"),
        ("\"é\"", r#""\u00e9""#),
        ("null", "null"),
        ("1.5", "1.5"),
    ] {
        let mut rig = Rig::new();
        rig.client.request(id, "hold", json!({"name": "a"})).await;
        rig.client
            .request("\"other\"", "hold", json!({"name": "b"}))
            .await;
        rig.client.send(&cancel(named)).await;
        let id: Value = serde_json::from_str(id).unwrap();
        assert_eq!(
            rig.client.message().await,
            json!({"jsonrpc": "2.0", "id": id, "result": {"cancelled": "a"}})
        );
        rig.client.expect_silence().await;
        assert!(rig.stage.holds("b"));
    }
}

#[tokio::test]
async fn a_cancellation_in_the_same_write_finds_its_request() {
    let mut rig = Rig::new();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"hold","params":{"name":"a"}}"#;
    rig.client
        .send_bytes(format!("{request}\n{}\n", cancel("1")).as_bytes())
        .await;
    assert_eq!(rig.client.message().await["result"], json!({"cancelled": "a"}));
}

#[tokio::test]
async fn a_cancellation_of_another_or_an_answered_request_changes_nothing() {
    let mut rig = Rig::new();
    rig.client.request("1", "hold", json!({"name": "a"})).await;
    for other in ["2", "\"1\"", "1.0", "null"] {
        rig.client.send(&cancel(other)).await;
    }
    rig.client.expect_silence().await;
    rig.stage.release("a");
    assert_eq!(rig.client.message().await["result"], json!({"released": "a"}));
    rig.client.send(&cancel("1")).await;
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn a_cancellation_is_heard_while_the_client_reads_nothing() {
    let options = PeerOptions {
        queue_lines: 1,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 256);
    rig.client.request("1", "hold", json!({"name": "a"})).await;
    // Answers that nobody reads fill the pipe and the queue.
    for id in 10..20 {
        rig.client
            .request(&id.to_string(), "echo", json!({"fill": "x".repeat(100)}))
            .await;
    }
    let mut queued = Vec::new();
    for id in 20..24 {
        rig.client
            .request(&id.to_string(), "hold", json!({"name": id.to_string()}))
            .await;
        queued.push(id);
    }
    rig.client.send(&cancel("1")).await;
    let stage = rig.stage.clone();
    within(async {
        while !stage.holds("23") || stage.holds("a") {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut answered = Vec::new();
    for _ in 0..11 {
        answered.push(rig.client.message().await["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn a_side_that_is_not_known_to_take_cancellations_gets_none() {
    let mut rig = Rig::new();
    for (id, known) in [(0, false), (1, true)] {
        let (line, pending) = rig.connection.prepare_request("m", &json!({}));
        rig.connection.send(line).await.unwrap();
        assert_eq!(rig.client.message().await["id"], json!(id));
        drop(pending);
        if known {
            assert_eq!(rig.client.message().await["method"], json!("$/cancel_request"));
        }
        rig.client.expect_silence().await;
        // Who sends one can take one.
        rig.client.send(&cancel("5")).await;
        rig.client.expect_silence().await;
    }
}

#[tokio::test]
async fn cancelling_our_request_tells_the_client_and_resolves_at_once() {
    let mut rig = Rig::telling();
    let (line, pending) = rig
        .connection
        .prepare_request("session/request_permission", &json!({}));
    rig.connection.send(line).await.unwrap();
    pending.cancel();
    pending.cancel();
    assert!(matches!(within(pending).await, Err(RequestFailed::Cancelled)));
    assert_eq!(rig.client.message().await["id"], json!(0));
    let told = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}});
    assert_eq!(rig.client.message().await, told);
    // The late answer is nobody's.
    rig.client
        .send(r#"{"jsonrpc":"2.0","id":0,"result":{"late":true}}"#)
        .await;
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn dropping_the_pending_answer_cancels_the_request() {
    let mut rig = Rig::telling();
    let (line, pending) = rig.connection.prepare_request("m", &json!({}));
    rig.connection.send(line).await.unwrap();
    drop(pending);
    assert_eq!(rig.client.message().await["method"], json!("m"));
    assert_eq!(rig.client.message().await["method"], json!("$/cancel_request"));
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn a_request_that_is_cancelled_before_it_is_sent_is_never_sent() {
    let mut rig = Rig::telling();
    let (dropped, pending) = rig.connection.prepare_request("m", &json!({}));
    drop(pending);
    let (cancelled, pending) = rig.connection.prepare_request("m", &json!({}));
    pending.cancel();
    for line in [dropped, cancelled] {
        rig.connection.send(line).await.unwrap();
    }
    assert!(matches!(within(pending).await, Err(RequestFailed::Cancelled)));
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn a_cancellation_leaves_even_when_the_queue_is_full() {
    let options = PeerOptions {
        queue_lines: 2,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 16);
    rig.connection.tell_cancellations();
    let (line, pending) = rig.connection.prepare_request("m", &json!({}));
    rig.connection.send(line).await.unwrap();
    while rig
        .connection
        .try_send(crate::Line::notification("fill", &json!({})))
        .is_ok()
    {
        tokio::task::yield_now().await;
    }
    drop(pending);
    let mut methods = Vec::new();
    while methods.last() != Some(&json!("$/cancel_request")) {
        methods.push(rig.client.message().await["method"].clone());
    }
    assert_eq!(methods.first(), Some(&json!("m")));
}
