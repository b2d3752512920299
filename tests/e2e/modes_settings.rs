//! Settings files: the mode that a session starts in, what a project may not choose, and files that are wrong or change.

use e2e_tests::harness::{Client, World, no_questions};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{option, user_settings, write_settings};
use crate::support::{greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        the_nearest_settings_file_names_the_mode,
        every_spelling_of_a_mode_is_understood,
        a_mode_that_is_none_is_told_and_does_not_count,
        auto_with_a_model_without_it_is_told,
        a_broken_settings_file_is_told_and_the_session_works,
        a_file_that_breaks_while_a_session_runs_is_told,
        a_file_that_changes_while_a_session_runs_changes_the_options,
        dont_ask_denies_without_a_question,
    ]
}

const USER: &str = "home/.claude/settings.json";
const PROJECT: &str = "project/.claude/settings.json";
const LOCAL: &str = "project/.claude/settings.local.json";

/// The mode that a new session starts in, and what it is told about the settings.
fn start(world: &World, client: &mut Client) -> (String, String) {
    let params = json!({"cwd": world.cwd(), "mcpServers": []});
    let result = client.call("session/new", params).unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    // Everything it has to say comes before its answer to this.
    client
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
    let mut said = String::new();
    while let Some(update) = client.kept_update(&session, "agent_message_chunk") {
        said.push_str(update["content"]["text"].as_str().unwrap());
    }
    let mode = result["modes"]["currentModeId"].as_str().unwrap().to_owned();
    assert_eq!(option(&result, "mode")["currentValue"], mode.as_str());
    (mode, said)
}

fn default_mode(mode: &Value) -> String {
    json!({"permissions": {"defaultMode": mode, "disableAutoMode": "disable"}}).to_string()
}

fn the_nearest_settings_file_names_the_mode(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let rows = [
        ([Some("acceptEdits"), None, None], "acceptEdits", false),
        ([Some("acceptEdits"), Some("plan"), None], "plan", false),
        (
            [Some("default"), Some("plan"), Some("acceptEdits")],
            "acceptEdits",
            false,
        ),
        // Whoever wrote the project is not the user: what asks less does not count there.
        ([Some("plan"), Some("acceptEdits"), None], "plan", true),
        ([None, Some("bypassPermissions"), None], "default", true),
        ([None, None, Some("plan")], "plan", false),
    ];
    for (files, expected, is_told) in rows {
        for (path, mode) in [USER, PROJECT, LOCAL].into_iter().zip(files) {
            let text = mode.map_or("{}".to_owned(), |mode| default_mode(&json!(mode)));
            write_settings(world, path, &text);
        }
        let (mode, said) = start(world, &mut client);
        assert_eq!(mode, expected, "{files:?}");
        assert_eq!(
            said.contains("a project's shared settings may not choose"),
            is_told,
            "{files:?}: {said}"
        );
        assert_eq!(said.is_empty(), !is_told, "{files:?}: {said}");
    }
}

fn every_spelling_of_a_mode_is_understood(world: &mut World) {
    let (_agent, mut client) = greet(world);
    for (spelling, expected) in [
        ("manual", "default"),
        (" ACCEPTEDITS ", "acceptEdits"),
        ("Plan", "plan"),
        ("dontask", "dontAsk"),
    ] {
        write_settings(world, USER, &default_mode(&json!(spelling)));
        let (mode, said) = start(world, &mut client);
        assert_eq!(mode, expected, "{spelling}");
        // Claude takes nothing else from such a file.
        let told = said.contains("is spelled as Claude does not read it");
        assert_eq!(told, spelling != "manual", "{spelling}: {said}");
    }
}

fn a_mode_that_is_none_is_told_and_does_not_count(world: &mut World) {
    let (_agent, mut client) = greet(world);
    for wrong in [json!("accept_edits"), json!(""), json!(7)] {
        write_settings(world, USER, &default_mode(&wrong));
        let (mode, said) = start(world, &mut client);
        assert_eq!(mode, "default", "{wrong}");
        assert!(
            said.contains("permissions.defaultMode") && said.contains("line 1"),
            "{said}"
        );
    }
}

fn auto_with_a_model_without_it_is_told(world: &mut World) {
    let (_agent, mut client) = greet(world);
    for (model, expected) in [("claude-3-5-haiku-20241022", "acceptEdits"), ("opus", "auto")] {
        let settings = json!({"model": model, "permissions": {"defaultMode": "auto"}});
        write_settings(world, USER, &settings.to_string());
        let (mode, said) = start(world, &mut client);
        assert_eq!(mode, expected, "{model}: {said}");
        let is_told = said.contains("is `auto`, which the current model does not support");
        assert_eq!(is_told, expected != "auto", "{model}: {said}");
    }
}

fn a_broken_settings_file_is_told_and_the_session_works(world: &mut World) {
    world.model().script([text("alive")]);
    user_settings(world, "default");
    write_settings(
        world,
        LOCAL,
        "{\"permissions\": {\"defaultMode\": \"plan\"},\n oops",
    );
    let (_agent, mut client, session) = open(world);
    let said = client.update(&session, "agent_message_chunk")["content"]["text"].to_string();
    assert!(
        said.contains("Warning") && said.contains("settings.local.json"),
        "{said}"
    );
    assert!(said.contains("line 2"), "{said}");
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "alive");
}

fn a_file_that_breaks_while_a_session_runs_is_told(world: &mut World) {
    world.model().script([text("alive")]);
    user_settings(world, "default");
    let (_agent, mut client, session) = open(world);
    write_settings(world, LOCAL, "{ oops");
    let said = client.update(&session, "agent_message_chunk")["content"]["text"].to_string();
    assert!(said.contains("settings.local.json"), "{said}");
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "alive");
}

fn a_file_that_changes_while_a_session_runs_changes_the_options(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    for (text, has_auto) in [(default_mode(&json!("plan")), false), ("{}".to_owned(), true)] {
        write_settings(world, USER, &text);
        let update = client.update(&session, "config_option_update");
        let offered = option(&update, "mode")["options"].to_string();
        assert_eq!(offered.contains("\"auto\""), has_auto, "{offered}");
        let current = &option(&update, "mode")["currentValue"];
        assert_eq!(current, "default", "a running session keeps its mode");
    }
}

fn dont_ask_denies_without_a_question(world: &mut World) {
    let write = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    world
        .model()
        .script([tool("toolu_w", "Write", write), text("then not")]);
    user_settings(world, "dontAsk");
    let (_agent, mut client) = greet(world);
    let result = client
        .call("session/new", json!({"cwd": world.cwd(), "mcpServers": []}))
        .unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    assert_eq!(result["modes"]["currentModeId"], "dontAsk");
    assert!(!result["modes"]["availableModes"].to_string().contains("dontAsk"));
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(turn.tool("toolu_w").status(), "failed");
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("then not", "end_turn")
    );
    assert!(!world.project().join("made.txt").exists());
}
