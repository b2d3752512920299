//! README's table of what goes wrong: each text that it quotes is one that the program says.

use std::process::Stdio;

use super::harness::{Agent, Client, command, patiently};
use serde_json::{Value, json};

const README: &str = include_str!("../../../README.md");

/// The quoted text at the head of each row of the table that quotes one.
fn quoted() -> Vec<&'static str> {
    let (_, section) = README.split_once("## Troubleshooting").expect("a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| Some(row.split_once('`')?.0)).collect()
}

/// The error of a turn that plays these steps.
async fn turn_fails(steps: Value) -> String {
    let script = json!({"version": 1, "about": "a failure", "turns": [{"steps": steps}]});
    let (agent, mut client, _script) = Agent::rehearsing(&script, &[]);
    let session = client.session(agent.home.path()).await;
    let prompt = json!([{"type": "text", "text": "go"}]);
    let params = json!({"sessionId": session, "prompt": prompt});
    client.call("session/prompt", params).await["error"].to_string()
}

async fn without_claude() -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), &[]);
    let mut child = command
        .env("PATH", home.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.hello().await;
    let params = json!({"cwd": home.path(), "mcpServers": []});
    let answer = client.call("session/new", params).await;
    drop(client);
    patiently(child.wait()).await.unwrap();
    answer["error"].to_string()
}

async fn with_twins() -> String {
    let (agent, mut client) = Agent::start(&["--backend=rehearsal"]);
    client.hello().await;
    let server = json!({"name": "twin", "command": "/bin/true", "args": [], "env": []});
    let params = json!({"cwd": agent.home.path(), "mcpServers": [server, server]});
    client.call("session/new", params).await["error"].to_string()
}

#[tokio::test]
async fn what_the_readme_quotes_is_what_the_program_says() {
    let said = [
        without_claude().await,
        turn_fails(json!([{"error": "not_logged_in"}])).await,
        turn_fails(json!([{"error": "rate_limit"}])).await,
        turn_fails(json!([{"text": "bye"}, {"exit": {"code": 3, "stderr": "boom"}}])).await,
        with_twins().await,
    ];
    let quoted = quoted();
    assert_eq!(
        quoted.len(),
        said.len(),
        "a row of the table for each: {quoted:?}"
    );
    for (quoted, said) in quoted.into_iter().zip(said) {
        assert!(said.contains(quoted), "`{quoted}` is not in {said}");
    }
}
