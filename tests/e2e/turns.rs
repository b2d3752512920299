//! What a turn shows: text, thoughts, message ids, usage, stop reasons.

use e2e_tests::harness::{World, no_questions};
use e2e_tests::model::{reply, text};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        text_and_thoughts_stream_in_order_under_one_message_id,
        every_delta_arrives_once,
        the_response_carries_the_usage_of_the_turn,
        a_conversation_goes_on,
        a_refusal_is_a_stop_reason,
        a_stream_that_breaks_is_retried,
    ]
}

fn text_and_thoughts_stream_in_order_under_one_message_id(world: &mut World) {
    world
        .model()
        .script([reply().thinking("let me think").text("hello there friend")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "hi", no_questions);
    assert_eq!(turn.kinds(), ["agent_thought_chunk", "agent_message_chunk"]);
    let thoughts = turn.take("agent_thought_chunk");
    let words = turn.take("agent_message_chunk");
    let ids: Vec<&Value> = thoughts
        .iter()
        .chain(&words)
        .map(|chunk| &chunk["messageId"])
        .collect();
    assert!(
        ids.iter().all(|id| id.is_string() && *id == ids[0]),
        "one message, one id: {ids:?}"
    );
    assert_eq!(words.len(), 3, "a chunk for each delta: {words:?}");
    assert_eq!(turn.stop_reason(), "end_turn");
}

fn every_delta_arrives_once(world: &mut World) {
    let long = "naïve “quotes” \\ \u{1F600} \u{7} tab\t and a new\nline ".repeat(40);
    world.model().script([reply().text(&long).text("a second block")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "hi", no_questions);
    assert_eq!(turn.text(), long + "a second block");
}

fn the_response_carries_the_usage_of_the_turn(world: &mut World) {
    world.model().script([reply().text("counted").usage(1000, 20)]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "count", no_questions);
    assert_eq!(turn.text(), "counted");
    let usage = turn.outcome().unwrap()["usage"].clone();
    assert_eq!(
        (&usage["inputTokens"], &usage["outputTokens"]),
        (&json!(1000), &json!(20)),
        "{usage}"
    );
    assert_eq!(usage["totalTokens"], 1020, "{usage}");
}

fn a_conversation_goes_on(world: &mut World) {
    world.model().script([text("one"), text("two"), text("three")]);
    let (_agent, mut client, session) = open(world);
    for answer in ["one", "two", "three"] {
        let mut turn = client.prompt(&session, &format!("give me {answer}"), no_questions);
        assert_eq!((turn.text().as_str(), turn.stop_reason()), (answer, "end_turn"));
    }
    let last = world.model().wait_request(2);
    assert_eq!(last.last_text(), "give me three");
    assert!(last.mentions("give me one"), "the conversation so far");
}

fn a_refusal_is_a_stop_reason(world: &mut World) {
    world.model().script([
        reply().stops_with("refusal"),
        reply().stops_with("refusal"),
        text("better"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "something unwise", no_questions);
    assert_eq!(turn.stop_reason(), "refusal");
    turn.ignore("agent_message_chunk");
    let mut turn = client.prompt(&session, "something else", no_questions);
    turn.ignore("agent_message_chunk");
    assert_eq!(
        turn.outcome().map(|result| result["stopReason"].clone()).ok(),
        Some(json!("end_turn"))
    );
}

fn a_stream_that_breaks_is_retried(world: &mut World) {
    world
        .model()
        .script([reply().text("half a ").then_breaks(), text("a whole answer")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "hi", no_questions);
    let shown = turn.text();
    assert!(shown.ends_with("a whole answer"), "{shown}");
    assert_eq!(turn.stop_reason(), "end_turn");
}
