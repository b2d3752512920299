//! Calls that succeed: ids, params, line ends.

use serde_json::json;

use super::harness::Rig;

#[tokio::test]
async fn every_json_id_is_echoed_verbatim() {
    let ids = [
        "0",
        "-1",
        "1.5",
        "1e2",
        "1E+2",
        "-0",
        "18446744073709551616",
        "null",
        r#""""#,
        r#""str-1""#,
        "\"uuid-\u{fc}\"",
        r#""\u00fc\/""#,
        r#""\ud83d""#,
    ];
    let mut rig = Rig::new();
    for id in ids {
        rig.client.request(id, "echo", json!({"a": null})).await;
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":null}}}}"#);
        assert_eq!(rig.client.line().await.as_deref(), Some(expected.as_str()));
    }
}

#[tokio::test]
async fn envelopes_may_hold_more_than_they_need() {
    let mut rig = Rig::new();
    let lines = [
        r#"{"trace":[{}],"params":{"x":1},"id":1,"method":"echo","jsonrpc":"2.0","result":null}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"x\":1}}\r",
        r#"   {"jsonrpc" : "2.0" , "id" : 1 , "method" : "\u0065cho" , "params" : {"x":1}}  "#,
    ];
    for line in lines {
        rig.client.send(line).await;
        assert_eq!(
            rig.client.message().await,
            json!({"jsonrpc": "2.0", "id": 1, "result": {"x": 1}})
        );
    }
}

#[tokio::test]
async fn absent_and_null_params_count_as_an_empty_object() {
    let mut rig = Rig::new();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":null}"#,
    ] {
        rig.client.send(line).await;
        assert_eq!(rig.client.message().await["result"], json!({}));
    }
}

#[tokio::test]
async fn the_last_line_may_lack_its_line_feed() {
    let mut rig = Rig::new();
    rig.client
        .send_bytes(br#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}"#)
        .await;
    rig.client.close_input().await;
    assert_eq!(
        rig.client.rest().await,
        [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]
    );
}

#[test]
fn a_method_has_one_handler() {
    let builder = crate::RouterBuilder::new()
        .notification("m", |_, (): ()| {})
        .unwrap();
    let twice = builder.request("m", async |_, (): ()| Ok(()));
    assert_eq!(
        twice.err().unwrap().to_string(),
        "the method `m` has a handler already"
    );
}
