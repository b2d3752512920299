//! Which branch is the live one, and what broken files give.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use super::file;
use crate::messages::{ClaudeSessionId, ContentBlock, Message};
use crate::transcripts::{Entry, Replay, Summary, TranscriptFile, fork};

fn user(uuid: &str, parent: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": uuid}})
}

fn said(uuid: &str, parent: &str) -> Value {
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent,
        "message": {"id": uuid, "content": [{"type": "text", "text": uuid}]}})
}

fn call(uuid: &str, parent: &str, message: &str) -> Value {
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent,
        "message": {"id": message, "content": [{"type": "tool_use", "id": uuid, "name": "Read", "input": {}}]}})
}

fn result(uuid: &str, parent: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sourceToolAssistantUUID": parent,
        "message": {"content": [{"type": "tool_result", "tool_use_id": parent, "content": uuid}]}})
}

fn marker(leaf: Value) -> Value {
    json!({"type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf})
}

fn pinned(leaf: Value) -> Value {
    json!({"type": "last-prompt", "leafUuid": leaf, "explicit": true, "rewound": true})
}

/// The uuids of what is shown.
fn shown(content: &str) -> String {
    let written = tempfile::NamedTempFile::new().unwrap();
    fs::write(written.path(), content).unwrap();
    let mut shown = Vec::new();
    for entry in Replay::open(&file(written.path().to_owned())).unwrap() {
        shown.push(match entry {
            Entry::Prompt(prompt) => prompt.uuid.unwrap().into_string(),
            Entry::Message(message) => match *message {
                Message::Assistant(said) => said.uuid.get().unwrap().to_string(),
                Message::User(user) => user.uuid.get().unwrap().to_string(),
                other => other.kind().unwrap().to_owned(),
            },
            Entry::Summary(text) => text,
            Entry::LeftOut { bytes } => format!("{bytes} left out"),
        });
    }
    shown.join(" ")
}

fn check(lines: &[Value], expected: &str) {
    let mut content = String::new();
    for line in lines {
        writeln!(content, "{line}").unwrap();
    }
    assert_eq!(shown(&content), expected, "{content}");
}

#[test]
fn without_a_marker_the_last_line_of_the_main_thread_is_the_leaf() {
    let mut side = said("s", "a2");
    side["isSidechain"] = json!(true);
    check(
        &[
            user("u1", ""),
            said("a1", "u1"),
            user("u2", "u1"),
            said("a2", "u2"),
            side,
        ],
        "u1 u2 a2",
    );
}

#[test]
fn a_marker_decides_and_goes_on_to_the_last_line_below_it() {
    let (u1, a1, u2, a2) = (
        user("u1", ""),
        said("a1", "u1"),
        user("u2", "a1"),
        said("a2", "u2"),
    );
    let other = user("other", "u1");
    let lines = |marker: Value| {
        [
            u1.clone(),
            a1.clone(),
            marker,
            u2.clone(),
            a2.clone(),
            other.clone(),
        ]
    };
    check(&lines(marker(json!("a1"))), "u1 a1 u2 a2");
    check(&lines(marker(json!("u2"))), "u1 a1 u2 a2");
    check(&lines(marker(json!("unknown"))), "u1 other");
    check(&lines(marker(Value::Null)), "u1 other");
}

#[test]
fn what_someone_went_back_from_stays_away() {
    let (u1, a1, u2, a2) = (
        user("u1", ""),
        said("a1", "u1"),
        user("u2", "a1"),
        said("a2", "u2"),
    );
    let talked = [u1, a1, u2, a2];
    let with = |more: &[Value]| [&talked, more].concat();
    check(&with(&[pinned(json!("a1"))]), "u1 a1");
    check(&with(&[pinned(json!("a1")), marker(json!("a1"))]), "u1 a1");
    check(&with(&[pinned(json!("a1")), user("u3", "a1")]), "u1 a1 u3");
    check(
        &with(&[
            pinned(json!("a1")),
            user("u3", "a1"),
            marker(json!("u3")),
            said("a3", "u3"),
        ]),
        "u1 a1 u3 a3",
    );
    check(&with(&[pinned(Value::Null)]), "");
    check(
        &with(&[pinned(Value::Null), user("n", ""), said("m", "n")]),
        "n m",
    );
}

#[test]
fn parallel_calls_and_their_results_belong_together() {
    let lines = [
        user("u", ""),
        call("c1", "u", "m"),
        call("c2", "c1", "m"),
        result("r2", "c2"),
        result("r1", "c1"),
        json!({"type": "attachment", "uuid": "q", "parentUuid": "r1", "attachment": {"type": "queued_command",
            "prompt": "folded", "source_uuid": "folded", "origin": {"kind": "human"}}}),
        said("a", "r2"),
    ];
    check(&lines, "u c1 c2 r2 r1 folded a");
}

#[test]
fn after_a_compaction_the_whole_history_is_there_and_each_line_once() {
    let lines = [
        user("u1", ""),
        said("a1", "u1"),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null,
            "logicalParentUuid": "a1", "compactMetadata": {"trigger": "auto"}}),
        json!({"type": "user", "uuid": "s", "parentUuid": "b", "isCompactSummary": true,
            "message": {"content": "summary"}}),
        said("a1", "s"),
        user("u2", "s"),
    ];
    check(&lines, "u1 a1 system summary u2");
}

#[test]
fn broken_lines_circles_and_unknown_kinds_cost_themselves_only() {
    check(&[user("x", "y"), user("y", "x")], "x y");
    check(&[user("u", "missing"), said("a", "u")], "u a");
    let mut content =
        String::from("garbage\n\n[]\n{\"type\":5}\n{\"type\":\"user\",\"uuid\":\"z\",\"message\":7}\n");
    for line in [
        json!({"type": "hologram", "uuid": "h"}),
        user("u", ""),
        said("a", "u"),
    ] {
        writeln!(content, "{line}").unwrap();
    }
    let half = said("half", "a").to_string();
    content.extend(half.chars().take(half.len() / 2));
    assert_eq!(shown(&content), "u a");
    assert_eq!(shown(""), "");
    let half_pair = r#"{"type":"user","uuid":"u","message":{"content":"\ud800"}}"#;
    assert_eq!(shown(half_pair), "u");
}

#[test]
fn a_file_that_grows_while_it_is_read_shows_what_was_there() {
    let written = tempfile::NamedTempFile::new().unwrap();
    writeln!(written.as_file(), "{}", user("u", "")).unwrap();
    let mut replay = Replay::open(&file(written.path().to_owned())).unwrap();
    writeln!(written.as_file(), "{}", user("later", "u")).unwrap();
    assert!(matches!(replay.next(), Some(Entry::Prompt(_))));
    assert_eq!(replay.next(), None);
}

#[test]
fn a_line_longer_than_one_would_hold_is_read_where_it_lies() {
    let long = "x".repeat(3 << 20);
    let line = json!({"parentUuid": null, "message": {"content": [{"type": "text", "text": long}]},
        "type": "user", "uuid": "u"});
    let written = tempfile::NamedTempFile::new().unwrap();
    fs::write(written.path(), format!("{line}\n{}\n", said("a", "u"))).unwrap();
    let entries: Vec<Entry> = Replay::open(&file(written.path().to_owned())).unwrap().collect();
    let [Entry::Prompt(prompt), Entry::Message(_)] = entries.as_slice() else {
        panic!("{} entries", entries.len())
    };
    assert!(matches!(&prompt.content[..], [ContentBlock::Text(text)] if text.text == long));
}

#[test]
fn what_no_person_typed_is_no_prompt() {
    for text in [
        "[Request interrupted by user for tool use]",
        "<local-command-stdout>done</local-command-stdout>",
        "<local-command-caveat>x</local-command-caveat>",
        "<system-reminder>x</system-reminder>",
        "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>",
        " ",
    ] {
        let mut line = user("u", "");
        line["message"]["content"] = json!(text);
        check(&[line.clone()], "");
        line["message"]["content"] = json!([{"type": "text", "text": text}]);
        check(&[line], "");
    }
    for (key, value) in [("isMeta", json!(true)), ("origin", json!({"kind": "peer"}))] {
        let mut line = user("u", "");
        line[key] = value;
        check(&[line], "");
    }
}

#[test]
fn commands_are_shown_as_they_were_typed() {
    for (markup, typed) in [
        (
            "<command-message>x</command-message>\n<command-name>/x</command-name>\n<command-args>a b</command-args>",
            "/x a b",
        ),
        (
            "<command-name>/clear</command-name>\n      <command-message>clear</command-message>",
            "/clear",
        ),
        ("<bash-input>ls -l</bash-input>", "!ls -l"),
    ] {
        let mut line = user("u", "");
        line["message"]["content"] = json!(markup);
        let written = tempfile::NamedTempFile::new().unwrap();
        fs::write(written.path(), line.to_string()).unwrap();
        let entries: Vec<Entry> = Replay::open(&file(written.path().to_owned())).unwrap().collect();
        let [Entry::Prompt(prompt)] = entries.as_slice() else {
            panic!("{entries:?}")
        };
        assert_eq!(prompt.content, [ContentBlock::text(typed)]);
    }
}

#[test]
fn a_fork_has_the_whole_history_under_ids_of_its_own() {
    for name in ["compaction", "calls", "branches", "queue", "interrupted"] {
        let folder = tempfile::tempdir().unwrap();
        let source = super::recorded(name);
        let path = folder.path().join("source.jsonl");
        fs::copy(&source.path, &path).unwrap();
        let from = file(path);
        let id = ClaudeSessionId::from("0a0c4f6e-2222-4222-8333-abcdefabcdef");
        let forked = fork(&from, &id, "A title (fork)", None).unwrap();
        let (old, new) = (view(&from), view(&forked));
        let said = |entries: &[Entry]| entries.iter().map(what).collect::<Vec<_>>();
        assert_eq!(said(&new), said(&old), "{name}");
        let text = fs::read_to_string(&forked.path).unwrap();
        for line in text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
        {
            assert_eq!(line["sessionId"], json!(id));
            if let Some(origin) = line["forkedFrom"]["messageUuid"].as_str() {
                assert_ne!(line["uuid"], origin);
            }
        }
        assert_eq!(Summary::read(&forked).unwrap().unwrap().title, "A title (fork)");
        assert!(
            fork(&from, &id, "again", None).is_err(),
            "no file is written over"
        );
    }
}

#[test]
fn a_fork_ends_with_the_message_that_is_named() {
    let lines = [
        user("u1", ""),
        call("c1", "u1", "m"),
        call("c2", "c1", "m"),
        result("r1", "c1"),
        said("a", "r1"),
    ];
    let written = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(written.path(), text.join("\n")).unwrap();
    let from = file(written.path().to_owned());
    let count = |until: &str| {
        let id = ClaudeSessionId::from(uuid::Uuid::new_v4().to_string());
        let forked = fork(&from, &id, "t", Some(until)).map_err(|error| error.to_string())?;
        let entries = view(&forked).len();
        fs::remove_file(forked.path).unwrap();
        Ok::<_, String>(entries)
    };
    assert_eq!((count("m"), count("u1"), count("a")), (Ok(3), Ok(1), Ok(5)));
    assert_eq!(count("x"), Err("the conversation has no message `x`".to_owned()));
}

fn view(transcript: &TranscriptFile) -> Vec<Entry> {
    Replay::open(transcript).unwrap().collect()
}

/// An entry without its ids.
fn what(entry: &Entry) -> String {
    match entry {
        Entry::Prompt(prompt) => format!("{:?}", prompt.content),
        Entry::Message(message) => match message.as_ref() {
            Message::Assistant(said) => format!("{:?}", said.message),
            Message::User(user) => format!("{:?}", user.message),
            other => other.kind().unwrap().to_owned(),
        },
        other => format!("{other:?}"),
    }
}
