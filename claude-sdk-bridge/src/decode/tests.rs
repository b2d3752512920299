//! Tests of decoding: what becomes a delta, what a message, what garbage; and that nothing makes it panic.

use std::path::Path;

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::messages::SystemEvent;

fn decode_text(line: &str) -> Decoded {
    decode(Bytes::copy_from_slice(line.as_bytes()))
}

fn delta_of(line: &str) -> DeltaLine {
    match decode_text(line) {
        Decoded::Delta(delta) => delta,
        other => panic!("no delta: {other:?}"),
    }
}

fn delta_line(delta: &str) -> String {
    format!(
        r#"{{"type":"stream_event","event":{{"index":2,"delta":{delta},"type":"content_block_delta"}},"session_id":"s","parent_tool_use_id":"toolu_9","uuid":"u","api_message_id":"msg_1"}}"#
    )
}

#[test]
fn a_delta_keeps_its_literal_and_says_where_it_belongs() {
    let cases = [
        (
            r#"{"type":"text_delta","text":"hi \"you\"\né"}"#,
            DeltaKind::Text,
            r#""hi \"you\"\né""#,
        ),
        (
            r#"{"thinking":"hm","type":"thinking_delta"}"#,
            DeltaKind::Thinking,
            r#""hm""#,
        ),
        (
            r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#,
            DeltaKind::InputJson,
            r#""{\"a\":""#,
        ),
        (r#"{"type":"text_delta","text":""}"#, DeltaKind::Text, r#""""#),
    ];
    for (delta, kind, literal) in cases {
        let delta = delta_of(&delta_line(delta));
        assert_eq!((delta.kind(), delta.literal(), delta.index()), (kind, literal, 2));
        assert_eq!(
            (delta.message_id(), delta.parent_tool_use_id()),
            (Some("msg_1"), Some("toolu_9"))
        );
        assert_eq!(delta.text(), serde_json::from_str::<String>(literal).unwrap());
    }
}

#[test]
fn a_delta_keeps_the_line_it_came_in() {
    let line = Bytes::from(delta_line(r#"{"type":"text_delta","text":"hi"}"#));
    let start = line.as_ptr();
    let Decoded::Delta(delta) = decode(line.clone()) else {
        panic!("no delta")
    };
    let offset = delta.literal().as_ptr() as usize - start as usize;
    assert_eq!(&line[offset..offset + 4], br#""hi""#);
}

#[test]
fn ids_may_be_missing_or_null() {
    let line = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}},"parent_tool_use_id":null}"#;
    let delta = delta_of(line);
    assert_eq!((delta.message_id(), delta.parent_tool_use_id()), (None, None));
}

#[test]
fn an_escape_in_an_id_still_gives_a_delta() {
    let line = delta_line(r#"{"type":"text_delta","text":"a\nb"}"#)
        .replace("msg_1", r"msg\u005f1")
        .replace("toolu_9", r#"tool\"9"#);
    let delta = delta_of(&line);
    assert_eq!(
        (delta.message_id(), delta.parent_tool_use_id()),
        (Some("msg_1"), Some("tool\"9"))
    );
    assert_eq!(delta.text(), "a\nb");
}

#[test]
fn half_surrogate_pairs_are_replaced_and_whole_ones_kept() {
    let cases = [
        (r#""a\ud83d""#, "a\u{fffd}"),
        (r#""\ude00b""#, "\u{fffd}b"),
        (r#""\uD83D\uDE00""#, "😀"),
        (r#""\\ud83d""#, "\\ud83d"),
    ];
    for (literal, expected) in cases {
        let delta = delta_of(&delta_line(&format!(
            r#"{{"type":"text_delta","text":{literal}}}"#
        )));
        assert_eq!(delta.text(), expected, "{literal}");
        assert_eq!(delta.literal(), serde_json::to_string(expected).unwrap());
    }
}

#[test]
fn a_half_surrogate_pair_does_not_cost_a_message() {
    let decoded = decode_text(r#"{"type":"system","subtype":"session_title_changed","title":"x\ud83d"}"#);
    let Decoded::Message(message) = decoded else {
        panic!("{decoded:?}")
    };
    let Message::System(system) = *message else {
        panic!("{message:?}")
    };
    let SystemEvent::SessionTitleChanged(changed) = system.event else {
        panic!("{:?}", system.event)
    };
    assert_eq!(changed.title, "x\u{fffd}");
}

#[test]
fn other_stream_events_and_other_deltas_are_messages() {
    let lines = [
        delta_line(r#"{"type":"signature_delta","signature":"c2ln"}"#),
        delta_line(r#"{"type":"text_delta"}"#),
        delta_line(r#"{"type":"text_delta","text":7}"#),
        delta_line(r#"{"type":"brand_new_delta","text":"x"}"#),
        delta_line(r#"{"type":"text_delta","text":"x"}"#)
            .replace("content_block_delta", "content_block_other"),
        delta_line(r#"{"type":"text_delta","text":"x"}"#).replace("stream_event", "stream_even"),
        r#"{"type":"stream_event","event":{"type":"message_stop"}}"#.to_owned(),
        r#"{"type":"keep_alive"}"#.to_owned(),
    ];
    for line in lines {
        let Decoded::Message(message) = decode_text(&line) else {
            panic!("{line}")
        };
        let expected: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(serde_json::to_value(&*message).unwrap(), expected);
    }
}

#[test]
fn what_is_no_message_is_kept_whole() {
    for line in [
        "[1,2]",
        "7",
        "null",
        "\"text\"",
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"wat","x":[null]}"#,
    ] {
        let Decoded::Message(message) = decode_text(line) else {
            panic!("{line}")
        };
        assert_eq!(
            *message,
            Message::Unknown(serde_json::from_str(line).unwrap()),
            "{line}"
        );
    }
}

#[test]
fn garbage_says_where_it_starts_and_what_is_wrong() {
    let long = "x".repeat(100_000);
    let start_of_long = "x".repeat(200);
    let cases: [(&[u8], &str, &str); 5] = [
        (b"npm warn something", "npm warn something", "expected ident"),
        (b"{\"type\":\"assistant\"", "{\"type\":\"assistant\"", "EOF"),
        (b"", "", "EOF"),
        (b"{\"a\":\"\xff\"}", "{\"a\":\"\u{fffd}\"}", "invalid utf-8"),
        (long.as_bytes(), &start_of_long, "expected value"),
    ];
    for (line, start, reason) in cases {
        match decode(Bytes::copy_from_slice(line)) {
            Decoded::Garbage { line_start, error } => {
                assert_eq!(line_start, start);
                assert!(error.contains(reason), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn line_ends_are_no_part_of_a_line() {
    for end in ["\n", "\r\n", "\r", " "] {
        assert!(matches!(
            decode_text(&format!("{{\"type\":\"keep_alive\"}}{end}")),
            Decoded::Message(_)
        ));
        let delta = delta_of(&(delta_line(r#"{"type":"text_delta","text":"x"}"#) + end));
        assert_eq!(delta.literal(), "\"x\"");
    }
}

/// Every line the CLI wrote in the recordings.
fn recorded_lines() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cli");
    let mut lines = Vec::new();
    for file in [
        "bash_allow",
        "thinking",
        "subagent",
        "interrupt_midstream",
        "mcp_sdk",
        "control_grab_bag",
    ] {
        let text = std::fs::read_to_string(folder.join(file).with_extension("jsonl")).unwrap();
        let recorded = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.extend(
            recorded
                .filter(|line| line["dir"] == json!("out"))
                .map(|line| line["msg"].to_string()),
        );
    }
    lines
}

fn any_delta() -> impl Strategy<Value = (String, Value)> {
    let kind = prop_oneof![
        Just(("text_delta", "text")),
        Just(("thinking_delta", "thinking")),
        Just(("input_json_delta", "partial_json"))
    ];
    let id = proptest::option::of(".{0,8}");
    (kind, any::<String>(), id.clone(), id, any::<u64>()).prop_map(
        |((kind, key), text, message, parent, index)| {
            let value = json!({
                "type": "stream_event",
                "event": {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: text}},
                "parent_tool_use_id": parent,
                "api_message_id": message,
            });
            (text, value)
        },
    )
}

proptest! {
    #[test]
    fn any_delta_comes_out_as_it_went_in((text, value) in any_delta()) {
        let delta = delta_of(&value.to_string());
        prop_assert_eq!(delta.text(), text);
        prop_assert_eq!(Some(delta.index()), value["event"]["index"].as_u64());
        prop_assert_eq!(delta.message_id(), value["api_message_id"].as_str());
        prop_assert_eq!(delta.parent_tool_use_id(), value["parent_tool_use_id"].as_str());
    }

    #[test]
    fn hot_and_cold_agree((_, value) in any_delta()) {
        let line = Bytes::from(value.to_string());
        prop_assert_eq!(decode(line.clone()), cold::decode(&line));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(Bytes::from(bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn no_mutation_of_a_recorded_line_panics(
        pick in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6),
    ) {
        thread_local!(static LINES: Vec<String> = recorded_lines());
        let mut line = LINES.with(|lines| pick.get(lines).clone().into_bytes());
        for (place, byte, edit) in edits {
            if line.is_empty() {
                break;
            }
            let place = place.index(line.len());
            match edit {
                0 => line[place] = byte,
                1 => line.insert(place, byte),
                _ => line.truncate(place),
            }
        }
        if let Decoded::Message(message) = decode(Bytes::from(line.clone())) {
            // What a mutation leaves readable is still written back whole.
            let text = String::from_utf8(line).unwrap();
            let value: Value = serde_json::from_str(&surrogates::repair(&text)).unwrap();
            prop_assert_eq!(serde_json::to_value(&*message).unwrap(), value);
        }
    }
}
