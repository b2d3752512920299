//! Sessions: how they are refused, opened, set to a mode and closed.

use e2e_tests::harness::{World, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::{assert_error, greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_folder_that_cannot_be_used_is_refused_without_a_child,
        commands_are_announced_after_the_session_exists,
        a_session_starts_in_a_mode_of_its_catalogue,
        accepted_edits_are_not_asked_about,
        a_mode_that_is_not_on_offer_is_refused,
        a_mode_can_change_while_a_turn_runs,
        additional_directories_reach_claude,
        an_mcp_server_reaches_claude_with_its_arguments_and_environment,
        two_sessions_run_at_once_and_keep_apart,
        a_closed_session_leaves_no_process_and_is_not_found,
        closing_a_session_answers_its_prompt_first,
    ]
}

fn a_folder_that_cannot_be_used_is_refused_without_a_child(world: &mut World) {
    let (agent, mut client) = greet(world);
    let file = world.project().join("file.txt");
    std::fs::write(&file, "").unwrap();
    let cases = [
        (
            "relative".to_owned(),
            "`cwd` must be an absolute path, but received: relative",
        ),
        (
            "/does/not/exist".to_owned(),
            "`cwd` does not exist on the machine running the agent: /does/not/exist",
        ),
        (file.to_str().unwrap().to_owned(), "`cwd` is not a directory: "),
    ];
    for (cwd, words) in cases {
        let error = client
            .call("session/new", json!({"cwd": cwd, "mcpServers": []}))
            .unwrap_err();
        assert_error(&error, -32602, words);
        assert_eq!(error["data"], json!({"cwd": cwd}));
    }
    let relative = json!({"cwd": world.cwd(), "mcpServers": [], "additionalDirectories": ["rel"]});
    let error = client.call("session/new", relative).unwrap_err();
    assert_error(
        &error,
        -32602,
        "`additionalDirectories` entries must be absolute paths, but received: rel",
    );
    world.wait_only(&agent);
}

fn commands_are_announced_after_the_session_exists(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let id = client.request("session/new", json!({"cwd": world.cwd(), "mcpServers": []}));
    let response = client.next_message();
    assert_eq!(
        response["id"], id,
        "nothing of a session comes before its response: {response}"
    );
    let session = response["result"]["sessionId"].as_str().unwrap().to_owned();
    let update = client.update(&session, "available_commands_update");
    let commands = update["availableCommands"].as_array().unwrap();
    let names: Vec<&str> = commands
        .iter()
        .filter_map(|command| command["name"].as_str())
        .collect();
    assert!(names.contains(&"compact"), "{names:?}");
    assert!(
        !names.contains(&"login"),
        "a command that needs a terminal: {names:?}"
    );
}

fn a_session_starts_in_a_mode_of_its_catalogue(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let result = client
        .call("session/new", json!({"cwd": world.cwd(), "mcpServers": []}))
        .unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    let modes = result["modes"]["availableModes"].as_array().unwrap();
    let ids: Vec<&str> = modes.iter().filter_map(|mode| mode["id"].as_str()).collect();
    assert_eq!(result["modes"]["currentModeId"], "default");
    assert!(
        ["default", "acceptEdits", "plan"]
            .iter()
            .all(|id| ids.contains(id)),
        "{ids:?}"
    );
    client.update(&session, "available_commands_update");
}

fn accepted_edits_are_not_asked_about(world: &mut World) {
    let file = world.project().join("made.txt");
    let write = json!({"file_path": file, "content": "made\n"});
    world
        .model()
        .script([tool("toolu_1", "Write", write), text("written")]);
    let (_agent, mut client, session) = open(world);
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    client
        .call(
            "session/set_mode",
            json!({"sessionId": session, "modeId": "acceptEdits"}),
        )
        .unwrap();
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.text(), "written");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "made\n");
}

fn a_mode_that_is_not_on_offer_is_refused(world: &mut World) {
    world.model().script([text("still here")]);
    let (_agent, mut client, session) = open(world);
    let set = |mode: &str| json!({"sessionId": session, "modeId": mode});
    let error = client.call("session/set_mode", set("nonsense")).unwrap_err();
    assert_error(&error, -32602, "nonsense");
    assert_eq!(client.prompt(&session, "hi", no_questions).text(), "still here");
}

fn a_mode_can_change_while_a_turn_runs(world: &mut World) {
    let gate = Gate::new();
    let file = world.project().join("made.txt");
    let write = json!({"file_path": file, "content": "made\n"});
    world.model().script([
        reply()
            .text("thinking it over")
            .gate(&gate)
            .tool("toolu_1", "Write", write),
        text("written"),
    ]);
    let (_agent, mut client, session) = open(world);
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    let prompt = client.start_prompt(&session, "write");
    gate.wait_reached();
    client
        .call(
            "session/set_mode",
            json!({"sessionId": session, "modeId": "acceptEdits"}),
        )
        .unwrap();
    gate.open();
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.text(), "thinking it overwritten");
    assert!(file.exists());
}

fn additional_directories_reach_claude(world: &mut World) {
    let beside = world.path("beside");
    std::fs::create_dir(&beside).unwrap();
    world.model().script([text("seen")]);
    let (_agent, mut client) = greet(world);
    let session = client.new_session_with(json!({
        "cwd": world.cwd(), "mcpServers": [], "additionalDirectories": [beside],
    }));
    assert_eq!(client.prompt(&session, "hi", no_questions).text(), "seen");
    assert!(world.model().wait_request(0).mentions(beside.to_str().unwrap()));
}

fn an_mcp_server_reaches_claude_with_its_arguments_and_environment(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    world.model().script([
        tool("toolu_1", "mcp__probe__tell", json!({"what": "PROBE_WORD"})),
        text("told"),
    ]);
    let (_agent, mut client) = greet(world);
    let session = client.new_session_with(json!({"cwd": world.cwd(), "mcpServers": [{
        "name": "probe",
        "command": e2e_tests::setup::own_binary("mcp-probe"),
        "args": ["one", "two words"],
        "env": [{"name": "PROBE_WORD", "value": "a secret\nof two lines"}],
    }]}));
    let mut turn = client.prompt(&session, "ask the probe", e2e_tests::harness::allow_once);
    assert_eq!(turn.questions().len(), 1, "MCP tools are asked about");
    let call = turn.tool("toolu_1");
    assert_eq!(
        (call.status(), call.str("title")),
        ("completed", "mcp__probe__tell")
    );
    assert_eq!(turn.text(), "told");
    let told = world.model().wait_request(1).tool_result("toolu_1").unwrap();
    assert_eq!(
        told,
        r#"["one","two words"] PROBE_WORD=a secret
of two lines"#
    );
    let arguments: String = world
        .processes()
        .into_iter()
        .map(|process| process.command)
        .collect();
    assert!(
        !arguments.contains("a secret"),
        "an MCP server's secrets are no business of `ps`"
    );
}

fn two_sessions_run_at_once_and_keep_apart(world: &mut World) {
    let (gate, other_gate) = (Gate::new(), Gate::new());
    world.model().script([
        reply().text("first ").gate(&gate).text("answer"),
        reply().text("second ").gate(&other_gate).text("answer"),
    ]);
    let (_agent, mut client, first) = open(world);
    let second = client.new_session(&world.cwd());
    assert_ne!(first, second);
    let first_prompt = client.start_prompt(&first, "one");
    gate.wait_reached();
    let second_prompt = client.start_prompt(&second, "two");
    other_gate.wait_reached();
    other_gate.open();
    assert_eq!(
        client.finish_prompt(&second_prompt, no_questions).text(),
        "second answer"
    );
    gate.open();
    assert_eq!(
        client.finish_prompt(&first_prompt, no_questions).text(),
        "first answer"
    );
}

fn a_closed_session_leaves_no_process_and_is_not_found(world: &mut World) {
    let (agent, mut client, session) = open(world);
    assert!(world.processes().len() > 1, "a session runs the CLI");
    assert_eq!(
        client.call("session/close", json!({"sessionId": session})),
        Ok(json!({}))
    );
    world.wait_only(&agent);
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]});
    let error = client.call("session/prompt", prompt).unwrap_err();
    assert_error(&error, -32002, "Resource not found");
    assert_eq!(
        client.call("session/close", json!({"sessionId": session})),
        Ok(json!({}))
    );
}

fn closing_a_session_answers_its_prompt_first(world: &mut World) {
    let gate = Gate::new();
    world.model().script([reply().text("words").gate(&gate)]);
    let (agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "words"
    );
    let close = client.request("session/close", json!({"sessionId": session}));
    assert_eq!(
        client.finish_prompt(&prompt, no_questions).stop_reason(),
        "cancelled"
    );
    assert_eq!(
        client.next_message(),
        json!({"jsonrpc": "2.0", "id": close, "result": {}})
    );
    world.wait_only(&agent);
}
