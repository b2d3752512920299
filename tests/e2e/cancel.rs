//! Cancelling: at every moment of a turn, once, twice and when there is nothing to cancel.

use e2e_tests::harness::{Answer, World, allow_once, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::{open, open_cancellable};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        cancel_while_streaming_ends_the_turn,
        cancel_before_claude_has_seen_the_prompt_ends_the_turn,
        cancel_while_the_model_is_silent_ends_the_turn,
        cancel_while_asking_withdraws_the_question,
        a_client_that_does_not_know_cancellations_hears_of_none,
        cancel_while_asking_wins_over_a_late_answer,
        cancel_in_the_middle_of_a_command_ends_the_command,
        cancel_twice_answers_once,
        cancel_when_idle_does_nothing,
    ]
}

fn cancel_while_streaming_ends_the_turn(world: &mut World) {
    let gate = Gate::new();
    world.model().script([
        reply().text("first").gate(&gate).text("never said"),
        text("and on"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "first"
    );
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
}

fn cancel_before_claude_has_seen_the_prompt_ends_the_turn(world: &mut World) {
    // Whether Claude asks the model before the cancel reaches it is its own affair.
    world.model().begin_outage(reply().then_hangs().into());
    let (_agent, mut client, session) = open(world);
    // Both lines in one write: the agent reads the cancel before Claude can have answered anything.
    let prompt = client.start_prompt_and_cancel(&session, "go");
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    world.model().end_outage();
    world.model().script([text("and on")]);
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
}

fn cancel_while_the_model_is_silent_ends_the_turn(world: &mut World) {
    world.model().script([reply().then_hangs(), text("and on")]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    world.model().wait_request(0);
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "and on");
}

fn cancel_while_asking_withdraws_the_question(world: &mut World) {
    let file = world.project().join("made.txt");
    world.model().script([
        tool("toolu_1", "Write", json!({"file_path": file, "content": "x"})),
        text("and on"),
    ]);
    let (_agent, mut client, session) = open_cancellable(world);
    let prompt = client.start_prompt(&session, "write");
    let (question, _) = client.permission_request();
    client.cancel(&session);
    assert_eq!(client.notification("$/cancel_request")["requestId"], question);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    assert!(!file.exists());
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "and on");
}

fn a_client_that_does_not_know_cancellations_hears_of_none(world: &mut World) {
    let file = world.project().join("made.txt");
    world.model().script([tool(
        "toolu_1",
        "Write",
        json!({"file_path": file, "content": "x"}),
    )]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "write");
    let (question, request) = client.permission_request();
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    // Nothing but the turn has come, which the end of the test checks; the late answer is nobody's.
    turn.ignore_rest();
    client.answer(&question, &request, &Answer::Kind("allow_once"));
    assert!(!file.exists());
}

fn cancel_while_asking_wins_over_a_late_answer(world: &mut World) {
    let file = world.project().join("made.txt");
    world.model().script([
        tool("toolu_1", "Write", json!({"file_path": file, "content": "x"})),
        text("and on"),
    ]);
    let (_agent, mut client, session) = open_cancellable(world);
    let prompt = client.start_prompt(&session, "write");
    let (question, request) = client.permission_request();
    client.cancel(&session);
    client.notification("$/cancel_request");
    client.answer(&question, &request, &Answer::Kind("allow_once"));
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "and on");
    assert!(!file.exists());
}

fn cancel_in_the_middle_of_a_command_ends_the_command(world: &mut World) {
    let (started, latch) = (world.bell("started"), world.latch("latch"));
    let command = format!(
        "echo started > {}; read line < {}; echo over",
        started.path(),
        latch.path()
    );
    world.model().script([
        tool("toolu_1", "Bash", json!({"command": command})),
        text("and on"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "run");
    let (id, request) = client.permission_request();
    client.answer(&id, &request, &allow_once(&request));
    started.wait();
    client.cancel(&session);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    world.wait_gone(latch.path());
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "and on");
}

fn cancel_twice_answers_once(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([reply().text("words").gate(&gate), text("and on")]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    client.update(&session, "agent_message_chunk");
    client.cancel(&session);
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    // The second cancel belonged to the turn that is over: the next one is not touched.
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
}

fn cancel_when_idle_does_nothing(world: &mut World) {
    world.model().script([text("one"), text("two")]);
    let (_agent, mut client, session) = open(world);
    client.cancel(&session);
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "one");
    client.cancel(&session);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("two", "end_turn"));
}
