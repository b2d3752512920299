//! Prompts: how each ends, and what becomes of the process.

use claude_sdk_bridge::{launch::SessionStart, messages::ClaudeSessionId};
use serde_json::{Value, json};

use super::world::World;

#[tokio::test(start_paused = true)]
async fn text_leaves_before_the_answer_of_its_prompt() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.text("Hel").await;
    claude.text("lo").await;
    claude
        .result(&uuid, json!({"usage": {"input_tokens": 3, "output_tokens": 4}}))
        .await;
    let (answer, updates) = world.answer(prompt).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(answer["result"]["usage"]["totalTokens"], 7);
    let texts: Vec<_> = updates
        .iter()
        .map(|update| update["params"]["update"]["content"]["text"].clone())
        .collect();
    assert_eq!(texts, ["Hel", "lo"]);
}

#[tokio::test(start_paused = true)]
async fn the_second_prompt_reaches_claude_after_the_result_of_the_first() {
    let (mut world, mut claude) = World::open().await;
    let first = world.prompt("one").await;
    let second = world.prompt("two").await;
    let uuid = claude.take_prompt().await;
    claude.text("only one prompt so far").await;
    world.call("session/update").await;
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(first).await.0["result"]["stopReason"], "end_turn");
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(second).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_result_of_another_turn_does_not_answer_the_prompt() {
    let (mut world, mut claude) = World::open().await;
    let earlier = world.prompt("before").await;
    let late = claude.take_prompt().await;
    claude.result(&late, json!({})).await;
    world.answer(earlier).await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.result(&late, json!({"result": "late"})).await;
    let background = json!({"type": "result", "subtype": "success", "is_error": false, "origin": {"kind": "task-notification"}});
    claude.lines.send(background).await;
    claude.text("still here").await;
    claude.result(&uuid, json!({})).await;
    let (answer, before) = world.answer(prompt).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(
        before
            .iter()
            .any(|update| update["params"]["update"]["content"]["text"] == "still here"),
        "{before:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_ignores_the_interrupt_is_ended_and_the_next_prompt_resumes_the_session() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    claude.take_prompt().await;
    claude.text("working").await;
    world.call("session/update").await;
    world.cancel().await;
    let interrupt = claude.lines.receive().await;
    assert_eq!(
        interrupt["request"],
        json!({"subtype": "interrupt", "cancel_queued": true})
    );
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "cancelled");
    assert!(claude.life.is_cancelled());

    let prompt = world.prompt("again").await;
    let mut next = world.claude().await;
    let expected = SessionStart::Resume {
        id: ClaudeSessionId::from("claude-session"),
        at: None,
    };
    assert_eq!(next.options.session, expected);
    next.greet().await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_answers_cancelled_whatever_its_result_says() {
    for fields in [
        json!({}),
        json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools"}),
    ] {
        let (mut world, mut claude) = World::open().await;
        let prompt = world.prompt("hi").await;
        let waiting = world.prompt("waits").await;
        let uuid = claude.take_prompt().await;
        claude.text("started").await;
        world.call("session/update").await;
        world.cancel().await;
        assert_eq!(world.answer(waiting).await.0["result"]["stopReason"], "cancelled");
        claude.result(&uuid, fields).await;
        assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "cancelled");
        assert!(!claude.life.is_cancelled());
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_thrown_out_of_claudes_queue_is_answered_without_a_result() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.lines.receive().await["uuid"].clone();
    world.cancel().await;
    let interrupt = claude.lines.receive().await;
    claude
        .succeed(&interrupt, json!({"still_queued": [], "cancelled": [uuid]}))
        .await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_death_in_the_turn_is_told_with_the_last_words_and_the_session_goes_on() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    claude.take_prompt().await;
    claude.text("x").await;
    world.call("session/update").await;
    claude.life.cancel();
    let (answer, _) = world.answer(prompt).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(answer["error"]["data"]["errorKind"], "process_ended");
    assert_eq!(answer["error"]["data"]["stderr"], "last words");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("exit code `1`"),
        "{answer}"
    );

    let prompt = world.prompt("again").await;
    let mut next = world.claude().await;
    next.greet().await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_died_while_idle_costs_no_prompt() {
    let (mut world, claude) = World::open().await;
    claude.life.cancel();
    let prompt = world.prompt("hi").await;
    let mut next = world.claude().await;
    assert!(
        matches!(next.options.session, SessionStart::New { .. }),
        "nothing was written down yet"
    );
    next.greet().await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_end_has_its_answer() {
    let api = |kind: &str| json!({"type": "assistant", "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "boom"}]}, "is_api_error_message": true, "error": kind});
    let failed = json!({"is_error": true, "terminal_reason": "api_error", "result": "boom"});
    let cases = [
        (
            None,
            json!({"stop_reason": "refusal", "is_error": true, "terminal_reason": "api_error", "result": "no"}),
            json!("refusal"),
        ),
        (
            None,
            json!({"subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns"}),
            json!("max_turn_requests"),
        ),
        (
            Some("max_output_tokens"),
            json!({"is_error": true, "terminal_reason": "api_error", "api_error": "max_output_tokens"}),
            json!("max_tokens"),
        ),
        (Some("rate_limit"), failed.clone(), json!([-32603, "rate_limit"])),
        (
            Some("server_error"),
            failed.clone(),
            json!([-32603, "server_error"]),
        ),
        (Some("authentication_failed"), failed, json!([-32000, null])),
    ];
    for (kind, fields, expected) in cases {
        let (mut world, mut claude) = World::open().await;
        let prompt = world.prompt("hi").await;
        let uuid = claude.take_prompt().await;
        if let Some(kind) = kind {
            claude.lines.send(api(kind)).await;
        }
        claude.result(&uuid, fields).await;
        let (answer, before) = world.answer(prompt).await;
        let got = match answer.get("result") {
            Some(result) => result["stopReason"].clone(),
            None => json!([answer["error"]["code"], answer["error"]["data"]["errorKind"]]),
        };
        assert_eq!(got, expected, "{answer}");
        let shown = before
            .iter()
            .filter(|update| update.to_string().contains("boom"))
            .count();
        assert_eq!(shown, 0, "an error is said once, in the answer: {before:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_login_the_next_prompt_runs_in_a_new_process() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": 401, "result": "log in"})).await;
    assert_eq!(world.answer(prompt).await.0["error"]["code"], -32000);
    let prompt = world.prompt("again").await;
    let mut next = world.claude().await;
    assert!(claude.life.is_cancelled());
    next.greet().await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_stops_claude_and_loses_nothing() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    let delta = |n: usize| {
        let event = json!({"index": 0, "delta": {"type": "text_delta", "text": format!("{n} ")}, "type": "content_block_delta"});
        format!(
            "{}\n",
            json!({"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": null, "api_message_id": "m"})
        )
    };
    let mut sent = 0;
    while claude.lines.try_send(&delta(sent)).await {
        sent += 1;
        assert!(sent < 10_000, "the flow never stopped");
    }
    // The line that did not fit was cut off half way; its rest follows before anything else.
    let mut seen = 0;
    let mut received = Vec::new();
    while seen < sent {
        let update = world.client.receive().await;
        received.push(
            update["params"]["update"]["content"]["text"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
        seen += 1;
    }
    let expected: Vec<String> = (0..sent).map(|n| format!("{n} ")).collect();
    assert_eq!(received, expected);
    let _ = (prompt, uuid);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_connection_ends_the_process() {
    let (world, claude) = World::open().await;
    let World { client, manager, .. } = world;
    drop(client);
    tokio::time::timeout(std::time::Duration::from_secs(60), claude.life.cancelled())
        .await
        .unwrap();
    manager.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn close_answers_the_prompts_first_and_then_the_process_is_gone() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    claude.take_prompt().await;
    let session = json!({"sessionId": world.session});
    let close = world.request("session/close", session.clone()).await;
    let (answer, before) = world.answer(close).await;
    assert_eq!(answer["result"], json!({}));
    let cancelled = before.iter().find(|message| message["id"] == prompt).unwrap();
    assert_eq!(cancelled["result"]["stopReason"], "cancelled");
    assert!(claude.life.is_cancelled());
    let again = world.request("session/close", session).await;
    assert_eq!(world.answer(again).await.0["result"], json!({}));
    let prompt = world.prompt("hi").await;
    assert_eq!(world.answer(prompt).await.0["error"]["code"], -32002);
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_does_not_start_is_an_error_of_the_request() {
    let mut world = World::without_session(true).await;
    let id = world
        .request(
            "session/new",
            json!({"cwd": std::env::temp_dir(), "mcpServers": []}),
        )
        .await;
    let (answer, _) = world.answer(id).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("does not exist"),
        "{answer}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_client_gets_wrong_is_refused_before_a_process_exists() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let dir = std::env::temp_dir();
    let stdio = json!({"name": "a", "command": "/bin/true", "args": [], "env": []});
    let cases = [
        (
            json!({"cwd": "relative", "mcpServers": []}),
            "`cwd` must be an absolute path",
        ),
        (
            json!({"cwd": "/does/not/exist", "mcpServers": []}),
            "`cwd` does not exist",
        ),
        (
            json!({"cwd": file.path(), "mcpServers": []}),
            "`cwd` is not a directory",
        ),
        (
            json!({"cwd": dir, "mcpServers": [], "additionalDirectories": ["rel"]}),
            "must be absolute paths",
        ),
        (
            json!({"cwd": dir, "mcpServers": [stdio, stdio]}),
            "two MCP servers are named `a`",
        ),
        (json!({"mcpServers": []}), "cwd"),
    ];
    let mut world = World::without_session(false).await;
    for (params, text) in cases {
        let id = world.request("session/new", params.clone()).await;
        let (answer, _) = world.answer(id).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}");
        assert!(answer["error"].to_string().contains(text), "{answer}");
    }
    assert!(world.no_claude_started());
}

#[tokio::test(start_paused = true)]
async fn a_mode_change_is_told_before_its_answer_whoever_makes_it() {
    let (mut world, mut claude) = World::open().await;
    let params = json!({"sessionId": world.session, "modeId": "plan"});
    let id = world.request("session/set_mode", params).await;
    let request = claude.lines.receive().await;
    assert_eq!(
        request["request"],
        json!({"subtype": "set_permission_mode", "mode": "plan"})
    );
    claude
        .lines
        .send(json!({"type": "system", "subtype": "status", "status": null, "permissionMode": "plan"}))
        .await;
    claude.succeed(&request, json!({"mode": "plan"})).await;
    let (answer, before) = world.answer(id).await;
    assert_eq!(answer["result"], json!({}));
    let kinds: Vec<_> = before
        .iter()
        .map(|update| update["params"]["update"]["sessionUpdate"].clone())
        .collect();
    assert_eq!(kinds, ["current_mode_update", "config_option_update"]);
    assert_eq!(before[0]["params"]["update"]["currentModeId"], "plan");

    claude
        .lines
        .send(json!({"type": "system", "subtype": "status", "status": null, "permissionMode": "acceptEdits"}))
        .await;
    let update = world.call("session/update").await;
    assert_eq!(update["params"]["update"]["currentModeId"], "acceptEdits");

    world.call("session/update").await;

    let params = json!({"sessionId": world.session, "modeId": "bypassPermissions"});
    let id = world.request("session/set_mode", params).await;
    assert_eq!(world.answer(id).await.0["error"]["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn the_mode_that_claude_answers_with_is_the_sessions() {
    let (mut world, mut claude) = World::open().await;
    let id = choose(&mut world, "session/set_mode", json!({"modeId": "plan"})).await;
    let request = claude.lines.receive().await;
    claude.succeed(&request, json!({"mode": "acceptEdits"})).await;
    let (answer, before) = world.answer(id).await;
    assert_eq!(answer["result"], json!({}));
    assert_eq!(before[0]["params"]["update"]["currentModeId"], "acceptEdits");
}

/// The client chooses a mode or an option.
async fn choose(world: &mut World, method: &str, choice: Value) -> u64 {
    let mut params = json!({"sessionId": world.session});
    params
        .as_object_mut()
        .unwrap()
        .extend(choice.as_object().unwrap().clone());
    world.request(method, params).await
}

/// The client's choice of a mode or an option, answered.
async fn chosen(world: &mut World, method: &str, choice: Value) -> Vec<Value> {
    let id = choose(world, method, choice).await;
    let (answer, before) = world.answer(id).await;
    assert!(answer["result"].is_object(), "{answer}");
    before
}

async fn choose_mode(world: &mut World, mode: &str) {
    chosen(world, "session/set_mode", json!({"modeId": mode})).await;
}

#[tokio::test(start_paused = true)]
async fn choices_made_while_a_process_starts_are_applied_before_it_gets_the_prompt() {
    let (mut world, claude) = World::open_in_sandbox().await;
    claude.life.cancel();
    let prompt = world.prompt("hi").await;
    let mut next = world.claude().await;
    choose_mode(&mut world, "acceptEdits").await;
    let told = chosen(
        &mut world,
        "session/set_config_option",
        json!({"configId": "model", "value": "other"}),
    )
    .await;
    assert!(told.is_empty(), "the answer carries the options: {told:?}");
    next.greet().await;
    let request = next.lines.receive().await;
    assert_eq!(
        request["request"],
        json!({"subtype": "set_model", "model": "other"})
    );
    next.succeed(&request, json!({})).await;
    let request = next.lines.receive().await;
    assert_eq!(request["request"]["subtype"], "get_settings");
    next.succeed(&request, json!({"effective": {}, "applied": {"model": "other"}}))
        .await;
    let request = next.lines.receive().await;
    assert_eq!(
        request["request"],
        json!({"subtype": "set_permission_mode", "mode": "acceptEdits"})
    );
    next.succeed(&request, json!({"mode": "acceptEdits"})).await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_choice_that_a_process_ends_over_is_that_of_the_next() {
    for (method, choice, expected) in [
        ("session/set_mode", json!({"modeId": "plan"}), "plan"),
        (
            "session/set_config_option",
            json!({"configId": "model", "value": "other"}),
            "other",
        ),
    ] {
        let (mut world, mut claude) = World::open_in_sandbox().await;
        let id = choose(&mut world, method, choice).await;
        claude.lines.receive().await;
        claude.life.cancel();
        let (answer, _) = world.answer(id).await;
        assert!(answer["result"].is_object(), "{answer}");
        world.prompt("hi").await;
        let next = world.claude().await;
        let started = format!("{:?} {:?}", next.options.permission_mode, next.options.model).to_lowercase();
        assert!(started.contains(expected), "{started}");
    }
}

#[tokio::test(start_paused = true)]
async fn bypass_chosen_while_a_process_starts_without_it_has_another_one_take_the_prompt() {
    let (mut world, claude) = World::open_in_sandbox().await;
    claude.life.cancel();
    let prompt = world.prompt("hi").await;
    let mut next = world.claude().await;
    choose_mode(&mut world, "bypassPermissions").await;
    assert!(!next.options.allow_bypass);
    next.greet().await;
    let mut other = world.claude().await;
    assert!(other.options.allow_bypass);
    other.greet().await;
    let uuid = other.take_prompt().await;
    other.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn bypass_chosen_and_left_costs_no_process() {
    let (mut world, mut claude) = World::open_in_sandbox().await;
    for (mode, told) in [
        ("bypassPermissions", "default"),
        ("plan", "plan"),
        ("bypassPermissions", "default"),
        ("default", "default"),
    ] {
        let params = json!({"sessionId": world.session, "modeId": mode});
        let id = world.request("session/set_mode", params).await;
        let request = claude.lines.receive().await;
        assert_eq!(
            request["request"],
            json!({"subtype": "set_permission_mode", "mode": told})
        );
        claude.succeed(&request, json!({"mode": told})).await;
        let (answer, before) = world.answer(id).await;
        assert_eq!(answer["result"], json!({}));
        assert_eq!(before[0]["params"]["update"]["currentModeId"], mode);
    }
    world.prompt("hi").await;
    claude.take_prompt().await;
    assert!(world.no_claude_started());
}

#[tokio::test(start_paused = true)]
async fn bypass_in_a_turn_is_the_next_prompts_process_and_claudes_own_word_does_not_end_it() {
    let (mut world, mut claude) = World::open_in_sandbox().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    let params = json!({"sessionId": world.session, "modeId": "bypassPermissions"});
    let id = world.request("session/set_mode", params).await;
    let request = claude.lines.receive().await;
    claude.succeed(&request, json!({"mode": "default"})).await;
    assert_eq!(world.answer(id).await.0["result"], json!({}));
    claude
        .lines
        .send(json!({"type": "system", "subtype": "status", "status": null, "permissionMode": "default"}))
        .await;
    claude.result(&uuid, json!({})).await;
    let (_, before) = world.answer(prompt).await;
    assert!(before.is_empty(), "no other mode: {before:?}");
    let prompt = world.prompt("again").await;
    let mut next = world.claude().await;
    assert!(next.options.allow_bypass);
    next.greet().await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    world.answer(prompt).await;
    assert!(world.no_claude_started());
}
