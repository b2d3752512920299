//! What many tests begin with.

use e2e_tests::harness::{Agent, Client, World};
use serde_json::{Value, json};

/// An agent with a client that has said hello.
pub(crate) fn greet(world: &World) -> (Agent, Client) {
    let mut agent = world.agent();
    let client = greet_again(&mut agent);
    (agent, client)
}

/// Another client of the same agent.
pub(crate) fn greet_again(agent: &mut Agent) -> Client {
    let mut client = agent.connect();
    // An agent may report these at any time; the tests that are about them ask for them.
    client.ignore("usage_update");
    client.ignore("session_info_update");
    client.initialize();
    client
}

/// The same with a client that has these capabilities.
pub(crate) fn greet_with(world: &World, capabilities: &Value) -> (Agent, Client) {
    let (agent, mut client) = greet(world);
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.call("initialize", hello).unwrap();
    (agent, client)
}

/// An agent with a client that takes cancellations, in a session in the project folder.
pub(crate) fn open_cancellable(world: &World) -> (Agent, Client, String) {
    let (agent, mut client) = greet_with(world, &json!({"session": {}}));
    let session = client.new_session(&world.cwd());
    (agent, client, session)
}

/// An agent with a client that has opened a session in the project folder.
pub(crate) fn open(world: &World) -> (Agent, Client, String) {
    let (agent, mut client) = greet(world);
    let session = client.new_session(&world.cwd());
    (agent, client, session)
}

/// Fails unless the error has this code and these words in its message.
#[track_caller]
pub(crate) fn assert_error(error: &serde_json::Value, code: i64, words: &str) {
    assert_eq!(error["code"], code, "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(
        message.contains(words),
        "`{words}` is not in the message: {error}"
    );
}
