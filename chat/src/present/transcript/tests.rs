//! Updates in, transcript out: whole turns as an agent sends them.

use acp_proto::schema::SessionUpdate;
use serde_json::{Value, json};

use super::*;

/// The transcript of updates given as they stand on the wire.
fn transcript(style: Style, updates: &[Value], reason: StopReason) -> String {
    let mut transcript = Transcript::new(style);
    let mut text = String::new();
    for update in updates {
        let update: SessionUpdate = serde_json::from_value(update.clone()).unwrap();
        text.push_str(&transcript.update(&update));
    }
    text.push_str(&transcript.turn_ended(Some(reason)));
    text
}

fn plain(updates: &[Value]) -> String {
    transcript(Style::Plain, updates, StopReason::EndTurn)
}

fn chunk(kind: &str, text: &str, message: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": message})
}

fn answer(text: &str) -> Value {
    chunk("agent_message_chunk", text, "m1")
}

fn thought(text: &str) -> Value {
    chunk("agent_thought_chunk", text, "m1")
}

fn call(id: &str, name: &str, title: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "name": name, "title": title, "rawInput": {},
        "status": "pending"})
}

fn update(id: &str, fields: Value) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
    update
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    update
}

fn text_content(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

#[test]
fn a_turn_with_thinking_a_tool_and_an_answer() {
    let updates = [
        thought("I should "),
        thought("look."),
        answer("Let me look at "),
        answer("the files."),
        call("t1", "Bash", "Terminal"),
        update(
            "t1",
            json!({"title": "ls", "rawInput": {"command": "ls"}, "kind": "execute"}),
        ),
        update("t1", json!({"status": "in_progress"})),
        update(
            "t1",
            json!({"status": "completed", "content": text_content("```console\na.rs\nb.rs\n```")}),
        ),
        chunk("agent_message_chunk", "Two files.\n", "m2"),
    ];
    insta::assert_snapshot!(plain(&updates));
}

#[test]
fn colour_marks_thinking_headings_and_states() {
    let updates = [
        thought("hm"),
        call("t1", "Bash", "Terminal"),
        update("t1", json!({"title": "false", "rawInput": {"command": "false"}})),
        update(
            "t1",
            json!({"status": "failed", "content": text_content("Exit code 1")}),
        ),
    ];
    let text = transcript(Style::Colour, &updates, StopReason::Refusal);
    insta::assert_snapshot!(text.replace('\u{1b}', "ESC"));
}

#[test]
fn parallel_tools_tell_whose_state_changed() {
    let updates = [
        call("t1", "Read", "Read File"),
        call("t2", "Bash", "Terminal"),
        update("t1", json!({"title": "Read a.rs", "kind": "read"})),
        update("t2", json!({"title": "ls", "kind": "execute"})),
        update(
            "t1",
            json!({"status": "completed", "content": text_content("1\tnot shown")}),
        ),
        update(
            "t2",
            json!({"status": "completed", "content": text_content("a.rs")}),
        ),
        update("t1", json!({"locations": []})),
    ];
    insta::assert_snapshot!(plain(&updates));
}

#[test]
fn an_edit_shows_its_diff_once_when_it_is_done() {
    let diff = |old: Option<&str>, new: &str| json!([{"type": "diff", "path": "a.rs", "oldText": old, "newText": new}]);
    let updates = [
        call("t1", "Edit", "Edit"),
        update(
            "t1",
            json!({"title": "Edit a.rs", "kind": "edit", "content": diff(Some("one"), "two")}),
        ),
        update(
            "t1",
            json!({"content": diff(Some("zero\none\nthree"), "zero\ntwo\nthree")}),
        ),
        update(
            "t1",
            json!({"status": "completed", "rawOutput": "The file was changed"}),
        ),
        update(
            "t1",
            json!({"status": "completed", "content": diff(Some("one"), "two")}),
        ),
    ];
    insta::assert_snapshot!(plain(&updates));
}

#[test]
fn a_call_that_never_got_its_input_is_shown_before_what_follows() {
    let updates = [
        call("t1", "Bash", "Terminal"),
        answer("Never mind."),
        call("t2", "Read", "Read File"),
    ];
    insta::assert_snapshot!(plain(&updates));
}

#[test]
fn a_call_that_is_announced_complete_is_shown_at_once() {
    let mut complete = call("t1", "mcp__git__log", "mcp__git__log");
    complete["rawInput"] = json!({"count": 1});
    let mut transcript = Transcript::new(Style::Plain);
    let shown = transcript.update(&serde_json::from_value(complete).unwrap());
    assert_eq!(shown, "● mcp__git__log\n");
}

#[test]
fn long_results_are_cut_and_failures_show_their_reason() {
    let output: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
    let updates = [
        call("t1", "Bash", "seq 20"),
        update(
            "t1",
            json!({"status": "completed", "content": text_content(&output.join("\n"))}),
        ),
        call("t2", "Read", "Read gone.rs"),
        update(
            "t2",
            json!({"kind": "read", "status": "failed", "rawOutput": "File does not exist."}),
        ),
    ];
    insta::assert_snapshot!(plain(&updates));
}

#[test]
fn a_subagents_calls_are_indented_and_its_words_left_out() {
    let meta = json!({"claudeCode": {"parentToolUseId": "t0"}});
    let mut child = call("t1", "Grep", "grep \"x\"");
    child["_meta"] = meta.clone();
    let mut words = answer("inner words");
    words["_meta"] = meta;
    let updates = [
        call("t0", "Agent", "Look for x"),
        update("t0", json!({"status": "in_progress"})),
        child,
        words,
        update(
            "t1",
            json!({"status": "completed", "content": text_content("a.rs:1: x")}),
        ),
        update(
            "t0",
            json!({"status": "completed", "content": text_content("It is in a.rs")}),
        ),
    ];
    insta::assert_snapshot!(plain(&updates));
}

#[test]
fn plans_modes_notices_and_compaction() {
    let entry =
        |content: &str, status: &str| json!({"content": content, "priority": "medium", "status": status});
    let plan = json!({"sessionUpdate": "plan", "entries": [
        entry("read", "completed"), entry("write\nit", "in_progress"), entry("test", "pending")]});
    let updates = [
        plan.clone(),
        plan,
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "acceptEdits"}),
        json!({"sessionUpdate": "notice", "severity": "warning", "title": "slow", "description": "very\nslow"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "failed", "error": "too long"}),
        json!({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "# Do\n- it"}}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        json!({"sessionUpdate": "session_info_update", "title": "title"}),
        chunk("user_message_chunk", "the prompt again", "m0"),
    ];
    let mut transcript = Transcript::new(Style::Plain);
    let modes = json!({"currentModeId": "plan", "availableModes": [
        {"id": "plan", "name": "Plan"}, {"id": "acceptEdits", "name": "Accept edits"}]});
    transcript.set_modes(&serde_json::from_value(modes).unwrap());
    let texts = updates.map(|update| transcript.update(&serde_json::from_value(update).unwrap()));
    insta::assert_snapshot!(texts.concat());
}

#[test]
fn content_that_is_no_text_is_named() {
    let content = |content: Value| json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let updates = [
        content(json!({"type": "image", "data": "", "mimeType": "image/png"})),
        content(json!({"type": "resource_link", "name": "a", "uri": "file:///a"})),
        content(json!({"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}})),
    ];
    assert_eq!(plain(&updates), "[image: image/png][link: file:///a]inside\n");
}

#[test]
fn messages_and_thoughts_are_paragraphs_of_their_own() {
    let updates = [
        answer("one\n\n"),
        thought("two"),
        chunk("agent_message_chunk", "three", "m2"),
        chunk("agent_message_chunk", "four", "m3"),
    ];
    assert_eq!(plain(&updates), "one\n\nthinking: two\n\nthree\n\nfour\n");
}

#[test]
fn escape_sequences_never_reach_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J";
    let updates = [
        thought(evil),
        answer(evil),
        call("t1", evil, evil),
        update(
            "t1",
            json!({"status": "completed", "content": text_content(evil)}),
        ),
        call("t2", "Edit", evil),
        update(
            "t2",
            json!({"status": "completed", "content":
            [{"type": "diff", "path": evil, "oldText": evil, "newText": "x"}]}),
        ),
        json!({"sessionUpdate": "plan", "entries": [{"content": evil, "priority": "low", "status": "pending"}]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": evil}),
        json!({"sessionUpdate": "notice", "severity": "error", "title": evil, "description": evil}),
        json!({"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": evil}}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "failed", "error": evil}),
    ];
    let text = plain(&updates);
    assert_eq!(text.matches("owned").count(), 13, "{text}");
    let raw = text
        .chars()
        .find(|character| character.is_control() && *character != '\n');
    assert_eq!(raw, None, "{text:?}");
}

#[test]
fn a_finished_call_is_forgotten_after_its_turn() {
    let mut transcript = Transcript::new(Style::Plain);
    for update in [
        call("t1", "Bash", "ls"),
        update("t1", json!({"status": "completed"})),
        call("t2", "Bash", "top &"),
    ] {
        transcript.update(&serde_json::from_value(update).unwrap());
    }
    transcript.turn_ended(Some(StopReason::EndTurn));
    assert_eq!(transcript.tools.len(), 1);
}

#[test]
fn an_update_below_an_open_line_starts_on_its_own() {
    let mut transcript = Transcript::new(Style::Plain);
    transcript.line_is_open();
    let update = serde_json::from_value(answer("late words")).unwrap();
    assert_eq!(
        transcript.update(&update) + &transcript.turn_ended(None),
        "\nlate words\n"
    );
}
