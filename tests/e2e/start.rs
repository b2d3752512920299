//! Before anything else: hello, what is advertised, the command line.

use e2e_tests::harness::{World, no_questions};
use e2e_tests::model::text;
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::greet;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        hello_is_answered_before_any_child_exists,
        idle_memory_is_under_ten_megabytes,
        terminal_logins_are_offered_to_a_client_that_can_run_them,
        an_agent_that_hides_subscriptions_offers_the_console_alone,
        the_command_line_passes_through_to_the_cli,
        the_version_is_printed,
        an_unknown_argument_is_refused_with_usage,
        the_chat_rehearses_a_turn_without_a_terminal,
    ]
}

fn hello_is_answered_before_any_child_exists(world: &mut World) {
    let (agent, mut client) = greet(world);
    let processes = world.processes();
    assert_eq!(processes.len(), 1, "only the agent: {processes:?}");
    assert_eq!(processes[0].pid, agent.pid());
    let hello = client.initialize();
    assert_eq!(hello["protocolVersion"], 1);
    let prompt = &hello["agentCapabilities"]["promptCapabilities"];
    assert_eq!(
        (&prompt["image"], &prompt["embeddedContext"]),
        (&json!(true), &json!(true))
    );
    assert!(
        hello["agentInfo"]["name"].is_string() && hello["agentInfo"]["version"].is_string(),
        "{hello}"
    );
}

fn idle_memory_is_under_ten_megabytes(world: &mut World) {
    let (agent, _client) = greet(world);
    let resident = agent.resident_bytes();
    // The code pages of a debug build alone are larger than the whole release build.
    let limit = if cfg!(debug_assertions) {
        24_000_000
    } else {
        10_000_000
    };
    assert!(resident < limit, "{resident} bytes resident");
}

fn terminal_logins_are_offered_to_a_client_that_can_run_them(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let without = client.initialize();
    assert_eq!(
        without["authMethods"]
            .as_array()
            .map(Vec::len)
            .unwrap_or_default(),
        0,
        "{without}"
    );
    let capabilities = json!({"auth": {"terminal": true}});
    let with = client.call(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
    );
    let with = with.unwrap();
    let arguments: Vec<_> = with["authMethods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["args"].clone())
        .collect();
    let expected = [
        json!(["--cli", "auth", "login", "--claudeai"]),
        json!(["--cli", "auth", "login", "--console"]),
    ];
    assert_eq!(arguments, expected);
    let error = client
        .call("authenticate", json!({"methodId": "nonsense"}))
        .unwrap_err();
    assert!(
        [-32602, -32601].contains(&error["code"].as_i64().unwrap()),
        "{error}"
    );
}

fn an_agent_that_hides_subscriptions_offers_the_console_alone(world: &mut World) {
    world.model().script([text("on the key")]);
    let mut agent = world.agent_with(&["--hide-claude-auth"]);
    let mut client = agent.connect();
    client.ignore("usage_update");
    let capabilities = json!({"auth": {"terminal": true}});
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    let hello = client.call("initialize", hello).unwrap();
    let methods = hello["authMethods"].as_array().unwrap();
    assert_eq!(methods.len(), 1, "{hello}");
    assert_eq!(methods[0]["args"], json!(["--cli", "auth", "login", "--console"]));
    // A key is not a subscription.
    let session = client.new_session(&world.cwd());
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(turn.text(), "on the key");
    turn.ignore_rest();
}

fn the_command_line_passes_through_to_the_cli(world: &mut World) {
    let output = world.command(&["--cli", "--version"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("(Claude Code)"),
        "{output:?}"
    );
}

fn the_version_is_printed(world: &mut World) {
    let output = world.command(&["--version"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).starts_with("claude-acp "),
        "{output:?}"
    );
}

fn an_unknown_argument_is_refused_with_usage(world: &mut World) {
    let output = world.command(&["--nonsense"]).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(output.stdout, b"", "stdout carries protocol only");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("--nonsense"),
        "{output:?}"
    );
}

fn the_chat_rehearses_a_turn_without_a_terminal(world: &mut World) {
    let output = world.command(&["chat", "--rehearse", "hello"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = shown.clone() + &String::from_utf8_lossy(&output.stderr);
    assert!(shown.contains("Hello!"), "the streamed answer: {shown}");
    assert!(said.contains("git status"), "the tool call: {said}");
    assert!(
        said.to_lowercase().contains("den") || said.to_lowercase().contains("reject"),
        "{said}"
    );
}
