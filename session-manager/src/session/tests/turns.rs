//! Prompts: how each ends, and what becomes of the process.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::World;

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
    let mut world = World::without_session().await;
    for (params, text) in cases {
        let id = world.request("session/new", params.clone()).await;
        let (answer, _) = world.answer(id).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}");
        assert!(answer["error"].to_string().contains(text), "{answer}");
    }
    assert!(world.no_claude_started());
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

#[tokio::test(start_paused = true)]
async fn a_call_is_shown_while_its_input_is_written_and_then_whole() {
    let (mut world, mut claude) = World::open().await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    let event = |event: Value| json!({"type": "stream_event", "parent_tool_use_id": null, "api_message_id": "m", "event": event});
    let delta = |text: &str| {
        event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}),
        )
    };
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}});
    let begun = event(json!({"type": "content_block_start", "index": 0, "content_block": call}));
    claude.lines.send(begun).await;
    let update = world.call("session/update").await;
    assert_eq!(update["params"]["update"]["sessionUpdate"], "tool_call");
    claude.lines.send(delta("{\"command\": \"ls")).await;
    claude.lines.send(delta(" -l")).await;
    assert_eq!(world.client.receive_within(Duration::from_secs(1)).await, None);
    claude.lines.send(delta(" /t")).await;
    let update = world.call("session/update").await["params"]["update"].clone();
    assert_eq!(
        (&update["title"], &update["rawInput"]),
        (&json!("ls -l /t"), &Value::Null)
    );
    // The same once it is whole: only then there is an input.
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls -l /t"}});
    let message = json!({"id": "m", "role": "assistant", "content": [call]});
    claude
        .lines
        .send(json!({"type": "assistant", "parent_tool_use_id": null, "message": message}))
        .await;
    let update = world.call("session/update").await["params"]["update"].clone();
    assert_eq!(update["rawInput"], json!({"command": "ls -l /t"}));
}
