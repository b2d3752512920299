//! What is refused or fails, and that the connection goes on. What every client can send wrong is in the end-to-end suite.

use serde_json::{Value, json};

use super::harness::Rig;
use crate::peer::PeerOptions;

fn error(id: Value, code: i32, message: &str, data: Option<Value>) -> Value {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

/// Sends one line and expects these answers and no other.
async fn check(line: &str, expected: &[Value]) {
    let mut rig = Rig::new();
    rig.client.send(line).await;
    for message in expected {
        assert_eq!(&rig.client.message().await, message, "{line}");
    }
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn what_needs_no_answer_gets_none() {
    let lines = [
        "",
        "   \t\r",
        r#"{"jsonrpc":"2.0","id":91}"#,
        r#"{"jsonrpc":"2.0","method":"nope/note","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"_custom/note"}"#,
        // A request's method, called as a notification.
        r#"{"jsonrpc":"2.0","method":"echo","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"note","params":5}"#,
        r#"{"jsonrpc":"2.0","method":"panic_note","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":"odd"}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request"}"#,
    ];
    for line in lines {
        check(line, &[]).await;
    }
}

#[tokio::test]
async fn a_handler_s_error_arrives_whole() {
    let mut rig = Rig::new();
    rig.client.request("1", "fail", json!({"errorKind": "x"})).await;
    let expected = error(
        json!(1),
        -32603,
        "Internal error: on purpose",
        Some(json!({"errorKind": "x"})),
    );
    assert_eq!(rig.client.message().await, expected);
}

#[tokio::test]
async fn a_handler_that_panics_answers_an_internal_error_and_the_connection_lives() {
    for method in ["panic", "panic_later"] {
        let mut rig = Rig::new();
        rig.client.request("1", method, json!({})).await;
        let message =
            format!("Internal error: the handler of `{method}` panicked, the agent's log has the details");
        assert_eq!(
            rig.client.message().await,
            error(json!(1), -32603, &message, None)
        );
        rig.client.expect_silence().await;
    }
}

#[tokio::test]
async fn every_request_before_the_first_one_is_refused() {
    let options = PeerOptions {
        first_method: Some("initialize"),
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 1024);
    let refused = |id| {
        error(
            id,
            -32600,
            "Invalid request",
            Some(json!("first ACP request must be initialize")),
        )
    };
    rig.client.notify("note", json!({"name": "early"})).await;
    for method in ["echo", "nope"] {
        rig.client.request("1", method, json!({})).await;
        assert_eq!(rig.client.message().await, refused(json!(1)));
    }
    rig.client.send("{not json").await;
    assert_eq!(rig.client.message().await["error"]["code"], json!(-32700));
    // An initialize that is refused does not count.
    rig.client
        .send(r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":[]}"#)
        .await;
    assert_eq!(rig.client.message().await["error"]["code"], json!(-32602));
    rig.client.request("3", "echo", json!({})).await;
    assert_eq!(rig.client.message().await, refused(json!(3)));
    rig.client
        .request("4", "initialize", json!({"protocolVersion": 1}))
        .await;
    assert_eq!(rig.client.message().await["id"], json!(4));
    rig.client
        .request("5", "initialize", json!({"protocolVersion": 1}))
        .await;
    assert_eq!(rig.client.message().await["id"], json!(5));
    rig.client.expect_silence().await;
    assert_eq!(
        rig.stage.log(),
        Vec::<String>::new(),
        "the early notification was not handled"
    );
}

#[tokio::test]
async fn a_first_request_that_still_runs_counts() {
    let options = PeerOptions {
        first_method: Some("hold"),
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 1024);
    rig.client.request("1", "hold", json!({"name": "first"})).await;
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn a_second_request_with_an_open_id_is_refused_and_the_first_is_unaffected() {
    let same = [
        ("7", "7"),
        (r#""é""#, r#""\u00e9""#),
        ("null", "null"),
        ("1e2", "1e2"),
    ];
    for (first, second) in same {
        let mut rig = Rig::new();
        rig.client.request(first, "hold", json!({"name": "a"})).await;
        rig.client.request(second, "echo", json!({})).await;
        let refused = rig.client.message().await;
        let id: Value = serde_json::from_str(first).unwrap();
        assert_eq!(refused["id"], Value::Null);
        assert_eq!(refused["error"]["code"], json!(-32600));
        assert_eq!(refused["error"]["data"], json!({ "id": id }));
        rig.client.expect_silence().await;
        rig.stage.release("a");
        assert_eq!(
            rig.client.message().await,
            json!({"jsonrpc": "2.0", "id": id, "result": {"released": "a"}})
        );
        // Now the id is free again.
        rig.client.request(second, "echo", json!({"again": 1})).await;
        assert_eq!(rig.client.message().await["result"], json!({"again": 1}));
    }
}

#[tokio::test]
async fn more_open_requests_than_the_limit_are_refused_and_the_open_ones_go_on() {
    let options = PeerOptions {
        max_in_flight: 2,
        ..PeerOptions::default()
    };
    let mut rig = Rig::with(options, 1024);
    rig.client.request("1", "hold", json!({"name": "a"})).await;
    rig.client.request("2", "hold", json!({"name": "b"})).await;
    rig.client.request("3", "echo", json!({})).await;
    let refused = rig.client.message().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(3), &json!(-32600))
    );
    rig.stage.release("a");
    assert_eq!(rig.client.message().await["id"], json!(1));
    rig.client.expect_silence().await;
    rig.stage.release("b");
    assert_eq!(rig.client.message().await["id"], json!(2));
}
