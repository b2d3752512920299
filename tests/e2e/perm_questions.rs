//! AskUserQuestion: a form for clients that show forms, no such tool for the others.

use e2e_tests::harness::{Agent, Client, Prompt, World, no_questions};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::perm_support::{close, reply};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        choices_and_free_texts_of_several_questions_reach_the_model,
        a_declined_form_answers_nothing_and_the_turn_goes_on,
        a_cancelled_form_ends_the_call_and_the_turn_goes_on,
        an_answer_to_a_form_that_is_none_ends_the_call,
        a_client_that_cannot_show_the_form_after_all_ends_the_call,
        a_cancel_withdraws_the_form,
        without_forms_the_model_has_no_such_tool,
    ]
}

/// A client that shows forms, with a session.
fn open_with_forms(world: &mut World) -> (Agent, Client, String) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    let mut agent = world.agent();
    let mut client = agent.connect();
    for unimportant in ["usage_update", "session_info_update"] {
        client.ignore(unimportant);
    }
    let capabilities = json!({"elicitation": {"form": {}}});
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.call("initialize", params).unwrap();
    let session = client.new_session(&world.cwd());
    (agent, client, session)
}

/// Claude has asked one question of either kind, and one more; the model says `and on` to the result.
fn asked(world: &World, client: &mut Client, session: &str) -> (Prompt, Value, Value) {
    let option = |label: &str| json!({"label": label, "description": format!("The {label} one")});
    let questions = json!([
        {"question": "Which color?", "header": "Color", "options": [option("Red"), option("Blue")], "multiSelect": false},
        {"question": "Which sizes?", "header": "Sizes", "options": [option("S"), option("M")], "multiSelect": true},
        {"question": "Which shape?", "header": "Shape", "options": [option("Round"), option("Square")], "multiSelect": false},
    ]);
    world.model().script([
        tool("toolu_1", "AskUserQuestion", json!({"questions": questions})),
        text("and on"),
    ]);
    let prompt = client.start_prompt(session, "ask me");
    let (id, request) = client.elicitation();
    (prompt, id, request)
}

fn choices_and_free_texts_of_several_questions_reach_the_model(world: &mut World) {
    let (_agent, mut client, session) = open_with_forms(world);
    let (prompt, id, request) = asked(world, &mut client, &session);
    assert_eq!(
        (&request["mode"], &request["toolCallId"], &request["sessionId"]),
        (&json!("form"), &json!("toolu_1"), &json!(session))
    );
    let fields = &request["requestedSchema"]["properties"];
    assert_eq!(fields.as_object().unwrap().len(), 6, "two for each question");
    assert_eq!(
        (&fields["question_0"]["type"], &fields["question_0"]["title"]),
        (&json!("string"), &json!("Color"))
    );
    assert_eq!(fields["question_0"]["oneOf"][1]["const"], "Blue");
    assert_eq!(fields["question_1"]["type"], "array");
    assert_eq!(
        fields["question_1"]["items"]["anyOf"][0]["description"],
        "The S one"
    );
    assert_eq!(client.update(&session, "tool_call")["toolCallId"], "toolu_1");
    let content = json!({
        "question_0": "Blue", "question_0_custom": "a dark one",
        "question_1": ["S", "M"], "question_1_custom": "one XL",
        "question_2_custom": "a triangle",
    });
    reply(&mut client, &id, &json!({"action": "accept", "content": content}));
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
    let last = turn.take("tool_call_update");
    assert_eq!(last.last().unwrap()["status"], "completed");
    let told = world.model().wait_request(1).tool_result("toolu_1").unwrap();
    for answer in [
        "\"Which color?\"=\"Blue\"",
        "a dark one",
        "\"Which sizes?\"=\"S, M, one XL\"",
        "\"Which shape?\"=\"a triangle\"",
    ] {
        assert!(told.contains(answer), "{answer}: {told}");
    }
}

fn a_declined_form_answers_nothing_and_the_turn_goes_on(world: &mut World) {
    let (_agent, mut client, session) = open_with_forms(world);
    let (prompt, id, _) = asked(world, &mut client, &session);
    reply(&mut client, &id, &json!({"action": "decline"}));
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
    let told = world.model().wait_request(1).tool_result("toolu_1").unwrap();
    for choice in ["Red", "Blue", "Round"] {
        assert!(!told.contains(choice), "nobody chose `{choice}`: {told}");
    }
}

fn a_cancelled_form_ends_the_call_and_the_turn_goes_on(world: &mut World) {
    not_answered(world, &json!({"result": {"action": "cancel"}}));
}

fn an_answer_to_a_form_that_is_none_ends_the_call(world: &mut World) {
    not_answered(world, &json!({"result": null}));
}

fn a_client_that_cannot_show_the_form_after_all_ends_the_call(world: &mut World) {
    let shown = not_answered(
        world,
        &json!({"error": {"code": -32603, "message": "the dialog is gone"}}),
    );
    assert!(
        shown.contains("the dialog is gone"),
        "the user is told why: {shown}"
    );
}

/// The call fails, the model is told and goes on. Returns what was shown.
fn not_answered(world: &mut World, answer: &Value) -> String {
    let (_agent, mut client, session) = open_with_forms(world);
    let (prompt, id, _) = asked(world, &mut client, &session);
    let mut answer = answer.clone();
    answer["jsonrpc"] = json!("2.0");
    answer["id"] = id;
    client.send_line(&answer.to_string());
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    assert!(world.model().wait_request(1).tool_result("toolu_1").is_some());
    let shown = turn.text();
    assert!(shown.ends_with("and on"), "{shown}");
    shown
}

fn a_cancel_withdraws_the_form(world: &mut World) {
    let (_agent, mut client, session) = open_with_forms(world);
    let (prompt, id, _) = asked(world, &mut client, &session);
    client.cancel(&session);
    assert_eq!(client.notification("$/cancel_request")["requestId"], id);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    turn.ignore_rest();
    // Too late, and for nobody.
    let content = json!({"question_0": "Blue"});
    reply(&mut client, &id, &json!({"action": "accept", "content": content}));
    // What the model would have said to the answers, it says to the next prompt.
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!(turn.text(), "and on");
    assert!(!world.model().wait_request(1).mentions("=\\\"Blue"));
    close(&mut client, &session);
}

fn without_forms_the_model_has_no_such_tool(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    world.model().script([text("hello")]);
    let (_agent, mut client, session) = open(world);
    assert_eq!(client.prompt(&session, "hi", no_questions).text(), "hello");
    let request = world.model().wait_request(0);
    let tools = request.tool_names();
    assert!(tools.contains(&"Bash"), "{tools:?}");
    assert!(!tools.contains(&"AskUserQuestion"), "{tools:?}");
}
