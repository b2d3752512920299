//! The hand-off of an approved plan to a fresh conversation, as the client and the model see it.

use e2e_tests::harness::{Agent, Client, Turn, World, no_questions};
use e2e_tests::model::{Request, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{
    PLAN, ask_for_plan, assert_built_in_bypass, bypass_to_plan, choose, claudes, current, enter_plan,
    exit_plan, modes, plan_mode, user_settings,
};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        clear_context_goes_on_with_nothing_but_the_plan,
        clear_context_shows_nothing_of_the_rejection,
        clear_context_empties_the_context_and_sums_the_usage,
        clear_context_leaves_queued_prompts_to_the_fresh_process,
        clear_context_for_auto_starts_in_auto,
        clear_context_for_bypass_asks_for_nothing,
        clear_context_hands_over_the_plan_of_the_plan_file,
        clear_context_keeps_model_and_effort,
        clear_context_works_twice_in_a_session,
    ]
}

/// What the fresh conversation begins with.
fn handed_over(plan: &str) -> String {
    format!("Implement the following plan:\n\n{plan}")
}

/// Fails unless the request begins a conversation with the plan.
#[track_caller]
fn assert_only_plan(request: &Request, plan: &str) {
    assert_eq!(request.last_text(), handed_over(plan));
    let messages = request.body["messages"].as_array().unwrap();
    assert!(
        messages.iter().all(|message| message["role"] != "assistant"),
        "{messages:?}"
    );
    for earlier in ["zebra", "toolu_p", "ExitPlanMode\"}"] {
        assert!(
            !Value::from(messages.clone()).to_string().contains(earlier),
            "{earlier}: {messages:?}"
        );
    }
}

/// A client that hears of usage too, with a session in plan mode.
fn plan_mode_with_usage(world: &World) -> (Agent, Client, String) {
    user_settings(world, "plan");
    let mut agent = world.agent();
    let mut client = agent.connect();
    client.ignore("session_info_update");
    client.initialize();
    let session = client.new_session(&world.cwd());
    (agent, client, session)
}

fn clear(client: &mut Client, session: &str, option: &str) -> Turn {
    let (prompt, id, request) = ask_for_plan(client, session);
    choose(client, &id, &request, option);
    client.finish_prompt(&prompt, no_questions)
}

fn clear_context_goes_on_with_nothing_but_the_plan(world: &mut World) {
    let write = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    world
        .model()
        .script([exit_plan(), tool("toolu_w", "Write", write), text("built")]);
    let (_agent, mut client, session) = plan_mode(world);
    let mut turn = clear(&mut client, &session, "exit-plan-clear-accept-edits");
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.tool("toolu_w").status(), "completed");
    assert_eq!(turn.text(), "built");
    turn.ignore_rest();
    assert_only_plan(&world.model().wait_request(1), PLAN);
    assert!(
        world.project().join("made.txt").exists(),
        "edits are not asked about"
    );
    assert_eq!(claudes(world), 1);
}

fn clear_context_shows_nothing_of_the_rejection(world: &mut World) {
    world.model().script([exit_plan(), text("built")]);
    let (_agent, mut client, session) = plan_mode(world);
    let mut turn = clear(&mut client, &session, "exit-plan-clear-accept-edits");
    let call = turn.tool("toolu_p");
    assert_eq!(call.statuses, ["pending", "completed"]);
    assert_eq!(
        (call.content_text().as_str(), call.get("rawOutput")),
        (PLAN, &Value::Null)
    );
    assert_eq!(modes(&turn.take("current_mode_update")), ["acceptEdits"]);
    let [options] = turn.take("config_option_update").try_into().unwrap();
    assert_eq!(current(&options, "mode"), "acceptEdits");
    assert_eq!(turn.text(), "built");
    assert_eq!(turn.kinds(), Vec::<String>::new(), "nothing else is shown");
}

fn clear_context_empties_the_context_and_sums_the_usage(world: &mut World) {
    world
        .model()
        .script([exit_plan().usage(50_000, 70), text("built").usage(3_000, 5)]);
    let (_agent, mut client, session) = plan_mode_with_usage(world);
    let mut turn = clear(&mut client, &session, "exit-plan-clear-accept-edits");
    let usage = turn.take("usage_update");
    let used: Vec<_> = usage
        .iter()
        .map(|update| update["used"].as_u64().unwrap())
        .collect();
    assert!(used.starts_with(&[50_070]), "{used:?}");
    assert!(used.contains(&0) && used.ends_with(&[3_005]), "{used:?}");
    let total = &turn.outcome().unwrap()["usage"];
    let counts = [
        &total["inputTokens"],
        &total["outputTokens"],
        &total["totalTokens"],
    ];
    assert_eq!(counts, [53_000, 75, 53_075], "{total}");
    let cost = |update: &Value| update["cost"]["amount"].as_f64();
    let costs: Vec<f64> = usage.iter().filter_map(cost).collect();
    assert!(costs.is_sorted(), "the session's cost never falls: {costs:?}");
    turn.ignore_rest();
}

fn clear_context_leaves_queued_prompts_to_the_fresh_process(world: &mut World) {
    world
        .model()
        .script([exit_plan(), text("built"), text("answered")]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    let queued = client.start_prompt(&session, "a walrus waits");
    choose(&mut client, &id, &request, "exit-plan-clear-accept-edits");
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("built", "end_turn"));
    turn.ignore_rest();
    let mut turn = client.finish_prompt(&queued, no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("answered", "end_turn")
    );
    assert_only_plan(&world.model().wait_request(1), PLAN);
    assert!(!world.model().wait_request(1).mentions("walrus"));
    let last = world.model().wait_request(2);
    assert_eq!(last.last_text(), "a walrus waits");
    assert!(last.mentions("Implement the following plan") && !last.mentions("zebra"));
}

fn clear_context_for_auto_starts_in_auto(world: &mut World) {
    world.model().script([exit_plan(), text("built")]);
    let (_agent, mut client, session) = open(world);
    client
        .call(
            "session/set_mode",
            json!({"sessionId": session, "modeId": "plan"}),
        )
        .unwrap();
    let mut turn = clear(&mut client, &session, "exit-plan-clear-auto");
    assert_eq!(modes(&turn.take("current_mode_update")), ["plan", "auto"]);
    assert_eq!(
        (turn.tool("toolu_p").status(), turn.stop_reason()),
        ("completed", "end_turn")
    );
    turn.ignore_rest();
    assert_only_plan(&world.model().wait_request(1), PLAN);
}

fn clear_context_for_bypass_asks_for_nothing(world: &mut World) {
    let (_agent, mut client, session) = bypass_to_plan(world);
    let turn = clear(&mut client, &session, "exit-plan-clear-bypass");
    assert_built_in_bypass(turn);
    assert_only_plan(&world.model().wait_request(2), PLAN);
}

fn clear_context_hands_over_the_plan_of_the_plan_file(world: &mut World) {
    world.model().script([text("hello")]);
    let (_agent, mut client, session) = plan_mode(world);
    assert_eq!(
        client.prompt(&session, "a zebra says hello", no_questions).text(),
        "hello"
    );
    let said = world.model().wait_request(0).body.to_string();
    let folder = world.home().join(".claude/plans");
    let folder = folder.to_str().unwrap();
    let (_, after) = said.split_once(folder).expect("the path of the plan file");
    let (name, _) = after.split_once(".md").expect("the name of the plan file");
    let path = format!("{folder}{name}.md");
    world.model().script([
        tool(
            "toolu_w",
            "Write",
            json!({"file_path": path, "content": "Plan on file."}),
        ),
        tool("toolu_p", "ExitPlanMode", json!({})),
        text("built"),
    ]);
    let mut turn = clear(&mut client, &session, "exit-plan-clear-accept-edits");
    assert_eq!(turn.tool("toolu_p").content_text(), "Plan on file.");
    assert_eq!(turn.stop_reason(), "end_turn");
    turn.ignore_rest();
    assert_only_plan(&world.model().wait_request(3), "Plan on file.");
}

fn clear_context_keeps_model_and_effort(world: &mut World) {
    world.model().script([exit_plan(), text("built")]);
    let (_agent, mut client, session) = plan_mode(world);
    for (id, value) in [("model", "sonnet"), ("effort", "low")] {
        client
            .call(
                "session/set_config_option",
                json!({"sessionId": session, "configId": id, "value": value}),
            )
            .unwrap();
    }
    let mut turn = clear(&mut client, &session, "exit-plan-clear-accept-edits");
    let options = turn.take("config_option_update").pop().unwrap();
    for (id, value) in [("mode", "acceptEdits"), ("model", "sonnet"), ("effort", "low")] {
        assert_eq!(current(&options, id), value);
    }
    turn.ignore_rest();
    let (planned, built) = (
        world.model().wait_request(0).body,
        world.model().wait_request(1).body,
    );
    assert!(
        built["model"].as_str().unwrap().contains("sonnet"),
        "{}",
        built["model"]
    );
    assert_eq!(
        (&built["model"], &built["output_config"]),
        (&planned["model"], &planned["output_config"])
    );
}

fn clear_context_works_twice_in_a_session(world: &mut World) {
    world.model().script([
        exit_plan(),
        text("built"),
        enter_plan(),
        tool("toolu_q", "ExitPlanMode", json!({"plan": "Plan B."})),
        text("built again"),
    ]);
    let (_agent, mut client, session) = plan_mode(world);
    clear(&mut client, &session, "exit-plan-clear-accept-edits").ignore_rest();
    let prompt = client.start_prompt(&session, "another zebra");
    let (id, request) = client.permission_request();
    choose(&mut client, &id, &request, "exit-plan-clear-accept-edits");
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("built again", "end_turn")
    );
    turn.ignore_rest();
    assert_only_plan(&world.model().wait_request(4), "Plan B.");
    assert_eq!(claudes(world), 1);
}
