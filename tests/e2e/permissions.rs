//! Permission requests: what they show, and what each answer does.

use e2e_tests::harness::{Answer, World, allow_once, no_questions, reject_once};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_request_shows_the_whole_command_and_its_options,
        a_rejected_call_does_not_run_and_the_turn_goes_on,
        an_outcome_cancelled_does_not_run_the_call_and_the_turn_goes_on,
        an_error_of_the_client_does_not_run_the_call,
        an_option_that_was_not_offered_does_not_run_the_call,
        allowing_once_allows_once,
        a_harmless_command_is_not_asked_about,
    ]
}

fn a_request_shows_the_whole_command_and_its_options(world: &mut World) {
    let command = format!(
        "printf 'a  b' > {}\necho   done",
        world.project().join("f.txt").display()
    );
    world.model().script([
        tool(
            "toolu_1",
            "Bash",
            json!({"command": command, "description": "List files"}),
        ),
        text("ok"),
    ]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    let (id, request) = client.permission_request();
    let call = &request["toolCall"];
    assert_eq!(
        (&call["toolCallId"], &call["title"]),
        (&json!("toolu_1"), &json!(command))
    );
    assert_eq!(
        (&call["kind"], &call["rawInput"]["command"]),
        (&json!("execute"), &json!(command))
    );
    let options = request["options"].as_array().unwrap();
    let kinds: Vec<&str> = options
        .iter()
        .filter_map(|option| option["kind"].as_str())
        .collect();
    assert_eq!(
        (kinds.first(), kinds.last()),
        (Some(&"allow_once"), Some(&"reject_once"))
    );
    // The call was announced before the question about it.
    assert_eq!(client.update(&session, "tool_call")["toolCallId"], "toolu_1");
    client.answer(&id, &request, &Answer::Kind("allow_once"));
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    turn.ignore_rest();
    assert_eq!(
        std::fs::read_to_string(world.project().join("f.txt")).unwrap(),
        "a  b"
    );
}

fn a_rejected_call_does_not_run_and_the_turn_goes_on(world: &mut World) {
    assert_eq!(refused(world, reject_once), "then not");
}

fn an_outcome_cancelled_does_not_run_the_call_and_the_turn_goes_on(world: &mut World) {
    assert_eq!(refused(world, |_| Answer::Cancelled), "then not");
}

fn an_error_of_the_client_does_not_run_the_call(world: &mut World) {
    let shown = refused(world, |_| Answer::Error);
    assert!(
        shown.contains("the dialog is gone"),
        "the user is told why: {shown}"
    );
}

fn an_option_that_was_not_offered_does_not_run_the_call(world: &mut World) {
    assert_eq!(
        refused(world, |_| Answer::Option("allow-everything".into())),
        "then not"
    );
}

/// Whatever is not a plain yes denies: the call fails, the model is told and goes on. Returns what was shown.
fn refused(world: &mut World, answer: impl FnMut(&Value) -> Answer) -> String {
    let file = world.project().join("made.txt");
    let write = json!({"file_path": file, "content": "made\n"});
    world
        .model()
        .script([tool("toolu_1", "Write", write), text("then not")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "write", answer);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    let shown = turn.text();
    assert!(shown.ends_with("then not"), "{shown}");
    assert_eq!(turn.questions().len(), 1, "one question, asked once");
    assert!(!file.exists());
    assert!(
        world.model().wait_request(1).tool_result("toolu_1").is_some(),
        "the model is told"
    );
    shown
}

fn allowing_once_allows_once(world: &mut World) {
    let touch = |n: u32| json!({"command": format!("touch {n}.txt")});
    world.model().script([
        tool("toolu_1", "Bash", touch(1)),
        tool("toolu_2", "Bash", touch(1)),
        text("twice"),
    ]);
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "touch", allow_once);
    assert_eq!(turn.questions().len(), 2);
    turn.ignore_rest();
}

fn a_harmless_command_is_not_asked_about(world: &mut World) {
    world.model().script([
        tool("toolu_1", "Bash", json!({"command": "echo harmless"})),
        text("said"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "say", no_questions);
    assert!(turn.tool("toolu_1").content_text().contains("harmless"));
    assert_eq!(turn.text(), "said");
}
