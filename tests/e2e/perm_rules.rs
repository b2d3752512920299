//! Ask rules: who wrote one is asked every time, in every mode, and no durable answer is offered.

use e2e_tests::harness::{World, allow_once};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::perm_support::{assert_once_only, close, local_rules, project_file, skill_greet};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_command_under_an_ask_rule_can_only_be_allowed_once,
        a_command_in_part_under_an_ask_rule_can_only_be_allowed_once,
        a_skill_under_an_ask_rule_can_only_be_allowed_once,
        a_skill_that_an_ask_rule_names_can_only_be_allowed_once,
        an_ask_rule_for_commands_holds_in_bypass_mode,
        an_ask_rule_for_skills_holds_in_bypass_mode,
    ]
}

fn a_command_under_an_ask_rule_can_only_be_allowed_once(world: &mut World) {
    asked_twice(
        world,
        "Bash(touch:*)",
        "default",
        "Bash",
        &json!({"command": "touch x"}),
    );
}

/// Claude does not say that this rule matched.
fn a_command_in_part_under_an_ask_rule_can_only_be_allowed_once(world: &mut World) {
    let piped = json!({"command": "touch x | cat"});
    asked_twice(world, "Bash(touch*)", "default", "Bash", &piped);
}

fn a_skill_under_an_ask_rule_can_only_be_allowed_once(world: &mut World) {
    asked_twice(world, "Skill", "default", "Skill", &json!({"skill": "greet"}));
}

/// Claude does not say that this rule matched.
fn a_skill_that_an_ask_rule_names_can_only_be_allowed_once(world: &mut World) {
    let greet = json!({"skill": "greet", "args": "bob"});
    asked_twice(world, "Skill(greet)", "default", "Skill", &greet);
}

fn an_ask_rule_for_commands_holds_in_bypass_mode(world: &mut World) {
    let touch = json!({"command": "touch x"});
    asked_twice(world, "Bash(touch:*)", "bypassPermissions", "Bash", &touch);
}

fn an_ask_rule_for_skills_holds_in_bypass_mode(world: &mut World) {
    let greet = json!({"skill": "greet"});
    asked_twice(world, "Skill", "bypassPermissions", "Skill", &greet);
}

/// The same call twice, under a rule in the project's settings that asks about it.
fn asked_twice(world: &mut World, rule: &str, mode: &str, name: &str, input: &Value) {
    let rules = json!({"permissions": {"ask": [rule]}}).to_string();
    project_file(world, ".claude/settings.json", &rules);
    skill_greet(world);
    world.set_env("IS_SANDBOX", "1");
    world.model().script([
        // What no rule is about shows that the mode is in force.
        tool("toolu_0", "Bash", json!({"command": "mkdir made"})),
        tool("toolu_1", name, input.clone()),
        tool("toolu_2", name, input.clone()),
        text("done"),
    ]);
    let (_agent, mut client, session) = open(world);
    client
        .call("session/set_mode", json!({"sessionId": session, "modeId": mode}))
        .unwrap();
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    let mut turn = client.prompt(&session, "go", allow_once);
    let (under_rule, others): (Vec<_>, Vec<_>) = turn
        .questions()
        .iter()
        .partition(|question| question["toolCall"]["toolCallId"] != "toolu_0");
    assert_eq!(others.is_empty(), mode == "bypassPermissions");
    assert_eq!(under_rule.len(), 2, "asked each time: {under_rule:?}");
    for request in under_rule {
        assert_once_only(request);
    }
    for id in ["toolu_0", "toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "completed");
    }
    assert_eq!(turn.text(), "done");
    close(&mut client, &session);
    assert!(local_rules(world).is_empty());
}
