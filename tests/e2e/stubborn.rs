//! Process life with a Claude that resists: a script that speaks just enough of the protocol, ignores every polite
//! signal and the end of its input, and has a grandchild in a session of its own.

use e2e_tests::harness::{Agent, Bell, Client, World};
use rustix::process::Signal;
use serde_json::json;

use crate::case::{Case, cases};
use crate::fake_cli::SPEAK;
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Rehearsal, Stdio:
        stubborn_end_of_input_leaves_no_process,
        stubborn_sigterm_leaves_no_process,
        stubborn_sigint_leaves_no_process,
        stubborn_sighup_leaves_no_process,
        stubborn_broken_output_pipe_leaves_no_process,
        stubborn_session_close_leaves_no_process,
        stubborn_cancel_escalates_and_the_next_prompt_works,
        a_grandchild_is_ended_when_its_parent_dies_by_itself,
    ];
    all.extend(cases![Rehearsal, Tcp: stubborn_client_that_vanishes_leaves_no_process]);
    all.extend(cases![Rehearsal, Unix: stubborn_client_that_vanishes_leaves_no_process]);
    all
}

fn stubborn_end_of_input_leaves_no_process(world: &mut World) {
    let (mut agent, mut client, _resistance, _session) = resist(world);
    client.close();
    agent.wait_end();
    world.wait_none();
    client.ignore_rest();
}

fn stubborn_sigterm_leaves_no_process(world: &mut World) {
    a_signal_leaves_no_process(world, Signal::TERM);
}

fn stubborn_sigint_leaves_no_process(world: &mut World) {
    a_signal_leaves_no_process(world, Signal::INT);
}

fn stubborn_sighup_leaves_no_process(world: &mut World) {
    a_signal_leaves_no_process(world, Signal::HUP);
}

fn a_signal_leaves_no_process(world: &mut World, signal: Signal) {
    let (mut agent, mut client, _resistance, _session) = resist(world);
    agent.signal(signal);
    agent.wait_end();
    world.wait_none();
    client.ignore_rest();
}

fn stubborn_broken_output_pipe_leaves_no_process(world: &mut World) {
    let (mut agent, client, _resistance, _session) = resist(world);
    client.stop_reading();
    agent.wait_end();
    world.wait_none();
}

fn stubborn_session_close_leaves_no_process(world: &mut World) {
    let (agent, mut client, _resistance, session) = resist(world);
    let close = client.request("session/close", json!({"sessionId": session}));
    client.response(close).unwrap();
    world.wait_only(&agent);
    assert_eq!(client.next_message()["result"]["stopReason"], "cancelled");
}

fn stubborn_client_that_vanishes_leaves_no_process(world: &mut World) {
    let (agent, client, _resistance, _session) = resist(world);
    client.vanish();
    world.wait_only(&agent);
}

fn stubborn_cancel_escalates_and_the_next_prompt_works(world: &mut World) {
    let (_agent, mut client, _resistance, session) = resist(world);
    client.cancel(&session);
    assert_eq!(client.next_message()["result"]["stopReason"], "cancelled");
    client.request(
        "session/prompt",
        json!({"sessionId": session, "prompt": [{"type": "text", "text": "again"}]}),
    );
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "resisting"
    );
    client.cancel(&session);
    assert_eq!(client.next_message()["result"]["stopReason"], "cancelled");
}

fn a_grandchild_is_ended_when_its_parent_dies_by_itself(world: &mut World) {
    let (agent, mut client, _resistance, _session) = resist(world);
    world.kill_command("fake-claude", &agent);
    let answer = client.next_message();
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    world.wait_only(&agent);
}

/// A session in a turn of a Claude that does not react to anything, with its grandchild alive.
fn resist(world: &mut World) -> (Agent, Client, [Bell; 2], String) {
    let (alive, latch) = (world.bell("alive"), world.latch("latch"));
    let grandchild = format!(
        "trap '' TERM INT HUP; echo alive > {}; while :; do read line < {}; done",
        alive.path(),
        latch.path()
    );
    world.use_fake_cli(&format!(
        r#"{SPEAK}
trap '' TERM INT HUP
on_user() {{
    take_up
    setsid sh -c "{grandchild}" > /dev/null 2>&1 < /dev/null &
    text_delta resisting
    while :; do read -r line < {latch}; done
}}
speak
while :; do read -r line < {latch}; done
"#,
        latch = latch.path(),
    ));
    let (agent, mut client, session) = open(world);
    client.request(
        "session/prompt",
        json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}),
    );
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "resisting"
    );
    alive.wait();
    (agent, client, [alive, latch], session)
}
