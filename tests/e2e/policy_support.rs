//! What the tests of an operator's policy begin with: the policy's file, an agent under it, and a turn of calls.

use e2e_tests::harness::{Agent, Answer, Client, Turn, World};
use e2e_tests::model::{Reply, text, tool};
use serde_json::{Value, json};

use crate::plan_support::user_settings;
use crate::support::greet_again;

/// An agent under a policy, started with these arguments as well, and a client of it.
pub(crate) fn greet_under(world: &World, policy: &Value, args: &[&str]) -> (Agent, Client) {
    let file = world.path("policy.json");
    std::fs::write(&file, policy.to_string()).unwrap();
    let mut all = vec!["--policy", file.to_str().unwrap()];
    all.extend(args);
    let mut agent = world.agent_with(&all);
    let client = greet_again(&mut agent);
    (agent, client)
}

/// An agent under a policy, and a session in the project folder in this mode.
pub(crate) fn open_under(world: &mut World, policy: &Value, mode: &str) -> (Agent, Client, String) {
    open_audited(world, policy, mode, &[])
}

/// The same, with more arguments for the agent.
pub(crate) fn open_audited(
    world: &mut World,
    policy: &Value,
    mode: &str,
    args: &[&str],
) -> (Agent, Client, String) {
    world.set_env("IS_SANDBOX", "1");
    user_settings(world, "default");
    let (agent, mut client) = greet_under(world, policy, args);
    let session = client.new_session(&world.cwd());
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    client
        .call("session/set_mode", json!({"sessionId": session, "modeId": mode}))
        .unwrap();
    (agent, client, session)
}

/// A model that makes these calls one after the other, `toolu_0` first, and is done.
pub(crate) fn script_calls(world: &World, calls: &[(&str, Value)]) {
    let calls = calls.iter().enumerate();
    let steps = calls.map(|(number, (name, input))| tool(&id(number), name, input.clone()));
    world
        .model()
        .script(steps.chain([text("done")]).collect::<Vec<Reply>>());
}

/// A turn of these calls; what is asked is answered by `ask`.
pub(crate) fn run_calls(
    world: &World,
    client: &mut Client,
    session: &str,
    calls: &[(&str, Value)],
    ask: impl FnMut(&Value) -> Answer,
) -> Turn {
    script_calls(world, calls);
    let mut turn = client.prompt(session, "go", ask);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.text(), "done");
    turn
}

/// The id of a call of [`script_calls`].
pub(crate) fn id(number: usize) -> String {
    format!("toolu_{number}")
}

/// The status that a call ended with.
pub(crate) fn status(turn: &mut Turn, number: usize) -> String {
    turn.tool(&id(number)).status().to_owned()
}

/// Fails unless the first calls of a turn were denied, and the model was told why in these words.
#[track_caller]
pub(crate) fn assert_denied(world: &World, turn: &mut Turn, count: usize, words: &str) {
    for number in 0..count {
        assert_eq!(
            status(turn, number),
            "failed",
            "call {number}: {}",
            told(world, number)
        );
        let told = told(world, number);
        assert!(told.contains(words), "call {number}: {told}");
    }
}

/// What the model was told of a call.
#[track_caller]
pub(crate) fn told(world: &World, number: usize) -> String {
    let requests = world.model().requests();
    let result = requests
        .iter()
        .rev()
        .find_map(|request| request.tool_result(&id(number)));
    result.unwrap_or_else(|| panic!("the model has no result of call {number}"))
}

pub(crate) fn asked(turn: &Turn) -> Vec<&str> {
    let questions = turn.questions().iter();
    questions
        .filter_map(|question| question["toolCall"]["toolCallId"].as_str())
        .collect()
}

/// A shell command as a call.
pub(crate) fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command }))
}

/// A new file as a call.
pub(crate) fn write(path: &std::path::Path) -> (&'static str, Value) {
    ("Write", json!({"file_path": path, "content": "made\n"}))
}
