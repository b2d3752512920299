//! What the tests of permission requests share: reading a request's options, choosing one, and the files in which
//! durable answers end up.

use e2e_tests::harness::{Answer, Client, World};
use serde_json::{Value, json};

/// The ids of a request's options, in order.
pub(crate) fn ids(request: &Value) -> Vec<&str> {
    column(request, "optionId")
}

/// What the user reads on a request's options, in order.
pub(crate) fn labels(request: &Value) -> Vec<&str> {
    column(request, "name")
}

/// The label of one option of a request.
#[track_caller]
pub(crate) fn label<'a>(request: &'a Value, id: &str) -> &'a str {
    let index = ids(request).iter().position(|offered| *offered == id);
    let index = index.unwrap_or_else(|| panic!("`{id}` is not offered: {request}"));
    labels(request)[index]
}

/// Fails unless nothing but this one call can be decided.
#[track_caller]
pub(crate) fn assert_once_only(request: &Value) {
    assert_eq!(ids(request), ["allow-once", "reject"], "{request}");
    assert_eq!(labels(request), ["Yes", "No"], "{request}");
}

/// Answers every request with the same option, which must be among those it offers.
pub(crate) fn select(id: &'static str) -> impl FnMut(&Value) -> Answer {
    move |request| {
        assert!(ids(request).contains(&id), "`{id}` is not offered: {request}");
        Answer::Option(id.to_owned())
    }
}

/// The allow rules that the project keeps for this user alone. Claude writes them in its own time, but before it ends.
pub(crate) fn local_rules(world: &World) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(world.project().join(".claude/settings.local.json")) else {
        return Vec::new();
    };
    let settings: Value = serde_json::from_str(&text).unwrap();
    let rules = settings["permissions"]["allow"].as_array().cloned();
    let rules = rules.unwrap_or_default();
    rules
        .iter()
        .filter_map(|rule| rule.as_str().map(ToOwned::to_owned))
        .collect()
}

/// Writes a file of the project, with the folders above it.
pub(crate) fn project_file(world: &World, path: &str, text: &str) {
    let path = world.project().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A skill of the project, with something to grant: Claude does not ask about a skill that grants nothing.
pub(crate) fn skill_greet(world: &World) {
    let text =
        "---\nname: greet\ndescription: Greets people\nallowed-tools: Bash(date:*)\n---\nGreet $ARGUMENTS.\n";
    project_file(world, ".claude/skills/greet/SKILL.md", text);
}

/// The client's reply to a request of the agent's, as it is given.
pub(crate) fn reply(client: &mut Client, id: &Value, result: &Value) {
    client.send_line(&serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

/// Ends the session and the Claude behind it.
pub(crate) fn close(client: &mut Client, session: &str) {
    client
        .call("session/close", serde_json::json!({"sessionId": session}))
        .unwrap();
}

fn column<'a>(request: &'a Value, field: &str) -> Vec<&'a str> {
    let options = request["options"].as_array().expect("options");
    options
        .iter()
        .filter_map(|option| option[field].as_str())
        .collect()
}

/// A session with the MCP server `probe`, whose tool is `tell`.
pub(crate) fn with_probe(world: &World, client: &mut Client) -> String {
    let server = json!({
        "name": "probe", "command": e2e_tests::setup::own_binary("mcp-probe"), "args": [], "env": [],
    });
    client.new_session_with(json!({"cwd": world.cwd(), "mcpServers": [server]}))
}
