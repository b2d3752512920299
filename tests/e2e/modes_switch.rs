//! Switching modes: by request and by option, in the middle of a turn, two at once, and to the mode that needs another
//! process. Client and Claude end in the same mode.

use std::path::Path;

use e2e_tests::harness::{Client, World, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{current, modes, option, plan_mode, user_settings, write_settings};
use crate::support::{assert_error, greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_switch_tells_mode_then_options_then_its_answer,
        a_switch_by_option_is_a_switch_by_request,
        a_switch_to_the_current_mode_changes_nothing,
        a_switch_in_a_turn_is_told_before_its_end,
        the_last_of_two_switches_in_flight_wins,
        the_last_of_two_switches_in_a_turn_wins,
        root_outside_a_sandbox_has_no_bypass_anywhere,
        bypass_replaces_the_process_between_turns_and_asks_for_nothing,
        bypass_is_not_chosen_in_the_middle_of_a_turn,
        bypass_is_refused_to_a_client_that_opted_out,
        bypass_and_auto_are_hidden_where_settings_disable_them,
    ]
}

const BYPASS: &str = "bypassPermissions";

fn set(session: &str, mode: &str) -> Value {
    json!({"sessionId": session, "modeId": mode})
}

fn set_option(session: &str, mode: &str) -> Value {
    json!({"sessionId": session, "configId": "mode", "value": mode})
}

/// The mode ids of a session response, first as modes, then as an option.
fn offered(session: &Value) -> [Vec<String>; 2] {
    let ids = |list: &Value, key: &str| -> Vec<String> {
        let entries = list.as_array().unwrap().iter();
        entries
            .map(|entry| entry[key].as_str().unwrap().to_owned())
            .collect()
    };
    [
        ids(&session["modes"]["availableModes"], "id"),
        ids(&option(session, "mode")["options"], "value"),
    ]
}

/// Opens a session and returns the whole response with its id.
fn new_session(client: &mut Client, params: Value) -> (Value, String) {
    let result = client.call("session/new", params).unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    (result, session)
}

fn plain(world: &World) -> Value {
    json!({"cwd": world.cwd(), "mcpServers": []})
}

/// The whole command lines of the Claude processes.
fn command_lines(world: &World) -> String {
    let lines = world.processes().into_iter().map(|process| {
        let path = format!("/proc/{}/cmdline", process.pid);
        let line = std::fs::read(Path::new(&path)).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    });
    lines.filter(|line| line.contains("stream-json")).collect()
}

fn a_switch_tells_mode_then_options_then_its_answer(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    let id = client.request("session/set_mode", set(&session, "acceptEdits"));
    let [first, second, third] = std::array::from_fn(|_| client.next_message());
    assert_eq!(first["params"]["update"]["sessionUpdate"], "current_mode_update");
    assert_eq!(first["params"]["update"]["currentModeId"], "acceptEdits");
    assert_eq!(
        second["params"]["update"]["sessionUpdate"],
        "config_option_update"
    );
    assert_eq!(current(&second["params"]["update"], "mode"), "acceptEdits");
    assert_eq!((&third["id"], &third["result"]), (&json!(id), &json!({})));
}

fn a_switch_by_option_is_a_switch_by_request(world: &mut World) {
    user_settings(world, "default");
    world.model().script([text("planning")]);
    let (_agent, mut client, session) = open(world);
    let result = client.call("session/set_config_option", set_option(&session, "plan"));
    assert_eq!(current(&result.unwrap(), "mode"), "plan");
    assert_eq!(
        client.update(&session, "current_mode_update")["currentModeId"],
        "plan"
    );
    assert_eq!(
        current(&client.update(&session, "config_option_update"), "mode"),
        "plan"
    );
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "planning");
    assert!(world.model().wait_request(0).mentions("Plan mode is active"));
}

fn a_switch_to_the_current_mode_changes_nothing(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    assert_eq!(
        client.call("session/set_mode", set(&session, "default")),
        Ok(json!({}))
    );
}

/// Scripts a turn that stops at a gate in front of its Write.
fn gated_write(world: &World) -> Gate {
    let gate = Gate::new();
    let write = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    world.model().script([
        reply()
            .text("thinking")
            .gate(&gate)
            .tool("toolu_w", "Write", write),
        text("written"),
    ]);
    gate
}

fn a_switch_in_a_turn_is_told_before_its_end(world: &mut World) {
    let gate = gated_write(world);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "write");
    gate.wait_reached();
    client
        .call("session/set_mode", set(&session, "acceptEdits"))
        .unwrap();
    gate.open();
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(modes(&turn.take("current_mode_update")), ["acceptEdits"]);
    assert_eq!(turn.take("config_option_update").len(), 1);
    assert_eq!(turn.tool("toolu_w").status(), "completed");
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("thinkingwritten", "end_turn")
    );
}

fn the_last_of_two_switches_in_flight_wins(world: &mut World) {
    user_settings(world, "default");
    world.model().script([text("planning")]);
    let (_agent, mut client, session) = open(world);
    let ids = [
        client.request("session/set_mode", set(&session, "acceptEdits")),
        client.request("session/set_config_option", set_option(&session, "plan")),
    ];
    for id in ids {
        client.response(id).unwrap();
    }
    let told = [(); 2].map(|()| client.update(&session, "current_mode_update"));
    assert_eq!(modes(&told), ["acceptEdits", "plan"]);
    let [_, options] = [(); 2].map(|()| client.update(&session, "config_option_update"));
    assert_eq!(current(&options, "mode"), "plan");
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "planning");
    assert!(world.model().wait_request(0).mentions("Plan mode is active"));
}

fn the_last_of_two_switches_in_a_turn_wins(world: &mut World) {
    let gate = gated_write(world);
    let (_agent, mut client, session) = plan_mode(world);
    let prompt = client.start_prompt(&session, "write");
    gate.wait_reached();
    let ids = ["default", "acceptEdits"].map(|mode| client.request("session/set_mode", set(&session, mode)));
    for id in ids {
        client.response(id).unwrap();
    }
    gate.open();
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(
        modes(&turn.take("current_mode_update")),
        ["default", "acceptEdits"]
    );
    let options = turn.take("config_option_update");
    assert_eq!(current(options.last().unwrap(), "mode"), "acceptEdits");
    assert_eq!(turn.tool("toolu_w").status(), "completed");
    turn.ignore_rest();
}

fn root_outside_a_sandbox_has_no_bypass_anywhere(world: &mut World) {
    let may_bypass = !rustix::process::geteuid().is_root();
    world.remove_env("IS_SANDBOX");
    user_settings(world, BYPASS);
    let (_agent, mut client) = greet(world);
    let (result, session) = new_session(&mut client, plain(world));
    for ids in offered(&result) {
        assert_eq!(ids.iter().any(|id| id == BYPASS), may_bypass, "{ids:?}");
    }
    assert_eq!(command_lines(world).contains("skip-permissions"), may_bypass);
    if may_bypass {
        return assert_eq!(result["modes"]["currentModeId"], BYPASS);
    }
    assert_eq!(result["modes"]["currentModeId"], "default");
    let said = client.update(&session, "agent_message_chunk")["content"]["text"].to_string();
    assert!(said.contains("not available to root outside a sandbox"), "{said}");
    assert!(said.contains("settings.json"), "{said}");
    let error = client
        .call("session/set_mode", set(&session, BYPASS))
        .unwrap_err();
    assert_error(&error, -32602, "choose one of `default`, `acceptEdits`, `plan`");
    let error = client
        .call("session/set_config_option", set_option(&session, BYPASS))
        .unwrap_err();
    assert_error(&error, -32602, "choose one of `default`, `acceptEdits`, `plan`");
}

fn bypass_replaces_the_process_between_turns_and_asks_for_nothing(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    world.model().script([
        text("hello"),
        tool("toolu_b", "Bash", json!({"command": "touch made.txt"})),
        text("made"),
    ]);
    user_settings(world, "default");
    let (_agent, mut client) = greet(world);
    let (result, session) = new_session(&mut client, plain(world));
    for ids in offered(&result) {
        assert_eq!(ids, ["default", "acceptEdits", "plan", BYPASS]);
    }
    assert!(
        !command_lines(world).contains("skip-permissions"),
        "{}",
        command_lines(world)
    );
    assert_eq!(
        client.prompt(&session, "a zebra says hello", no_questions).text(),
        "hello"
    );
    client.call("session/set_mode", set(&session, BYPASS)).unwrap();
    assert_eq!(
        client.update(&session, "current_mode_update")["currentModeId"],
        BYPASS
    );
    assert_eq!(
        current(&client.update(&session, "config_option_update"), "mode"),
        BYPASS
    );
    let mut turn = client.prompt(&session, "make it", no_questions);
    assert_eq!(turn.tool("toolu_b").status(), "completed");
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("made", "end_turn"));
    assert!(world.project().join("made.txt").exists());
    assert!(
        world.model().wait_request(1).mentions("a zebra says hello"),
        "resumed"
    );
    assert!(
        command_lines(world).contains("skip-permissions"),
        "{}",
        command_lines(world)
    );
    assert_eq!(crate::plan_support::claudes(world), 1);
}

fn bypass_is_not_chosen_in_the_middle_of_a_turn(world: &mut World) {
    let gate = Gate::new();
    world.set_env("IS_SANDBOX", "1");
    world.model().script([reply().text("thinking").gate(&gate)]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    gate.wait_reached();
    let error = client
        .call("session/set_mode", set(&session, BYPASS))
        .unwrap_err();
    assert_error(&error, -32602, "between turns");
    gate.open();
    assert_eq!(client.finish_prompt(&prompt, no_questions).text(), "thinking");
}

fn bypass_is_refused_to_a_client_that_opted_out(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    user_settings(world, BYPASS);
    let (_agent, mut client) = greet(world);
    let mut params = plain(world);
    params["_meta"] = json!({"claudeCode": {"options": {"allowDangerouslySkipPermissions": false}}});
    let (result, session) = new_session(&mut client, params);
    for ids in offered(&result) {
        assert_eq!(ids, ["default", "acceptEdits", "plan"]);
    }
    assert_eq!(result["modes"]["currentModeId"], "default");
    let said = client.update(&session, "agent_message_chunk")["content"]["text"].to_string();
    assert!(said.contains("this client does not allow"), "{said}");
    let error = client
        .call("session/set_mode", set(&session, BYPASS))
        .unwrap_err();
    assert_error(&error, -32602, "`default`, `acceptEdits`, `plan`");
    assert!(!command_lines(world).contains("skip-permissions"));
}

fn bypass_and_auto_are_hidden_where_settings_disable_them(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    let (_agent, mut client) = greet(world);
    let (all, base) = (
        ["default", "acceptEdits", "plan", "auto", BYPASS],
        ["default", "acceptEdits", "plan"],
    );
    let rows = [
        (json!({}), all.to_vec()),
        (
            json!({"permissions": {"disableBypassPermissionsMode": "disable"}}),
            all[..4].to_vec(),
        ),
        (
            json!({"disableAutoMode": "disable"}),
            [&base[..], &[BYPASS]].concat(),
        ),
        (
            json!({"permissions": {"disableAutoMode": "disable", "disableBypassPermissionsMode": "disable"}}),
            base.to_vec(),
        ),
    ];
    for (settings, expected) in rows {
        write_settings(world, "home/.claude/settings.json", &settings.to_string());
        let (result, session) = new_session(&mut client, plain(world));
        for ids in offered(&result) {
            assert_eq!(ids, expected, "{settings}");
        }
        client
            .call("session/close", json!({"sessionId": session}))
            .unwrap();
    }
}
