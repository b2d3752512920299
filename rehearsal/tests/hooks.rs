//! Hooks that a host registers: called for every tool call, scripted or real, and what their answers do.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod common;

use std::time::Duration;

use common::Host;
use insta::assert_snapshot;
use serde_json::{Value, json};

const BASH: &str =
    r#"{"tool": {"name": "Bash", "input": {"command": "ls"}, "ask": true, "result": "a.txt"}}"#;

fn registered(steps: &str, hooks: Value) -> Host {
    let mut host = Host::of_steps(&format!("[{steps}, {{\"text\": \"Done.\"}}]"));
    host.request(json!({"subtype": "initialize", "hooks": hooks}));
    host
}

fn before(steps: &str) -> Host {
    registered(
        steps,
        json!({"PreToolUse": [{"hookCallbackIds": ["guard"], "onFailure": "block"}]}),
    )
}

fn decides(decision: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "so says the guard",
    }})
}

/// What comes of a call in a mode when the callback answers: what the host was asked, and the result.
#[track_caller]
fn check(steps: &str, mode: &str, reply: Value, expected: &[&str]) {
    let mut host = before(steps);
    host.request(json!({"subtype": "set_permission_mode", "mode": mode}));
    host.prompt("go");
    assert!(host.transcript.contains("\"callback_id\":\"guard\""));
    host.transcript.clear();
    host.answer(reply);
    for expected in expected {
        assert!(
            host.transcript.contains(expected),
            "{expected} in {mode}:\n{}",
            host.transcript
        );
    }
}

#[test]
fn a_callback_is_called_before_the_question() {
    let mut host = before(BASH);
    host.prompt_with_id("p1", "go");
    host.answer(json!({}));
    host.answer(json!({"behavior": "allow"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn a_denial_counts_in_every_mode_and_reaches_the_model() {
    let said = "PreToolUse:Bash hook error: so says the guard";
    for mode in ["default", "acceptEdits", "plan", "dontAsk"] {
        check(
            BASH,
            mode,
            decides("deny"),
            &[said, "\"source\":\"hook\"", "denied [{"],
        );
        let legacy = json!({"decision": "block", "reason": "so says the guard"});
        check(BASH, mode, legacy, &[said]);
    }
}

#[test]
fn a_question_of_the_guard_is_asked_whatever_the_script_says() {
    let asked = [
        "\"decision_reason\":\"so says the guard\"",
        "\"decision_reason_type\":\"hook\"",
    ];
    check(BASH, "default", decides("ask"), &asked);
    let unasked = r#"{"tool": {"name": "Bash", "input": {"command": "ls"}, "result": "a.txt"}}"#;
    check(unasked, "default", decides("ask"), &asked);
    check(unasked, "dontAsk", decides("ask"), &["permission_denied"]);
    let denied = r#"{"tool": {"name": "Bash", "denied": "a rule says no"}}"#;
    check(denied, "default", decides("ask"), &["a rule says no"]);
}

#[test]
fn an_allow_spares_the_question_but_no_rule() {
    check(
        BASH,
        "default",
        decides("allow"),
        &["a.txt", "\"source\":\"hook\""],
    );
    let by_rule = r#"{"tool": {"name": "Bash", "ask": {"always": true, "decision_reason_type": "rule"}}}"#;
    check(
        by_rule,
        "default",
        decides("allow"),
        &["\"decision_reason_type\":\"rule\""],
    );
    let denied = r#"{"tool": {"name": "Bash", "denied": "a rule says no"}}"#;
    check(denied, "default", decides("allow"), &["a rule says no"]);
}

#[test]
fn a_changed_input_is_what_is_asked_about() {
    let changed =
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls -l"}}});
    check(BASH, "default", changed, &["\"input\":{\"command\":\"ls -l\"}"]);
}

#[test]
fn a_failing_callback_denies_where_it_was_registered_to() {
    let fails = |blocks: bool| {
        let mut registration = json!({"hookCallbackIds": ["guard"]});
        if blocks {
            registration["onFailure"] = json!("block");
        }
        let mut host = registered(BASH, json!({ "PreToolUse": [registration] }));
        host.prompt("go");
        let id = host.asked.last().unwrap().clone();
        host.transcript.clear();
        host.say(&json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "boom"}}));
        host.transcript
    };
    assert!(fails(true).contains("PreToolUse:Bash hook error: boom"));
    let goes_on = fails(false);
    assert!(goes_on.contains("informational"), "{goes_on}");
    assert!(goes_on.contains("asks {\"tool_name\":\"Bash\""), "{goes_on}");
}

#[test]
fn an_answer_that_is_none_denies_where_it_was_registered_to() {
    let answers = [
        json!(null),
        json!("deny"),
        json!({"hookSpecificOutput": "deny"}),
        json!({"hookSpecificOutput": {"permissionDecision": "Deny"}}),
        json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": "rm"}}),
    ];
    for answer in answers {
        let mut host = before(BASH);
        host.prompt("go");
        host.answer(answer.clone());
        assert!(
            host.transcript.contains("is not valid"),
            "{answer}: {}",
            host.transcript
        );
        assert!(!host.transcript.contains("a.txt"), "{answer}");
    }
}

#[test]
fn a_callback_that_says_nothing_in_time_denies() {
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["guard"], "timeout": 1}]});
    let mut host = registered(BASH, hooks);
    host.prompt("go");
    host.transcript.clear();
    host.go_on(Duration::from_millis(999));
    assert_eq!(host.transcript, "");
    host.go_on(Duration::from_millis(1));
    assert_snapshot!(host.transcript);
}

#[test]
fn only_hooks_for_the_tool_are_called_and_a_denial_wins() {
    let hooks = json!({"PreToolUse": [
        {"matcher": "Edit|Write", "hookCallbackIds": ["edits"]},
        {"matcher": "Bash", "hookCallbackIds": ["one", "two"]},
    ]});
    let mut host = registered(BASH, hooks);
    host.prompt("go");
    assert!(!host.transcript.contains("\"edits\""));
    let [one, two] = [host.asked[0].clone(), host.asked[1].clone()];
    host.asked.push(one);
    host.answer(decides("deny"));
    assert!(!host.transcript.contains("hook error"), "the other is waited for");
    host.asked.push(two);
    host.answer(decides("allow"));
    assert!(host.transcript.contains("hook error"), "{}", host.transcript);
}

#[test]
fn an_interrupt_takes_a_callback_back() {
    let mut host = before(BASH);
    host.prompt("go");
    host.transcript.clear();
    host.interrupt();
    assert_snapshot!(host.transcript);
}

#[test]
fn without_input_a_callback_cannot_be_answered() {
    let mut host = before(BASH);
    host.prompt("go");
    host.transcript.clear();
    host.end_input();
    assert!(host.transcript.contains("stream closed"), "{}", host.transcript);
    assert!(host.transcript.ends_with("exit 0\n"), "{}", host.transcript);
}

#[test]
fn callbacks_after_a_tool_see_what_came_out_of_it() {
    let hooks = json!({"PostToolUse": [{"hookCallbackIds": ["after"]}], "PostToolUseFailure": [{"hookCallbackIds": ["failed"]}]});
    let mut host = registered(
        r#"{"tool": {"name": "Bash", "input": {"command": "ls"}, "result": "a.txt"}},
           {"tool": {"name": "Bash", "input": {"command": "no"}, "result": {"text": "Exit code 1", "is_error": true}}}"#,
        hooks,
    );
    host.prompt("go");
    host.answer(json!({"decision": "block", "reason": "tidy up"}));
    host.answer(json!({}));
    assert_snapshot!(host.transcript);
}

#[test]
fn what_a_callback_adds_is_told_to_the_model() {
    let hooks = json!({"PostToolUse": [{"hookCallbackIds": ["after"]}]});
    let call = r#"{"tool": {"name": "Bash", "input": {"command": "ls"}, "result": "a.txt"}}"#;
    for said in ["look again", ""] {
        let mut host = registered(call, hooks.clone());
        host.prompt("go");
        let output = json!({"hookEventName": "PostToolUse", "additionalContext": said});
        host.answer(json!({"hookSpecificOutput": output}));
        assert_eq!(
            host.transcript.contains("look again"),
            !said.is_empty(),
            "{}",
            host.transcript
        );
    }
}

#[test]
fn callbacks_hear_of_a_subagents_calls() {
    let mut host = before(
        r#"{"tool": {"name": "Task", "input": {"description": "Look"}, "subagent": [{"name": "Read", "input": {"file_path": "a"}, "result": "x"}], "result": "Looked."}}"#,
    );
    host.prompt("go");
    host.answer(json!({}));
    assert!(
        host.transcript.contains("\"agent_id\":\"agent_toolu_"),
        "{}",
        host.transcript
    );
    host.answer(decides("deny"));
    assert!(
        host.transcript.contains("PreToolUse:Read hook error"),
        "{}",
        host.transcript
    );
    assert!(host.transcript.contains("Looked."), "{}", host.transcript);
}
