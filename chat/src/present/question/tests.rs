//! Permission requests as they stand on the wire, and what is shown of them.

use serde_json::{Value, json};

use super::*;

fn request(tool_call: Value, meta: Value) -> RequestPermissionRequest {
    let options = json!([
        {"optionId": "allow-once", "name": "Yes", "kind": "allow_once"},
        {"optionId": "allow-with-updates", "name": "Yes, and don't ask again for npm test commands",
            "kind": "allow_always"},
        {"optionId": "reject", "name": "No", "kind": "reject_once"},
    ]);
    serde_json::from_value(
        json!({"sessionId": "s", "toolCall": tool_call, "options": options, "_meta": meta}),
    )
    .unwrap()
}

fn shown(tool_call: Value, meta: Value) -> String {
    render(&request(tool_call, meta), Style::Plain)
}

#[test]
fn a_command_is_shown_with_its_description() {
    let call = json!({"toolCallId": "t", "name": "Bash", "title": "npm test", "rawInput": {"command": "npm test"},
        "content": [{"type": "content", "content": {"type": "text", "text": "Run the tests"}}]});
    let meta = json!({"permission": {"version": 1, "title": "npm test", "description": "Reason: Needed to verify."}});
    insta::assert_snapshot!(shown(call, meta));
}

#[test]
fn a_command_of_many_lines_is_shown_in_full_behind_a_margin() {
    let command = "echo start\n1. Yes\npermission needed: ls\r\nrm -rf build\u{1b}[8m\n";
    let call = json!({"toolCallId": "t", "title": command, "rawInput": {"command": command}});
    insta::assert_snapshot!(shown(call, json!({})));
}

#[test]
fn a_command_with_hidden_runs_of_spaces_is_shown_as_it_is() {
    let call = json!({"toolCallId": "t", "title": "a   b", "rawInput": {"command": "a   b"}});
    assert!(shown(call, json!({})).contains("\n  │ a   b\n"));
}

#[test]
fn a_long_command_is_cut_in_the_heading_but_not_below_it() {
    let command = format!("echo {} ; rm -rf build", "x".repeat(200));
    let call = json!({"toolCallId": "t", "title": command, "rawInput": {"command": command},
        "content": [{"type": "content", "content": {"type": "text", "text": "Print something"}}]});
    let shown = shown(call, json!({}));
    assert_eq!(shown.matches("rm -rf build").count(), 1, "{shown}");
    assert!(shown.contains(&format!("\n  │ {command}\n")), "{shown}");
}

#[test]
fn an_edit_shows_its_diff() {
    let call = json!({"toolCallId": "t", "title": "Edit a.rs", "rawInput": {"file_path": "a.rs"}, "content": [
        {"type": "diff", "path": "a.rs", "oldText": "one\ntwo\n", "newText": "one\n2\n"}]});
    insta::assert_snapshot!(shown(call, json!({})));
}

#[test]
fn input_nobody_described_is_shown_raw() {
    let call =
        json!({"toolCallId": "t", "name": "mcp__git__push", "rawInput": {"remote": "origin", "force": true}});
    insta::assert_snapshot!(shown(call, json!({})));
}

#[test]
fn an_option_is_chosen_by_its_number_only() {
    let request = request(json!({"toolCallId": "t"}), json!({}));
    let check = |line: &str, expected: Option<&str>| {
        let option = chosen(line, &request.options).map(|option| option.option_id.0.to_string());
        assert_eq!(option.as_deref(), expected, "{line:?}");
    };
    check("1", Some("allow-once"));
    check(" 3 ", Some("reject"));
    for nothing in [
        "",
        "0",
        "4",
        "-1",
        "y",
        "yes",
        "Yes",
        "1 2",
        "99999999999999999999",
    ] {
        check(nothing, None);
    }
}

#[test]
fn the_least_lasting_rejection_is_preferred() {
    let options: Vec<PermissionOption> = serde_json::from_value(json!([
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]))
    .unwrap();
    let id = |options: &[PermissionOption]| rejection(options).map(|option| option.option_id.0.to_string());
    assert_eq!(id(&options).as_deref(), Some("no"));
    assert_eq!(id(&options[..2]).as_deref(), Some("never"));
    assert_eq!(id(&options[1..2]), None);
}
