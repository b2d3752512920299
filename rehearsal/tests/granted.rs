//! What an allow changes beside its call, as long as the session.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[expect(dead_code, reason = "other test files use the rest of it")]
mod common;

use common::Host;
use rehearsal::engine::{SessionState, Setup};
use serde_json::{Value, json};

/// A session of these calls.
fn session(calls: &[Value], state: SessionState) -> Host {
    let steps: Vec<Value> = calls.iter().map(|call| json!({ "tool": call })).collect();
    let script = json!({"version": 1, "turns": [{"sticky": true, "steps": steps}]});
    let mut setup = Setup::new("session-1", "/home/user/project");
    setup.options.partial_messages = false;
    Host::with(&script.to_string(), setup, state)
}

/// Plays a turn with the same updates in every answer; says how often there was a question.
fn questions(host: &mut Host, updates: &Value) -> usize {
    let before = host.asked.len();
    let mut answered = before;
    host.prompt("go");
    while host.asked.len() > answered {
        answered += 1;
        host.answer(json!({"behavior": "allow", "updatedPermissions": updates}));
    }
    host.asked.len() - before
}

/// The session, resumed by another process.
fn resumed(calls: &[Value], host: &Host) -> Host {
    let kept = serde_json::to_string(host.engine.state()).unwrap();
    session(calls, serde_json::from_str(&kept).unwrap())
}

fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command}, "decide": true})
}

fn change(kind: &str, rule: &str, behavior: &str, destination: &str) -> Value {
    json!([{"type": kind, "rules": [{"toolName": "Bash", "ruleContent": rule}], "behavior": behavior, "destination": destination}])
}

#[test]
fn an_allow_once_lasts_for_the_call() {
    let mut host = session(&[bash("make all"), bash("make all")], SessionState::default());
    assert_eq!(questions(&mut host, &json!([])), 2);
    assert_eq!(questions(&mut host, &json!([])), 2);
}

#[test]
fn a_rule_counts_from_the_next_call_on_and_survives_a_resume() {
    let calls = [bash("make all"), bash("make all")];
    for destination in ["session", "localSettings", "projectSettings", "userSettings"] {
        let mut host = session(&calls, SessionState::default());
        let updates = change("addRules", "make *", "allow", destination);
        assert_eq!(questions(&mut host, &updates), 1, "{destination}");
        assert_eq!(questions(&mut host, &json!([])), 0, "{destination}");
        assert_eq!(questions(&mut resumed(&calls, &host), &json!([])), 0);
        let mut other = session(&calls, SessionState::default());
        assert_eq!(questions(&mut other, &json!([])), 2, "another session is asked");
    }
}

#[test]
fn rules_are_replaced_and_removed_where_they_are_kept() {
    let mut host = session(&[bash("make all"), bash("npm test")], SessionState::default());
    let local = |kind: &str, rule: &str| change(kind, rule, "allow", "localSettings");
    assert_eq!(questions(&mut host, &local("addRules", "make *")), 2);
    let elsewhere = change("removeRules", "make *", "allow", "session");
    assert_eq!(questions(&mut host, &elsewhere), 1, "not kept there");
    assert_eq!(questions(&mut host, &local("removeRules", "make *")), 1);
    assert_eq!(questions(&mut host, &local("addRules", "make *")), 2);
    assert_eq!(questions(&mut host, &local("replaceRules", "npm test")), 1);
    assert_eq!(questions(&mut host, &json!([])), 1);
    assert!(host.transcript.ends_with("state idle\n"));
}

#[test]
fn a_denial_for_the_session_needs_no_question_any_more() {
    let mut host = session(&[bash("make all"), bash("make clean")], SessionState::default());
    let denied = change("addRules", "make clean", "deny", "session");
    assert_eq!(questions(&mut host, &denied), 1);
    assert!(
        host.transcript.contains("Denied by the rule"),
        "{}",
        host.transcript
    );
}

#[test]
fn the_answer_to_a_scripted_question_counts_for_decided_calls() {
    let scripted = json!({"name": "Bash", "input": {"command": "make all"}, "ask": true});
    let mut host = session(&[scripted, bash("make all")], SessionState::default());
    let updates = change("addRules", "make *", "allow", "session");
    assert_eq!(questions(&mut host, &updates), 1);
}

#[test]
fn edits_are_accepted_from_the_next_call_on() {
    let write =
        |path: &str| json!({"name": "Write", "input": {"file_path": path, "content": "x"}, "decide": true});
    let mut host = session(&[write("a"), write("b")], SessionState::default());
    let accept = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
    assert_eq!(questions(&mut host, &accept), 1);
    assert!(host.transcript.contains("status null acceptEdits"));
}

#[test]
fn a_directory_is_added_and_taken_away() {
    let read = |path: &str| json!({"name": "Read", "input": {"file_path": path}, "decide": true});
    let calls = [read("/notes/a"), read("/notes/b")];
    let mut host = session(&calls, SessionState::default());
    let change = |kind: &str| json!([{"type": kind, "directories": ["/notes"], "destination": "session"}]);
    assert_eq!(questions(&mut host, &change("addDirectories")), 1);
    let mut host = resumed(&calls, &host);
    assert_eq!(questions(&mut host, &json!([])), 0);
    let calls = [bash("make"), read("/notes/a")];
    let mut host = resumed(&calls, &host);
    assert_eq!(questions(&mut host, &change("removeDirectories")), 2);
}

#[test]
fn updates_that_make_no_sense_are_passed_over() {
    let mut host = session(&[bash("make all"), bash("make all")], SessionState::default());
    let nonsense = json!([{"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"}, 5, {"type": "paint"}]);
    assert_eq!(questions(&mut host, &nonsense), 2);
    assert!(host.transcript.contains("result success"));
}
