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
    let feedback = PermissionFeedback {
        feedback: "use cargo\ninstead".to_owned(),
    };
    check(
        &feedback,
        json!({"permission": {"feedback": "use cargo\ninstead"}}),
    );
    let auth = TerminalAuth {
        command: "claude-acp".to_owned(),
        args: vec!["--cli".to_owned()],
        label: "Claude Login".to_owned(),
    };
    let wire =
        json!({"terminal-auth": {"command": "claude-acp", "args": ["--cli"], "label": "Claude Login"}});
    check(&auth, wire);
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
fn every_form_of_the_claude_code_record_keeps_all_its_members() {
    let wires = [
        json!({"toolName": "Write"}),
        json!({"toolName": "Bash", "parentToolUseId": "toolu_a1"}),
        json!({"toolName": "ExitPlanMode", "nonExecutionKind": "user-rejected"}),
        json!({"toolName": "Bash", "nonExecutionKind": "some-new-kind", "userFeedback": "no"}),
        json!({"toolName": "mcp__tiny__echo", "mcpServer": {"name": "tiny", "source": "dynamic"}}),
        json!({"toolName": "Read", "toolResponse": {"type": "text", "file": {"numLines": 3}}}),
        json!({"kind": "informational", "level": "warning"}),
        json!({"kind": "mcpServerStatus", "server": "broken", "status": "failed"}),
        json!({"toolName": "X", "unknown": [1, null]}),
    ];
    for record in wires {
        let wire = meta(json!({ "claudeCode": record }));
        let read = ClaudeCodeMeta::read(Some(&wire)).expect("readable");
        assert_eq!(read.into_meta(), wire);
    }
}

#[test]
fn known_reasons_of_not_running_have_names() {
    let table = [
        ("permission-rule", NonExecutionKind::PermissionRule),
        ("user-rejected", NonExecutionKind::UserRejected),
        ("interrupted", NonExecutionKind::Interrupted),
        ("cancelled", NonExecutionKind::Cancelled),
        ("automode-parsing-error", NonExecutionKind::AutomodeParsingError),
        ("else", NonExecutionKind::Other("else".to_owned())),
    ];
    for (wire, kind) in table {
        assert_eq!(
            serde_json::from_value::<NonExecutionKind>(json!(wire)).unwrap(),
            kind
        );
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(wire));
    }
}

#[test]
fn merging_keeps_what_is_there_already() {
    let mut all = meta(json!({"other": 1, "claudeCode": {"toolName": "Bash", "status": "old"}}));
    ClaudeCodeMeta {
        status: Some("new".to_owned()),
        ..ClaudeCodeMeta::default()
    }
    .merge_into(&mut all);
    TerminalInfo {
        terminal_id: "t".to_owned(),
    }
    .merge_into(&mut all);
    let expected = json!({
        "other": 1,
        "claudeCode": {"toolName": "Bash", "status": "new"},
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
        json!({"permission": {"feedback": 5}}),
    ];
    for wire in odd {
        assert_eq!(PermissionFeedback::read(Some(&meta(wire))), None);
    }
    assert_eq!(PermissionFeedback::read(None), None);
    let wire = meta(json!({"permission": {"version": 1, "title": "t", "feedback": "f", "new": 1}}));
    assert_eq!(
        PermissionFeedback::read(Some(&wire))
            .map(|read| read.feedback)
            .as_deref(),
        Some("f")
    );
}

#[test]
fn only_an_explicit_true_switches_an_extension_on() {
    let none = ClientExtensions::default();
    for wire in [
        json!({}),
        json!({"terminal_output": "true", "terminal-auth": 1, "subagent-transcript": null}),
    ] {
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
    let rest = ClientExtensions::read(Some(&meta(
        json!({"terminal-auth": true, "subagent-transcript": true}),
    )));
    assert_eq!(
        rest,
        ClientExtensions {
            terminal_auth: true,
            subagent_transcript: true,
            ..none
        }
    );
}
