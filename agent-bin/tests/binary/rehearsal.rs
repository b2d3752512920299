//! `claude-acp rehearsal`: what it prints, where, and how it exits; and scenes that a client picks by its prompt.

use super::harness::{Agent, Finished, command, run};
use serde_json::{Value, json};

async fn rehearsal(files: &[(&str, &str)], arguments: &[&str]) -> Finished {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    let arguments: Vec<&str> = std::iter::once("rehearsal")
        .chain(arguments.iter().copied())
        .collect();
    run(command(home.path(), &arguments), "").await
}

const GOOD: &str = r#"{"version": 1, "turns": [{"steps": []}]}"#;
const BAD: &str = "{\n  \"version\": 1,\n  \"turns\": [{ \"steps\": [{ \"mode\": \"yolo\" }] }]\n}";

#[tokio::test]
async fn the_list_names_every_script_and_scene() {
    let finished = rehearsal(&[], &["list"]).await;
    assert_eq!((finished.status.code(), finished.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(finished.stdout);
}

#[tokio::test]
async fn the_schema_is_json_and_says_its_version() {
    let finished = rehearsal(&[], &["schema"]).await;
    assert_eq!((finished.status.code(), finished.stderr.as_str()), (Some(0), ""));
    let schema: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(schema["properties"]["version"]["const"], 1);
}

#[tokio::test]
async fn a_script_without_a_mistake_passes() {
    let finished = rehearsal(&[("good.json", GOOD)], &["check", "good.json"]).await;
    let outcome = (
        finished.status.code(),
        finished.stdout.as_str(),
        finished.stderr.as_str(),
    );
    assert_eq!(outcome, (Some(0), "good.json: no mistake, 1 scene, 1 turn\n", ""));
}

#[tokio::test]
async fn every_file_is_checked_and_a_mistake_has_its_place_key_and_allowed_values() {
    let files = [("bad.json", BAD), ("good.json", GOOD)];
    let finished = rehearsal(&files, &["check", "bad.json", "missing.json", "good.json"]).await;
    assert_eq!(finished.status.code(), Some(1));
    assert_eq!(finished.stdout, "good.json: no mistake, 1 scene, 1 turn\n");
    let complaints: Vec<&str> = finished.stderr.lines().collect();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(
        complaints[0].starts_with("bad.json:3:")
            && complaints[0]
                .contains("at `turns[0].steps[0].mode`: unknown variant `yolo`, expected one of `default`"),
        "{complaints:?}"
    );
    assert!(
        complaints[1].starts_with("missing.json: cannot be read: "),
        "{complaints:?}"
    );
}

#[tokio::test]
async fn what_does_not_go_together_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &["--backend=rehearsal", "rehearsal", "list"][..],
        &["--listen=stdio", "rehearsal", "schema"],
        &["rehearsal", "check"],
        &["rehearsal"],
    ] {
        let finished = run(command(home.path(), arguments), "").await;
        let outcome = (finished.status.code(), finished.stdout.as_str());
        assert_eq!(outcome, (Some(2), ""), "{arguments:?}: {}", finished.stderr);
    }
}

#[tokio::test]
async fn a_prompt_picks_a_scene_of_a_built_in_script() {
    let home = tempfile::tempdir().unwrap();
    let failed = run(
        command(home.path(), &["chat", "--rehearse", "/rehearse tour/error"]),
        "",
    )
    .await;
    assert_eq!(failed.status.code(), Some(1), "{}", failed.stderr);
    assert!(failed.stdout.contains("# An error"), "{}", failed.stdout);
    assert!(failed.stderr.contains("529 Overloaded"), "{}", failed.stderr);
    let listed = run(command(home.path(), &["chat", "--rehearse", "/rehearse"]), "").await;
    assert_eq!(listed.status.code(), Some(0), "{}", listed.stderr);
    assert!(listed.stdout.contains("- `tour/crash`: "), "{}", listed.stdout);
}

#[tokio::test]
async fn the_command_is_among_the_clients_commands() {
    let (_agent, mut client) = Agent::start(&["--backend=rehearsal"]);
    let home = tempfile::tempdir().unwrap();
    client.session(home.path()).await;
    let commands = loop {
        let message = client.next().await.expect("an update");
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "available_commands_update" {
            break update["availableCommands"].clone();
        }
    };
    let ours = commands
        .as_array()
        .unwrap()
        .iter()
        .find(|command| command["name"] == "rehearse");
    assert_eq!(ours.unwrap()["input"], json!({"hint": "[scene]"}));
}

/// The whole hand-off: a loaded script that knows nothing of plans, a scene picked by prompt, a plan approved with a
/// cleared context, and the fresh process carrying it out under the same prompt.
#[tokio::test]
async fn a_plan_of_a_picked_scene_is_handed_to_a_fresh_process() {
    let script = json!({"version": 1, "about": "one turn", "turns": [{"steps": [{"text": "Mine."}]}]});
    let (_agent, mut client, folder) = Agent::rehearsing(&script, &[]);
    let session = client.session(folder.path()).await;
    let prompt = json!([{"type": "text", "text": "/rehearse plan"}]);
    let id = client
        .request("session/prompt", json!({"sessionId": session, "prompt": prompt}))
        .await;
    let mut said = String::new();
    let mut calls = Vec::new();
    loop {
        let message = client.next().await.expect("the turn goes on");
        if message["method"] == "session/request_permission" {
            let options = message["params"]["options"].as_array().unwrap();
            let clear = options.iter().find(|option| {
                option["optionId"]
                    .as_str()
                    .unwrap()
                    .starts_with("exit-plan-clear")
            });
            let option = clear.unwrap_or(&options[0]);
            let outcome = json!({"outcome": "selected", "optionId": option["optionId"]});
            client
                .send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}}))
                .await;
        } else if message["id"] == json!(id) {
            assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
            break;
        }
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            said.push_str(update["content"]["text"].as_str().unwrap());
        }
        if update["sessionUpdate"] == "tool_call" {
            calls.push(update["title"].as_str().unwrap().to_owned());
        }
    }
    assert!(said.ends_with("Done, with a clear context."), "{said}");
    assert_eq!(calls.last().map(String::as_str), Some("Edit"), "{calls:?}");
}
