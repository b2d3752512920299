//! JSON-RPC as the agent speaks it: framing, envelopes, ids, errors. The same on every transport.

use e2e_tests::harness::{Client, World, allow_once, no_questions};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::{assert_error, greet, greet_again, open};

/// A rehearsal whose every turn asks for permission first.
const ASKS: &str = r#"{"version": 1, "about": "asks", "turns": [{"sticky": true, "steps": [
    {"tool": {"name": "Bash", "id": "toolu_1", "input": {"command": "true"}, "ask": true, "result": "ran"}},
    {"text": "done"}]}]}"#;

/// The agent's cap on a line.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

pub(crate) fn cases() -> Vec<Case> {
    macro_rules! on {
        ($transport:ident) => {
            cases![Rehearsal, $transport:
                a_newer_protocol_version_is_answered_with_ours,
                a_version_that_is_no_number_is_refused,
                initialize_may_be_repeated,
                a_malformed_line_costs_that_line,
                a_line_that_is_not_utf8_costs_that_line,
                an_envelope_that_is_no_request_is_refused_with_its_text,
                a_batch_is_refused_as_a_whole,
                ids_of_every_json_type_are_echoed_verbatim,
                an_id_that_is_no_id_is_refused,
                an_id_that_is_in_flight_is_refused_and_the_first_goes_on,
                an_unknown_method_is_named_in_the_error,
                an_unknown_notification_is_ignored,
                invalid_params_are_refused_per_request,
                a_response_nobody_asked_for_is_ignored,
                an_overlong_line_costs_that_line,
                a_message_may_arrive_byte_by_byte,
                many_messages_may_arrive_in_one_write,
                a_cancelled_request_answers_its_prompt,
                an_unknown_session_is_not_found,
            ]
        };
    }
    // Over a network it is the end: `strangers.rs`.
    let mut all = cases![Rehearsal, Stdio: a_request_before_initialize_is_refused];
    all.extend(on!(Stdio));
    all.extend(on!(Tcp));
    all.extend(on!(Unix));
    all
}

fn is_alive(client: &mut Client) {
    assert_eq!(client.initialize()["protocolVersion"], 1);
}

fn a_request_before_initialize_is_refused(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let error = client
        .call("session/new", json!({"cwd": world.cwd(), "mcpServers": []}))
        .unwrap_err();
    assert_error(&error, -32600, "Invalid request");
    assert_eq!(error["data"], "first ACP request must be initialize");
    is_alive(&mut client);
}

fn a_newer_protocol_version_is_answered_with_ours(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let hello = client.call("initialize", json!({"protocolVersion": 99})).unwrap();
    assert_eq!(hello["protocolVersion"], 1);
}

fn a_version_that_is_no_number_is_refused(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let error = client
        .call("initialize", json!({"protocolVersion": "one"}))
        .unwrap_err();
    assert_error(&error, -32602, "Invalid params");
    is_alive(&mut client);
}

fn initialize_may_be_repeated(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let first = client.initialize();
    assert_eq!(client.initialize(), first);
}

fn a_malformed_line_costs_that_line(world: &mut World) {
    let mut agent = world.agent();
    let mut client = greet_again(&mut agent);
    client.send_line("{not json");
    client.send_line("");
    assert_eq!(
        client.next_message(),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}})
    );
    is_alive(&mut client);
    client.send_line(r#"{"jsonrpc":"2.0","id":77,"method":"initialize","params":"#);
    assert_eq!(client.next_message()["error"]["code"], -32700);
    is_alive(&mut client);
}

fn a_line_that_is_not_utf8_costs_that_line(world: &mut World) {
    let mut agent = world.agent();
    let mut client = greet_again(&mut agent);
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n");
    let error = client.next_message();
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&Value::Null, &json!(-32700)),
        "{error}"
    );
    is_alive(&mut client);
}

fn an_envelope_that_is_no_request_is_refused_with_its_text(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let wrong = [
        json!(null),
        json!(42),
        json!("text"),
        json!({}),
        json!({"jsonrpc": "1.0", "id": 92, "method": "initialize", "params": {}}),
        json!({"id": 93, "method": "initialize", "params": {}}),
    ];
    for envelope in wrong {
        client.send_line(&envelope.to_string());
        let error = json!({"code": -32600, "message": "Invalid request", "data": envelope});
        assert_eq!(
            client.next_message(),
            json!({"jsonrpc": "2.0", "id": null, "error": error})
        );
    }
    // Neither a request nor a response, but no reason to complain either.
    client.send_line(r#"{"jsonrpc":"2.0","id":91}"#);
    is_alive(&mut client);
}

fn a_batch_is_refused_as_a_whole(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let request =
        json!({"jsonrpc": "2.0", "id": 200, "method": "initialize", "params": {"protocolVersion": 1}});
    for batch in [json!([]), json!([request, request])] {
        client.send_line(&batch.to_string());
        let error = client.next_message();
        assert_eq!(error["id"], Value::Null);
        assert_error(&error["error"], -32600, "JSON-RPC batches are not supported");
    }
    is_alive(&mut client);
}

fn ids_of_every_json_type_are_echoed_verbatim(world: &mut World) {
    let (_agent, mut client) = greet(world);
    for id in [
        "0",
        "-1",
        "1.5",
        "1e2",
        "18446744073709551616",
        "null",
        "\"text\"",
        "\"\"",
        "\"ü-\u{1F600}\"",
    ] {
        client.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"no/such/method","params":{{}}}}"#
        ));
        let answer = client.next_line();
        assert!(answer.contains(&format!(r#""id":{id}"#)), "{id} in {answer}");
        assert!(answer.contains("-32601"), "{answer}");
    }
}

fn an_id_that_is_no_id_is_refused(world: &mut World) {
    let (_agent, mut client) = greet(world);
    for id in ["true", "[1]", "{}"] {
        client.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{}}}}"#
        ));
        let error = client.next_message();
        assert_eq!(
            (&error["id"], &error["error"]["code"]),
            (&Value::Null, &json!(-32600)),
            "{error}"
        );
    }
    is_alive(&mut client);
}

fn an_id_that_is_in_flight_is_refused_and_the_first_goes_on(world: &mut World) {
    world.rehearse(ASKS);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    let (question, request) = client.permission_request();
    let second = json!({
        "jsonrpc": "2.0", "id": prompt.id(), "method": "session/prompt",
        "params": {"sessionId": session, "prompt": [{"type": "text", "text": "again"}]},
    });
    client.send_line(&second.to_string());
    let error = client.error_without_id();
    assert_eq!(error["code"], -32600, "{error}");
    assert!(
        error["data"].to_string().contains(&prompt.id().to_string()),
        "{error}"
    );
    client.answer(&question, &request, &allow_once(&request));
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.text(), "done");
}

fn an_unknown_method_is_named_in_the_error(world: &mut World) {
    let (_agent, mut client) = greet(world);
    for method in ["no/such/method", "_custom/extension"] {
        let error = client.call(method, json!({"a": 1})).unwrap_err();
        assert_error(&error, -32601, method);
        assert_eq!(error["data"], json!({"method": method}));
    }
}

fn an_unknown_notification_is_ignored(world: &mut World) {
    let (_agent, mut client) = greet(world);
    client.notify("no/such/notification", json!({}));
    client.notify("_custom/notification", json!({"a": 1}));
    client.notify("session/cancel", json!({"sessionId": "unknown"}));
    client.notify("session/cancel", json!({"nonsense": true}));
    is_alive(&mut client);
}

fn invalid_params_are_refused_per_request(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let wrong = [
        ("session/new", json!({"mcpServers": []})),
        ("session/new", json!({"cwd": 5, "mcpServers": []})),
        (
            "session/new",
            json!({"cwd": world.cwd(), "mcpServers": [{"name": "x"}]}),
        ),
        ("session/prompt", json!({"prompt": []})),
        (
            "session/prompt",
            json!({"sessionId": "x", "prompt": [{"type": "nonsense"}]}),
        ),
        ("session/prompt", Value::Null),
        ("session/set_mode", json!([])),
    ];
    for (method, params) in wrong {
        let error = client.call(method, params.clone()).unwrap_err();
        assert_error(&error, -32602, "Invalid params");
    }
    is_alive(&mut client);
}

fn a_response_nobody_asked_for_is_ignored(world: &mut World) {
    let (_agent, mut client) = greet(world);
    client.send_line(r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#);
    client.send_line(r#"{"jsonrpc":"2.0","id":"unknown","error":{"code":-32603,"message":"x"}}"#);
    client.send_line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#);
    is_alive(&mut client);
}

fn an_overlong_line_costs_that_line(world: &mut World) {
    let (_agent, mut client) = greet(world);
    client.send_line(&"x".repeat(MAX_LINE_BYTES + 1));
    let error = client.error_without_id();
    assert!(
        [-32700, -32600].contains(&error["code"].as_i64().unwrap()),
        "{error}"
    );
    is_alive(&mut client);
}

fn a_message_may_arrive_byte_by_byte(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let line =
        "{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\r\n";
    for byte in line.as_bytes() {
        client.send_bytes(&[*byte]);
    }
    assert_eq!(client.next_message()["result"]["protocolVersion"], 1);
}

fn many_messages_may_arrive_in_one_write(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let request = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"no/such/method"}}"#);
    let lines: Vec<String> = (1000..1100).map(request).collect();
    client.send_line(&lines.join("\n"));
    for id in 1000..1100 {
        assert_eq!(
            client.next_message()["id"],
            id,
            "answers come in the order of the requests"
        );
    }
}

fn a_cancelled_request_answers_its_prompt(world: &mut World) {
    world.rehearse(ASKS);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    let (question, _) = client.permission_request();
    client.notify("$/cancel_request", json!({"requestId": prompt.id()}));
    assert_eq!(client.notification("$/cancel_request")["requestId"], question);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    client.notify("$/cancel_request", json!({"requestId": "unknown"}));
    is_alive(&mut client);
}

fn an_unknown_session_is_not_found(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let prompt = json!({"sessionId": "unknown", "prompt": [{"type": "text", "text": "hi"}]});
    let mode = json!({"sessionId": "unknown", "modeId": "plan"});
    for (method, params) in [("session/prompt", prompt), ("session/set_mode", mode)] {
        let error = client.call(method, params).unwrap_err();
        assert_error(&error, -32002, "Resource not found");
        assert_eq!(error["data"], json!({"sessionId": "unknown"}));
    }
    assert_eq!(
        client.call("session/close", json!({"sessionId": "unknown"})),
        Ok(json!({}))
    );
}
