//! An operator's policy over the rehearsal: the same guard, without a login.

use e2e_tests::harness::{Turn, World, allow_once, no_questions};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::policy_support::greet_under;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Rehearsal, Stdio:
        a_policy_denies_a_call_and_the_others_run,
        a_policy_asks_though_the_rehearsals_own_rules_allow,
        a_policys_hook_changes_what_is_asked_about,
        in_plan_nothing_changes_in_a_rehearsal_either,
    ];
    all.extend(cases![Rehearsal, Tcp: a_policy_holds_for_a_client_on_a_socket]);
    all
}

/// A script whose one turn makes these calls, `toolu_0` first.
fn script(calls: &[(&str, Value)], settings: &Value) -> String {
    let steps = calls.iter().enumerate().map(|(number, (name, input))| {
        json!({"tool": {"name": name, "id": format!("toolu_{number}"), "input": input, "decide": true, "result": "ran"}})
    });
    let steps: Vec<Value> = steps.chain([json!({"text": "done"})]).collect();
    json!({"version": 1, "session": {"settings": settings}, "turns": [{"steps": steps}]}).to_string()
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command }))
}

fn play(
    world: &mut World,
    policy: &Value,
    mode: &str,
    script: &str,
    ask: impl FnMut(&Value) -> e2e_tests::harness::Answer,
) -> Turn {
    world.rehearse(script);
    let (_agent, mut client) = greet_under(world, policy, &[]);
    let session = client.new_session(&world.cwd());
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    let params = json!({"sessionId": session, "modeId": mode});
    client.call("session/set_mode", params).unwrap();
    let mut turn = client.prompt(&session, "go", ask);
    assert_eq!(turn.text(), "done");
    turn
}

fn deny_rm() -> Value {
    json!({"permissions": {"deny": ["Bash(rm *)"]}})
}

fn a_policy_denies_a_call_and_the_others_run(world: &mut World) {
    let script = script(&[bash("touch a && rm a"), bash("ls")], &json!({}));
    let mut turn = play(world, &deny_rm(), "acceptEdits", &script, no_questions);
    let denied = turn.tool("toolu_0");
    assert_eq!(denied.status(), "failed");
    assert!(denied.content_text().contains("`Bash(rm *)`"), "{denied:?}");
    assert_eq!(turn.tool("toolu_1").status(), "completed");
}

fn a_policy_holds_for_a_client_on_a_socket(world: &mut World) {
    a_policy_denies_a_call_and_the_others_run(world);
}

fn a_policy_asks_though_the_rehearsals_own_rules_allow(world: &mut World) {
    let script = script(&[bash("touch a")], &json!({"permissions": {"allow": ["Bash"]}}));
    let policy = json!({"permissions": {"ask": ["Bash(touch *)"]}});
    let mut turn = play(world, &policy, "default", &script, allow_once);
    assert_eq!(turn.questions().len(), 1);
    assert_eq!(turn.tool("toolu_0").status(), "completed");
}

fn a_policys_hook_changes_what_is_asked_about(world: &mut World) {
    let command = r#"echo '{"updatedInput": {"command": "touch changed"}}'"#;
    let hook = json!({"hooks": [{"type": "command", "command": command}]});
    let policy = json!({"hooks": {"PreToolUse": [hook]}});
    let script = script(&[bash("touch one")], &json!({}));
    let mut turn = play(world, &policy, "default", &script, allow_once);
    let question = &turn.questions()[0]["toolCall"];
    assert_eq!(question["rawInput"]["command"], "touch changed", "{question}");
    assert_eq!(turn.tool("toolu_0").status(), "completed");
}

fn in_plan_nothing_changes_in_a_rehearsal_either(world: &mut World) {
    let calls = [
        ("Write", json!({"file_path": "a", "content": ""})),
        bash("touch a"),
        bash("ls"),
    ];
    let script = script(&calls, &json!({"permissions": {"allow": ["Bash", "Edit"]}}));
    let mut turn = play(world, &json!({}), "plan", &script, no_questions);
    assert_eq!(turn.tool("toolu_0").status(), "failed");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    assert_eq!(turn.tool("toolu_2").status(), "completed");
}
