//! `claude-acp chat` without a terminal: one prompt in, a transcript out.

use super::harness::{Agent, command, patiently, run};
use serde_json::json;

#[tokio::test]
async fn a_rehearsed_prompt_shows_a_turn_with_a_denied_tool() {
    let home = tempfile::tempdir().unwrap();
    let finished = run(command(home.path(), &["chat", "--rehearse", "hello"]), "").await;
    assert_eq!(
        (finished.status.code(), finished.stderr.as_str()),
        (Some(0), ""),
        "{}",
        finished.stdout
    );
    for part in [
        "thinking: ",
        "● Bash: ",
        "denied: there is no terminal to ask on",
        "✗ failed",
    ] {
        assert!(finished.stdout.contains(part), "{part}: {}", finished.stdout);
    }
    assert!(
        !finished.stdout.contains('\u{1b}'),
        "no colours without a terminal"
    );
}

#[tokio::test]
async fn a_prompt_can_come_from_standard_input() {
    let home = tempfile::tempdir().unwrap();
    let script = json!({"version": 1, "about": "one turn", "turns": [
        {"prompt": {"exact": "first\nsecond"}, "steps": [{"text": "Two lines."}]}]});
    std::fs::write(home.path().join("script.json"), script.to_string()).unwrap();
    let finished = run(
        command(home.path(), &["chat", "--rehearse=script.json"]),
        "first\nsecond\n",
    )
    .await;
    assert_eq!(
        (finished.status.code(), finished.stdout.as_str()),
        (Some(0), "Two lines.\n"),
        "{}",
        finished.stderr
    );
}

#[tokio::test]
async fn an_agent_that_listens_can_be_talked_to() {
    let script = json!({"version": 1, "about": "one turn", "turns": [
        {"sticky": true, "steps": [{"text": "From over there."}]}]});
    let (mut agent, stdio, _script) = Agent::rehearsing(&script, &["--listen=unix:a.sock"]);
    drop(stdio);
    let address = agent.says("listening on ").await;
    let connect = format!("--connect={address}");
    let home = agent.home.path().to_owned();
    let talk = || run(command(&home, &["chat", &connect, "hello"]), "");
    let (one, other) = patiently(async { tokio::join!(talk(), talk()) }).await;
    for finished in [one, other] {
        let outcome = (finished.status.code(), finished.stdout.as_str());
        assert_eq!(outcome, (Some(0), "From over there.\n"), "{}", finished.stderr);
    }
    agent.signal(rustix::process::Signal::TERM);
    assert_eq!(agent.ended().await.0.code(), Some(0));
}
