//! The client's answers, and what is none: only a selected allow option of this very request lets a call run, and no
//! question stays open on either side.

use e2e_tests::harness::{Answer, Client, Prompt, World, no_questions};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::perm_support::{close, project_file, reply};
use crate::support::{greet_again, open, open_cancellable};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        feedback_to_a_refusal_reaches_the_model,
        feedback_to_anything_but_a_refusal_is_ignored,
        an_outcome_null_does_not_run_the_call_and_the_turn_goes_on,
        a_plan_option_selected_for_a_command_does_not_run_it,
        an_option_of_another_request_does_not_run_the_call,
        the_first_of_two_answers_counts,
        a_client_that_refuses_with_an_error_is_asked_again_next_time,
        a_client_that_never_answers_can_cancel,
        a_client_that_never_answers_can_close_the_session,
        an_outcome_cancelled_after_the_cancel_changes_nothing,
        a_client_that_ends_its_input_while_asked_runs_nothing,
    ];
    all.extend(cases![Claude, Tcp: a_client_that_vanishes_while_asked_runs_nothing]);
    all
}

/// Commands that are asked about: each makes a file, so that it shows whether it ran.
fn touch(id: &str, file: &str) -> e2e_tests::model::Reply {
    tool(id, "Bash", json!({"command": format!("touch {file}")}))
}

/// A turn in which Claude has asked about `touch made.txt` and the model will say `and on` to the result.
fn asked(world: &World, client: &mut Client, session: &str) -> (Prompt, Value, Value) {
    world
        .model()
        .script([touch("toolu_1", "made.txt"), text("and on")]);
    let prompt = client.start_prompt(session, "touch");
    let (id, request) = client.permission_request();
    (prompt, id, request)
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// The client gives these results to one question; nothing runs, and the turn goes on. Returns what the model was told.
fn refused(world: &World, results: &[Value]) -> String {
    let (_agent, mut client, session) = open(world);
    let (prompt, id, _) = asked(world, &mut client, &session);
    for result in results {
        reply(&mut client, &id, result);
    }
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("and on", "end_turn"),
        "the turn goes on"
    );
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    close(&mut client, &session);
    assert!(!world.project().join("made.txt").exists());
    world.model().wait_request(1).tool_result("toolu_1").unwrap()
}

fn feedback_to_a_refusal_reaches_the_model(world: &mut World) {
    let mut answer = selected("reject");
    answer["_meta"] = json!({"permission": {"feedback": "use `make` instead"}});
    let told = refused(world, &[answer]);
    assert!(told.ends_with("The user said: use `make` instead"), "{told}");
}

fn feedback_to_anything_but_a_refusal_is_ignored(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    let (prompt, id, _) = asked(world, &mut client, &session);
    let mut answer = selected("allow-once");
    answer["_meta"] = json!({"permission": {"feedback": "never said"}});
    reply(&mut client, &id, &answer);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.text(), "and on");
    assert!(!world.model().wait_request(1).mentions("never said"));
}

fn an_outcome_null_does_not_run_the_call_and_the_turn_goes_on(world: &mut World) {
    refused(world, &[json!({"outcome": null})]);
}

fn a_plan_option_selected_for_a_command_does_not_run_it(world: &mut World) {
    refused(world, &[selected("exit-plan-auto")]);
}

/// The second request offers a durable option, the first, under an ask rule, does not.
fn an_option_of_another_request_does_not_run_the_call(world: &mut World) {
    let rules = json!({"permissions": {"ask": ["Bash(touch made.txt)"]}}).to_string();
    project_file(world, ".claude/settings.json", &rules);
    world.model().script([touch("toolu_0", "other.txt")]);
    let (_agent, mut client, session) = open(world);
    let (prompt, other, request) = asked(world, &mut client, &session);
    let offered = request["options"].as_array().unwrap();
    assert!(
        offered
            .iter()
            .any(|option| option["optionId"] == "allow-with-updates"),
        "{request}"
    );
    reply(&mut client, &other, &selected("reject"));
    let (id, request) = client.permission_request();
    assert_eq!(request["toolCall"]["toolCallId"], "toolu_1");
    reply(&mut client, &id, &selected("allow-with-updates"));
    let mut turn = client.finish_prompt(&prompt, no_questions);
    for id in ["toolu_0", "toolu_1"] {
        assert_eq!(turn.tool(id).status(), "failed");
    }
    assert_eq!(turn.text(), "and on");
    assert!(!world.project().join("made.txt").exists());
}

fn the_first_of_two_answers_counts(world: &mut World) {
    refused(world, &[selected("reject"), selected("allow-once")]);
}

fn a_client_that_refuses_with_an_error_is_asked_again_next_time(world: &mut World) {
    world.model().script([
        touch("toolu_1", "made.txt"),
        touch("toolu_2", "made.txt"),
        text("and on"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "touch", |_| Answer::Error);
    assert_eq!(turn.questions().len(), 2);
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "failed");
    }
    let shown = turn.text();
    assert_eq!(
        shown.matches("the dialog is gone").count(),
        1,
        "the user is told once a turn: {shown}"
    );
    assert!(!world.project().join("made.txt").exists());
}

fn a_client_that_never_answers_can_cancel(world: &mut World) {
    let (_agent, mut client, session) = open_cancellable(world);
    world.model().script([touch("toolu_1", "made.txt")]);
    let prompt = client.start_prompt(&session, "touch");
    let (id, _) = client.permission_request();
    client.cancel(&session);
    assert_eq!(client.notification("$/cancel_request")["requestId"], id);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    turn.ignore_rest();
    // The session is free, and what it asks next is a question of its own.
    world
        .model()
        .script([touch("toolu_2", "second.txt"), text("and on")]);
    let mut turn = client.prompt(&session, "again", |_| Answer::Kind("allow_once"));
    assert_eq!(turn.tool("toolu_2").status(), "completed");
    assert_eq!(turn.text(), "and on");
    assert!(!world.project().join("made.txt").exists());
}

fn a_client_that_never_answers_can_close_the_session(world: &mut World) {
    let (agent, mut client, session) = open_cancellable(world);
    world.model().script([touch("toolu_1", "made.txt")]);
    let prompt = client.start_prompt(&session, "touch");
    let (id, _) = client.permission_request();
    close(&mut client, &session);
    assert_eq!(client.notification("$/cancel_request")["requestId"], id);
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    turn.ignore_rest();
    world.wait_only(&agent);
    assert!(!world.project().join("made.txt").exists());
    // The late answer belongs to nothing any more.
    reply(&mut client, &id, &selected("allow-once"));
}

fn an_outcome_cancelled_after_the_cancel_changes_nothing(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    world.model().script([touch("toolu_1", "made.txt")]);
    let prompt = client.start_prompt(&session, "touch");
    let (id, _) = client.permission_request();
    client.cancel(&session);
    // What the protocol asks of a client that cancels; then what it must not do.
    reply(&mut client, &id, &json!({"outcome": {"outcome": "cancelled"}}));
    reply(&mut client, &id, &selected("allow-once"));
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    close(&mut client, &session);
    assert!(!world.project().join("made.txt").exists());
}

fn a_client_that_ends_its_input_while_asked_runs_nothing(world: &mut World) {
    let (mut agent, mut client, session) = open(world);
    world.model().script([touch("toolu_1", "made.txt")]);
    client.start_prompt(&session, "touch");
    client.permission_request();
    client.close();
    client.ignore_rest();
    assert!(agent.wait_end().success());
    world.wait_none();
    assert!(!world.project().join("made.txt").exists());
}

fn a_client_that_vanishes_while_asked_runs_nothing(world: &mut World) {
    let (mut agent, mut client, session) = open(world);
    world.model().script([touch("toolu_1", "made.txt")]);
    client.start_prompt(&session, "touch");
    client.permission_request();
    client.vanish();
    world.wait_only(&agent);
    assert!(!world.project().join("made.txt").exists());
    // The agent is there for the next client.
    world.model().script([text("here")]);
    let mut next = greet_again(&mut agent);
    let session = next.new_session(&world.cwd());
    assert_eq!(next.prompt(&session, "hello", no_questions).text(), "here");
}
