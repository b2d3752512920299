//! Real traffic between a host and the Claude CLI, replayed through the types: every recorded message decodes to a known
//! kind and re-encodes to the same JSON.
//!
//! The recordings were shortened: long lists end in a placeholder string, so an element that is no more than that stays
//! raw. What else stays raw or unknown is listed here by name; a new entry is a gap in the types.

#![cfg(test)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use claude_sdk_bridge::decode::{Decoded, DeltaKind, DeltaLine, decode};
use claude_sdk_bridge::messages::control::{ControlRequest, IncomingRequest, ResponseBody};
use claude_sdk_bridge::messages::{
    ApiEvent, Content, ContentBlock, Delta, HostMessage, Message, OutgoingUserMessage, SystemEvent,
};
use serde_json::Value;

/// What the agent asks Claude. The recorded host asked more, and sent other things to see them refused.
const ASKED_BY_HOST: [&str; 9] = [
    "apply_flag_settings",
    "get_context_usage",
    "get_plan",
    "get_settings",
    "initialize",
    "interrupt",
    "mcp_status",
    "set_model",
    "set_permission_mode",
];
const UNKNOWN_FROM_HOST: [&str; 2] = ["user", "wat"];

/// What the CLI tells and nobody here reads.
const UNKNOWN_FROM_CLAUDE: [&str; 8] = [
    "prompt_suggestion",
    "system/control_request_progress",
    "system/hook_response",
    "system/hook_started",
    "system/model_refusal_no_fallback",
    "system/notification",
    "system/task_progress",
    "system/task_updated",
];

/// Values of a wrong type that the recorded host sent on purpose.
const RAW_FROM_HOST: [&str; 1] = [r#"Raw(String("bad"))"#];

struct Recorded {
    place: String,
    value: Value,
}

#[derive(Default)]
struct Recordings {
    from_host: Vec<Recorded>,
    from_claude: Vec<Recorded>,
}

fn recordings() -> Recordings {
    let mut all = Recordings::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cli");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (index, line) in text.lines().enumerate().skip(1) {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let place = format!("{}:{}", file.file_name().unwrap().to_string_lossy(), index + 1);
            let value = line["msg"].take();
            match line["dir"].as_str().unwrap() {
                "in" => all.from_host.extend(messages(&place, value)),
                "out" => all.from_claude.extend(messages(&place, value)),
                "err" | "exit" => {}
                other => panic!("{place}: direction `{other}`"),
            }
        }
    }
    all
}

/// The messages of one recorded entry: usually one; raw bytes may hold several or none, notes of the recorder none.
fn messages(place: &str, value: Value) -> Vec<Recorded> {
    let recorded = |value| Recorded {
        place: place.to_owned(),
        value,
    };
    let note = ["__stdin", "__signal", "__eof"]
        .iter()
        .any(|key| value.get(key).is_some());
    match value.get("__raw").and_then(Value::as_str) {
        Some(raw) => raw
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .map(recorded)
            .collect(),
        None if note => Vec::new(),
        None => vec![recorded(value)],
    }
}

#[test]
fn every_message_from_claude_is_known_and_reencodes_to_equal_json() {
    let mut unknown = BTreeSet::new();
    let mut raw = BTreeSet::new();
    let recorded = recordings().from_claude;
    assert!(recorded.len() > 2000, "only {} messages", recorded.len());
    for Recorded { place, value } in recorded {
        let message: Message = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), value, "{place}");
        unknown.extend(unknown_in_message(&message));
        raw.extend(raw_parts(&message));
        match decode(Bytes::from(value.to_string())) {
            Decoded::Delta(delta) => check_delta(&place, &delta, &message),
            Decoded::Message(decoded) => assert_eq!(*decoded, message, "{place}"),
            Decoded::Garbage { error, .. } => panic!("{place}: {error}"),
        }
    }
    assert_eq!(unknown, UNKNOWN_FROM_CLAUDE.map(str::to_owned).into());
    assert_eq!(raw, BTreeSet::new());
}

#[test]
fn every_message_from_the_host_is_known_and_reencodes_to_equal_json() {
    let mut unknown = BTreeSet::new();
    let mut asked = BTreeSet::new();
    let mut raw = BTreeSet::new();
    let recorded = recordings().from_host;
    assert!(recorded.len() > 400, "only {} messages", recorded.len());
    for Recorded { place, value } in recorded {
        let message: HostMessage = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), value, "{place}");
        unknown.extend(unknown_in_host_message(&message));
        if let HostMessage::ControlRequest(control) = &message
            && !matches!(control.request, ControlRequest::Unknown(_))
        {
            asked.extend(control.request.kind().map(str::to_owned));
        }
        raw.extend(raw_parts(&message));
    }
    assert_eq!(asked, ASKED_BY_HOST.map(str::to_owned).into());
    assert_eq!(unknown, UNKNOWN_FROM_HOST.map(str::to_owned).into());
    assert_eq!(raw, RAW_FROM_HOST.map(str::to_owned).into());
}

/// Parts whose type was not the expected one; a placeholder of the recorder is none.
fn raw_parts(message: &impl std::fmt::Debug) -> Vec<String> {
    let text = format!("{message:?}");
    let parts = text
        .split("Raw(")
        .skip(1)
        .map(|part| format!("Raw({}", part.split_inclusive("))").next().unwrap()));
    parts
        .filter(|part| !part.contains("more dropped in recording"))
        .collect()
}

fn check_delta(place: &str, line: &DeltaLine, message: &Message) {
    let Message::StreamEvent(event) = message else {
        panic!("{place}: a delta out of {message:?}")
    };
    let ApiEvent::BlockDelta(block) = &event.event else {
        panic!("{place}: a delta out of {event:?}")
    };
    let expected = match &block.delta {
        Delta::Text(delta) => (DeltaKind::Text, &delta.text),
        Delta::Thinking(delta) => (DeltaKind::Thinking, &delta.thinking),
        Delta::InputJson(delta) => (DeltaKind::InputJson, &delta.partial_json),
        other => panic!("{place}: a delta out of {other:?}"),
    };
    assert_eq!((line.kind(), &line.text()), expected, "{place}");
    assert_eq!(line.index(), block.index, "{place}");
    assert_eq!(
        line.message_id(),
        event.api_message_id.get().map(|id| id.as_str()),
        "{place}"
    );
    assert_eq!(
        line.parent_tool_use_id(),
        event.parent_tool_use_id.get().map(|id| id.as_str()),
        "{place}"
    );
}

fn unknown_in_message(message: &Message) -> Vec<String> {
    let kind = message.kind().unwrap_or("no type").to_owned();
    let part = |part: Option<&str>| vec![format!("{kind}/{}", part.unwrap_or("no type"))];
    match message {
        Message::Unknown(_) => vec![kind],
        Message::System(system) => match &system.event {
            event @ SystemEvent::Unknown(_) => part(event.kind()),
            _ => Vec::new(),
        },
        Message::ControlRequest(control) => match &control.request {
            request @ IncomingRequest::Unknown(_) => part(request.kind()),
            _ => Vec::new(),
        },
        Message::ControlResponse(response) => match &response.response {
            body @ ResponseBody::Unknown(_) => part(body.kind()),
            _ => Vec::new(),
        },
        Message::StreamEvent(event) => match &event.event {
            event @ ApiEvent::Unknown(_) => part(event.kind()),
            ApiEvent::BlockDelta(block) if matches!(block.delta, Delta::Unknown(_)) => {
                part(block.delta.kind())
            }
            ApiEvent::BlockStart(start) => unknown_blocks(std::slice::from_ref(&start.content_block)),
            _ => Vec::new(),
        },
        Message::Assistant(assistant) => unknown_in_content(&assistant.message.content),
        Message::User(user) => unknown_in_content(&user.message.content),
        _ => Vec::new(),
    }
}

fn unknown_in_host_message(message: &HostMessage) -> Vec<String> {
    let kind = message.kind().unwrap_or("no type").to_owned();
    match message {
        HostMessage::Unknown(_) => vec![kind],
        HostMessage::ControlResponse(response) => match &response.response {
            body @ ResponseBody::Unknown(_) => vec![format!("{kind}/{}", body.kind().unwrap_or("none"))],
            _ => Vec::new(),
        },
        HostMessage::User(user) => unknown_in_content(&user.message.content),
        _ => Vec::new(),
    }
}

fn unknown_in_content(content: &Content) -> Vec<String> {
    unknown_blocks(content.blocks())
}

fn unknown_blocks(blocks: &[ContentBlock]) -> Vec<String> {
    let unknown = |block: &ContentBlock| match block {
        ContentBlock::Unknown(value) => vec![format!("block/{value}")],
        ContentBlock::ToolResult(result) => result.content.get().map(unknown_in_content).unwrap_or_default(),
        _ => Vec::new(),
    };
    blocks.iter().flat_map(unknown).collect()
}

#[test]
fn a_prompt_of_ours_has_the_shape_the_recorded_host_sent() {
    let prompt = OutgoingUserMessage::prompt("11111111-1111-4111-8111-111111111111".into(), "hello");
    let message = HostMessage::User(Box::new(prompt));
    let expected = serde_json::json!({
        "type": "user", "message": {"role": "user", "content": "hello"}, "uuid": "11111111-1111-4111-8111-111111111111",
        "session_id": "", "parent_tool_use_id": null, "origin": {"kind": "human"},
    });
    assert_eq!(serde_json::to_value(message).unwrap(), expected);
}
