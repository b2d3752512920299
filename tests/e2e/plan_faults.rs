//! Faults during the hand-off of a plan, played by the rehearsal: processes that die, resist, hang or do not start.

use e2e_tests::harness::{Agent, Client, Prompt, World, no_questions};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{PLAN, ask_for_plan, option_ids};
use crate::support::{assert_error, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Rehearsal, Stdio:
        an_old_process_that_dies_before_its_turn_ends_fails_the_prompt,
        an_old_process_that_does_not_end_its_turn_is_ended,
        an_old_process_that_resists_its_end_is_ended,
        a_cancel_does_not_wait_for_an_old_process_that_resists,
        a_new_process_that_does_not_start_fails_the_prompt,
        a_new_process_that_hangs_at_its_start_can_be_cancelled,
        a_new_process_that_dies_at_work_fails_the_prompt_and_is_resumed,
        a_new_process_that_dies_before_it_takes_the_plan_up_is_replaced,
    ]
}

/// The turn that makes the plan, going on like this after the question.
fn planning(on_interrupt: &str, then: &Value) -> Value {
    let call =
        json!({"name": "ExitPlanMode", "id": "toolu_p", "input": {"plan": PLAN}, "ask": true, "result": "x"});
    json!({"prompt": "zebra", "on_interrupt": on_interrupt, "steps": [{"tool": call}, then]})
}

fn building(steps: Value) -> Value {
    json!({"prompt": {"prefix": "Implement the following plan"}, "steps": steps})
}

fn others() -> Value {
    json!({"sticky": true, "steps": [{"text": "and on"}]})
}

fn script(turns: &[Value], process: &Value) -> String {
    json!({"version": 1, "about": "a hand-off", "process": process, "turns": turns}).to_string()
}

/// A session whose plan was just approved for a fresh process.
fn choose_clear(world: &World) -> (Agent, Client, String, Prompt) {
    let (agent, mut client, session) = open(world);
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    let clear = option_ids(&request).into_iter().find(|id| id.contains("clear"));
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": clear.unwrap()}});
    client.send_line(&json!({"jsonrpc": "2.0", "id": id, "result": outcome}).to_string());
    (agent, client, session, prompt)
}

/// The prompt fails with these words, and the session goes on.
fn fails(client: &mut Client, session: &str, prompt: &Prompt, words: &str) {
    let turn = client.finish_prompt(prompt, no_questions);
    assert_error(turn.error(), -32603, "");
    assert!(turn.error().to_string().contains(words), "{}", turn.error());
    turn.ignore_rest();
    goes_on(client, session);
}

fn goes_on(client: &mut Client, session: &str) {
    let mut turn = client.prompt(session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
}

fn is_built(client: &mut Client, prompt: &Prompt) {
    let mut turn = client.finish_prompt(prompt, no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("built", "end_turn"));
    assert_eq!(turn.tool("toolu_p").status(), "completed");
}

fn an_old_process_that_dies_before_its_turn_ends_fails_the_prompt(world: &mut World) {
    let dies = planning("ignore", &json!({"exit": {"code": 9, "stderr": "out of cheese"}}));
    world.rehearse(&script(&[dies, others()], &json!({})));
    let (_agent, mut client, session, prompt) = choose_clear(world);
    fails(&mut client, &session, &prompt, "out of cheese");
}

fn an_old_process_that_does_not_end_its_turn_is_ended(world: &mut World) {
    let stalls = planning("ignore", &json!("stall"));
    world.rehearse(&script(
        &[stalls, building(json!([{"text": "built"}])), others()],
        &json!({}),
    ));
    let (_agent, mut client, session, prompt) = choose_clear(world);
    is_built(&mut client, &prompt);
    goes_on(&mut client, &session);
}

fn an_old_process_that_resists_its_end_is_ended(world: &mut World) {
    let (agent, mut client, session, prompt) = resisting(world);
    is_built(&mut client, &prompt);
    goes_on(&mut client, &session);
    let children = world.processes().len() - 1;
    assert_eq!(children, 1, "{:?}", (agent.pid(), world.processes()));
}

fn a_cancel_does_not_wait_for_an_old_process_that_resists(world: &mut World) {
    let (agent, mut client, session, prompt) = resisting(world);
    // The call is shown as done before the process is asked to go.
    while client.update(&session, "tool_call_update")["status"] != "completed" {}
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    client
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
    world.wait_only(&agent);
}

/// A plan that was approved in a process which takes neither the end of its input nor SIGTERM for an end.
fn resisting(world: &mut World) -> (Agent, Client, String, Prompt) {
    world.rehearse_by_executable();
    let resists = json!({"ignore_term": true, "ignore_eof": true});
    let turns = [
        planning("abort", &json!({"text": "never said"})),
        building(json!([{"text": "built"}])),
        others(),
    ];
    world.rehearse(&script(&turns, &resists));
    choose_clear(world)
}

/// Lets the second process play another script; the others play the first.
fn with_second(world: &mut World, first: &str, second: &Value) {
    let (one, two) = (world.path("one.json"), world.path("two.json"));
    std::fs::write(&one, first).unwrap();
    std::fs::write(&two, second.to_string()).unwrap();
    let wrapper = format!(
        r#"#!/bin/sh
CLAUDE_ACP_REHEARSAL={one}
if [ -e {first} ] && [ ! -e {second} ]; then
    : > {second}
    echo starting > {starting}
    CLAUDE_ACP_REHEARSAL={two}
fi
: > {first}
export CLAUDE_ACP_REHEARSAL
exec {agent} "$@"
"#,
        one = one.display(),
        two = two.display(),
        starting = world.path("starting").display(),
        first = world.path("first").display(),
        second = world.path("second").display(),
        agent = e2e_tests::setup::agent_binary().display(),
    );
    world.rehearse_by_executable();
    world.use_fake_cli(&wrapper);
}

fn plan_then_others() -> String {
    let turns = [planning("abort", &json!({"text": "never said"})), others()];
    script(&turns, &json!({}))
}

fn a_new_process_that_does_not_start_fails_the_prompt(world: &mut World) {
    let broken = json!({"version": 1, "about": "does not start", "turns": [],
        "startup": [{"exit": {"code": 7, "stderr": "no more cheese"}}]});
    with_second(world, &plan_then_others(), &broken);
    let (agent, mut client, session, prompt) = choose_clear(world);
    let queued = client.start_prompt(&session, "a walrus waits");
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_error(turn.error(), -32603, "");
    assert!(
        turn.error().to_string().contains("no more cheese"),
        "{}",
        turn.error()
    );
    turn.ignore_rest();
    // What waited goes on in the conversation that is still there.
    assert_eq!(client.finish_prompt(&queued, no_questions).text(), "and on");
    client
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
    world.wait_only(&agent);
}

fn a_new_process_that_hangs_at_its_start_can_be_cancelled(world: &mut World) {
    let hangs = json!({"version": 1, "about": "hangs", "turns": [], "startup": ["hang"]});
    with_second(world, &plan_then_others(), &hangs);
    let starting = world.bell("starting");
    let (agent, mut client, session, prompt) = choose_clear(world);
    starting.wait();
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    goes_on(&mut client, &session);
    client
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
    world.wait_only(&agent);
}

fn a_new_process_that_dies_at_work_fails_the_prompt_and_is_resumed(world: &mut World) {
    let turns = [
        planning("abort", &json!({"text": "never said"})),
        building(json!([{"text": "building"}, {"exit": {"code": 3, "stderr": "last words"}}])),
        others(),
    ];
    world.rehearse(&script(&turns, &json!({})));
    let (_agent, mut client, session, prompt) = choose_clear(world);
    fails(&mut client, &session, &prompt, "last words");
}

fn a_new_process_that_dies_before_it_takes_the_plan_up_is_replaced(world: &mut World) {
    let turns = [
        planning("abort", &json!({"text": "never said"})),
        building(json!([{"text": "built"}])),
        others(),
    ];
    let cli = format!("{}\non_user() {{ exit 1; }}\nspeak\n", crate::fake_cli::SPEAK);
    let cli = world.executable("dies", &cli);
    with_second(world, &script(&turns, &json!({})), &json!({}));
    let wrapper = std::fs::read_to_string(world.path("fake-claude")).unwrap();
    let wrapper = wrapper.replace(
        "    CLAUDE_ACP_REHEARSAL=",
        &format!("    exec {cli}\n    IGNORED="),
    );
    world.use_fake_cli(&wrapper);
    let (_agent, mut client, session, prompt) = choose_clear(world);
    is_built(&mut client, &prompt);
    goes_on(&mut client, &session);
}
