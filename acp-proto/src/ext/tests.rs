//! Every record against the JSON that is really on the wire.

use serde_json::{Value, json};

use super::*;
use crate::schema::Meta;

fn meta(value: Value) -> Meta {
    match value {
        Value::Object(meta) => meta,
        other => panic!("not an object: {other}"),
    }
}

/// The wire text reads as the record, and the record writes the wire text.
fn check<R: MetaRecord + Clone + PartialEq + std::fmt::Debug>(record: &R, wire: Value) {
    let wire = meta(wire);
    assert_eq!(record.clone().into_meta(), wire);
    assert_eq!(R::read(Some(&wire)).as_ref(), Some(record));
}

#[test]
fn every_record_reads_and_writes_its_wire_form() {
    check(
        &PermissionPresentation::new("npm test"),
        json!({"permission": {"version": 1, "title": "npm test"}}),
    );
    let presentation = PermissionPresentation {
        description: Some("Reason: x".to_owned()),
        default_to_no: Some(true),
        ..PermissionPresentation::new("t")
    };
    let wire =
        json!({"permission": {"version": 1, "title": "t", "description": "Reason: x", "defaultToNo": true}});
    check(&presentation, wire);
    let auth = TerminalAuth {
        command: "claude-acp".to_owned(),
        args: vec!["--cli".to_owned()],
        label: "Claude Login".to_owned(),
    };
    let wire =
        json!({"terminal-auth": {"command": "claude-acp", "args": ["--cli"], "label": "Claude Login"}});
    check(&auth, wire);
    let record = ClaudeCodeMeta {
        tool_name: Some("Bash".to_owned()),
        parent_tool_use_id: Some("toolu_a1".to_owned()),
        non_execution_kind: Some("user-rejected".to_owned()),
        ..ClaudeCodeMeta::default()
    };
    let wire = json!({"claudeCode": {"toolName": "Bash", "parentToolUseId": "toolu_a1", "nonExecutionKind": "user-rejected"}});
    check(&record, wire);
    check(
        &PromptQueueing {
            prompt_queueing: true,
        },
        json!({"claudeCode": {"promptQueueing": true}}),
    );
}

#[test]
fn every_terminal_record_reads_and_writes_its_wire_form() {
    let terminal_id = || "toolu_b1".to_owned();
    check(
        &TerminalInfo {
            terminal_id: terminal_id(),
        },
        json!({"terminal_info": {"terminal_id": "toolu_b1"}}),
    );
    let data = || "a```b\n".to_owned();
    check(
        &TerminalOutput {
            terminal_id: terminal_id(),
            data: data(),
        },
        json!({"terminal_output": {"terminal_id": "toolu_b1", "data": "a```b\n"}}),
    );
    check(
        &TerminalOutputDelta {
            terminal_id: terminal_id(),
            data: data(),
        },
        json!({"terminal_output_delta": {"terminal_id": "toolu_b1", "data": "a```b\n"}}),
    );
    check(
        &TerminalExit {
            terminal_id: terminal_id(),
            exit_code: Some(143),
            signal: None,
        },
        json!({"terminal_exit": {"terminal_id": "toolu_b1", "exit_code": 143, "signal": null}}),
    );
    check(
        &TerminalExit {
            terminal_id: terminal_id(),
            exit_code: None,
            signal: Some("SIGKILL".to_owned()),
        },
        json!({"terminal_exit": {"terminal_id": "toolu_b1", "exit_code": null, "signal": "SIGKILL"}}),
    );
}

#[test]
fn merging_keeps_what_is_there_already() {
    let mut all = meta(json!({"other": 1, "claudeCode": {"toolName": "Bash", "level": "old"}}));
    ClaudeCodeMeta {
        level: Some("new".to_owned()),
        ..ClaudeCodeMeta::default()
    }
    .merge_into(&mut all);
    TerminalInfo {
        terminal_id: "t".to_owned(),
    }
    .merge_into(&mut all);
    let expected = json!({
        "other": 1,
        "claudeCode": {"toolName": "Bash", "level": "new"},
        "terminal_info": {"terminal_id": "t"},
    });
    assert_eq!(all, meta(expected));
    let mut odd = meta(json!({"terminal_info": "not a record"}));
    TerminalInfo {
        terminal_id: "t".to_owned(),
    }
    .merge_into(&mut odd);
    assert_eq!(odd, meta(json!({"terminal_info": {"terminal_id": "t"}})));
}

#[test]
fn a_record_of_another_shape_reads_as_absent() {
    let odd = [
        json!({}),
        json!({"permission": null}),
        json!({"permission": "x"}),
        json!({"permission": {"version": 1, "title": 5}}),
    ];
    for wire in odd {
        assert_eq!(PermissionPresentation::read(Some(&meta(wire))), None);
    }
    assert_eq!(PermissionPresentation::read(None), None);
    let wire = meta(json!({"permission": {"version": 1, "title": "t", "feedback": "f", "new": 1}}));
    let read = PermissionPresentation::read(Some(&wire));
    assert_eq!(read, Some(PermissionPresentation::new("t")));
}

#[test]
fn only_an_explicit_true_switches_an_extension_on() {
    let none = ClientExtensions::default();
    for wire in [json!({}), json!({"terminal_output": "true", "terminal-auth": 1})] {
        assert_eq!(ClientExtensions::read(Some(&meta(wire))), none);
    }
    assert_eq!(ClientExtensions::read(None), none);
    let output = ClientExtensions::read(Some(&meta(json!({"terminal_output": true}))));
    assert_eq!(
        output,
        ClientExtensions {
            terminal: TerminalDisplay::Output,
            ..none
        }
    );
    for wire in [
        json!({"terminal_output_delta": true}),
        json!({"terminal_output_delta": true, "terminal_output": true}),
    ] {
        let delta = ClientExtensions::read(Some(&meta(wire)));
        assert_eq!(
            delta,
            ClientExtensions {
                terminal: TerminalDisplay::Delta,
                ..none
            }
        );
    }
    let rest = ClientExtensions::read(Some(&meta(json!({"terminal-auth": true}))));
    assert_eq!(
        rest,
        ClientExtensions {
            terminal_auth: true,
            ..none
        }
    );
}
