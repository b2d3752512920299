//! Agents that work in the background: their prompt is open until they have ended and Claude has told of it.

use e2e_tests::harness::{World, allow_once, no_questions};
use e2e_tests::model::{Gate, Reply, Step, fail, reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_prompt_is_answered_when_its_agent_has_ended_and_claude_has_told_of_it,
        an_agent_in_the_background_asks_while_its_prompt_is_open,
        a_cancel_ends_the_agents_that_a_prompt_waits_for,
        a_prompt_sent_while_an_agent_works_follows_it,
        what_is_said_while_an_agent_works_is_answered_before_the_prompt,
        an_agent_that_fails_ends_and_the_prompt_with_it,
        a_command_in_the_background_holds_no_prompt,
    ]
}

/// What an agent is told, by which its requests are known.
const ERRAND: &str = "run the errand";

/// More often than Claude tries.
const TRIES: usize = 20;

/// A model that starts an agent, says so, and says something when it has ended.
fn starts_agent(
    world: &World,
    then: impl IntoIterator<Item = Reply>,
    errand: impl IntoIterator<Item = Step>,
) {
    let input = json!({"description": "An errand", "prompt": ERRAND, "subagent_type": "general-purpose"});
    world
        .model()
        .script([tool("toolu_agent", "Agent", input), text("Started.")]);
    world.model().script(then);
    world.model().script_agent(ERRAND, errand);
}

fn said(updates: &[Value]) -> String {
    let texts = updates
        .iter()
        .filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    texts
        .filter_map(|update| update["content"]["text"].as_str())
        .collect()
}

fn a_prompt_is_answered_when_its_agent_has_ended_and_claude_has_told_of_it(world: &mut World) {
    let gate = Gate::new();
    starts_agent(
        world,
        [text("It is done.")],
        [reply().gate(&gate).text("the report").into()],
    );
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "have it done");
    // The third request is the main loop's second or the agent's; both have been made.
    world.model().wait_request(2);
    gate.wait_reached();
    gate.open();
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    let text = said(turn.updates());
    assert!(
        text.starts_with("Started.") && text.ends_with("It is done."),
        "{text}"
    );
    turn.ignore_rest();
}

fn an_agent_in_the_background_asks_while_its_prompt_is_open(world: &mut World) {
    let file = world.project().join("made.txt");
    let gate = Gate::new();
    let input = json!({"command": format!("touch {}", file.display()), "description": "Make it"});
    starts_agent(
        world,
        [text("Made.")],
        [
            reply().gate(&gate).tool("toolu_touch", "Bash", input).into(),
            text("the report").into(),
        ],
    );
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "have it made");
    world.model().wait_request(2);
    gate.open();
    let turn = client.finish_prompt(&prompt, allow_once);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.questions().len(), 1);
    assert!(file.exists() && said(turn.updates()).ends_with("Made."));
    turn.ignore_rest();
}

fn a_cancel_ends_the_agents_that_a_prompt_waits_for(world: &mut World) {
    starts_agent(world, [text("and on")], [reply().then_hangs().into()]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "have it done");
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "Started."
    );
    world.model().wait_request(2);
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    client.ignore("tool_call_update");
    let turn = client.prompt(&session, "go on", no_questions);
    assert_eq!(
        (said(turn.updates()).as_str(), turn.stop_reason()),
        ("and on", "end_turn")
    );
    turn.ignore_rest();
}

fn a_prompt_sent_while_an_agent_works_follows_it(world: &mut World) {
    let gate = Gate::new();
    starts_agent(
        world,
        [text("It is done."), text("The second.")],
        [reply().gate(&gate).text("the report").into()],
    );
    let (_agent, mut client, session) = open(world);
    let first = client.start_prompt(&session, "have it done");
    world.model().wait_request(2);
    let second = client.start_prompt(&session, "and then");
    gate.open();
    let turn = client.finish_prompt(&first, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(said(turn.updates()).ends_with("It is done."));
    turn.ignore_rest();
    let mut turn = client.finish_prompt(&second, no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("The second.", "end_turn")
    );
}

fn what_is_said_while_an_agent_works_is_answered_before_the_prompt(world: &mut World) {
    let gate = Gate::new();
    starts_agent(
        world,
        [text("Heard."), text("It is done.")],
        [reply().gate(&gate).text("the report").into()],
    );
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "have it done");
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "Started."
    );
    let blocks = json!([{"type": "text", "text": "also this"}]);
    let params = json!({"sessionId": session, "prompt": blocks});
    client.call("_session/steering", params).unwrap();
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "Heard."
    );
    gate.open();
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(said(turn.updates()).ends_with("It is done."), "{turn:?}");
    turn.ignore_rest();
}

fn an_agent_that_fails_ends_and_the_prompt_with_it(world: &mut World) {
    starts_agent(
        world,
        [text("It failed.")],
        vec![fail(400, "invalid_request_error", "no errands today"); TRIES],
    );
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "have it done", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(said(turn.updates()).ends_with("It failed."), "{turn:?}");
    turn.ignore_rest();
}

fn a_command_in_the_background_holds_no_prompt(world: &mut World) {
    let input = json!({"command": "sleep 600", "description": "Wait", "run_in_background": true});
    world
        .model()
        .script([tool("toolu_1", "Bash", input), text("It runs.")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "start it", allow_once);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("It runs.", "end_turn")
    );
    turn.ignore_rest();
    client
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
}
