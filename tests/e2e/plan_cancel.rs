//! Cancelling at each step of the hand-off, on the real CLI: the prompt is answered at once, what is left is one process
//! or none, and the conversation that goes on is the one that is shown.
//!
//! The steps between two processes are reached through a script in the CLI's place, which starts it.

use e2e_tests::harness::{Agent, Bell, Client, Prompt, World, no_questions};
use e2e_tests::model::{Gate, reply, text};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{ask_for_plan, choose, claudes, exit_plan, plan_mode};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        hand_off_cancelled_with_its_choice,
        hand_off_cancelled_while_the_old_process_ends,
        hand_off_cancelled_while_the_new_process_starts,
        hand_off_cancelled_while_the_plan_is_carried_out,
        hand_off_cancelled_twice,
        hand_off_of_a_closed_session_leaves_no_process,
    ]
}

const CLEAR: &str = "exit-plan-clear-accept-edits";

/// A Claude that says when it has ended, and lingers. Its second process says that it was started, and waits.
struct Slow {
    ended: Bell,
    starting: Bell,
    never: Bell,
}

fn slow_cli(world: &mut World) -> Slow {
    let slow = Slow {
        ended: world.bell("ended"),
        starting: world.bell("starting"),
        never: world.latch("never"),
    };
    let cli = world.environment_value("CLAUDE_CODE_EXECUTABLE").to_owned();
    let (first, ended) = (world.path("first"), slow.ended.path());
    let (starting, never) = (slow.starting.path(), slow.never.path());
    let script = format!(
        r#"#!/bin/sh
if [ ! -e {first} ]; then
    : > {first}
    {cli} "$@"
    echo ended > {ended}
    [ -e {linger} ] && read line < {never}
    exit 0
fi
if [ ! -e {second} ]; then
    : > {second}
    echo starting > {starting}
    read line < {never}
fi
exec {cli} "$@"
"#,
        first = first.display(),
        second = world.path("second").display(),
        linger = world.path("linger").display(),
    );
    world.use_fake_cli(&script);
    slow
}

/// Sends a cancel and waits for the answer. It waits for no process: what these scripts wait for never comes, and that the
/// answer leaves with the cancel stands in the tests of the turn machine, which have no clock.
fn cancel(client: &mut Client, session: &str, prompt: &Prompt) {
    client.cancel(session);
    let turn = client.finish_prompt(prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert!(!format!("{turn:?}").contains("ede_diagnostic"), "{turn:?}");
    turn.ignore_rest();
}

/// The next prompt continues the conversation in which the plan was made.
fn goes_on_where_the_plan_was_made(world: &World, client: &mut Client, session: &str) {
    world.model().script([text("and on")]);
    let mut turn = client.prompt(session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
    turn.ignore_rest();
    let last = world.model().requests().pop().unwrap();
    assert!(last.mentions("a zebra asks") && !last.mentions("Implement the following plan"));
    assert_eq!(claudes(world), 1);
}

fn answer_and_cancel(client: &mut Client, session: &str, id: &Value) {
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": CLEAR}});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": outcome});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    // Both lines in one write: the cancel is there before Claude has ended its turn.
    client.send_line(&format!("{answer}\n{cancel}"));
}

fn hand_off_cancelled_with_its_choice(world: &mut World) {
    world.model().script([exit_plan()]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, _) = ask_for_plan(&mut client, &session);
    answer_and_cancel(&mut client, &session, &id);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    goes_on_where_the_plan_was_made(world, &mut client, &session);
}

fn hand_off_cancelled_while_the_old_process_ends(world: &mut World) {
    let slow = slow_cli(world);
    std::fs::write(world.path("linger"), "").unwrap();
    std::fs::write(world.path("second"), "").unwrap();
    let (agent, mut client, session, prompt) = choose_clear(world);
    slow.ended.wait();
    cancel(&mut client, &session, &prompt);
    // What lingers is ended all the same.
    world.wait_only(&agent);
    goes_on_where_the_plan_was_made(world, &mut client, &session);
}

fn hand_off_cancelled_while_the_new_process_starts(world: &mut World) {
    let slow = slow_cli(world);
    let (agent, mut client, session, prompt) = choose_clear(world);
    slow.ended.wait();
    slow.starting.wait();
    cancel(&mut client, &session, &prompt);
    world.wait_only(&agent);
    goes_on_where_the_plan_was_made(world, &mut client, &session);
}

fn hand_off_cancelled_while_the_plan_is_carried_out(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([exit_plan(), reply().text("building").gate(&gate), text("and on")]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    choose(&mut client, &id, &request, CLEAR);
    gate.wait_reached();
    cancel(&mut client, &session, &prompt);
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
    let last = world.model().requests().pop().unwrap();
    assert!(last.mentions("Implement the following plan") && !last.mentions("zebra"));
    assert_eq!(claudes(world), 1);
}

fn hand_off_cancelled_twice(world: &mut World) {
    let slow = slow_cli(world);
    let (agent, mut client, session, prompt) = choose_clear(world);
    slow.starting.wait();
    let queued = client.start_prompt(&session, "a walrus waits");
    client.cancel(&session);
    client.cancel(&session);
    for prompt in [&queued, &prompt] {
        let turn = client.finish_prompt(prompt, no_questions);
        assert_eq!(turn.stop_reason(), "cancelled");
        turn.ignore_rest();
    }
    world.wait_only(&agent);
    goes_on_where_the_plan_was_made(world, &mut client, &session);
    assert!(!world.model().requests().pop().unwrap().mentions("walrus"));
}

fn hand_off_of_a_closed_session_leaves_no_process(world: &mut World) {
    let slow = slow_cli(world);
    let (agent, mut client, session, prompt) = choose_clear(world);
    slow.starting.wait();
    let close = client.request("session/close", json!({"sessionId": session}));
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    client.response(close).unwrap();
    world.wait_only(&agent);
}

/// A session whose plan was just approved for a fresh process.
fn choose_clear(world: &World) -> (Agent, Client, String, Prompt) {
    world.model().script([exit_plan()]);
    let (agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    choose(&mut client, &id, &request, CLEAR);
    (agent, client, session, prompt)
}
