//! Steering: what is said into a running turn, and what becomes of it when none runs.

use e2e_tests::harness::{Client, World, allow_once, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::{assert_error, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        steering_cuts_into_the_running_turn_which_is_answered_once,
        steering_twice_is_answered_once,
        steering_before_queued_prompts_leaves_them_waiting,
        steering_while_a_question_is_open_waits_for_its_answer,
        steering_that_is_cancelled_ends_with_its_turn,
        steering_an_idle_session_starts_a_turn,
        steering_an_idle_session_is_left_to_a_client_that_wants_to,
        steering_without_content_or_session_is_refused,
    ]
}

fn steer(client: &mut Client, session: &str, words: &str) -> Value {
    let prompt = json!([{"type": "text", "text": words}]);
    client
        .call(
            "_session/steering",
            json!({"sessionId": session, "prompt": prompt}),
        )
        .unwrap()
}

fn injected() -> Value {
    json!({"outcome": "injected"})
}

/// Waits until the client has these words; what steering cuts short may else never be said.
#[track_caller]
fn said(client: &mut Client, session: &str, words: &str) {
    let chunk = client.update(session, "agent_message_chunk");
    assert_eq!(chunk["content"]["text"], words);
}

fn steering_cuts_into_the_running_turn_which_is_answered_once(world: &mut World) {
    let gate = Gate::new();
    world.model().script([
        reply().text("rightwards").gate(&gate).text(" never said"),
        text("going left"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go right");
    said(&mut client, &session, "rightwards");
    assert_eq!(steer(&mut client, &session, "go left"), injected());
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.text(), "going left");
    turn.ignore_rest();
    assert!(world.model().wait_request(1).mentions("go left"));
}

fn steering_twice_is_answered_once(world: &mut World) {
    let (gate, other) = (Gate::new(), Gate::new());
    world.model().script([
        reply().text("one").gate(&gate),
        reply().text("two").gate(&other),
        text("three"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    said(&mut client, &session, "one");
    assert_eq!(steer(&mut client, &session, "again"), injected());
    said(&mut client, &session, "two");
    assert_eq!(steer(&mut client, &session, "and again"), injected());
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("three", "end_turn"));
    turn.ignore_rest();
}

fn steering_before_queued_prompts_leaves_them_waiting(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([reply().text("one").gate(&gate), text("steered"), text("queued")]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    said(&mut client, &session, "one");
    let queued = client.start_prompt(&session, "a walrus waits");
    assert_eq!(steer(&mut client, &session, "turn left"), injected());
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("steered", "end_turn")
    );
    turn.ignore_rest();
    assert_eq!(client.finish_prompt(&queued, no_questions).text(), "queued");
    assert!(!world.model().wait_request(1).mentions("walrus"));
}

fn steering_while_a_question_is_open_waits_for_its_answer(world: &mut World) {
    let file = world.project().join("made.txt");
    world.model().script([
        tool("toolu_1", "Write", json!({"file_path": file, "content": "x"})),
        text("made. "),
        text("hurried"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "write");
    let (id, request) = client.permission_request();
    assert_eq!(steer(&mut client, &session, "and hurry"), injected());
    client.answer(&id, &request, &allow_once(&request));
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("made. hurried", "end_turn")
    );
    assert!(file.exists());
    assert_eq!(world.model().wait_request(2).last_text(), "and hurry");
}

fn steering_that_is_cancelled_ends_with_its_turn(world: &mut World) {
    let (gate, other) = (Gate::new(), Gate::new());
    world.model().script([
        reply().text("one ").gate(&gate),
        reply().text("two").gate(&other),
        text("and on"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    gate.wait_reached();
    assert_eq!(steer(&mut client, &session, "again"), injected());
    other.wait_reached();
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "and on");
}

fn steering_an_idle_session_starts_a_turn(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([reply().text("steered").gate(&gate), text("prompted")]);
    let (_agent, mut client, session) = open(world);
    assert_eq!(
        steer(&mut client, &session, "go"),
        json!({"outcome": "startedNewTurn"})
    );
    gate.wait_reached();
    // A prompt waits for the turn that nobody else waits for.
    let prompt = client.start_prompt(&session, "next");
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "steered"
    );
    gate.open();
    assert_eq!(client.finish_prompt(&prompt, no_questions).text(), "prompted");
}

fn steering_an_idle_session_is_left_to_a_client_that_wants_to(world: &mut World) {
    world.model().script([text("prompted")]);
    let (_agent, mut client, session) = open(world);
    let prompt = json!([{"type": "text", "text": "go"}]);
    let meta = json!({"steering": {"idleBehavior": "promptRequired"}});
    let outcome = client.call(
        "_session/steering",
        json!({"sessionId": session, "prompt": prompt, "_meta": meta}),
    );
    assert_eq!(
        outcome,
        Ok(json!({"outcome": "promptRequired", "reason": "noRunningTurn"}))
    );
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "prompted");
    assert_eq!(world.model().requests().len(), 1);
}

fn steering_without_content_or_session_is_refused(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    let error = client
        .call("_session/steering", json!({"sessionId": session}))
        .unwrap_err();
    assert_error(&error, -32602, "");
    for method in ["_session/steering", "session/prompt"] {
        for prompt in [json!([]), json!([{"type": "text", "text": " "}])] {
            let params = json!({"sessionId": session, "prompt": prompt});
            let error = client.call(method, params).unwrap_err();
            assert_error(&error, -32602, "`prompt` says nothing");
        }
    }
    assert!(world.model().requests().is_empty(), "nothing costs nothing");
    let params = json!({"sessionId": "nobody", "prompt": [{"type": "text", "text": "go"}]});
    let error = client.call("_session/steering", params).unwrap_err();
    assert_error(&error, -32002, "");
}
