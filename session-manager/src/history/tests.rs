//! Recorded transcripts as a client sees them, and how calls and results are joined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use acp_proto::schema::{
    SessionId, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use claude_sdk_bridge::transcripts::{Replay, TranscriptFile};
use serde_json::{Value, json};

use super::shown::{Joined, Shown};
use crate::tools::TerminalSupport;
use crate::translate::Translator;

fn recordings() -> Vec<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../claude-sdk-bridge/tests/fixtures/transcripts");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension() == Some("jsonl".as_ref()))
        .collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

fn shown(path: &Path, terminal: TerminalSupport) -> Vec<Value> {
    let transcript = TranscriptFile {
        id: "0a0c4f6e-1111-4222-8333-abcdefabcdef".into(),
        path: path.to_owned(),
        modified: SystemTime::UNIX_EPOCH,
    };
    let mut shown = Shown::new(Translator::new(
        SessionId::new("s"),
        "/work/project".into(),
        terminal,
    ));
    let mut joined = Joined::default();
    let mut updates = Vec::new();
    for entry in Replay::open(&transcript).unwrap() {
        for update in shown.entry(entry) {
            updates.extend(joined.push(update));
        }
    }
    for update in shown.end() {
        updates.extend(joined.push(update));
    }
    updates.extend(joined.rest());
    updates
        .iter()
        .map(|update| serde_json::to_value(update).unwrap())
        .collect()
}

#[test]
fn every_recorded_call_is_shown_in_one_update_and_ends() {
    for path in recordings() {
        let mut calls = BTreeMap::new();
        for update in shown(&path, TerminalSupport::None) {
            let call = update["toolCallId"].as_str().unwrap_or_default().to_owned();
            match update["sessionUpdate"].as_str().unwrap() {
                "tool_call" => {
                    assert!(
                        update["status"] == "completed" || update["status"] == "failed",
                        "{path:?}: {update}"
                    );
                    assert_eq!(calls.insert(call, update), None);
                }
                "tool_call_update" => assert!(calls.contains_key(&call), "{path:?}: {update}"),
                _ => {}
            }
        }
    }
}

#[test]
fn terminals_are_announced_before_they_are_named() {
    for path in recordings() {
        let mut terminals = Vec::new();
        for update in shown(&path, TerminalSupport::Output) {
            let meta = &update["_meta"];
            if let Some(id) = meta["terminal_info"]["terminal_id"].as_str() {
                terminals.push(id.to_owned());
            }
            for key in ["terminal_output", "terminal_exit"] {
                if let Some(id) = meta[key]["terminal_id"].as_str() {
                    assert!(terminals.iter().any(|known| known == id), "{path:?}: {update}");
                }
            }
        }
    }
}

#[test]
fn nothing_that_only_the_model_was_to_read_is_shown() {
    let inner = [
        "system-reminder>",
        "<command-",
        "<task-notification>",
        "local-command-",
        "No response requested",
    ];
    for path in recordings() {
        for update in shown(&path, TerminalSupport::None) {
            let text = update["content"]["text"].as_str().unwrap_or_default();
            assert!(
                !inner.iter().any(|inner| text.contains(inner)),
                "{path:?}: {text}"
            );
        }
    }
}

#[test]
fn what_was_said_and_told_is_shown_in_order() {
    let path = recordings()
        .into_iter()
        .find(|path| path.ends_with("errors.jsonl"))
        .unwrap();
    let texts: Vec<String> = shown(&path, TerminalSupport::None)
        .iter()
        .map(|update| {
            let kind = update["sessionUpdate"]
                .as_str()
                .unwrap()
                .replace("_message_chunk", "");
            let text = update["content"]["text"].as_str().unwrap_or_default().trim();
            format!("{kind}: {:.60}", text)
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    user: p1 server error
    agent: **Error:** API Error: 500 Internal. This is a server-side is
    user: p2 stream breaks
    agent: partial text here
    agent: and the rest.
    user: p3 max tokens
    agent: cut off
    agent: continued.
    user: p4 refusal
    agent: I will
    agent: **Notice:** Opus 5.5's safeguards stopped the response above
    agent: Something else.
    user: p5 one retry
    agent: after one retry
    user: p6 fine
    agent: fine
    ");
}

#[test]
fn a_summary_stands_with_its_compaction() {
    let path = recordings()
        .into_iter()
        .find(|path| path.ends_with("compaction.jsonl"))
        .unwrap();
    let updates = shown(&path, TerminalSupport::None);
    let compactions: Vec<&Value> = updates
        .iter()
        .filter(|update| update["title"] == "Compact conversation")
        .collect();
    assert_eq!(compactions.len(), 2);
    for compaction in compactions {
        let id = &compaction["toolCallId"];
        let summary = updates
            .iter()
            .find(|update| update["sessionUpdate"] == "tool_call_update" && update["toolCallId"] == *id);
        let text = summary.unwrap()["content"][0]["content"]["text"]
            .as_str()
            .unwrap();
        assert!(text.starts_with("This session is being continued"), "{text}");
    }
}

#[test]
fn calls_are_joined_with_results_that_follow_and_no_other_order_changes() {
    let call =
        |id: &str| SessionUpdate::ToolCall(ToolCall::new(id.to_owned(), "t").status(ToolCallStatus::Pending));
    let done = |id: &str| {
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.to_owned(), fields))
    };
    let ids = |updates: Vec<SessionUpdate>| -> Vec<String> {
        let values = updates.iter().map(|update| serde_json::to_value(update).unwrap());
        values
            .map(|update| {
                format!(
                    "{} {}",
                    update["toolCallId"].as_str().unwrap(),
                    update["status"].as_str().unwrap_or("pending")
                )
            })
            .collect()
    };
    let mut joined = Joined::default();
    assert!(joined.push(call("a")).is_empty());
    assert!(joined.push(call("b")).is_empty());
    assert!(joined.push(done("b")).is_empty());
    assert_eq!(ids(joined.push(done("a"))), ["a completed", "b completed"]);
    assert_eq!(ids(joined.push(done("late"))), ["late completed"]);
    assert!(joined.push(call("c")).is_empty());
    let mut out = Vec::new();
    for _ in 0..1000 {
        out.extend(joined.push(done("x")));
    }
    assert_eq!(
        ids(out)[0],
        "c pending",
        "a call whose result is far does not wait for it"
    );
    assert_eq!(ids(joined.push(done("c"))), ["c completed"]);
    assert!(joined.rest().is_empty());
}

#[test]
fn prompts_come_back_as_they_were_sent() {
    let sent = json!([
        {"type": "text", "text": "see"},
        {"type": "resource_link", "name": "a.txt", "uri": "file:///p/a.txt"},
        {"type": "resource", "resource": {"uri": "file:///p/b.txt", "text": "b1\nb2"}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "text", "text": "[@not](a link)"},
    ]);
    let blocks = serde_json::from_value(sent.clone()).unwrap();
    let stored = crate::content::user_content(blocks).unwrap();
    let back = serde_json::to_value(crate::content::client_content(stored)).unwrap();
    assert_eq!(back, sent);
}
