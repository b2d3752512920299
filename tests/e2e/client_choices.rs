//! What a client asks for at `session/new` beside a folder: `_meta.claudeCode.options`, its older relatives, the system
//! prompt, and MCP servers that nobody here can reach. What is asked for is heeded, or refused by name.

use e2e_tests::harness::{Client, World, no_questions};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{current, write_settings};
use crate::support::{assert_error, greet};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        what_cannot_be_heeded_opens_no_session,
        what_claude_would_pass_over_in_silence_opens_no_session,
        settings_of_a_client_that_claude_leaves_out_as_a_whole_open_no_session,
        settings_rules_and_variables_of_a_client_count,
        settings_files_that_a_client_leaves_out_do_not_count,
        a_mode_that_a_client_asks_for_is_the_first_one,
        an_effort_and_an_agent_that_a_client_asks_for_are_shown,
        a_system_prompt_adds_or_replaces_in_every_spelling,
        built_in_tools_are_left_out_for_an_older_client,
        servers_of_the_options_work_and_one_over_acp_is_left_out_with_a_notice,
    ]
}

fn asked(world: &World, meta: &Value) -> Value {
    json!({"cwd": world.cwd(), "mcpServers": [], "_meta": meta})
}

fn options(options: &Value) -> Value {
    json!({"claudeCode": {"options": options}})
}

/// A session with these options; what `session/new` answered is checked by the caller.
fn opened(world: &World, client: &mut Client, chosen: &Value) -> (Value, String) {
    let result = client
        .call("session/new", asked(world, &options(chosen)))
        .unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    (result, session)
}

fn what_cannot_be_heeded_opens_no_session(world: &mut World) {
    let (agent, mut client) = greet(world);
    for (key, value) in [
        ("hooks", json!({"PreToolUse": []})),
        ("canUseTool", json!(true)),
        ("cwd", json!("/")),
        ("resume", json!("00000000-0000-4000-8000-000000000000")),
        ("extraArgs", json!({"bare": null})),
        ("permissionmode", json!("plan")),
        ("settings", json!("no/such/file.json")),
        ("env", json!({"CLAUDE_CODE_SIMPLE": "1"})),
        ("effort", json!(5)),
    ] {
        let wish = asked(world, &options(&json!({key: value})));
        let error = client.call("session/new", wish).unwrap_err();
        assert_error(&error, -32602, &format!("`_meta.claudeCode.options.{key}`"));
        assert_eq!(error["data"], json!({"option": key}));
    }
    for (key, meta) in [
        (
            "_meta.claudeCode.emitRawSDKMessages",
            json!({"claudeCode": {"emitRawSDKMessages": true}}),
        ),
        (
            "_meta.claudeCode.options",
            json!({"claudeCode": {"options": "all"}}),
        ),
        ("_meta.systemPrompt", json!({"systemPrompt": 5})),
        ("_meta.disableBuiltInTools", json!({"disableBuiltInTools": "yes"})),
    ] {
        let error = client.call("session/new", asked(world, &meta)).unwrap_err();
        assert_error(&error, -32602, &format!("`{key}`"));
    }
    let mut prompt = asked(world, &json!({}));
    prompt["systemPrompt"] = json!({"mode": "prepend", "content": []});
    let error = client.call("session/new", prompt).unwrap_err();
    assert_error(&error, -32602, "`systemPrompt`");
    world.wait_only(&agent);
}

fn what_claude_would_pass_over_in_silence_opens_no_session(world: &mut World) {
    let settings = json!({"availableModels": ["sonnet"], "permissions": {"defaultMode": "default"}});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    let (agent, mut client) = greet(world);
    for (key, value, choices) in [
        ("effort", "bogus", "`low`, `medium`, `high`"),
        ("agent", "nobody", "choose one of"),
        ("model", "haiku", "choose one of `default`, `sonnet`"),
        // To root, which the suite may run as or not; what is no mode of the session is not offered to anybody.
        (
            "permissionMode",
            "dontAsk",
            "choose one of `default`, `acceptEdits`, `plan`",
        ),
    ] {
        let wish = asked(world, &options(&json!({key: value})));
        let error = client.call("session/new", wish).unwrap_err();
        assert_error(&error, -32602, &format!("`_meta.claudeCode.options.{key}`"));
        assert_error(&error, -32602, choices);
        assert_eq!(error["data"], json!({"option": key}));
    }
    world.wait_only(&agent);
}

/// One entry of the wrong kind, and Claude would count none of the rules beside it.
fn settings_of_a_client_that_claude_leaves_out_as_a_whole_open_no_session(world: &mut World) {
    let (agent, mut client) = greet(world);
    let deny = json!({"deny": ["Bash(touch *)"]});
    for (wrong, settings) in [
        ("`model`", json!({"model": 5, "permissions": deny})),
        (
            "`hooks.PreToolUse`",
            json!({"hooks": {"PreToolUse": 5}, "permissions": deny}),
        ),
        (
            "`permissions.deny`",
            json!({"permissions": {"deny": "Bash(touch *)"}}),
        ),
    ] {
        let wish = asked(world, &options(&json!({"settings": settings})));
        let error = client.call("session/new", wish).unwrap_err();
        assert_error(
            &error,
            -32602,
            "counts nothing of `_meta.claudeCode.options.settings`",
        );
        assert_error(&error, -32602, wrong);
        assert_eq!(error["data"], json!({"option": "settings"}));
    }
    world.wait_only(&agent);
    // A single rule of the wrong kind is left out alone.
    let settings = json!({"permissions": {"deny": ["Bash(touch *)", 7]}});
    let (_, session) = opened(world, &mut client, &json!({"settings": settings}));
    world.model().script([
        tool("toolu_1", "Bash", json!({"command": "touch made.txt"})),
        text("denied"),
    ]);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "failed");
    turn.ignore_rest();
    assert!(!world.project().join("made.txt").exists());
}

fn settings_rules_and_variables_of_a_client_count(world: &mut World) {
    let tell = world.executable("tell", "#!/bin/sh\necho \"$SECRET\"\n");
    let allowed = format!("Bash({tell})");
    let denied = world.executable("denied", "#!/bin/sh\ntouch made.txt\n");
    world.model().script([
        tool("toolu_1", "Bash", json!({"command": tell})),
        tool("toolu_2", "Bash", json!({"command": denied})),
        text("told"),
    ]);
    let (_agent, mut client) = greet(world);
    let rule = format!("Bash({denied})");
    let chosen = json!({
        "allowedTools": [allowed], "env": {"SECRET": "of the client"}, "settings": {"permissions": {"deny": [rule]}},
    });
    let (_, session) = opened(world, &mut client, &chosen);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.tool("toolu_2").status(), "failed");
    turn.ignore_rest();
    let told = world.model().wait_request(1).tool_result("toolu_1").unwrap();
    assert_eq!(told, "of the client");
    assert!(!world.project().join("made.txt").exists());
}

fn settings_files_that_a_client_leaves_out_do_not_count(world: &mut World) {
    let users = json!({"model": "sonnet", "permissions": {"defaultMode": "acceptEdits"}});
    write_settings(world, "home/.claude/settings.json", &users.to_string());
    let local = json!({"permissions": {"defaultMode": "plan"}});
    write_settings(world, "project/.claude/settings.local.json", &local.to_string());
    let (_agent, mut client) = greet(world);
    for (sources, mode, model) in [
        (json!(["user", "project", "local"]), "plan", "sonnet"),
        (json!(["user"]), "acceptEdits", "sonnet"),
        (json!(["local"]), "plan", "default"),
    ] {
        let (result, _) = opened(world, &mut client, &json!({"settingSources": sources}));
        let found = (&result["modes"]["currentModeId"], current(&result, "model"));
        assert_eq!(found, (&json!(mode), &json!(model)), "{sources}");
    }
    let flag = json!({"settingSources": ["user"], "settings": {"permissions": {"defaultMode": "plan"}}});
    let (result, _) = opened(world, &mut client, &flag);
    assert_eq!(result["modes"]["currentModeId"], "plan");
}

fn a_mode_that_a_client_asks_for_is_the_first_one(world: &mut World) {
    let file = world.project().join("made.txt");
    let write = json!({"file_path": file, "content": "made\n"});
    world
        .model()
        .script([tool("toolu_1", "Write", write), text("written")]);
    let (_agent, mut client) = greet(world);
    let (result, session) = opened(world, &mut client, &json!({"permissionMode": "acceptEdits"}));
    assert_eq!(result["modes"]["currentModeId"], "acceptEdits");
    assert_eq!(current(&result, "mode"), "acceptEdits");
    client.prompt(&session, "write", no_questions).ignore_rest();
    assert!(file.exists());
}

fn an_effort_and_an_agent_that_a_client_asks_for_are_shown(world: &mut World) {
    let agent =
        "---\nname: zoologist\ndescription: Knows animals\n---\nYou are the zoologist of this test.\n";
    write_settings(world, "home/.claude/agents/zoologist.md", agent);
    world.model().script([text("one"), text("two")]);
    let (_agent, mut client) = greet(world);
    let (result, session) = opened(
        world,
        &mut client,
        &json!({"effort": "low", "agent": "zoologist"}),
    );
    assert_eq!(
        (current(&result, "effort"), current(&result, "agent")),
        (&json!("low"), &json!("zoologist"))
    );
    client.prompt(&session, "go", no_questions).ignore_rest();
    let request = world.model().wait_request(0).body;
    assert_eq!(request["output_config"]["effort"], "low");
    assert!(request["system"].to_string().contains("zoologist of this test"));
    // One of the client's own.
    let agents =
        json!({"botanist": {"description": "Knows plants", "prompt": "You are the botanist of this test."}});
    let (result, session) = opened(
        world,
        &mut client,
        &json!({"agents": agents, "agent": "botanist"}),
    );
    assert_eq!(current(&result, "agent"), "botanist");
    client.prompt(&session, "go", no_questions).ignore_rest();
    let request = world.model().wait_request(1).body;
    assert!(request["system"].to_string().contains("botanist of this test"));
}

fn a_system_prompt_adds_or_replaces_in_every_spelling(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let content = json!([{"type": "text", "text": "SAY WALRUS"}]);
    let own = |mode: &str| json!({"systemPrompt": {"mode": mode, "content": content}});
    let append = json!({"append": "SAY WALRUS"});
    let rows = [
        (own("append"), true),
        (own("override"), false),
        (json!({"_meta": {"systemPrompt": append}}), true),
        (json!({"_meta": {"systemPrompt": "SAY WALRUS"}}), false),
        (json!({"_meta": options(&json!({"systemPrompt": append}))}), true),
        (
            json!({"_meta": options(&json!({"systemPrompt": ["SAY WALRUS"]}))}),
            false,
        ),
    ];
    for (number, (wish, adds)) in rows.into_iter().enumerate() {
        world.model().script([text("walrus")]);
        let mut params = json!({"cwd": world.cwd(), "mcpServers": []});
        params
            .as_object_mut()
            .unwrap()
            .extend(wish.as_object().unwrap().clone());
        let session = client.new_session_with(params);
        client.prompt(&session, "go", no_questions).ignore_rest();
        let system = world.model().wait_request(number).body["system"].to_string();
        assert!(system.contains("SAY WALRUS"), "{wish}");
        let claudes_own = system.contains("# Harness") || system.contains("# Environment");
        assert_eq!(claudes_own, adds, "{wish}: {system}");
    }
}

fn built_in_tools_are_left_out_for_an_older_client(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    world.model().script([text("none")]);
    let (_agent, mut client) = greet(world);
    let mut params = asked(world, &json!({"disableBuiltInTools": true}));
    let probe = e2e_tests::setup::own_binary("mcp-probe");
    params["mcpServers"] = json!([{"name": "probe", "command": probe, "args": [], "env": []}]);
    let session = client.new_session_with(params);
    client.prompt(&session, "go", no_questions).ignore_rest();
    let request = world.model().wait_request(0);
    let names = request.tool_names();
    assert!(
        names.contains(&"mcp__probe__tell") && !names.contains(&"Bash"),
        "{names:?}"
    );
}

fn servers_of_the_options_work_and_one_over_acp_is_left_out_with_a_notice(world: &mut World) {
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    world.model().script([text("seen")]);
    let (_agent, mut client) = greet(world);
    let probe = e2e_tests::setup::own_binary("mcp-probe");
    let mut params = asked(
        world,
        &options(&json!({"mcpServers": {"second": {"command": probe}}})),
    );
    params["mcpServers"] = json!([
        {"type": "acp", "name": "far away", "id": "1"},
        {"name": "first", "command": probe, "args": [], "env": []},
    ]);
    let result = client.call("session/new", params).unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    let notice = client.update(&session, "agent_message_chunk");
    let words = notice["content"]["text"].as_str().unwrap();
    assert!(words.contains("`far away`") && words.contains("`acp`"), "{words}");
    client.prompt(&session, "go", no_questions).ignore_rest();
    let request = world.model().wait_request(0);
    for name in ["mcp__first__tell", "mcp__second__tell"] {
        assert!(request.tool_names().contains(&name), "{:?}", request.tool_names());
    }
}
