//! Prompts that arrive while one runs: answered in order, never folded into another.

use e2e_tests::harness::{World, allow_once, no_questions};
use e2e_tests::model::{Gate, fail, reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        queued_prompts_are_answered_in_order,
        a_queued_prompt_waits_for_the_whole_turn_before_it,
        cancel_answers_queued_prompts_first,
        a_queued_prompt_survives_the_failure_of_the_one_before,
    ]
}

fn queued_prompts_are_answered_in_order(world: &mut World) {
    let gate = Gate::new();
    world.model().script([
        reply().gate(&gate).text("answer 1"),
        text("answer 2"),
        text("answer 3"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompts: Vec<_> = (1..=3)
        .map(|n| client.start_prompt(&session, &format!("prompt {n}")))
        .collect();
    gate.wait_reached();
    assert_eq!(world.model().requests().len(), 1, "one prompt at a time");
    gate.open();
    for (n, prompt) in (1..).zip(&prompts) {
        // Each turn ends with its response before the next begins: all its text is here, and no other's.
        let mut turn = client.finish_prompt(prompt, no_questions);
        assert_eq!(
            (turn.text(), turn.stop_reason()),
            (format!("answer {n}"), "end_turn")
        );
        assert_eq!(
            world.model().wait_request(n - 1).last_text(),
            format!("prompt {n}")
        );
    }
}

fn a_queued_prompt_waits_for_the_whole_turn_before_it(world: &mut World) {
    world.model().script([
        tool("toolu_1", "Bash", json!({"command": "touch made.txt"})),
        text("made"),
        text("second answer"),
    ]);
    let (_agent, mut client, session) = open(world);
    let first = client.start_prompt(&session, "first prompt");
    let (id, request) = client.permission_request();
    let second = client.start_prompt(&session, "second prompt");
    client.answer(&id, &request, &allow_once(&request));
    let mut turn = client.finish_prompt(&first, no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.text(), "made");
    assert_eq!(
        client.finish_prompt(&second, no_questions).text(),
        "second answer"
    );
    assert!(
        !world.model().wait_request(1).mentions("second prompt"),
        "folded into the running turn"
    );
    assert_eq!(world.model().wait_request(2).last_text(), "second prompt");
}

fn cancel_answers_queued_prompts_first(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([reply().text("words").gate(&gate), text("and on")]);
    let (_agent, mut client, session) = open(world);
    let running = client.start_prompt(&session, "running");
    let queued: Vec<_> = (0..2).map(|_| client.start_prompt(&session, "queued")).collect();
    gate.wait_reached();
    client.update(&session, "agent_message_chunk");
    client.cancel(&session);
    let order: Vec<_> = (0..3)
        .map(|_| client.next_message()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(order, [queued[0].id(), queued[1].id(), running.id()]);
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "and on");
    assert!(
        !world.model().wait_request(1).mentions("queued"),
        "a cancelled prompt is never sent"
    );
}

fn a_queued_prompt_survives_the_failure_of_the_one_before(world: &mut World) {
    let gate = Gate::new();
    world.model().script([reply().gate(&gate).text("ok")]);
    world.model().script([fail(500, "api_error", "oops")]);
    world.model().script([text("fine")]);
    let (_agent, mut client, session) = open(world);
    let prompts: Vec<_> = (0..3)
        .map(|n| client.start_prompt(&session, &format!("prompt {n}")))
        .collect();
    gate.wait_reached();
    gate.open();
    assert_eq!(client.finish_prompt(&prompts[0], no_questions).text(), "ok");
    let turn = client.finish_prompt(&prompts[1], no_questions);
    assert_eq!(turn.error()["code"], -32603);
    turn.ignore_rest();
    assert_eq!(client.finish_prompt(&prompts[2], no_questions).text(), "fine");
}
