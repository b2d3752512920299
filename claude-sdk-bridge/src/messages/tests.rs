//! Tests of the wire types: whatever the shape of a value, nothing of it is lost.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::control::{
    ControlFailure, ControlRequest, ControlResponse, IncomingRequest, InitializeRequest, InitializeResponse,
    Interrupt, SetModel, SetPermissionMode,
};
use super::*;

fn read(value: &Value) -> Message {
    serde_json::from_value(value.clone()).unwrap()
}

fn check_kept(value: &Value) -> Message {
    let message = read(value);
    assert_eq!(serde_json::to_value(&message).unwrap(), *value);
    message
}

#[test]
fn fields_that_do_not_fit_cost_themselves_only() {
    let message = check_kept(&json!({
        "type": "result", "subtype": 7, "is_error": "yes", "num_turns": -1, "errors": "none", "duration_ms": 1.5,
        "modelUsage": {"m": {"inputTokens": "many", "costUSD": 0}, "n": 3}, "session_id": "s", "new": [1],
    }));
    let Message::Result(result) = message else {
        panic!("{message:?}")
    };
    assert_eq!(result.session_id.get(), Some(&"s".into()));
    assert_eq!(result.subtype, Field::Raw(json!(7)));
    assert_eq!(result.extra, Map::from_iter([("new".to_owned(), json!([1]))]));
    assert_eq!(result.model_usage.get().unwrap()["n"], Lenient::Raw(json!(3)));
}

#[test]
fn absent_and_null_are_told_apart() {
    for value in [
        json!({"type": "system", "subtype": "status"}),
        json!({"type": "system", "subtype": "status", "status": null}),
    ] {
        check_kept(&value);
    }
    let set = |model| {
        serde_json::to_value(ControlRequest::SetModel(SetModel {
            model,
            ..SetModel::default()
        }))
        .unwrap()
    };
    assert_eq!(set(Field::Absent), json!({"subtype": "set_model"}));
    assert_eq!(set(Field::Null), json!({"subtype": "set_model", "model": null}));
    assert_eq!(
        set("opus".into()),
        json!({"subtype": "set_model", "model": "opus"})
    );
}

#[test]
fn a_known_kind_without_what_makes_it_one_is_kept_whole() {
    let values = [
        json!({"type": "assistant", "message": {"content": 7}}),
        json!({"type": "user"}),
        json!({"type": "control_request", "request_id": "r"}),
        json!({"type": "control_cancel_request", "request_id": 1}),
        json!({"type": "stream_event"}),
    ];
    for value in values {
        assert_eq!(check_kept(&value), Message::Unknown(value.clone()));
    }
}

#[test]
fn an_unknown_part_leaves_the_rest_readable() {
    let message = check_kept(&json!({
        "type": "assistant", "session_id": "s", "message": {"id": "msg_1", "content": [
            {"type": "text", "text": "a", "citations": null},
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
            {"type": "text"},
            "…3 more dropped in recording",
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
        ]},
    }));
    let Message::Assistant(assistant) = message else {
        panic!("{message:?}")
    };
    let kinds: Vec<Option<&str>> = assistant
        .message
        .content
        .blocks()
        .iter()
        .map(ContentBlock::kind)
        .collect();
    assert_eq!(
        kinds,
        [
            Some("text"),
            Some("server_tool_use"),
            Some("text"),
            None,
            Some("tool_use")
        ]
    );
    assert_eq!(assistant.message.content.text(), "a");
}

#[test]
fn an_unknown_system_subtype_keeps_its_ids_readable() {
    let message = check_kept(
        &json!({"type": "system", "subtype": "brand_new", "uuid": "u", "session_id": "s", "x": 1}),
    );
    let Message::System(system) = message else {
        panic!("{message:?}")
    };
    assert_eq!(system.session_id.get(), Some(&"s".into()));
    assert_eq!(system.event.kind(), Some("brand_new"));
}

#[test]
fn an_unknown_request_of_claude_keeps_its_id() {
    let message = check_kept(&json!({
        "type": "control_request", "request_id": "r1", "request": {"subtype": "brand_new", "x": 1},
    }));
    let Message::ControlRequest(control) = message else {
        panic!("{message:?}")
    };
    assert_eq!(control.request_id, "r1".into());
    assert_eq!(
        control.request,
        IncomingRequest::Unknown(json!({"subtype": "brand_new", "x": 1}))
    );
}

#[test]
fn requests_of_ours_have_the_shape_of_the_protocol() {
    let cases = [
        (
            ControlRequest::Interrupt(Interrupt::default()),
            json!({"subtype": "interrupt"}),
        ),
        (
            ControlRequest::SetPermissionMode(SetPermissionMode::to("plan")),
            json!({"subtype": "set_permission_mode", "mode": "plan"}),
        ),
        (
            ControlRequest::Initialize(Box::new(InitializeRequest {
                hooks: Field::Null,
                ..Default::default()
            })),
            json!({"subtype": "initialize", "hooks": null}),
        ),
    ];
    for (request, expected) in cases {
        let message = serde_json::to_value(HostMessage::request("r1".into(), request)).unwrap();
        assert_eq!(
            message,
            json!({"type": "control_request", "request_id": "r1", "request": expected})
        );
    }
}

#[test]
fn answers_say_whether_it_worked() {
    let written = |response: &ControlResponse| {
        serde_json::to_value(HostMessage::ControlResponse(Box::new(response.clone()))).unwrap()
    };
    let acknowledged = ControlResponse::success(&"r".into(), None);
    assert_eq!(
        written(&acknowledged),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r"}})
    );
    assert_eq!(acknowledged.into_result(), Ok(Value::Null));

    let success = ControlResponse::success(&"r".into(), Some(json!({"a": 1})));
    assert_eq!(success.request_id(), Some(&"r".into()));
    assert_eq!(success.into_result(), Ok(json!({"a": 1})));

    let error = ControlResponse::error(&"r".into(), "no");
    assert_eq!(
        written(&error),
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r", "error": "no"}})
    );
    let coded = json!({"response": {"subtype": "error", "error": "no", "error_code": "invalid_mode"}});
    let coded: ControlResponse = serde_json::from_value(coded).unwrap();
    let failure = ControlFailure {
        text: "no".to_owned(),
        code: Some("invalid_mode".to_owned()),
    };
    assert_eq!(coded.into_result(), Err(failure));
}

#[test]
fn a_shortened_list_in_the_initialize_response_costs_one_element() {
    let response: InitializeResponse = serde_json::from_value(json!({
        "commands": [{"name": "compact"}, "…43 more dropped in recording", {"description": "nameless"}],
        "models": null, "pid": 7,
    }))
    .unwrap();
    let names: Vec<&str> = response
        .commands
        .known()
        .map(|command| command.name.as_str())
        .collect();
    assert_eq!(names, ["compact"]);
    assert_eq!(response.commands.get().unwrap().len(), 3);
    assert_eq!(response.models.known().count(), 0);
}

#[test]
fn a_large_tool_result_is_moved_and_not_copied() {
    let text = "x".repeat(1 << 20);
    let value = json!({
        "type": "user", "tool_use_result": {"stdout": text},
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]},
    });
    let place = |value: &Value| value.as_str().unwrap().as_ptr();
    let before = [
        place(&value["tool_use_result"]["stdout"]),
        place(&value["message"]["content"][0]["content"]),
    ];
    let Ok(Message::User(user)) = Message::from_wire(value) else {
        panic!("no user message")
    };
    let ContentBlock::ToolResult(result) = &user.message.content.blocks()[0] else {
        panic!("no tool result")
    };
    let Some(Content::Text(kept)) = result.content.get() else {
        panic!("no text")
    };
    assert_eq!(
        [
            place(&user.tool_use_result.get().unwrap()["stdout"]),
            kept.as_ptr()
        ],
        before
    );
}

/// Keys and kinds out of the protocol.
const WORDS: &str = "\
    type subtype system assistant user result stream_event control_request control_response message \
    content text tool_use tool_result thinking image source request response request_id success error \
    can_use_tool initialize input tool_name tool_use_id id name event content_block_delta delta \
    text_delta index session_id uuid init status tasks task_started task_id tools modelUsage usage hooks \
    agents x";

/// JSON that often looks like a message: keys and kinds out of the protocol, values of any type.
fn wire_like() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..8).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

/// A wire-like object whose `type` (and the kind below it) are set, so that typed records are reached.
fn message_like() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        ("system", "subtype", "init"),
        ("system", "subtype", "task_started"),
        ("assistant", "error", "unknown"),
        ("user", "isReplay", "x"),
        ("result", "subtype", "success"),
        ("stream_event", "uuid", "x"),
        ("control_request", "request_id", "r"),
        ("control_response", "x", "y"),
    ]);
    (kinds, wire_like(), wire_like()).prop_map(|((kind, key, value), inner, outer)| {
        let mut map = outer.as_object().cloned().unwrap_or_default();
        for nested in ["message", "request", "response", "event"] {
            map.entry(nested).or_insert_with(|| inner.clone());
        }
        map.insert("type".to_owned(), kind.into());
        map.insert(key.to_owned(), value.into());
        Value::Object(map)
    })
}

proptest! {
    #[test]
    fn no_value_loses_anything(value in prop_oneof![wire_like(), message_like()]) {
        prop_assert_eq!(serde_json::to_value(read(&value)).unwrap(), value.clone());
        let host: HostMessage = serde_json::from_value(value.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(host).unwrap(), value.clone());
        let request: ControlRequest = serde_json::from_value(value.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(request).unwrap(), value);
    }
}
