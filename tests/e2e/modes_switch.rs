//! Switching modes: by request and by option, in the middle of a turn, two at once, and to the mode that needs another
//! process. Client and Claude end in the same mode.

use std::collections::BTreeMap;
use std::path::Path;

use e2e_tests::harness::{Agent, Answer, Client, Turn, World, no_questions, reject_once};
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
        bypass_in_a_turn_counts_at_once_and_rules_and_safety_checks_go_on,
        bypass_in_a_turn_of_plan_mode_ends_the_planning,
        after_a_turn_with_bypass_the_next_prompt_has_a_claude_that_bypasses,
        bypass_chosen_and_left_in_a_turn_asks_again_and_costs_no_process,
        choices_made_before_the_first_prompt_and_while_claude_starts_are_kept,
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

/// The Claude processes by their ids, with their whole command lines. What Claude is about to run looks like it for a moment.
fn claudes(world: &World) -> BTreeMap<i32, String> {
    let lines = world.processes().into_iter().map(|process| {
        let path = format!("/proc/{}/cmdline", process.pid);
        let line = std::fs::read(Path::new(&path)).unwrap_or_default();
        (process.pid, String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|(_, line)| line.contains("stream-json")).collect()
}

fn command_lines(world: &World) -> String {
    claudes(world).into_values().collect()
}

/// The Claude that was started first of those that there are.
fn oldest(world: &World) -> Option<i32> {
    claudes(world).into_keys().next()
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

/// Scripts a turn that stops at a gate in front of these calls, one after the other.
fn gated_calls(world: &World, calls: Value) -> Gate {
    let gate = Gate::new();
    let (mut steps, mut begin) = (Vec::new(), reply().text("thinking").gate(&gate));
    for call in calls.as_array().unwrap() {
        let field = |at: usize| call[at].as_str().unwrap();
        steps.push(begin.tool(field(0), field(1), call[2].clone()));
        begin = reply();
    }
    world.model().script(steps);
    world.model().script([text("done")]);
    gate
}

/// A turn in which the client chooses `bypassPermissions` before Claude makes these calls.
fn bypass_in_a_turn(
    world: &World,
    calls: Value,
    ask: impl FnMut(&Value) -> Answer,
) -> (Agent, Client, String, Turn) {
    let gate = gated_calls(world, calls);
    let (agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "a zebra says hello");
    gate.wait_reached();
    client.call("session/set_mode", set(&session, BYPASS)).unwrap();
    gate.open();
    let mut turn = client.finish_prompt(&prompt, ask);
    assert_eq!(modes(&turn.take("current_mode_update")), [BYPASS]);
    assert_eq!(
        current(&turn.take("config_option_update").pop().unwrap(), "mode"),
        BYPASS
    );
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("thinkingdone", "end_turn")
    );
    (agent, client, session, turn)
}

fn bypass_in_a_turn_counts_at_once_and_rules_and_safety_checks_go_on(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    let rules = json!({"permissions": {"defaultMode": "default", "disableAutoMode": "disable",
        "deny": ["Bash(touch denied*)"], "ask": ["Bash(touch asked*)"]}});
    write_settings(world, "home/.claude/settings.json", &rules.to_string());
    let outside = world.path("outside.txt");
    let safe = world.project().join(".git/config");
    let calls = json!([
        ["toolu_a", "Bash", {"command": "touch free.txt"}],
        ["toolu_b", "Write", {"file_path": outside, "content": "made\n"}],
        ["toolu_c", "Bash", {"command": "touch denied.txt"}],
        ["toolu_d", "Bash", {"command": "touch asked.txt"}],
        ["toolu_e", "Write", {"file_path": safe, "content": "made\n"}],
    ]);
    let (_agent, _client, _, mut turn) = bypass_in_a_turn(world, calls, reject_once);
    let statuses =
        ["toolu_a", "toolu_b", "toolu_c", "toolu_d", "toolu_e"].map(|id| turn.tool(id).status().to_owned());
    assert_eq!(statuses, ["completed", "completed", "failed", "failed", "failed"]);
    let asked: Vec<_> = turn
        .questions()
        .iter()
        .map(|question| &question["toolCall"]["toolCallId"])
        .collect();
    assert_eq!(asked, ["toolu_d", "toolu_e"]);
    assert!(world.project().join("free.txt").exists() && outside.exists());
    assert!(!world.project().join("denied.txt").exists() && !world.project().join("asked.txt").exists());
}

fn bypass_in_a_turn_of_plan_mode_ends_the_planning(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    user_settings(world, "plan");
    let calls =
        json!([["toolu_w", "Write", {"file_path": world.project().join("made.txt"), "content": "made\n"}]]);
    let (_agent, _client, _, mut turn) = bypass_in_a_turn(world, calls, no_questions);
    assert_eq!(turn.tool("toolu_w").status(), "completed");
}

fn after_a_turn_with_bypass_the_next_prompt_has_a_claude_that_bypasses(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    user_settings(world, "default");
    let calls = json!([["toolu_a", "Bash", {"command": "touch free.txt"}]]);
    let (_agent, mut client, session, mut turn) = bypass_in_a_turn(world, calls, no_questions);
    assert_eq!(turn.tool("toolu_a").status(), "completed");
    assert!(!command_lines(world).contains("skip-permissions"));
    world.model().script([
        tool("toolu_b", "Bash", json!({"command": "touch more.txt"})),
        text("more"),
    ]);
    let mut turn = client.prompt(&session, "more", no_questions);
    assert_eq!(
        (turn.tool("toolu_b").status(), turn.text().as_str()),
        ("completed", "more")
    );
    assert!(command_lines(world).contains("skip-permissions"));
    assert!(
        world.model().wait_request(2).mentions("a zebra says hello"),
        "resumed"
    );
}

fn bypass_chosen_and_left_in_a_turn_asks_again_and_costs_no_process(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    user_settings(world, "default");
    let calls = json!([["toolu_a", "Bash", {"command": "touch made.txt"}]]);
    let gate = gated_calls(world, calls);
    let (_agent, mut client, session) = open(world);
    let before = oldest(world);
    let prompt = client.start_prompt(&session, "go");
    gate.wait_reached();
    for mode in [BYPASS, "default"] {
        client.call("session/set_mode", set(&session, mode)).unwrap();
    }
    gate.open();
    let mut turn = client.finish_prompt(&prompt, reject_once);
    assert_eq!(modes(&turn.take("current_mode_update")), [BYPASS, "default"]);
    turn.ignore("config_option_update");
    assert_eq!(turn.questions().len(), 1);
    assert_eq!(turn.tool("toolu_a").status(), "failed");
    turn.ignore_rest();
    world.model().script([text("again")]);
    assert_eq!(client.prompt(&session, "again", no_questions).text(), "again");
    assert_eq!(oldest(world), before);
}

fn choices_made_before_the_first_prompt_and_while_claude_starts_are_kept(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    user_settings(world, "default");
    let write = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    world
        .model()
        .script([tool("toolu_w", "Write", write), text("made")]);
    let (agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    client.ignore("current_mode_update");
    let before = oldest(world);
    for mode in [BYPASS, "default"] {
        client.call("session/set_mode", set(&session, mode)).unwrap();
    }
    assert_eq!(oldest(world), before);
    world.kill_command("stream-json", &agent);
    world.wait_only(&agent);
    let prompt = client.start_prompt(&session, "write");
    // The first choice comes while the process starts; so does what follows, or it is a choice in the turn.
    for (id, value) in [("model", "sonnet"), ("effort", "low"), ("mode", "acceptEdits")] {
        let params = json!({"sessionId": session, "configId": id, "value": value});
        let answer = client.call("session/set_config_option", params).unwrap();
        assert_eq!(current(&answer, id), value);
    }
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(
        (turn.tool("toolu_w").status(), turn.text().as_str()),
        ("completed", "made")
    );
    // A choice that came just behind the prompt counts from the next request on.
    let request = world.model().wait_request(1);
    assert!(
        request.body["model"].as_str().unwrap().contains("sonnet"),
        "{}",
        request.body["model"]
    );
    assert_eq!(request.body["output_config"]["effort"], "low");
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
