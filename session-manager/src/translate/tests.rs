//! Transcripts of real traffic, and tables for what a recording does not hold.

use std::collections::HashMap;

use acp_proto::schema::{SessionNotification, ToolCallUpdate};
use bytes::Bytes;
use claude_sdk_bridge::decode::{Decoded, decode};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn translator(terminal: TerminalSupport) -> Translator {
    Translator::new(
        SessionId::new("s1"),
        PathBuf::from("/home/user/project"),
        terminal,
    )
}

/// What the client gets for one line of Claude's, as JSON updates.
fn feed(translator: &mut Translator, line: &str) -> Vec<Value> {
    match decode(Bytes::copy_from_slice(line.as_bytes())) {
        Decoded::Delta(delta) => translator
            .delta(&delta)
            .map(|line| update_in(&line))
            .into_iter()
            .collect(),
        Decoded::Message(message) => wire(translator.message(&message)),
        Decoded::Garbage { error, .. } => panic!("{error}: {line}"),
    }
}

fn feed_all(translator: &mut Translator, lines: &[Value]) -> Vec<Value> {
    lines
        .iter()
        .flat_map(|line| feed(translator, &line.to_string()))
        .collect()
}

fn wire(updates: impl IntoIterator<Item = SessionUpdate>) -> Vec<Value> {
    updates
        .into_iter()
        .map(|update| serde_json::to_value(update).unwrap())
        .collect()
}

fn update_in(line: &Line) -> Value {
    let message: Value = serde_json::from_slice(line.as_bytes()).unwrap();
    assert_eq!(
        (&message["method"], &message["params"]["sessionId"]),
        (&json!("session/update"), &json!("s1"))
    );
    message["params"]["update"].clone()
}

/// A permission request as the session makes it: announced first, then asked.
fn ask(translator: &mut Translator, request: &Value, agents: &HashMap<String, String>) -> Vec<Value> {
    let parent = request["agent_id"]
        .as_str()
        .and_then(|agent| agents.get(agent))
        .map(String::as_str);
    let (id, name) = (
        request["tool_use_id"].as_str().unwrap(),
        request["tool_name"].as_str().unwrap(),
    );
    let mut input = request["input"].clone();
    if let Some(plan) = translator.input_of(id).and_then(|known| known.get("plan")) {
        input["plan"] = plan.clone();
    }
    let call = ToolCallRef {
        id,
        name,
        input: &input,
        parent,
    };
    let mut updates = wire(translator.announce(&call));
    updates.push(json!({"asked": translator.permission_tool_call(&call)}));
    updates
}

/// Plays a recording and writes down what the client gets, one update a line.
fn play(recording: &str, terminal: TerminalSupport) -> Vec<Value> {
    let mut translator = translator(terminal);
    let mut agents = HashMap::new();
    let mut shown = Vec::new();
    for line in recording.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["subtype"] == "task_started" {
            let ids = [&message["task_id"], &message["tool_use_id"]]
                .map(|id| id.as_str().unwrap_or_default().to_owned());
            agents.insert(ids[0].clone(), ids[1].clone());
        }
        if message["type"] == "control_request" {
            shown.extend(ask(&mut translator, &message["request"], &agents));
        } else {
            shown.extend(feed(&mut translator, line));
        }
    }
    shown
}

macro_rules! recordings {
    ($($name:ident),* $(,)?) => {
        const RECORDINGS: &[(&str, &str)] =
            &[$((stringify!($name), include_str!(concat!("fixtures/", stringify!($name), ".jsonl")))),*];
    };
}

recordings!(
    api_500,
    ask_user_question,
    background_tasks,
    bash_allow,
    bash_deny_interrupt,
    deny_rule,
    edit_setmode,
    hook_stop_block,
    hook_userpromptsubmit_block,
    interrupt_background_affordance,
    interrupt_midstream,
    interrupt_running_tool,
    mcp_stdio,
    parallel_tools,
    plan_exit_deny,
    plan_file_exit_edited,
    priority_now,
    refusal_stop,
    skill,
    slash_compact_empty,
    slash_compact_real,
    slash_context,
    subagent,
    subagent_background,
    subagent_forward_text,
    thinking,
    web_fetch,
);

fn as_lines(updates: &[Value]) -> String {
    updates
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn recorded_sessions_are_shown_as_agreed() {
    for (name, recording) in RECORDINGS {
        insta::assert_snapshot!(*name, as_lines(&play(recording, TerminalSupport::None)));
    }
}

#[test]
fn recorded_commands_are_shown_in_display_terminals() {
    for (name, recording) in RECORDINGS {
        if [
            "bash_allow",
            "deny_rule",
            "interrupt_background_affordance",
            "interrupt_running_tool",
        ]
        .contains(name)
        {
            let shown = play(recording, TerminalSupport::Output);
            insta::assert_snapshot!(format!("terminal_{name}"), as_lines(&shown));
        }
    }
}

#[test]
fn every_recording_announces_a_call_once_before_anything_else_about_it_and_ends_it() {
    for (name, recording) in RECORDINGS {
        for terminal in [
            TerminalSupport::None,
            TerminalSupport::Output,
            TerminalSupport::Delta,
        ] {
            let mut states: HashMap<String, String> = HashMap::new();
            for update in play(recording, terminal) {
                let about = update.get("asked").unwrap_or(&update);
                let Some(id) = about["toolCallId"].as_str() else {
                    continue;
                };
                if about["sessionUpdate"] == "tool_call" {
                    let status = about["status"].as_str().unwrap_or("pending").to_owned();
                    assert!(
                        states.insert(id.to_owned(), status).is_none(),
                        "{name}: {id} announced twice"
                    );
                    continue;
                }
                let state = states
                    .get_mut(id)
                    .unwrap_or_else(|| panic!("{name}: {id} not announced"));
                if let Some(status) = about["status"].as_str() {
                    assert!(
                        !["completed", "failed"].contains(&state.as_str()),
                        "{name}: {id} ended twice"
                    );
                    *state = status.to_owned();
                }
            }
            let open: Vec<_> = states
                .iter()
                .filter(|(_, state)| !["completed", "failed"].contains(&state.as_str()))
                .collect();
            assert!(open.is_empty(), "{name}: {open:?}");
        }
    }
}

#[test]
fn every_recording_shows_each_text_of_the_main_thread_once() {
    for (name, recording) in RECORDINGS {
        let mut said: HashMap<String, String> = HashMap::new();
        for line in recording.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            let main = message["parent_tool_use_id"].is_null() && message["is_api_error_message"] != true;
            if message["type"] == "assistant" && main {
                let id = message["message"]["id"].as_str().unwrap().to_owned();
                let blocks = message["message"]["content"].as_array().unwrap();
                let texts: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
                said.entry(id).or_default().push_str(&texts);
            }
        }
        let mut shown: HashMap<String, String> = HashMap::new();
        for update in play(recording, TerminalSupport::None) {
            if let (Some("agent_message_chunk"), Some(id)) =
                (update["sessionUpdate"].as_str(), update["messageId"].as_str())
            {
                shown
                    .entry(id.to_owned())
                    .or_default()
                    .push_str(update["content"]["text"].as_str().unwrap());
            }
        }
        for (id, text) in said.into_iter().filter(|(_, text)| !text.is_empty()) {
            let got = shown.get(&id).map(|text| text.trim_end());
            assert_eq!(got, Some(text.trim_end()), "{name}: {id}");
        }
    }
}

fn stream(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null, "api_message_id": "m1"})
}

fn delta_of(kind: &str, field: &str, index: u64, text: &str) -> Value {
    stream(json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: text}}))
}

fn text_delta(index: u64, text: &str) -> Value {
    delta_of("text_delta", "text", index, text)
}

fn whole(block: Value) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "message": {"id": "m1", "role": "assistant", "content": [block]}})
}

fn tool_use(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn tool_result(id: &str, content: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": [block]}})
}

/// The texts shown for `lines`, in order.
fn check_texts(lines: &[Value], expected: &[&str]) {
    let shown = feed_all(&mut translator(TerminalSupport::None), lines);
    let texts: Vec<_> = shown
        .iter()
        .map(|update| update["content"]["text"].as_str().unwrap_or("no text"))
        .collect();
    assert_eq!(texts, expected);
}

#[test]
fn the_hot_path_writes_what_the_schema_would() {
    let mut translator = translator(TerminalSupport::None);
    for text in [
        "plain",
        "quotes \" and \\",
        "line\nbreak\ttab",
        "ünïcödé 🦀",
        "\u{1}",
    ] {
        for (kind, field) in [("text_delta", "text"), ("thinking_delta", "thinking")] {
            let line = delta_of(kind, field, 0, text).to_string();
            let Decoded::Delta(delta) = decode(Bytes::from(line)) else {
                panic!("{text} is a delta")
            };
            let shown = translator.delta(&delta).unwrap();
            let update = match field {
                "text" => notices::text(text, Some("m1")),
                _ => notices::thought(text, Some("m1")),
            };
            let params = SessionNotification::new("s1", update);
            let expected = Line::notification("session/update", &params);
            assert_eq!(shown.as_bytes(), expected.as_bytes());
        }
    }
}

#[test]
fn streamed_text_is_not_repeated_and_the_rest_of_it_is_shown() {
    let block = |text: &str| whole(json!({"type": "text", "text": text}));
    check_texts(
        &[
            text_delta(0, "Hel"),
            text_delta(0, "lo \""),
            block("Hello \"you\""),
        ],
        &["Hel", "lo \"", "you\""],
    );
    check_texts(
        &[text_delta(0, "Hello"), block("Hello"), block("Hello")],
        &["Hello", "Hello"],
    );
    check_texts(&[block("never streamed")], &["never streamed"]);
    check_texts(&[text_delta(0, ""), block("")], &[]);
    let started = stream(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "A"}}),
    );
    check_texts(&[started, text_delta(0, "B"), block("AB")], &["A", "B"]);
    let unnamed = json!({"type": "stream_event", "parent_tool_use_id": null,
        "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "no id"}}});
    check_texts(&[unnamed, block("no id")], &["no id"]);
}

#[test]
fn empty_thinking_is_dropped_and_thinking_shares_its_messages_id() {
    let thinking = |text: &str| whole(json!({"type": "thinking", "thinking": text, "signature": "c2ln"}));
    let lines = [
        delta_of("thinking_delta", "thinking", 0, ""),
        thinking(""),
        whole(json!({"type": "redacted_thinking", "data": "x"})),
        delta_of("thinking_delta", "thinking", 1, "hm"),
        thinking("hm"),
    ];
    let shown = feed_all(&mut translator(TerminalSupport::None), &lines);
    assert_eq!(
        shown,
        [
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}, "messageId": "m1"})
        ]
    );
}

#[test]
fn a_result_is_shown_only_when_nothing_else_said_it() {
    let result = |text: &str, error: bool| json!({"type": "result", "subtype": "success", "is_error": error, "result": text, "uuid": "u1"});
    check_texts(
        &[result("only here", false), result("and again", false)],
        &["only here", "and again"],
    );
    check_texts(&[text_delta(0, "said"), result("said", false)], &["said"]);
    check_texts(
        &[
            whole(json!({"type": "text", "text": "said"})),
            result("said", false),
        ],
        &["said"],
    );
    check_texts(&[result("API Error: 500", true)], &[]);
    let error = json!({"type": "assistant", "is_api_error_message": true, "error": "server_error",
        "message": {"id": "e1", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 500"}]}});
    check_texts(&[error, result("API Error: 500", true)], &[]);
    let output = json!({"type": "system", "subtype": "local_command_output", "content": "<local-command-stdout>done</local-command-stdout>"});
    check_texts(&[output, result("done", false)], &["done"]);
    let blocked = json!({"type": "system", "subtype": "informational", "level": "warning", "content": "blocked", "prevent_continuation": true});
    check_texts(
        &[blocked, result("blocked", false)],
        &["**Warning:** blocked\n\n"],
    );
}

#[test]
fn notes_for_the_user_carry_their_level_and_chatter_is_left_out() {
    let note = |level: &str| json!({"type": "system", "subtype": "informational", "level": level, "content": "text"});
    let mut translator = translator(TerminalSupport::None);
    let shown = feed_all(
        &mut translator,
        &[note("warning"), note("notice"), note("info"), note("suggestion")],
    );
    let chunk = |text: &str, level: &str| {
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
            "_meta": {"claudeCode": {"kind": "informational", "level": level}}})
    };
    assert_eq!(
        shown,
        [
            chunk("**Warning:** text\n\n", "warning"),
            chunk("**Notice:** text\n\n", "notice")
        ]
    );
    let retry = json!({"type": "system", "subtype": "api_retry", "attempt": 3, "max_retries": 10,
        "retry_delay_ms": 2400, "error_status": 529, "error": "overloaded"});
    let text = "**Warning:** The API failed (overloaded, 529). Try 3 of 10 follows in 2 s.\n\n";
    assert_eq!(feed_all(&mut translator, &[retry]), [chunk(text, "warning")]);
    let ignored = [
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}}),
        json!({"type": "system", "subtype": "api_retry", "attempt": 1}),
        json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 600}),
        json!({"type": "system", "subtype": "brand_new"}),
        json!({"type": "brand_new"}),
        json!({"type": "user", "isReplay": true, "message": {"role": "user", "content": "hi"}}),
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}),
    ];
    assert_eq!(feed_all(&mut translator, &ignored), Vec::<Value>::new());
}

#[test]
fn a_permission_question_ahead_of_the_stream_announces_the_call_once() {
    let mut translator = translator(TerminalSupport::None);
    let input = json!({"command": "ls"});
    let call = ToolCallRef {
        id: "t1",
        name: "Bash",
        input: &input,
        parent: Some("t0"),
    };
    let first = wire(translator.announce(&call));
    assert_eq!(
        (&first[0]["sessionUpdate"], &first[0]["title"]),
        (&json!("tool_call"), &json!("ls"))
    );
    assert_eq!(first[0]["_meta"]["claudeCode"]["parentToolUseId"], "t0");
    assert!(translator.announce(&call).is_none());
    let later = whole(tool_use(
        "t1",
        "Bash",
        json!({"command": "ls", "description": "List"}),
    ));
    let refined = feed_all(&mut translator, &[later.clone(), later]);
    assert_eq!(refined.len(), 1, "{refined:?}");
    assert_eq!(
        (&refined[0]["sessionUpdate"], refined[0].get("title")),
        (&json!("tool_call_update"), None)
    );
    assert_eq!(translator.input_of("t1").unwrap()["description"], "List");
}

#[test]
fn a_question_about_another_input_than_the_messages_corrects_what_is_shown() {
    let mut translator = translator(TerminalSupport::None);
    let said = [
        whole(tool_use("t1", "Bash", json!({"command": "ls"}))),
        whole(tool_use("t2", "ExitPlanMode", json!({}))),
    ];
    feed_all(&mut translator, &said);
    let check = |translator: &mut Translator, id: &str, name: &str, input: Value| {
        let call = ToolCallRef {
            id,
            name,
            input: &input,
            parent: None,
        };
        wire(translator.announce(&call)).pop()
    };
    let changed = check(&mut translator, "t1", "Bash", json!({"command": "ls -l"})).unwrap();
    assert_eq!(
        (&changed["sessionUpdate"], &changed["title"]),
        (&json!("tool_call_update"), &json!("ls -l"))
    );
    assert!(
        check(
            &mut translator,
            "t1",
            "Bash",
            json!({"command": "ls -l", "timeout": 1})
        )
        .is_none()
    );
    let plan = check(&mut translator, "t2", "ExitPlanMode", json!({"plan": "# P"})).unwrap();
    assert_eq!(plan["content"][0]["content"]["text"], "# P");
    assert!(
        check(&mut translator, "t2", "ExitPlanMode", json!({})).is_none(),
        "a plan is not taken away"
    );
}

#[test]
fn a_question_about_a_call_whose_input_is_still_streaming_completes_it_first() {
    let mut translator = translator(TerminalSupport::None);
    let start = json!({"type": "content_block_start", "index": 0, "content_block": tool_use("t1", "Bash", json!({}))});
    let shown = feed_all(&mut translator, &[stream(start)]);
    assert_eq!(
        (&shown[0]["sessionUpdate"], &shown[0]["title"]),
        (&json!("tool_call"), &json!("Terminal"))
    );
    let input = json!({"command": "ls"});
    let call = ToolCallRef {
        id: "t1",
        name: "Bash",
        input: &input,
        parent: None,
    };
    let shown = wire(translator.announce(&call));
    assert_eq!(
        (&shown[0]["sessionUpdate"], &shown[0]["title"]),
        (&json!("tool_call_update"), &json!("ls"))
    );
    assert!(translator.announce(&call).is_none());
}

#[test]
fn calls_are_in_progress_once_and_only_while_they_run() {
    let mut translator = translator(TerminalSupport::None);
    let progress =
        json!({"type": "tool_progress", "tool_use_id": "t1", "tool_name": "Bash", "elapsed_time_seconds": 3});
    let started = json!({"type": "system", "subtype": "task_started", "task_id": "k", "tool_use_id": "t1"});
    assert!(
        feed_all(&mut translator, std::slice::from_ref(&progress)).is_empty(),
        "unknown call"
    );
    feed_all(
        &mut translator,
        &[whole(tool_use("t1", "Bash", json!({"command": "x"})))],
    );
    let shown = feed_all(&mut translator, &[progress.clone(), started, progress.clone()]);
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["status"], "in_progress");
    assert!(translator.decided("t1", true).is_none());
    feed_all(&mut translator, &[tool_result("t1", "done")]);
    assert!(feed_all(&mut translator, &[progress]).is_empty());
}

#[test]
fn an_allowed_call_is_in_progress_and_one_that_is_only_a_question_has_ended() {
    let mut translator = translator(TerminalSupport::None);
    let input = json!({"host": "example.com"});
    let call = |id: &'static str, name: &'static str| ToolCallRef {
        id,
        name,
        input: &input,
        parent: None,
    };
    for (id, name, allowed, status) in [
        ("t1", "Bash", true, Some("in_progress")),
        ("t2", "Bash", false, None),
        ("t3", "SandboxNetworkAccess", true, Some("completed")),
        ("t4", "SandboxNetworkAccess", false, Some("failed")),
    ] {
        translator.announce(&call(id, name));
        let shown = wire(translator.decided(id, allowed));
        assert_eq!(
            shown.first().and_then(|update| update["status"].as_str()),
            status,
            "{name} {allowed}"
        );
    }
    translator.announce(&call("t5", "SandboxNetworkAccess"));
    assert_eq!(wire(translator.decided("t5", false))[0]["status"], "failed");
    assert!(translator.decided("t1", false).is_none() && translator.decided("", false).is_none());
    let open = wire(translator.settle_open(SettleReason::Cancelled));
    assert_eq!(open.len(), 2, "what was asked only is settled already");
    let note = wire([unanswerable("no handler")]);
    assert!(
        note[0]["content"]["text"]
            .as_str()
            .unwrap()
            .starts_with("**Warning:** A question of Claude's")
    );
}

#[test]
fn task_lists_are_a_plan_and_become_calls_only_when_asked_about() {
    let mut translator = translator(TerminalSupport::None);
    let todos =
        json!({"todos": [{"content": "First", "activeForm": "Doing first", "status": "in_progress"}]});
    let call = whole(tool_use("t1", "TodoWrite", todos.clone()));
    let shown = feed_all(
        &mut translator,
        &[call, tool_result("t1", "Todos have been modified")],
    );
    assert_eq!(
        shown,
        [
            json!({"sessionUpdate": "plan", "entries": [{"content": "Doing first", "priority": "medium", "status": "in_progress"}]})
        ]
    );

    feed_all(
        &mut translator,
        &[whole(tool_use("t2", "TodoWrite", todos.clone()))],
    );
    let asked = wire(translator.announce(&ToolCallRef {
        id: "t2",
        name: "TodoWrite",
        input: &todos,
        parent: None,
    }));
    assert_eq!(
        (&asked[0]["sessionUpdate"], &asked[0]["title"]),
        (&json!("tool_call"), &json!("Update TODOs: First"))
    );
    let ended = feed_all(&mut translator, &[tool_result("t2", "ok")]);
    assert_eq!(
        (ended[0].get("content"), &ended[0]["status"]),
        (None, &json!("completed"))
    );
    let reset = json!({"type": "conversation_reset", "new_conversation_id": "n"});
    assert_eq!(
        feed_all(&mut translator, &[reset]),
        [json!({"sessionUpdate": "plan", "entries": []})]
    );
}

#[test]
fn open_calls_are_settled_with_the_reason_and_late_frames_do_not_revive_them() {
    for (reason, text) in [
        (
            SettleReason::Cancelled,
            "The turn was cancelled before this tool call returned a result.",
        ),
        (
            SettleReason::TurnEnded,
            "The turn ended before this tool call returned a result.",
        ),
        (
            SettleReason::ProcessDied,
            "Claude stopped running before this tool call returned a result.",
        ),
    ] {
        let mut translator = translator(TerminalSupport::Output);
        let edit = whole(tool_use(
            "t1",
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
        ));
        let bash = whole(tool_use("t2", "Bash", json!({"command": "ls"})));
        feed_all(
            &mut translator,
            &[edit.clone(), bash, whole(tool_use("t3", "TodoWrite", json!({})))],
        );
        let settled = wire(translator.settle_open(reason));
        assert_eq!(settled.len(), 2);
        assert!(settled.iter().all(|update| update["status"] == "failed"));
        assert_eq!(
            (
                &settled[0]["content"][0]["type"],
                &settled[0]["content"][1]["content"]["text"]
            ),
            (&json!("diff"), &json!(text))
        );
        assert_eq!(
            settled[1]["_meta"]["terminal_exit"],
            json!({"terminal_id": "t2", "exit_code": null, "signal": null})
        );
        let late = feed_all(&mut translator, &[edit, tool_result("t1", "late")]);
        assert_eq!(late, Vec::<Value>::new());
        assert!(translator.settle_open(reason).is_empty());
    }
}

#[test]
fn the_calls_of_a_background_agent_outlive_the_turn_but_not_the_agent() {
    let child = |id: &str| json!({"type": "assistant", "parent_tool_use_id": "agent", "message": {"id": "m2", "content": [tool_use(id, "Bash", json!({"command": id}))]}});
    let launch = tool_result("agent", "Async agent launched successfully. (internal)");
    let notification = json!({"type": "system", "subtype": "task_notification", "task_id": "k", "tool_use_id": "agent", "status": "stopped"});
    let begun = |translator: &mut Translator| {
        feed_all(
            translator,
            &[
                whole(tool_use("agent", "Agent", json!({"prompt": "p"}))),
                launch.clone(),
                child("c1"),
            ],
        );
    };
    let mut first = translator(TerminalSupport::None);
    begun(&mut first);
    assert!(first.settle_open(SettleReason::TurnEnded).is_empty());
    let ended = feed_all(&mut first, &[notification]);
    assert_eq!(
        (ended.len(), &ended[0]["toolCallId"], &ended[0]["status"]),
        (1, &json!("c1"), &json!("failed"))
    );

    let mut second = translator(TerminalSupport::None);
    begun(&mut second);
    assert_eq!(second.settle_open(SettleReason::ProcessDied).len(), 1);
}

#[test]
fn a_compaction_is_one_call_from_its_start_to_its_numbers() {
    let status = |fields: Value| {
        let mut status = json!({"type": "system", "subtype": "status", "uuid": "u1"});
        status
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        status
    };
    let compacting = || status(json!({"status": "compacting"}));
    let mut translator = translator(TerminalSupport::None);
    let failed =
        status(json!({"status": null, "compact_result": "failed", "compact_error": "too_few_groups"}));
    let shown = feed_all(&mut translator, &[compacting(), compacting(), failed]);
    assert_eq!((shown.len(), &shown[0]["status"]), (2, &json!("in_progress")));
    assert_eq!(
        (&shown[1]["status"], &shown[1]["rawOutput"]),
        (&json!("failed"), &json!({"error": "too_few_groups"}))
    );
    assert_eq!(
        shown[1]["content"][0]["content"]["text"],
        "Compaction failed: too_few_groups"
    );

    feed_all(&mut translator, &[compacting()]);
    let settled = wire(translator.settle_open(SettleReason::Cancelled));
    assert_eq!((settled.len(), &settled[0]["status"]), (1, &json!("failed")));

    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "u2", "compact_metadata": {"trigger": "auto", "pre_tokens": 9}});
    let alone = feed_all(&mut translator, &[boundary]);
    assert_eq!(
        (&alone[0]["sessionUpdate"], &alone[0]["status"]),
        (&json!("tool_call"), &json!("completed"))
    );
    assert_eq!(alone[0]["rawOutput"], json!({"trigger": "auto", "preTokens": 9}));
}

#[test]
fn what_a_compaction_preserves_is_not_shown_again() {
    let mut translator = translator(TerminalSupport::None);
    let said = |uuid: &str, id: &str| {
        let message = json!({"id": id, "model": "<synthetic>", "content": [{"type": "text", "text": "Total cost: $0"}]});
        json!({"type": "assistant", "uuid": uuid, "message": message, "parent_tool_use_id": null})
    };
    let compacted = |uuids: Value| {
        let metadata = json!({"trigger": "manual", "preserved_messages": {"uuids": uuids}});
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "compact_metadata": metadata})
    };
    let texts = |updates: Vec<Value>| {
        updates
            .iter()
            .filter(|update| update["sessionUpdate"] == "agent_message_chunk")
            .count()
    };
    let lines = [
        said("u1", "m1"),
        compacted(json!(["u0", "u1"])),
        said("u1", "m2"),
        said("u2", "m3"),
    ];
    assert_eq!(texts(feed_all(&mut translator, &lines)), 2);
    let lines = [compacted(json!([])), said("u3", "m4")];
    assert_eq!(texts(feed_all(&mut translator, &lines)), 1);
}

#[test]
fn refusals_are_told_in_the_transcript() {
    let refusal = json!({"type": "assistant", "is_api_error_message": true, "parent_tool_use_id": null, "message": {"id": "r1",
        "model": "<synthetic>", "stop_reason": "refusal", "content": [{"type": "text", "text": "flagged"}]}});
    check_texts(&[refusal], &["flagged"]);
}

/// One step in the life of a few calls.
fn step() -> impl Strategy<Value = (u8, u8)> {
    (0_u8..4, 0_u8..9)
}

proptest! {
    #[test]
    fn whatever_the_chunking_every_text_is_shown_exactly_once(
        blocks in prop::collection::vec((any::<bool>(), "[a-c\"\\\\\n é🦀]{0,12}", 0_usize..14, 1_usize..4), 1..6)
    ) {
        let mut translator = translator(TerminalSupport::None);
        let mut shown = String::new();
        let mut said = String::new();
        for (index, (streamed, text, length, size)) in blocks.iter().enumerate() {
            let characters: Vec<char> = text.chars().collect();
            let start = if *streamed { &characters[..characters.len().min(*length)] } else { &[] };
            let mut lines: Vec<_> =
                start.chunks(*size).map(|chunk| text_delta(index as u64, &chunk.iter().collect::<String>())).collect();
            lines.push(whole(json!({"type": "text", "text": text})));
            let texts = feed_all(&mut translator, &lines);
            shown.extend(texts.iter().map(|update| update["content"]["text"].as_str().unwrap()));
            said.push_str(text);
        }
        prop_assert_eq!(shown, said);
    }

    #[test]
    fn in_any_order_of_events_a_call_is_announced_once_first_and_ended_once(steps in prop::collection::vec(step(), 0..40)) {
        let mut translator = translator(TerminalSupport::Output);
        let mut announced: HashMap<String, bool> = HashMap::new();
        for (call, action) in steps {
            let id = format!("t{call}");
            let input = json!({"command": id});
            let tool = ToolCallRef { id: &id, name: "Bash", input: &input, parent: None };
            let begun = stream(json!({"type": "content_block_start", "index": 0, "content_block": tool_use(&id, "Bash", json!({}))}));
            let shown = match action {
                0 => feed_all(&mut translator, &[begun]),
                1 | 2 => feed_all(&mut translator, &[whole(tool_use(&id, "Bash", input.clone()))]),
                3 => wire(translator.announce(&tool)),
                4 => wire(translator.decided(&id, true)),
                5 => feed_all(&mut translator, &[json!({"type": "system", "subtype": "permission_denied", "tool_use_id": id, "message": "no"})]),
                6 | 7 => feed_all(&mut translator, &[tool_result(&id, "out")]),
                _ => wire(translator.settle_open(SettleReason::Cancelled)),
            };
            for update in shown {
                let id = update["toolCallId"].as_str().unwrap().to_owned();
                if update["sessionUpdate"] == "tool_call" {
                    prop_assert!(announced.insert(id, false).is_none(), "announced twice");
                    continue;
                }
                let ended = announced.get_mut(&id);
                prop_assert!(ended.is_some(), "updated before it was announced");
                let ends = matches!(update["status"].as_str(), Some("completed" | "failed"));
                prop_assert!(!(ends && *ended.as_deref().unwrap()), "ended twice");
                *ended.unwrap() |= ends;
            }
        }
        translator.settle_open(SettleReason::ProcessDied);
        prop_assert!(translator.settle_open(SettleReason::ProcessDied).is_empty());
    }

    #[test]
    fn no_line_of_claudes_breaks_the_translator(recording in 0..RECORDINGS.len(), cuts in prop::collection::vec((0_usize..60, 0_usize..12), 0..12)) {
        let mut translator = translator(TerminalSupport::Delta);
        let mut lines: Vec<Value> = RECORDINGS[recording].1.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (line, field) in cuts {
            let at = line % lines.len();
            maim(&mut lines[at], field);
        }
        for line in lines.iter().filter(|line| line["type"] != "control_request") {
            for update in feed(&mut translator, &line.to_string()) {
                if update["sessionUpdate"] == "tool_call_update" {
                    prop_assert!(serde_json::from_value::<ToolCallUpdate>(update).is_ok());
                }
            }
        }
    }
}

/// Takes the sense out of one field, somewhere inside.
fn maim(value: &mut Value, field: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(field % map.len()).unwrap().clone();
            let inner = &mut map[&key];
            if inner.is_object() || inner.is_array() {
                maim(inner, field / 2)
            } else {
                *inner = json!([field])
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = field % items.len();
            maim(&mut items[at], field / 2);
        }
        other => *other = Value::Null,
    }
}
