//! Transcripts of whole turns: what an engine says to a host that answers, refuses, interrupts or goes away.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod common;

use std::time::Duration;

use common::Host;
use insta::assert_snapshot;
use rehearsal::engine::{Input, Pace, Setup};
use serde_json::json;

const ASK: &str = r#"[{"text": "Let me see."}, {"tool": {"name": "Bash", "input": {"command": "ls"}, "ask": true, "result": "a\nb"}}, {"text": "Two files."}]"#;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_plain_turn_is_streamed_block_by_block() {
    let mut host = Host::of_steps(r#"[{"thinking": "Hm."}, {"text": "Hello there."}]"#);
    host.request(json!({"subtype": "initialize", "hooks": null}));
    host.prompt_with_id("p1", "hi");
    host.prompt("and then?");
    host.end_input();
    assert_snapshot!(host.transcript);
}

#[test]
fn without_partial_messages_only_whole_blocks_come() {
    let mut setup = Setup::new("session-1", "/home/user/project");
    setup.options.partial_messages = false;
    let script = format!("{{\"version\": 1, \"turns\": [{{\"steps\": {ASK}}}]}}");
    let mut host = Host::with(&script, setup, Default::default());
    host.prompt("hi");
    host.answer(json!({"behavior": "allow"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn an_allowed_call_runs_with_the_input_of_the_answer() {
    let mut host = Host::of_steps(
        r#"[{"tool": {"name": "Edit", "input": {"file_path": "/home/user/project/a", "old_string": "x", "new_string": "y"},
            "ask": {"suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}}},
           {"tool": {"name": "Write", "input": {"file_path": "b", "content": "z"}, "ask": true}}]"#,
    );
    host.prompt("hi");
    host.answer(json!({
        "behavior": "allow",
        "updatedInput": {"file_path": "/home/user/project/a", "old_string": "x", "new_string": "Y"},
        "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        "decisionClassification": "user_permanent",
    }));
    assert_snapshot!(host.transcript);
}

#[test]
fn a_denied_call_fails_with_the_hosts_words_and_the_turn_goes_on() {
    let mut host = Host::of_steps(ASK);
    host.prompt("hi");
    host.answer(json!({"behavior": "deny", "message": "not on my machine"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn a_denial_that_interrupts_ends_the_turn() {
    let mut host = Host::of_steps(ASK);
    host.prompt_with_id("p1", "hi");
    host.answer(json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    assert_snapshot!(host.transcript);
}

#[test]
fn answers_that_make_no_sense_are_denials() {
    let mut host = Host::of_steps(
        r#"[{"repeat": {"times": 3, "steps": [{"tool": {"name": "Bash", "input": {"command": "ls"}, "ask": true}}]}}]"#,
    );
    host.prompt("hi");
    host.answer(json!({"behaviour": "allow"}));
    host.answer(json!({"behavior": "allow", "updatedInput": "ls"}));
    let id = host.asked.last().unwrap().clone();
    host.say(&json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "boom"}}));
    // An answer to a question that was answered, and one to none at all.
    host.answer(json!({"behavior": "allow"}));
    host.say(
        &json!({"type": "control_response", "response": {"subtype": "success", "request_id": "nobody"}}),
    );
    assert_snapshot!(host.transcript);
}

#[test]
fn parallel_calls_stand_in_one_message_and_ask_one_after_the_other() {
    let mut host = Host::of_steps(
        r#"[{"tool": {"name": "Bash", "input": {"command": "a"}, "ask": {"at": "block_end"}}},
           {"tool": {"name": "Bash", "input": {"command": "b"}, "ask": true, "parallel": true}},
           {"tool": {"name": "Read", "input": {"file_path": "c"}, "result": {"text": "no such file", "is_error": true}, "parallel": true}},
           {"text": "done"}]"#,
    );
    host.prompt("hi");
    host.answer(json!({"behavior": "allow"}));
    host.answer(json!({"behavior": "allow"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn modes_skip_refuse_and_force_questions() {
    let mut host = Host::of_turns(
        r#"[{"steps": [{"tool": {"name": "Bash", "ask": true, "result": "ran"}}], "sticky": true, "prompt": "plain"},
           {"steps": [{"tool": {"name": "Bash", "ask": {"always": true}, "result": "ran"}}], "prompt": "always"}]"#,
    );
    host.request(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}));
    host.request(json!({"subtype": "set_permission_mode", "mode": "nonsense"}));
    host.request(json!({"subtype": "set_permission_mode", "mode": "dontAsk"}));
    host.prompt("plain");
    assert_snapshot!(host.transcript);

    let mut setup = Setup::new("session-1", "/home/user/project");
    setup.options.allow_bypass = true;
    let script = r#"{"version": 1, "turns": [{"steps": [{"tool": {"name": "Bash", "ask": true, "result": "ran"}}]},
        {"steps": [{"tool": {"name": "Bash", "ask": {"always": true}, "result": "ran"}}]}]}"#;
    let mut host = Host::with(script, setup, Default::default());
    host.request(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}));
    host.prompt("plain");
    host.prompt("always");
    assert_snapshot!("modes_bypass", host.transcript);
}

#[test]
fn the_plan_is_handed_over_and_the_mode_follows() {
    let mut host = Host::of_script(
        r#"{"version": 1, "session": {"plan": {"path": "/plans/p.md", "content": "1. do it"}}, "turns": [{"steps": [
            {"tool": {"name": "EnterPlanMode"}}, {"tool": {"name": "ExitPlanMode", "input": {"plan": "x"}, "ask": true}}]}]}"#,
    );
    host.prompt("plan it");
    host.request(json!({"subtype": "get_plan"}));
    host.answer(json!({"behavior": "allow"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn an_interrupt_while_text_streams_cuts_the_block_off() {
    let mut host = Host::of_steps(r#"[{"text": {"text": "one two three", "delay_ms": 10}}]"#);
    host.prompt_with_id("p1", "hi");
    host.go_on(ms(10));
    host.interrupt();
    host.interrupt();
    host.prompt("again");
    assert_snapshot!(host.transcript);
}

#[test]
fn an_interrupt_withdraws_an_open_question() {
    let mut host = Host::of_steps(ASK);
    host.prompt("hi");
    host.interrupt();
    host.answer(json!({"behavior": "allow"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn an_interrupt_stops_a_running_tool() {
    let mut host =
        Host::of_steps(r#"[{"tool": {"name": "Bash", "input": {"command": "sleep 9"}, "run_ms": 9000}}]"#);
    host.prompt("hi");
    host.go_on(ms(100));
    host.interrupt();
    assert_snapshot!(host.transcript);
}

#[test]
fn the_script_says_what_an_interrupt_does() {
    for how in ["abort", "withhold_result", "succeed", "ignore"] {
        let mut host = Host::of_turns(&format!(
            r#"[{{"on_interrupt": "{how}", "steps": [{{"text": "first"}}, {{"wait_for": "interrupt"}}, {{"text": "second"}}]}},
               {{"steps": [{{"late_result": {{"interrupted": true}}}}, {{"text": "third"}}]}}]"#
        ));
        host.prompt_with_id("p1", "hi");
        host.interrupt();
        host.prompt_with_id("p2", "on");
        assert_snapshot!(format!("on_interrupt_{how}"), host.transcript);
    }
}

#[test]
fn an_answer_that_interrupts_is_ignored_where_interrupts_are() {
    let steps = r#"[{"tool": {"name": "Bash", "ask": true}}, {"text": "anyway"}]"#;
    let mut host = Host::of_turns(&format!(r#"[{{"on_interrupt": "ignore", "steps": {steps}}}]"#));
    host.prompt("go");
    host.answer(json!({"behavior": "deny", "message": "no", "interrupt": true}));
    assert!(host.transcript.contains("anyway"), "{}", host.transcript);
}

#[test]
fn messages_during_a_tool_round_are_folded_into_the_turn() {
    let mut host = Host::of_turns(
        r#"[{"steps": [{"tool": {"name": "Bash", "ask": true}}, {"text": "saw both"}]}, {"steps": [{"text": "next"}]}]"#,
    );
    host.prompt_with_id("p1", "hi");
    host.prompt_with_id("p2", "and this");
    host.answer(json!({"behavior": "allow"}));
    assert_snapshot!(host.transcript);
}

#[test]
fn queued_messages_are_merged_into_one_turn() {
    let mut host = Host::of_turns(
        r#"[{"steps": [{"wait_for": "message"}, {"delay_ms": 5}, {"text": "first"}]},
           {"prompt": {"exact": "two\nthree"}, "steps": [{"text": "both"}]}]"#,
    );
    host.prompt_with_id("p1", "one");
    host.prompt_with_id("p2", "two");
    host.prompt_with_id("p3", "three");
    host.prompt_with_id("p3", "three again");
    host.go_on(ms(5));
    assert_snapshot!(host.transcript);
}

#[test]
fn an_interrupt_tells_what_is_still_queued_and_can_drop_it() {
    let mut host =
        Host::of_turns(r#"[{"steps": ["stall"]}, {"steps": [{"wait_for": "interrupt"}]}, {"steps": []}]"#);
    host.prompt_with_id("p1", "one");
    host.prompt_with_id("p2", "two");
    host.interrupt();
    host.request(json!({"subtype": "interrupt", "cancel_queued": true}));
    assert_snapshot!(host.transcript);
}

#[test]
fn failures_are_told_once_in_the_clis_voice_and_once_in_the_result() {
    let kinds = [
        "not_logged_in",
        "authentication_failed",
        "billing_error",
        "rate_limit",
        "overloaded",
        "unknown",
        "invalid_request",
        "prompt_too_long",
        "model_not_found",
        "server_error",
        "max_output_tokens",
        "refusal",
        "max_turns",
        "max_budget",
    ];
    let mut all = String::new();
    for kind in kinds {
        let mut host = Host::of_steps(&format!(
            "[{{\"error\": {{\"kind\": \"{kind}\", \"retries\": 1}}}}]"
        ));
        host.prompt("hi");
        assert_eq!(host.end_input(), Pace::Exit(1), "{kind}");
        all.push_str(&format!("== {kind}\n{}", host.transcript));
    }
    assert_snapshot!(all);
}

#[test]
fn a_failure_in_the_middle_of_a_turn_closes_the_message_first() {
    let mut host = Host::of_turns(
        r#"[{"steps": [{"text": "Now"}, {"error": "overloaded"}]}, {"steps": [{"text": "ok"}]}]"#,
    );
    host.prompt("hi");
    host.prompt("again");
    assert_snapshot!(host.transcript);
}

#[test]
fn faults_are_written_as_they_stand() {
    let mut host = Host::of_turns(
        r#"[{"steps": [{"text": "a"}, {"garbage": "{oops"}, {"raw": {"type": "novelty", "x": 1}}, {"stderr": "warning"},
             {"mode": "plan"}, {"foreign_result": "a task is done"}, "no_result"]},
           {"steps": [{"late_result": {"text": "the first answer"}}, {"half_line": "{\"type\":\"sys"},
             {"exit": {"code": 3, "stderr": "Segmentation fault"}}]}]"#,
    );
    host.prompt_with_id("p1", "hi");
    host.prompt_with_id("p2", "again");
    assert_snapshot!(host.transcript);
}

#[test]
fn a_hanging_process_answers_nothing_at_all() {
    let mut host = Host::of_steps(r#"[{"text": "a"}, "hang"]"#);
    host.prompt("hi");
    let before = host.transcript.clone();
    host.interrupt();
    host.write(b"this is not json");
    host.engine.input(host.now, Input::EndOfInput);
    assert_eq!(host.go_on(ms(1_000_000)), Pace::Input);
    assert_eq!(host.transcript, before);
}

#[test]
fn a_stalled_turn_acknowledges_and_never_ends() {
    let mut host = Host::of_steps(r#"["stall"]"#);
    host.prompt("hi");
    host.interrupt();
    host.end_input();
    assert_eq!(host.go_on(ms(1_000_000)), Pace::Input);
    assert_snapshot!(host.transcript);
}

#[test]
fn what_goes_wrong_before_the_first_answer() {
    let start = |startup: &str| {
        let mut host = Host::of_script(&format!(
            "{{\"version\": 1, \"startup\": {startup}, \"turns\": [{{\"steps\": [{{\"text\": \"a\"}}]}}]}}"
        ));
        host.request(json!({"subtype": "initialize"}));
        host.prompt("hi");
        host.go_on(ms(100));
        host.transcript
    };
    assert_snapshot!(
        "startup_delay",
        start(r#"[{"delay_ms": 50}, {"garbage": "banner"}]"#)
    );
    assert_eq!(start(r#"["hang"]"#), "");
    assert_eq!(
        start(r#"[{"exit": {"code": 7, "stderr": "no licence"}}]"#),
        "stderr: no licence\nexit 7\nexit 7\nexit 7\nexit 7\n"
    );
}

#[test]
fn the_end_of_input_lets_a_turn_finish_and_fails_its_questions() {
    let mut host = Host::of_steps(
        r#"[{"repeat": {"times": 2, "steps": [{"tool": {"name": "Bash", "input": {"command": "ls"}, "ask": true}}]}},
           {"text": {"text": "so be it", "delay_ms": 5}}]"#,
    );
    host.prompt("hi");
    host.end_input();
    host.go_on(ms(100));
    assert_snapshot!(host.transcript);
}

#[test]
fn the_end_of_input_ends_an_idle_process_unless_the_script_resists() {
    assert_eq!(Host::of_steps("[]").end_input(), Pace::Exit(0));
    let resisting = r#"{"version": 1, "process": {"ignore_eof": true}, "turns": []}"#;
    assert_eq!(Host::of_script(resisting).end_input(), Pace::Input);
}

#[test]
fn a_signal_interrupts_the_turn_and_ends_the_process() {
    let mut host = Host::of_steps(r#"[{"text": {"text": "one two", "delay_ms": 10}}]"#);
    host.prompt("hi");
    host.engine.input(host.now, Input::Interrupt);
    assert_eq!(host.go_on(Duration::ZERO), Pace::Exit(0));
    assert_snapshot!(host.transcript);
}

#[test]
fn a_host_that_does_not_speak_the_protocol_ends_the_process() {
    for (line, complaint) in [
        (
            r#"not json"#,
            "Error parsing streaming input line (type=unknown, 8 chars): SyntaxError",
        ),
        (
            r#"{"type": "user"}"#,
            "Error: Expected message role 'user', got 'undefined'",
        ),
        (
            r#"{"type": "user", "message": {"role": "assistant", "content": "x"}}"#,
            "Error: Expected message role 'user', got 'assistant'",
        ),
        (
            r#"{"type": "control_request", "request_id": "1"}"#,
            "Error: Missing request on control_request",
        ),
    ] {
        let mut host = Host::of_steps("[]");
        assert_eq!(host.write(line.as_bytes()), Pace::Exit(1), "{line}");
        assert_eq!(host.transcript, format!("stderr: {complaint}\nexit 1\n"));
    }
    let mut host = Host::of_steps("[]");
    for harmless in [
        "",
        "  ",
        "[]",
        "1",
        r#"{"type": "novelty"}"#,
        "{}",
        r#"{"type": "keep_alive"}"#,
        r#"{"type": "update_environment_variables", "variables": {}}"#,
        r#"{"type": "control_cancel_request", "request_id": "x"}"#,
        r#"{"type": "control_response", "response": {"subtype": "success", "request_id": "x"}}"#,
    ] {
        assert_eq!(host.write(harmless.as_bytes()), Pace::Input, "{harmless}");
    }
    assert_eq!(host.transcript, "");
}

#[test]
fn requests_about_the_session_are_answered() {
    let mut host = Host::of_script(
        r#"{"version": 1, "session": {"model": "sonnet", "commands": [{"name": "deploy", "argument_hint": "[where]"}],
            "initialize": {"account": {"email": "a@example.org"}}}, "turns": []}"#,
    );
    for request in [
        json!({"subtype": "get_settings"}),
        json!({"subtype": "get_context_usage", "detail": "summary"}),
        json!({"subtype": "get_plan"}),
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "set_model", "model": "haiku"}),
        json!({"subtype": "set_model", "model": null}),
        json!({"subtype": "apply_flag_settings", "settings": {}}),
        json!({"subtype": "does_not_exist"}),
        json!({"subtype": "can_use_tool"}),
    ] {
        host.request(request);
    }
    assert_snapshot!(host.transcript);
}

#[test]
fn sessions_that_cannot_start_say_why_and_end() {
    use rehearsal::engine::Refusal;
    let refused = |refusal| {
        let mut setup = Setup::new("session-1", "/home/user/project");
        setup.refusal = Some(refusal);
        Host::with(r#"{"version": 1, "turns": []}"#, setup, Default::default()).transcript
    };
    assert_eq!(
        refused(Refusal::NoConversation),
        "result error_during_execution error=true reason= stop=null turns=0 [\"No conversation found with session ID: session-1\"]\nstderr: No conversation found with session ID: session-1\nexit 1\n"
    );
    assert_eq!(
        refused(Refusal::SessionInUse),
        "stderr: Error: Session ID session-1 is already in use.\nexit 1\n"
    );
}

#[test]
fn a_session_goes_on_where_it_was() {
    let script = r#"{"version": 1, "turns": [{"steps": [{"text": "one"}]}, {"steps": [{"text": "two"}]}]}"#;
    let mut host = Host::of_script(script);
    host.prompt_with_id("p1", "hi");
    let state = host.engine.state().clone();
    let kept: rehearsal::engine::SessionState =
        serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(kept, state);
    let mut host = Host::with(script, Setup::new("session-1", "/home/user/project"), kept);
    host.prompt_with_id("p2", "on");
    assert_snapshot!(host.transcript);
}

#[test]
fn the_default_script_plays_to_its_end() {
    let script =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/default.json")).unwrap();
    let mut host = Host::of_script(&script);
    host.prompt("hello");
    host.go_on(ms(2000));
    host.answer(json!({"behavior": "allow"}));
    host.go_on(ms(2000));
    host.answer(json!({"behavior": "allow"}));
    host.go_on(ms(2000));
    let told: Vec<&str> = host
        .transcript
        .lines()
        .filter(|line| !line.starts_with("  "))
        .collect();
    assert_snapshot!(told.join("\n"));
}
