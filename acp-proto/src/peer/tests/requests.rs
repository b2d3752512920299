//! Requests of ours and their answers.

use serde_json::json;

use super::harness::{Rig, within};
use crate::peer::RequestFailed;

#[tokio::test]
async fn our_requests_count_from_zero_and_each_gets_its_own_answer() {
    let mut rig = Rig::new();
    let mut pending = Vec::new();
    for number in 0..3 {
        let (line, answer) = rig
            .connection
            .prepare_request("ask", &json!({ "number": number }));
        rig.connection.send(line).await.unwrap();
        pending.push(answer);
        let expected = json!({"jsonrpc": "2.0", "id": number, "method": "ask", "params": {"number": number}});
        assert_eq!(rig.client.message().await, expected);
    }
    for id in [2, 0, 1] {
        rig.client
            .send(&json!({"jsonrpc": "2.0", "id": id, "result": {"for": id}}).to_string())
            .await;
    }
    for (number, answer) in pending.into_iter().enumerate() {
        let result = within(answer).await.expect("a result");
        assert_eq!(result.get(), json!({ "for": number }).to_string());
    }
    // Nothing is cancelled that was answered.
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn answers_are_read_with_tolerance() {
    let table = [
        (r#""result":null"#, Ok("null")),
        (r#""result":[1],"error":null,"extra":{}"#, Ok("[1]")),
        (
            r#""error":{"code":-32601,"message":"Method not found","data":{"a":1},"more":true}"#,
            Err((-32601, "Method not found")),
        ),
        (r#""error":{"code":-5,"message":"m"},"result":1"#, Err((-5, "m"))),
        (
            r#""error":"boom""#,
            Err((
                -32603,
                "Internal error: the other side answered with a malformed error",
            )),
        ),
    ];
    for (members, expected) in table {
        let mut rig = Rig::new();
        let (line, answer) = rig.connection.prepare_request("ask", &json!({}));
        rig.connection.send(line).await.unwrap();
        rig.client.message().await;
        rig.client
            .send(&format!(r#"{{"jsonrpc":"2.0","id":0,{members}}}"#))
            .await;
        match (within(answer).await, expected) {
            (Ok(result), Ok(text)) => assert_eq!(result.get(), text),
            (Err(RequestFailed::Rpc(error)), Err((code, message))) => {
                assert_eq!((error.code(), error.message()), (code, message));
            }
            (outcome, _) => panic!("{members}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn answers_with_other_ids_settle_nothing() {
    let mut rig = Rig::new();
    let (line, answer) = rig.connection.prepare_request("ask", &json!({}));
    rig.connection.send(line).await.unwrap();
    rig.client.message().await;
    let (_unsent, mut unsent) = rig.connection.prepare_request("ask", &json!({}));
    for id in [
        "1",
        "7",
        "\"0\"",
        "null",
        "-1",
        "0.5",
        "{}",
        "99999999999999999999",
    ] {
        rig.client
            .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
            .await;
    }
    rig.client.expect_silence().await;
    assert!(
        futures::poll!(&mut unsent).is_pending(),
        "a request that was not sent has no answer"
    );
    rig.client
        .send(r#"{"jsonrpc":"2.0","id":0,"result":"mine"}"#)
        .await;
    assert_eq!(within(answer).await.unwrap().get(), "\"mine\"");
    // A second answer is nobody's.
    rig.client
        .send(r#"{"jsonrpc":"2.0","id":0,"result":"again"}"#)
        .await;
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn params_that_cannot_be_serialized_fail_the_request_and_nothing_is_sent() {
    let mut rig = Rig::new();
    let unwritable = std::collections::HashMap::from([((1, 2), 3)]);
    let (line, answer) = rig.connection.prepare_request("ask", &unwritable);
    rig.connection.send(line).await.unwrap();
    assert!(matches!(within(answer).await, Err(RequestFailed::Rpc(_))));
    rig.client.expect_silence().await;
}
