//! The web, skills, MCP tools and subagents: the rules that this agent makes itself, and whose call a question is
//! about.

use e2e_tests::harness::{Turn, World, allow_once};
use e2e_tests::model::{Reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::perm_support::{close, ids, label, labels, local_rules, select, skill_greet, with_probe};
use crate::support::{greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_host_is_remembered_for_web_fetch,
        a_skill_is_remembered_with_any_arguments,
        a_skill_with_arguments_is_remembered_by_its_prefix,
        an_mcp_tool_is_remembered_by_its_id,
        a_subagents_question_names_the_call_that_started_it,
    ]
}

/// The only question of a turn.
#[track_caller]
fn only_question(turn: &Turn) -> &Value {
    let [request] = turn.questions() else {
        panic!("one question is expected: {:#?}", turn.questions())
    };
    request
}

fn a_host_is_remembered_for_web_fetch(world: &mut World) {
    // A name that never resolves; what Claude asks its makers about it first is left out.
    std::fs::write(
        world.home().join(".claude/settings.json"),
        r#"{"permissions":{"defaultMode":"default"},"skipWebFetchPreflight":true}"#,
    )
    .unwrap();
    let fetch = |id: &str, path: &str| {
        let url = format!("https://Docs.Example.invalid/{path}");
        tool(id, "WebFetch", json!({"url": url, "prompt": "What is it?"}))
    };
    world
        .model()
        .script([fetch("toolu_1", "a"), fetch("toolu_2", "b"), text("fetched")]);
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "fetch", select("allow-with-updates"));
    let request = only_question(&turn);
    assert_eq!(
        labels(request),
        ["Yes", "Yes, and don't ask again for docs.example.invalid", "No"]
    );
    assert_eq!(request["toolCall"]["kind"], "fetch");
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "failed", "there is no such host");
    }
    assert_eq!(turn.text(), "fetched");
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["WebFetch(domain:docs.example.invalid)"]);
}

fn skill(id: &str, input: Value) -> Reply {
    tool(id, "Skill", input)
}

fn a_skill_is_remembered_with_any_arguments(world: &mut World) {
    skill_greet(world);
    world.model().script([
        skill("toolu_1", json!({"skill": "greet"})),
        skill("toolu_2", json!({"skill": "greet"})),
        skill("toolu_3", json!({"skill": "greet", "args": "bob"})),
        text("greeted"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "greet", select("allow-skill-exact"));
    let request = only_question(&turn);
    assert_eq!(ids(request), ["allow-once", "allow-skill-exact", "reject"]);
    assert_eq!(
        label(request, "allow-skill-exact"),
        "Yes, and don't ask again for the skill greet, with any arguments"
    );
    all_completed(&mut turn, 3);
    assert_eq!(turn.text(), "greeted");
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["Skill(greet)"]);
}

fn a_skill_with_arguments_is_remembered_by_its_prefix(world: &mut World) {
    skill_greet(world);
    world.model().script([
        skill("toolu_1", json!({"skill": "greet", "args": "bob"})),
        skill("toolu_2", json!({"skill": "greet", "args": "bob"})),
        skill("toolu_3", json!({"skill": "greet", "args": "eve"})),
        text("greeted"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "greet", select("allow-skill-prefix"));
    let request = only_question(&turn);
    // Claude does not honour a rule that names the arguments, so none is offered.
    assert_eq!(ids(request), ["allow-once", "allow-skill-prefix", "reject"]);
    assert_eq!(
        label(request, "allow-skill-prefix"),
        "Yes, and don't ask again for greet:* skills"
    );
    all_completed(&mut turn, 3);
    assert_eq!(turn.text(), "greeted");
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["Skill(greet:*)"]);
}

#[track_caller]
fn all_completed(turn: &mut Turn, calls: u32) {
    for n in 1..=calls {
        let call = turn.tool(&format!("toolu_{n}"));
        assert_eq!(call.status(), "completed", "{call:?}");
    }
}

fn an_mcp_tool_is_remembered_by_its_id(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    let tell = |id: &str| tool(id, "mcp__probe__tell", json!({"what": "HOME"}));
    world
        .model()
        .script([tell("toolu_1"), tell("toolu_2"), text("told")]);
    let (_agent, mut client) = greet(world);
    let session = with_probe(world, &mut client);
    let mut turn = client.prompt(&session, "tell", select("allow-with-updates"));
    let request = only_question(&turn);
    assert_eq!(
        labels(request),
        ["Yes", "Yes, and don't ask again for mcp__probe__tell", "No"]
    );
    all_completed(&mut turn, 2);
    assert_eq!(turn.text(), "told");
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["mcp__probe__tell"]);
}

fn a_subagents_question_names_the_call_that_started_it(world: &mut World) {
    let errand = json!({
        "description": "Touch a file", "prompt": "touch it", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    world.model().script([
        tool("toolu_agent", "Agent", errand),
        tool("toolu_inner", "Bash", json!({"command": "touch inner.txt"})),
        text("touched"),
        text("all done"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "delegate", allow_once);
    let request = only_question(&turn);
    assert_eq!(request["toolCall"]["toolCallId"], "toolu_inner");
    let parent = "/_meta/claudeCode/parentToolUseId";
    assert_eq!(
        request["toolCall"].pointer(parent),
        Some(&json!("toolu_agent")),
        "{request}"
    );
    let inner = turn.tool("toolu_inner");
    assert_eq!(
        inner.get("_meta").pointer("/claudeCode/parentToolUseId"),
        Some(&json!("toolu_agent")),
        "{inner:?}"
    );
    assert_eq!(inner.status(), "completed");
    let outer = turn.tool("toolu_agent");
    assert_eq!(outer.status(), "completed", "{outer:?}");
    assert!(world.project().join("inner.txt").exists());
    assert!(turn.text().ends_with("all done"));
    turn.ignore_rest();
}
