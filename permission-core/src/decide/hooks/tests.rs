//! Tables of hook configurations and payloads.
//!
//! Place in the flow: tests only.

use std::path::Path;

use super::*;
use crate::settings::SettingsSource;

fn read(value: Value) -> (Hooks, Vec<HookProblem>) {
    let origin = Origin {
        source: SettingsSource::User,
        file: Path::new("/s.json").into(),
        line: 3,
    };
    Hooks::read(&[Sourced { value, origin }])
}

#[test]
fn hooks_are_picked_by_tool_in_their_order() {
    let (hooks, problems) = read(json!({
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "a" }, { "command": "b", "timeout": 5 }] },
            { "hooks": [{ "type": "command", "command": "c", "timeout": -1 }] },
        ],
        "PostToolUse": [{ "matcher": "FileEditTool", "hooks": [{ "type": "command", "command": "d" }] }],
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "e" }] }],
    }));
    assert_eq!(problems, []);
    let names = |event, tool| -> Vec<String> {
        let commands = hooks.matching(event, tool);
        commands.iter().filter_map(|hook| hook.command.clone()).collect()
    };
    assert_eq!(names(HookEvent::PreToolUse, "Bash"), ["a", "b", "c"]);
    assert_eq!(names(HookEvent::PreToolUse, "Read"), ["c"]);
    assert_eq!(names(HookEvent::PostToolUse, "Edit"), ["d"]);
    let limits: Vec<Duration> = hooks
        .matching(HookEvent::PreToolUse, "Bash")
        .iter()
        .map(|hook| hook.timeout)
        .collect();
    assert_eq!(limits, [HOOK_TIMEOUT, Duration::from_secs(5), HOOK_TIMEOUT]);
}

#[test]
fn a_hook_that_cannot_be_run_still_stands_in_the_way() {
    for (value, problems) in [
        (json!({ "PreToolUse": 5 }), 1),
        (json!({ "PreToolUse": [{}] }), 1),
        (
            json!({ "PreToolUse": [{ "hooks": [{ "type": "http", "url": "x" }] }] }),
            1,
        ),
        (
            json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": " " }] }] }),
            1,
        ),
        (
            json!({ "PreToolUse": [{ "matcher": "[", "hooks": [{ "command": 5 }] }] }),
            2,
        ),
        (
            json!({ "PreToolUse": [{ "matcher": 5, "hooks": [{ "command": 5 }] }] }),
            2,
        ),
    ] {
        let (hooks, found) = read(value.clone());
        assert_eq!(found.len(), problems, "{value}");
        let matching = hooks.matching(HookEvent::PreToolUse, "Bash");
        assert_eq!(
            matching.first().map(|hook| hook.command.clone()),
            Some(None),
            "{value}"
        );
    }
}

#[test]
fn a_hook_of_claudes_matches_what_claude_lets_it_match_and_may_be_no_command() {
    let value = json!({ "PreToolUse": [
        { "matcher": "[", "hooks": [{ "command": "a" }] },
        { "matcher": "FileReadTool", "hooks": [{ "command": "b" }] },
        { "matcher": "Read", "hooks": [{ "type": "http" }, { "command": "c" }] },
    ] });
    let origin = Origin {
        source: SettingsSource::User,
        file: Path::new("/s.json").into(),
        line: 3,
    };
    let (hooks, problems) = Hooks::of_claude(&[Sourced { value, origin }]);
    assert_eq!(problems.len(), 2);
    let matching = hooks.matching(HookEvent::PreToolUse, "Read");
    let commands: Vec<&str> = matching
        .iter()
        .filter_map(|hook| hook.command.as_deref())
        .collect();
    assert_eq!(commands, ["c"]);
}

#[test]
fn a_problem_names_its_place() {
    let (_, problems) = read(json!({ "PreToolUse": [{ "matcher": "[", "hooks": [{ "type": "http" }] }] }));
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_hook_is_told_what_happens() {
    let facts = HookFacts {
        session_id: "s".into(),
        transcript_path: String::new(),
        cwd: "/repo".into(),
        mode: PermissionMode::AcceptEdits,
    };
    let before = hook_payload(&facts, "Bash", &json!({ "command": "ls" }), "t", None);
    let expected = json!({
        "session_id": "s", "transcript_path": "", "cwd": "/repo", "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t",
    });
    assert_eq!(before, expected);
    let after = hook_payload(&facts, "Bash", &json!({}), "t", Some(&json!("out")));
    assert_eq!(after["hook_event_name"], "PostToolUse");
    assert_eq!(after["tool_response"], "out");
}
