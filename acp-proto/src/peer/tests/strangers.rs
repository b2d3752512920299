//! Who found the address need not be a client: nothing is run for those that are none.

use serde_json::{Value, json};

use super::harness::{Rig, within};
use crate::peer::{Closed, PeerOptions};
use crate::transport::Caller;

fn rig(caller: Caller) -> Rig {
    let options = PeerOptions {
        first_method: Some("initialize"),
        ..PeerOptions::default()
    };
    Rig::called_by(caller, options, 1024 * 1024)
}

/// These bytes get one error with this text, the end of the connection, and nothing else happens.
async fn turned_away(mut rig: Rig, bytes: &[u8], id: Value, text: &str) {
    rig.client.send_bytes(bytes).await;
    let said = rig.client.rest().await;
    let shown = bytes.escape_ascii();
    match &said[..] {
        [only] => {
            assert_eq!(
                (&only["id"], &only["error"]["code"]),
                (&id, &json!(-32600)),
                "{shown}"
            );
            let message = only["error"]["message"].as_str().unwrap();
            assert!(message.contains(text), "{shown}: {message}");
        }
        others => panic!("{shown}: {others:?}"),
    }
    assert!(
        matches!(within(rig.served).await.unwrap(), Closed::Refused),
        "{shown}"
    );
    assert_eq!(rig.stage.log(), Vec::<String>::new(), "{shown}");
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"note","params":{"name":"run"}}"#;

#[tokio::test]
async fn a_first_line_that_is_no_initialize_ends_the_connection_before_anything_is_run() {
    let lines = [
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n\r\n",
        "GET / HTTP/1.1\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\n",
        "{not json}\n",
        "{}\n",
        "[]\n",
        "null\n",
        r#"{"jsonrpc":"2.0","id":"x","result":{}}
"#,
        r#"{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":1}}
"#,
        r#"{"id":1,"method":"initialize","params":{"protocolVersion":1}}
"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}]
"#,
    ];
    for line in lines {
        let bytes = format!("{line}{INITIALIZE}\n{NOTE}\n");
        turned_away(
            rig(Caller::Stranger),
            bytes.as_bytes(),
            Value::Null,
            "must be the JSON-RPC request `initialize`",
        )
        .await;
    }
    let not_utf8 = b"{\"jsonrpc\":\"2.0\xff\"}\n";
    turned_away(rig(Caller::Stranger), not_utf8, Value::Null, "`initialize`").await;
}

#[tokio::test]
async fn a_first_request_for_something_else_is_answered_under_its_id_and_ends_the_connection() {
    let bytes = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"echo","params":{{}}}}
{INITIALIZE}
{NOTE}
"#
    );
    turned_away(rig(Caller::Stranger), bytes.as_bytes(), json!(7), "`initialize`").await;
}

#[tokio::test]
async fn another_protocol_is_not_waited_for_until_its_first_line_ends() {
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..],
        b"SSH-2.0-x",
        b" \n G",
    ] {
        turned_away(rig(Caller::Stranger), bytes, Value::Null, "`initialize`").await;
    }
}

#[tokio::test]
async fn a_proven_client_may_make_mistakes_but_not_speak_http() {
    let mut rig = rig(Caller::Stranger);
    rig.client.send(INITIALIZE).await;
    assert_eq!(rig.client.message().await["id"], json!(0));
    rig.client.send("{not json").await;
    assert_eq!(rig.client.message().await["error"]["code"], json!(-32700));
    rig.client.expect_silence().await;
    let bytes = format!("POST / HTTP/1.1\r\nHost: x\r\n\r\n{NOTE}\n");
    turned_away(rig, bytes.as_bytes(), Value::Null, "no HTTP and no TLS").await;
}

#[tokio::test]
async fn an_initialize_that_fails_proves_nothing_yet_and_may_be_repeated() {
    let mut rig = rig(Caller::Stranger);
    rig.client
        .send(r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":[]}"#)
        .await;
    assert_eq!(rig.client.message().await["error"]["code"], json!(-32602));
    rig.client.send(INITIALIZE).await;
    assert_eq!(rig.client.message().await["id"], json!(0));
    rig.client.expect_silence().await;
}

#[tokio::test]
async fn who_may_not_come_in_is_told_why_and_not_heard() {
    let bytes = format!("{INITIALIZE}\n{NOTE}\n");
    turned_away(
        rig(Caller::Refused("not yours".to_owned())),
        bytes.as_bytes(),
        Value::Null,
        "not yours",
    )
    .await;
}
