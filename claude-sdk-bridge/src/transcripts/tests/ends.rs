//! What a list says of a session.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{file, recorded};
use crate::transcripts::Summary;

const ID: &str = "0a0c4f6e-1111-4222-8333-abcdefabcdef";

fn user(text: &str) -> Value {
    json!({"type": "user", "uuid": "u", "cwd": "/project", "message": {"content": text}})
}

fn summary(lines: &[Value]) -> Option<Summary> {
    in_folder(lines, |_| {})
}

fn in_folder(lines: &[Value], more: impl FnOnce(&Path)) -> Option<Summary> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{ID}.jsonl"));
    let mut content = String::new();
    for line in lines {
        writeln!(content, "{line}").unwrap();
    }
    fs::write(&path, content).unwrap();
    more(&path.with_extension(""));
    Summary::read(&file(path)).unwrap()
}

fn title(lines: &[Value]) -> Option<String> {
    summary(lines).map(|summary| summary.title)
}

#[test]
fn recorded_sessions_have_their_titles() {
    let titles = [
        "basics",
        "commands",
        "fork_by_cli",
        "queue",
        "media",
        "interrupted",
    ]
    .map(|name| {
        let summary = Summary::read(&recorded(name)).unwrap().unwrap();
        assert_eq!(summary.cwd, Path::new("/work/project"));
        summary.title
    });
    insta::assert_snapshot!(titles.join("\n"), @r#"
    Title 1 by model
    My own title
    Named
    the first
    see this [@a.txt](file:///work/project/a.txt) <context ref="file:///work/project/b.txt"> b1 </context>
    tell a story
    "#);
}

#[test]
fn a_name_goes_before_claudes_title_and_that_before_the_first_prompt() {
    let (custom, ai) = (
        json!({"type": "custom-title", "customTitle": "mine"}),
        json!({"type": "ai-title", "aiTitle": "claude's"}),
    );
    let prompts = [user("first\n  prompt"), user("second")];
    let with = |more: &[Value]| title(&[&prompts, more].concat());
    assert_eq!(with(&[]).as_deref(), Some("first prompt"));
    assert_eq!(with(std::slice::from_ref(&ai)).as_deref(), Some("claude's"));
    assert_eq!(with(&[custom.clone(), ai.clone()]).as_deref(), Some("mine"));
    let taken_back = json!({"type": "custom-title", "customTitle": ""});
    assert_eq!(with(&[custom, ai, taken_back]).as_deref(), Some("claude's"));
}

#[test]
fn text_that_looks_like_a_title_line_is_no_title() {
    let inside = r#"{"type":"custom-title","customTitle":"stolen"}"#;
    assert_eq!(title(&[user(inside)]).as_deref(), Some(inside));
}

#[test]
fn what_nobody_has_said_anything_in_is_not_listed() {
    let mut side = user("subagent");
    side["isSidechain"] = json!(true);
    let clear = "<command-name>/clear</command-name>";
    let mut meta = user("meta");
    meta["isMeta"] = json!(true);
    for lines in [
        vec![],
        vec![json!({"type": "mode", "mode": "normal"})],
        vec![side],
        vec![user(clear)],
        vec![meta],
        vec![user("<system-reminder>x</system-reminder>")],
        vec![json!({"type": "user", "isCompactSummary": true, "cwd": "/p", "message": {"content": "s"}})],
    ] {
        assert_eq!(summary(&lines), None, "{lines:?}");
    }
}

#[test]
fn a_command_or_an_image_alone_gives_a_title() {
    let command = "<command-name>/review</command-name><command-args>42</command-args>";
    assert_eq!(title(&[user(command)]).as_deref(), Some("/review 42"));
    assert_eq!(title(&[user(command), user("words")]).as_deref(), Some("words"));
    let mut image = user("");
    image["message"]["content"] =
        json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}]);
    assert_eq!(title(&[image]).as_deref(), Some("Image"));
}

#[test]
fn a_long_title_is_cut() {
    let title = title(&[user(&"ü ".repeat(1000))]).unwrap();
    assert_eq!(title.chars().count(), 256);
    assert!(title.ends_with('…'), "{title}");
}

#[test]
fn a_session_that_moved_is_where_it_moved_to() {
    let moved = json!({"type": "relocated", "relocatedCwd": "/worktree"});
    assert_eq!(summary(&[user("x"), moved]).unwrap().cwd, Path::new("/worktree"));
}

#[test]
fn only_the_ends_of_a_long_file_are_read() {
    let filler = json!({"type": "attachment", "uuid": "f", "attachment": "x".repeat(200_000)});
    let name = json!({"type": "custom-title", "customTitle": "in the middle"});
    let end = json!({"type": "ai-title", "aiTitle": "at the end"});
    let lines = [user("first"), filler.clone(), name, filler, end];
    assert_eq!(title(&lines).as_deref(), Some("at the end"));
    let named = in_folder(&lines, |folder| {
        fs::create_dir(folder).unwrap();
        fs::write(
            folder.join("custom-title.json"),
            r#"{"customTitle": "beside it"}"#,
        )
        .unwrap();
    });
    assert_eq!(named.unwrap().title, "beside it");
}

#[test]
fn a_first_prompt_longer_than_the_end_it_stands_in_tells_folder_and_title() {
    let filler =
        json!({"type": "attachment", "uuid": "f", "cwd": "/project/sub", "attachment": "x".repeat(200_000)});
    let pasted = format!("look at this: {}", "y".repeat(300_000));
    let summary = summary(&[json!({"type": "mode"}), user(&pasted), filler]).unwrap();
    assert_eq!(summary.cwd, Path::new("/project"));
    assert!(
        summary.title.starts_with("look at this: yyy"),
        "{}",
        summary.title
    );
}

#[test]
fn characters_that_are_none_hide_no_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{ID}.jsonl"));
    let line = user("half").to_string();
    for (bad, title) in [
        (&b"\\ud83d"[..], "half\u{fffd}"),
        (&b"\xff\xfe"[..], "half\u{fffd}\u{fffd}"),
    ] {
        let (before, after) = line.split_once("half").unwrap();
        let written = [before.as_bytes(), b"half", bad, after.as_bytes(), b"\n"].concat();
        fs::write(&path, written).unwrap();
        let summary = Summary::read(&file(path.clone())).unwrap().unwrap();
        assert_eq!(summary.title, title);
    }
}

#[test]
fn a_person_may_begin_as_it_likes_and_what_an_editor_adds_is_no_title() {
    let mut said = user("<system-reminder> what does this tag mean?");
    said["origin"] = json!({"kind": "human"});
    assert_eq!(
        title(&[said]).as_deref(),
        Some("<system-reminder> what does this tag mean?")
    );
    let mut added = user("");
    added["message"]["content"] = json!([
        {"type": "text", "text": "<ide_opened_file>a.rs</ide_opened_file>"},
        {"type": "text", "text": "mend it"},
    ]);
    assert_eq!(title(&[added]).as_deref(), Some("mend it"));
}

/// Whoever reads a pipe that nobody writes to waits for ever.
#[test]
fn a_name_that_is_no_file_is_none() {
    let piped = in_folder(&[user("first")], |folder| {
        fs::create_dir(folder).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("custom-title.json"), mode).unwrap();
    });
    assert_eq!(piped.unwrap().title, "first");
}
