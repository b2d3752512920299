//! Faults and odd orders that the real CLI shows only by chance, played by the rehearsal: embedded, and as an
//! executable in the CLI's place.

use e2e_tests::harness::{Answer, World, allow_once, no_questions, reject_once};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::{assert_error, greet, open};

/// Defines each test a second time, played by the executable.
macro_rules! by_executable {
    ($($test:ident as $twin:ident),+ $(,)?) => {
        $(fn $twin(world: &mut World) {
            world.rehearse_by_executable();
            $test(world);
        })+

        pub(crate) fn cases() -> Vec<Case> {
            cases![Rehearsal, Stdio: $($test, $twin),+]
        }
    };
}

by_executable! {
    a_late_result_belongs_to_nobody as a_late_result_belongs_to_nobody_by_executable,
    a_background_result_ends_no_turn as a_background_result_ends_no_turn_by_executable,
    a_turn_without_a_result_is_answered as a_turn_without_a_result_is_answered_by_executable,
    a_turn_that_stalls_can_be_cancelled as a_turn_that_stalls_can_be_cancelled_by_executable,
    a_claude_that_hangs_can_be_cancelled as a_claude_that_hangs_can_be_cancelled_by_executable,
    a_claude_that_exits_fails_its_turn as a_claude_that_exits_fails_its_turn_by_executable,
    broken_lines_cost_themselves as broken_lines_cost_themselves_by_executable,
    a_cancel_that_claude_overtakes_is_still_cancelled as a_cancel_that_claude_overtakes_by_executable,
    a_call_is_announced_before_its_question as a_call_is_announced_before_its_question_by_executable,
    parallel_calls_are_told_apart as parallel_calls_are_told_apart_by_executable,
    a_call_that_a_rule_denies_is_shown_failed as a_call_that_a_rule_denies_is_shown_failed_by_executable,
    novelties_are_passed_over as novelties_are_passed_over_by_executable,
    a_decided_call_goes_on_after_its_question as a_decided_call_goes_on_after_its_question_by_executable,
    a_durable_answer_lasts_into_the_next_session as a_durable_answer_lasts_into_the_next_session_by_executable,
    a_decided_edit_is_shown as a_decided_edit_is_shown_by_executable,
    a_cancel_ends_a_running_call as a_cancel_ends_a_running_call_by_executable,
    rules_and_hooks_of_the_script_decide as rules_and_hooks_of_the_script_decide_by_executable,
    a_decided_subagent_asks_in_its_turn as a_decided_subagent_asks_in_its_turn_by_executable,
}

/// What is embedded only: the settings of an executable in the CLI's place are the user's files.
pub(crate) fn embedded_cases() -> Vec<Case> {
    cases![Rehearsal, Stdio: a_scripts_settings_say_which_mode_a_session_starts_in]
}

fn turns(world: &mut World, turns: Value) {
    world.rehearse(&json!({"version": 1, "about": "a test", "turns": turns}).to_string());
}

/// A script of calls, played for every prompt.
fn play_calls(world: &mut World, session: Value, calls: &[Value]) {
    let steps: Vec<Value> = calls.iter().map(|call| json!({ "tool": call })).collect();
    let script = json!({"version": 1, "session": session, "turns": [{"sticky": true, "steps": steps}]});
    world.rehearse(&script.to_string());
}

fn bash(id: &str, command: &str) -> Value {
    let result = format!("ran {command}");
    json!({"name": "Bash", "id": id, "input": {"command": command}, "decide": true, "result": result})
}

fn a_late_result_belongs_to_nobody(world: &mut World) {
    turns(
        world,
        json!([
            {"on_interrupt": "withhold_result", "steps": [{"text": "first"}, {"wait_for": "interrupt"}]},
            {"steps": [{"late_result": {"interrupted": true}}, {"text": "second"}]},
            {"steps": [{"late_result": {"text": "second"}}, {"text": "third"}]},
        ]),
    );
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "one");
    client.update(&session, "agent_message_chunk");
    client.cancel(&session);
    assert_eq!(
        client.finish_prompt(&prompt, no_questions).stop_reason(),
        "cancelled"
    );
    for words in ["second", "third"] {
        let mut turn = client.prompt(&session, "next", no_questions);
        assert_eq!((turn.text().as_str(), turn.stop_reason()), (words, "end_turn"));
    }
}

fn a_background_result_ends_no_turn(world: &mut World) {
    turns(
        world,
        json!([
            {"steps": [{"text": "before "}, {"foreign_result": "a task ended"}, {"text": "after"}]},
            {"steps": [{"text": "said once"}, {"foreign_result": "another task ended"}]},
            {"steps": [{"text": "next"}]},
        ]),
    );
    let (_agent, mut client, session) = open(world);
    for words in ["before after", "said once", "next"] {
        let mut turn = client.prompt(&session, "go", no_questions);
        assert_eq!((turn.text().as_str(), turn.stop_reason()), (words, "end_turn"));
    }
}

fn a_turn_without_a_result_is_answered(world: &mut World) {
    turns(
        world,
        json!([{"steps": [{"text": "words"}, "no_result"]}, {"steps": [{"text": "next"}]}]),
    );
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_error(turn.error(), -32603, "");
    assert_eq!(turn.text(), "words");
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "next");
}

fn a_turn_that_stalls_can_be_cancelled(world: &mut World) {
    cancel_after(world, "stall");
}

fn a_claude_that_hangs_can_be_cancelled(world: &mut World) {
    cancel_after(world, "hang");
}

fn cancel_after(world: &mut World, last: &str) {
    turns(
        world,
        json!([
            {"prompt": "first", "sticky": true, "steps": [{"text": "words"}, last]},
            {"prompt": "second", "steps": [{"text": "next"}]},
        ]),
    );
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "first");
    client.update(&session, "agent_message_chunk");
    client.cancel(&session);
    assert_eq!(
        client.finish_prompt(&prompt, no_questions).stop_reason(),
        "cancelled"
    );
    let mut turn = client.prompt(&session, "second", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("next", "end_turn"));
}

fn a_claude_that_exits_fails_its_turn(world: &mut World) {
    turns(
        world,
        json!([
            {"prompt": "first", "steps": [{"text": "last words"}, {"exit": {"code": 3, "stderr": "out of cheese"}}]},
            {"prompt": "second", "steps": [{"text": "next"}]},
        ]),
    );
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "first", no_questions);
    assert_error(turn.error(), -32603, "");
    let said = turn.error().to_string();
    assert!(said.contains('3') && said.contains("out of cheese"), "{said}");
    assert_eq!(turn.text(), "last words");
    assert_eq!(client.prompt(&session, "second", no_questions).text(), "next");
}

fn broken_lines_cost_themselves(world: &mut World) {
    turns(
        world,
        json!([{"steps": [
            {"garbage": "{oops"}, {"garbage": ""}, {"garbage": "[1, 2]"}, {"stderr": "a warning"},
            {"half_line": "{\"type\":\"sys"}, {"raw": {"type": "system", "subtype": "novelty"}},
            {"text": "unharmed"},
        ]}]),
    );
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("unharmed", "end_turn")
    );
}

fn a_cancel_that_claude_overtakes_is_still_cancelled(world: &mut World) {
    turns(
        world,
        json!([
            {"on_interrupt": "succeed", "steps": [{"text": "words"}, {"wait_for": "interrupt"}]},
            {"steps": [{"text": "next"}]},
        ]),
    );
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    client.update(&session, "agent_message_chunk");
    client.cancel(&session);
    assert_eq!(
        client.finish_prompt(&prompt, no_questions).stop_reason(),
        "cancelled"
    );
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "next");
}

fn a_call_is_announced_before_its_question(world: &mut World) {
    let call = |id: &str, at: &str| {
        let input = json!({"command": format!("run {id}")});
        json!({"tool": {"name": "Bash", "id": id, "input": input, "ask": {"at": at}, "result": "ran"}})
    };
    let moments = ["block_end", "message_delta", "message_stop"];
    let steps: Vec<Value> = moments.iter().map(|at| call(at, at)).collect();
    turns(world, json!([{"steps": steps}]));
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    for at in moments {
        // Whatever came before the question is waiting; the announcement must be among it.
        let (id, request) = client.permission_request();
        assert_eq!(request["toolCall"]["toolCallId"], at);
        assert_eq!(request["toolCall"]["title"], format!("run {at}"));
        let announced = client
            .kept_update(&session, "tool_call")
            .expect("the call before its question");
        assert_eq!(announced["toolCallId"], at);
        client.answer(&id, &request, &allow_once(&request));
    }
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    turn.ignore_rest();
}

fn parallel_calls_are_told_apart(world: &mut World) {
    let read = |id: &str, parallel: bool| {
        let input = json!({"file_path": format!("/somewhere/{id}.txt")});
        json!({"tool": {"name": "Read", "id": id, "input": input, "parallel": parallel, "result": id}})
    };
    turns(
        world,
        json!([{"steps": [read("one", false), read("two", true), read("three", true)]}]),
    );
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    for id in ["one", "two", "three"] {
        let call = turn.tool(id);
        assert_eq!((call.status(), call.str("kind")), ("completed", "read"));
        assert_eq!(call.str("title"), format!("Read /somewhere/{id}.txt"));
        assert!(call.content_text().contains(id), "{call:?}");
    }
}

fn a_call_that_a_rule_denies_is_shown_failed(world: &mut World) {
    let denied = json!({"tool": {"name": "WebFetch", "id": "toolu_1", "denied": "not allowed by a rule",
        "input": {"url": "https://example.com/", "prompt": "what is it"}}});
    turns(world, json!([{"steps": [denied, {"text": "then not"}]}]));
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    let call = turn.tool("toolu_1");
    assert_eq!((call.status(), call.str("kind")), ("failed", "fetch"));
    assert!(call.content_text().contains("not allowed by a rule"), "{call:?}");
    assert_eq!(turn.text(), "then not");
}

fn novelties_are_passed_over(world: &mut World) {
    let novelties = [
        json!({"type": "novelty", "session_id": "s"}),
        json!({"type": "system", "subtype": "novelty", "status": {"deep": [1]}}),
        json!({"type": "stream_event", "event": {"type": "novelty"}, "session_id": "s"}),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "unknown"}}),
        json!({"type": "control_cancel_request", "request_id": "unknown"}),
        json!({"type": "assistant"}),
        json!({"type": 5}),
        json!({}),
    ];
    let mut steps: Vec<Value> = novelties.into_iter().map(|frame| json!({"raw": frame})).collect();
    steps.push(json!({"text": "unimpressed"}));
    turns(world, json!([{"steps": steps}]));
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("unimpressed", "end_turn")
    );
}

fn a_decided_call_goes_on_after_its_question(world: &mut World) {
    let calls = [
        bash("made", "mkdir made"),
        bash("refused", "mkdir refused"),
        bash("ls", "ls"),
    ];
    play_calls(world, json!({}), &calls);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", |request| {
        if request["toolCall"]["toolCallId"] == "made" {
            allow_once(request)
        } else {
            reject_once(request)
        }
    });
    assert_eq!((turn.stop_reason(), turn.questions().len()), ("end_turn", 2));
    for (id, status) in [("made", "completed"), ("refused", "failed"), ("ls", "completed")] {
        let call = turn.tool(id);
        let ran = call.content_text().contains("ran ");
        assert_eq!((call.status(), ran), (status, status == "completed"), "{call:?}");
    }
}

fn a_durable_answer_lasts_into_the_next_session(world: &mut World) {
    let rule = json!({"toolName": "Bash", "ruleContent": "mkdir *"});
    let suggestion =
        json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"});
    let mut asked = bash("one", "mkdir -p a");
    asked["ask"] = json!({"suggestions": [suggestion]});
    play_calls(world, json!({}), &[asked, bash("two", "mkdir -p b")]);
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "go", |_| Answer::Kind("allow_always"));
    assert_eq!((turn.stop_reason(), turn.questions().len()), ("end_turn", 1));
    turn.ignore_rest();
    client.prompt(&session, "again", no_questions).ignore_rest();
    let other = client.new_session(&world.cwd());
    client.prompt(&other, "go", no_questions).ignore_rest();
}

fn a_decided_edit_is_shown(world: &mut World) {
    let input = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    let edit = json!({"name": "Edit", "id": "edit", "input": input, "decide": true});
    play_calls(world, json!({}), &[edit]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", allow_once);
    assert_eq!((turn.stop_reason(), turn.questions().len()), ("end_turn", 1));
    let edit = turn.tool("edit");
    assert_eq!(edit.status(), "completed");
    let diff = &edit.get("content")[0];
    assert_eq!(
        (&diff["type"], &diff["newText"]),
        (&json!("diff"), &json!("two")),
        "{edit:?}"
    );
}

fn a_cancel_ends_a_running_call(world: &mut World) {
    let allow = json!({"settings": {"permissions": {"allow": ["Bash"]}}});
    let mut slow = bash("slow", "make");
    slow["run_ms"] = json!(600_000);
    play_calls(world, allow, &[slow, bash("next", "echo next")]);
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    client.update(&session, "tool_call");
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
}

fn rules_and_hooks_of_the_script_decide(world: &mut World) {
    let settings = json!({"permissions": {"allow": ["Bash(echo *)"], "deny": ["Bash(rm *)"]}});
    let mut loud = bash("loud", "echo loud");
    loud["hook"] = json!({"decision": "deny", "reason": "be quiet"});
    let calls = [bash("rm", "rm -r ."), loud, bash("quiet", "echo quiet")];
    play_calls(world, json!({ "settings": settings }), &calls);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    for (id, status, text) in [
        ("rm", "failed", "Denied by the rule"),
        ("loud", "failed", "be quiet"),
        ("quiet", "completed", "ran echo quiet"),
    ] {
        let call = turn.tool(id);
        assert_eq!(call.status(), status, "{call:?}");
        assert!(call.content_text().contains(text), "{call:?}");
    }
}

fn a_scripts_settings_say_which_mode_a_session_starts_in(world: &mut World) {
    let input = json!({"file_path": "a", "content": "a"});
    let write = json!({"name": "Write", "id": "written", "input": input, "decide": true});
    for mode in ["plan", "acceptEdits", "dontAsk"] {
        let settings = json!({"permissions": {"defaultMode": mode}});
        play_calls(
            world,
            json!({ "settings": settings }),
            std::slice::from_ref(&write),
        );
        let (_agent, mut client) = greet(world);
        client.ignore("available_commands_update");
        let opened = client
            .call("session/new", json!({"cwd": world.cwd(), "mcpServers": []}))
            .unwrap();
        assert_eq!(opened["modes"]["currentModeId"], mode, "{opened}");
        let session = opened["sessionId"].as_str().unwrap();
        let mut turn = client.prompt(session, "go", no_questions);
        let status = if mode == "acceptEdits" {
            "completed"
        } else {
            "failed"
        };
        assert_eq!(turn.tool("written").status(), status, "{mode}");
    }
}

fn a_decided_subagent_asks_in_its_turn(world: &mut World) {
    let child = json!({"name": "Bash", "input": {"command": "mkdir a"}, "decide": true});
    let agent = json!({"name": "Task", "id": "task", "input": {"description": "Look", "prompt": "Look."},
        "decide": true, "subagent": [child], "result": "Looked."});
    play_calls(world, json!({}), &[agent]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", allow_once);
    assert_eq!((turn.stop_reason(), turn.questions().len()), ("end_turn", 2));
    assert!(turn.tool("task").content_text().contains("Looked."));
    turn.ignore_rest();
}
