//! Mode and options that outlive the process they were chosen for: a Claude that was killed, and the session's file.

use std::os::unix::fs::PermissionsExt;

use e2e_tests::harness::{Agent, Client, World, no_questions};
use e2e_tests::model::{Reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{ask_for_plan, choose, claudes, exit_plan, plan_mode, user_settings};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        mode_and_options_survive_a_killed_claude,
        a_mode_chosen_without_a_claude_is_that_of_the_next,
        a_session_is_remembered_with_mode_and_options,
        a_session_without_a_prompt_is_not_remembered,
        a_hand_off_is_remembered_under_the_same_session,
        a_session_that_cannot_be_remembered_works,
    ]
}

fn set_option(client: &mut Client, session: &str, id: &str, value: &str) {
    let params = json!({"sessionId": session, "configId": id, "value": value});
    client.call("session/set_config_option", params).unwrap();
}

/// A session that has had a prompt.
fn talked(world: &mut World) -> (Agent, Client, String) {
    world.model().script([text("hello")]);
    user_settings(world, "default");
    let (agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    client.ignore("current_mode_update");
    client
        .prompt(&session, "a zebra says hello", no_questions)
        .ignore_rest();
    (agent, client, session)
}

fn write(world: &World) -> [Reply; 2] {
    let input = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    [tool("toolu_w", "Write", input), text("made")]
}

fn mode_and_options_survive_a_killed_claude(world: &mut World) {
    let (agent, mut client, session) = talked(world);
    for (id, value) in [("model", "sonnet"), ("effort", "low"), ("mode", "acceptEdits")] {
        set_option(&mut client, &session, id, value);
    }
    world.kill_command("stream-json", &agent);
    world.wait_only(&agent);
    world.model().script(write(world));
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(
        (turn.tool("toolu_w").status(), turn.text().as_str()),
        ("completed", "made")
    );
    let request = world.model().wait_request(1);
    assert!(request.mentions("a zebra says hello"), "resumed");
    assert!(request.body["model"].as_str().unwrap().contains("sonnet"));
    assert_eq!(request.body["output_config"]["effort"], "low");
    assert_eq!(claudes(world), 1);
}

fn a_mode_chosen_without_a_claude_is_that_of_the_next(world: &mut World) {
    let (agent, mut client, session) = talked(world);
    world.kill_command("stream-json", &agent);
    world.wait_only(&agent);
    set_option(&mut client, &session, "mode", "acceptEdits");
    set_option(&mut client, &session, "model", "sonnet");
    world.model().script(write(world));
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(
        (turn.tool("toolu_w").status(), turn.text().as_str()),
        ("completed", "made")
    );
    assert!(
        world.model().wait_request(1).body["model"]
            .as_str()
            .unwrap()
            .contains("sonnet")
    );
}

/// The saved session, after a look at its rights.
fn saved(world: &World, session: &str) -> Value {
    let folder = world.path("state/claude-acp/sessions");
    let path = folder.join(format!("{session}.json"));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn keep_state(world: &mut World) {
    let state = world.path("state").to_str().unwrap().to_owned();
    world.set_env("XDG_STATE_HOME", &state);
}

fn a_session_is_remembered_with_mode_and_options(world: &mut World) {
    keep_state(world);
    let (_agent, mut client, session) = talked(world);
    let before = saved(world, &session);
    assert_eq!(
        (&before["sessionId"], &before["cwd"]),
        (&json!(session), &json!(world.cwd()))
    );
    assert_eq!(before["claude"], json!({"current": session}));
    assert_eq!(
        (&before["mode"], &before["options"]),
        (&json!("default"), &Value::Null)
    );
    for (id, value) in [("model", "sonnet"), ("effort", "low"), ("mode", "acceptEdits")] {
        set_option(&mut client, &session, id, value);
    }
    let after = saved(world, &session);
    assert_eq!(after["mode"], "acceptEdits");
    assert_eq!(after["options"], json!({"model": "sonnet", "effort": "low"}));
    assert_eq!(after["createdAt"], before["createdAt"]);
}

fn a_session_without_a_prompt_is_not_remembered(world: &mut World) {
    keep_state(world);
    let (_agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    set_option(&mut client, &session, "effort", "low");
    assert!(
        !world.path("state").exists(),
        "there is no conversation to come back to"
    );
}

fn a_hand_off_is_remembered_under_the_same_session(world: &mut World) {
    keep_state(world);
    world.model().script([exit_plan(), text("built")]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    choose(&mut client, &id, &request, "exit-plan-clear-accept-edits");
    client.finish_prompt(&prompt, no_questions).ignore_rest();
    let saved = saved(world, &session);
    assert_eq!(
        (&saved["sessionId"], &saved["mode"]),
        (&json!(session), &json!("acceptEdits"))
    );
    assert_eq!(saved["claude"]["earlier"], json!([session]));
    assert_ne!(saved["claude"]["current"], session.as_str());
}

fn a_session_that_cannot_be_remembered_works(world: &mut World) {
    std::fs::write(world.path("state"), "a file").unwrap();
    keep_state(world);
    let (_agent, mut client, session) = talked(world);
    set_option(&mut client, &session, "mode", "plan");
}
