//! Ordinary work under a policy: what needs more than one call, or no file and no command, goes on as without one.

use e2e_tests::harness::{Client, World, allow_once, no_questions};
use e2e_tests::model::{reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::perm_support::reply as answer;
use crate::plan_support::{ask_for_plan, choose, claudes, enter_plan, exit_plan, user_settings};
use crate::policy_support::{asked, greet_under, open_under, write};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        an_approved_plan_is_built,
        an_approved_plan_is_built_with_a_clear_context,
        a_plan_mode_that_the_model_entered_guards,
        a_form_is_answered,
        a_tool_of_a_clients_server_runs,
        calls_of_one_message_run_side_by_side,
        a_subagent_and_a_list_of_tasks_go_on,
        after_a_cancelled_question_the_session_goes_on,
    ]
}

fn an_approved_plan_is_built(world: &mut World) {
    let made = world.project().join("made.txt");
    let (_, input) = write(&made);
    world
        .model()
        .script([exit_plan(), tool("toolu_w", "Write", input), text("built")]);
    let (_agent, mut client, session) = open_under(world, &json!({}), "plan");
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    choose(&mut client, &id, &request, "exit-plan-default");
    let mut turn = client.finish_prompt(&prompt, allow_once);
    assert_eq!(turn.text(), "built");
    assert_eq!(asked(&turn), ["toolu_w"]);
    assert_eq!(turn.tool("toolu_w").status(), "completed");
    turn.ignore_rest();
    assert!(made.exists());
}

fn an_approved_plan_is_built_with_a_clear_context(world: &mut World) {
    let made = world.project().join("made.txt");
    let (_, input) = write(&made);
    world
        .model()
        .script([exit_plan(), tool("toolu_w", "Write", input), text("built")]);
    let policy = json!({"permissions": {"ask": ["Write"]}});
    let (_agent, mut client, session) = open_under(world, &policy, "plan");
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    // A fresh process may bypass permissions where this one may not.
    choose(&mut client, &id, &request, "exit-plan-clear-bypass");
    let mut turn = client.finish_prompt(&prompt, allow_once);
    assert_eq!(turn.text(), "built");
    assert_eq!(asked(&turn), ["toolu_w"], "the policy goes on too");
    turn.ignore_rest();
    assert!(made.exists());
    assert_eq!(claudes(world), 1);
}

fn a_plan_mode_that_the_model_entered_guards(world: &mut World) {
    let made = world.project().join("made.txt");
    let (_, input) = write(&made);
    world
        .model()
        .script([enter_plan(), tool("toolu_w", "Write", input), text("planned")]);
    let (_agent, mut client, session) = open_under(world, &json!({}), "default");
    let mut turn = client.prompt(&session, "plan it", allow_once);
    assert_eq!(turn.text(), "planned");
    assert_eq!(turn.tool("toolu_e").status(), "completed");
    assert_eq!(turn.tool("toolu_w").status(), "failed");
    turn.ignore_rest();
    assert!(!made.exists());
}

fn a_form_is_answered(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    let policy = world.path("policy.json");
    std::fs::write(&policy, "{}").unwrap();
    let mut agent = world.agent_with(&["--policy", policy.to_str().unwrap()]);
    let mut client = agent.connect();
    let capabilities = json!({"elicitation": {"form": {}}});
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.call("initialize", params).unwrap();
    let session = client.new_session(&world.cwd());
    let option = |label: &str| json!({"label": label, "description": label});
    let questions = json!([
        {"question": "Which?", "header": "Color", "options": [option("Red"), option("Blue")], "multiSelect": false},
    ]);
    world.model().script([
        tool("toolu_1", "AskUserQuestion", json!({"questions": questions})),
        text("and on"),
    ]);
    let prompt = client.start_prompt(&session, "ask me");
    let (id, _) = client.elicitation();
    let content = json!({"action": "accept", "content": {"question_0": "Blue"}});
    answer(&mut client, &id, &content);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.text(), "and on");
    turn.ignore_rest();
    let told = world.model().wait_request(1).tool_result("toolu_1").unwrap();
    assert!(told.contains("\"Which?\"=\"Blue\""), "{told}");
}

fn a_tool_of_a_clients_server_runs(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    user_settings(world, "default");
    let policy = json!({"permissions": {"clientMcpServers": true}});
    let (_agent, mut client) = greet_under(world, &policy, &[]);
    let server = json!({
        "name": "probe", "command": e2e_tests::setup::own_binary("mcp-probe"), "args": [], "env": [],
    });
    let session = client.new_session_with(json!({"cwd": world.cwd(), "mcpServers": [server]}));
    world.model().script([
        tool("toolu_1", "mcp__probe__tell", json!({"what": "HOME"})),
        text("told"),
    ]);
    finish(&mut client, &session, "told", &[("toolu_1", "completed")], 1);
}

fn calls_of_one_message_run_side_by_side(world: &mut World) {
    let file = |name: &str| json!({"file_path": world.project().join(name), "content": "made\n"});
    world.model().script([
        reply()
            .tool("toolu_1", "Write", file("a"))
            .tool("toolu_2", "Bash", json!({"command": "ls"}))
            .tool("toolu_3", "Bash", json!({"command": "rm -f none"}))
            .tool("toolu_4", "Write", file("b")),
        text("done"),
    ]);
    let policy = json!({"permissions": {"deny": ["Bash(rm *)"]}});
    let (_agent, mut client, session) = open_under(world, &policy, "default");
    let ends = [
        ("toolu_1", "completed"),
        ("toolu_2", "completed"),
        ("toolu_3", "failed"),
        ("toolu_4", "completed"),
    ];
    finish(&mut client, &session, "done", &ends, 2);
}

fn a_subagent_and_a_list_of_tasks_go_on(world: &mut World) {
    world.set_env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    let errand = json!({
        "description": "List", "prompt": "list it", "subagent_type": "general-purpose", "run_in_background": false,
    });
    let task = json!({"subject": "First", "description": "The first thing", "activeForm": "Doing it"});
    world.model().script([
        tool("toolu_1", "TaskCreate", task),
        tool("toolu_2", "Agent", errand),
        tool("toolu_3", "Bash", json!({"command": "ls"})),
        text("listed"),
        text("done"),
    ]);
    let (_agent, mut client, session) = open_under(world, &json!({}), "default");
    let mut turn = client.prompt(&session, "delegate", no_questions);
    for id in ["toolu_2", "toolu_3"] {
        assert_eq!(turn.tool(id).status(), "completed", "{id}");
    }
    assert!(turn.text().ends_with("done"));
    let plan = turn.take("plan");
    assert_eq!(plan.last().unwrap()["entries"][0]["content"], "First");
    turn.ignore_rest();
}

fn after_a_cancelled_question_the_session_goes_on(world: &mut World) {
    let (_, input) = write(&world.project().join("made.txt"));
    world.model().script([tool("toolu_1", "Write", input.clone())]);
    let (_agent, mut client, session) = open_under(world, &json!({}), "default");
    let prompt = client.start_prompt(&session, "write");
    let (id, _) = client.permission_request();
    client.cancel(&session);
    answer(&mut client, &id, &json!({"outcome": {"outcome": "cancelled"}}));
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    world
        .model()
        .script([tool("toolu_2", "Write", input), text("written")]);
    finish(&mut client, &session, "written", &[("toolu_2", "completed")], 1);
    assert_eq!(claudes(world), 1);
}

/// A turn that ends with this text; every question is allowed once, and calls end like this.
#[track_caller]
fn finish(client: &mut Client, session: &str, last: &str, ends: &[(&str, &str)], questions: usize) {
    let mut turn = client.prompt(session, "go", allow_once);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), (last, "end_turn"));
    assert_eq!(turn.questions().len(), questions, "{:?}", asked(&turn));
    for (id, end) in ends {
        assert_eq!(turn.tool(id).status(), *end, "{id}");
    }
    turn.ignore_rest();
}
