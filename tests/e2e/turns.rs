//! What a turn shows: text, thoughts, message ids, usage, stop reasons.

use e2e_tests::harness::{Agent, Client, Turn, World, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::write_settings;
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        text_and_thoughts_stream_in_order_under_one_message_id,
        every_delta_arrives_once,
        the_response_carries_the_usage_of_the_turn,
        a_conversation_goes_on,
        a_refusal_is_a_stop_reason,
        a_stream_that_breaks_is_retried,
        what_a_command_said_is_shown_once,
        the_window_is_right_from_the_first_update,
        an_unfinished_plan_comes_again_with_the_next_prompt,
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

fn what_a_command_said_is_shown_once(world: &mut World) {
    // A compaction asks the model twice.
    world
        .model()
        .script(["hello", "a summary", "a summary"].map(text));
    let (_agent, mut client, session) = open(world);
    assert_eq!(client.prompt(&session, "hi", no_questions).text(), "hello");
    let mut turn = client.prompt(&session, "/cost", no_questions);
    let cost = turn.text();
    assert!(cost.contains("cost"), "{cost}");
    let mut turn = client.prompt(&session, "/compact", no_questions);
    let said = turn.text();
    assert!(!said.contains("cost"), "{said}");
    turn.ignore_rest();
}

/// A session whose client wants to know how full the context is, and keeps its mode.
fn open_with_usage(world: &World) -> (Agent, Client, String) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    client.ignore("config_option_update");
    client.initialize();
    let session = client.new_session(&world.cwd());
    (agent, client, session)
}

fn sizes(turn: &mut Turn) -> Vec<u64> {
    let usage = turn.take("usage_update");
    let sizes = usage.iter().map(|update| update["size"].as_u64().unwrap());
    let sizes: Vec<u64> = sizes.collect();
    assert!(!sizes.is_empty());
    sizes
}

fn the_window_is_right_from_the_first_update(world: &mut World) {
    let gate = Gate::new();
    let settings = json!({"model": "opus", "availableModels": ["opus", "claude-3-5-haiku-20241022"]});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    world.model().script([
        reply().text("never ").gate(&gate),
        tool("toolu_a", "Bash", json!({"command": "echo hi"})),
        text("one"),
        tool("toolu_b", "Bash", json!({"command": "echo hi"})),
        text("two"),
    ]);
    let (_agent, mut client, session) = open_with_usage(world);
    let prompt = client.start_prompt(&session, "a turn that is cancelled");
    gate.wait_reached();
    client.cancel(&session);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    let all_of = |turn: &mut Turn| {
        let sizes = sizes(turn);
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
        sizes[0]
    };
    let early = turn.take("usage_update");
    assert!(
        early.iter().all(|update| update["size"] == 1_000_000),
        "{early:?}"
    );
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    let mut turn = client.prompt(&session, "one", no_questions);
    assert_eq!(all_of(&mut turn), 1_000_000);
    turn.ignore_rest();
    let params = json!({"sessionId": session, "configId": "model", "value": "claude-3-5-haiku-20241022"});
    client.call("session/set_config_option", params).unwrap();
    let mut turn = client.prompt(&session, "two", no_questions);
    assert_eq!(all_of(&mut turn), 200_000);
    turn.ignore_rest();
}

fn an_unfinished_plan_comes_again_with_the_next_prompt(world: &mut World) {
    let task = |id: &str, subject: &str| {
        tool(
            id,
            "TaskCreate",
            json!({"subject": subject, "description": subject}),
        )
    };
    let done = |id: &str, task: &str| tool(id, "TaskUpdate", json!({"taskId": task, "status": "completed"}));
    world.set_env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    world.model().script([
        task("toolu_1", "First"),
        task("toolu_2", "Second"),
        text("planned"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "plan", no_questions);
    let plan = turn.take("plan").pop().unwrap();
    assert_eq!(plan["entries"].as_array().unwrap().len(), 2, "{plan}");
    turn.ignore_rest();
    world
        .model()
        .script([done("toolu_3", "1"), done("toolu_4", "2"), text("done")]);
    let mut turn = client.prompt(&session, "do it", no_questions);
    let plans = turn.take("plan");
    assert_eq!((plans.len(), &plans[0]), (3, &plan));
    turn.ignore_rest();
    world.model().script([text("nothing")]);
    assert_eq!(
        client.prompt(&session, "what now", no_questions).text(),
        "nothing"
    );
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
