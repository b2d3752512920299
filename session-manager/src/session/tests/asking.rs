//! Permission questions: exactly one reply to each, and an allow only for a selected allow option.

use serde_json::{Value, json};

use super::world::{FakeClaude, World};

/// A turn in which Claude has asked; the request as the client got it.
async fn asked() -> (World, FakeClaude, u64, String, Value) {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.ask("ask-1", "toolu_1").await;
    let announced = world.client.receive().await;
    assert_eq!(announced["params"]["update"]["sessionUpdate"], "tool_call");
    assert_eq!(announced["params"]["update"]["toolCallId"], "toolu_1");
    let request = world.client.receive().await;
    assert_eq!(request["method"], "session/request_permission");
    (world, claude, prompt, uuid, request)
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[tokio::test(start_paused = true)]
async fn each_answer_has_its_reply_to_claude() {
    let aborted = json!("Tool use aborted");
    let cases = [
        (
            json!({"result": selected("allow-once")}),
            json!({"behavior": "allow", "toolUseID": "toolu_1"}),
        ),
        (
            json!({"result": selected("reject")}),
            json!({"behavior": "deny", "decisionClassification": "user_reject"}),
        ),
        (
            json!({"result": selected("exit-plan-auto")}),
            json!("Permission option was not offered: exit-plan-auto"),
        ),
        (
            json!({"result": selected("allow-with-updates")}),
            json!("Permission option was not offered: allow-with-updates"),
        ),
        (
            json!({"result": {"outcome": {"outcome": "cancelled"}}}),
            aborted.clone(),
        ),
        (json!({"result": {"outcome": null}}), aborted.clone()),
        (json!({"result": null}), aborted.clone()),
        (json!({"result": "yes"}), aborted),
        (
            json!({"error": {"code": -32601, "message": "no such method"}}),
            json!("Nobody was asked, because the client could not show the question: no such method"),
        ),
    ];
    for (answer, expected) in cases {
        let (mut world, mut claude, prompt, uuid, request) = asked().await;
        let mut response = answer.clone();
        response["jsonrpc"] = json!("2.0");
        response["id"] = request["id"].clone();
        world.client.send(response.clone()).await;
        // A second answer changes nothing.
        world.client.send(response).await;
        let (id, reply) = claude.reply().await;
        assert_eq!(id, "ask-1");
        match expected.as_object() {
            None => assert_eq!(reply, expected, "{answer}"),
            Some(fields) => {
                for (key, value) in fields {
                    assert_eq!(&reply[key], value, "{answer}: {reply}");
                }
            }
        }
        claude.result(&uuid, json!({})).await;
        assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn cancel_while_asking_denies_the_question_and_ends_the_turn_without_the_client() {
    let (mut world, mut claude, prompt, uuid, request) = asked().await;
    world.cancel().await;
    let interrupt = claude.lines.receive().await;
    assert_eq!(interrupt["request"]["subtype"], "interrupt");
    assert_eq!(
        claude.reply().await,
        ("ask-1".to_owned(), json!("Tool use aborted"))
    );
    let cancel = world.call("$/cancel_request").await;
    assert_eq!(cancel["params"]["requestId"], request["id"]);
    // What Claude asks while it is being stopped is denied without the client.
    claude.ask("ask-2", "toolu_2").await;
    assert_eq!(
        claude.reply().await,
        ("ask-2".to_owned(), json!("Tool use aborted"))
    );
    claude.result(&uuid, json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools"})).await;
    let (answer, before) = world.answer(prompt).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let settled: Vec<_> = before
        .iter()
        .map(|update| update["params"]["update"]["status"].clone())
        .collect();
    assert_eq!(settled, ["failed"], "the open tool call is settled: {before:?}");
    // An answer that comes too late reaches nobody, and the session goes on.
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": selected("allow-once")}))
        .await;
    let prompt = world.prompt("again").await;
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_claude_withdraws_gets_no_reply() {
    let (mut world, mut claude, prompt, uuid, request) = asked().await;
    claude
        .lines
        .send(json!({"type": "control_cancel_request", "request_id": "ask-1"}))
        .await;
    let cancel = world.call("$/cancel_request").await;
    assert_eq!(cancel["params"]["requestId"], request["id"]);
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": selected("allow-once")}))
        .await;
    claude.ask("ask-2", "toolu_2").await;
    let second = world.call("session/request_permission").await;
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": second["id"], "result": selected("reject")}))
        .await;
    let (id, reply) = claude.reply().await;
    assert_eq!((id.as_str(), &reply["behavior"]), ("ask-2", &json!("deny")));
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn two_questions_at_once_are_answered_in_any_order() {
    let (mut world, mut claude, prompt, uuid, first) = asked().await;
    claude.ask("ask-2", "toolu_2").await;
    let second = world.call("session/request_permission").await;
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": second["id"], "result": selected("allow-once")}))
        .await;
    assert_eq!(claude.reply().await.0, "ask-2");
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": first["id"], "result": selected("reject")}))
        .await;
    assert_eq!(claude.reply().await.0, "ask-1");
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn other_requests_of_claudes_are_answered_too() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    let requests = [
        (
            json!({"subtype": "elicitation", "mcp_server_name": "s", "message": "m"}),
            json!({"action": "cancel"}),
        ),
        (
            json!({"subtype": "mcp_message", "server_name": "s", "message": {}}),
            json!("this host does not support the request"),
        ),
        (
            json!({"subtype": "news"}),
            json!("this host does not support the request"),
        ),
    ];
    for (n, (request, expected)) in requests.into_iter().enumerate() {
        let id = format!("r{n}");
        claude
            .lines
            .send(json!({"type": "control_request", "request_id": id, "request": request}))
            .await;
        assert_eq!(claude.reply().await, (id, expected));
    }
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn background_work_is_answered_after_its_turn_and_answers_no_prompt() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    let task = json!({"type": "system", "subtype": "task_started", "task_id": "task-1", "tool_use_id": "toolu_agent",
        "description": "d", "task_type": "local_agent", "is_backgrounded": true});
    claude.lines.send(task).await;
    claude.result(&uuid, json!({})).await;
    world.answer(prompt).await;

    // The agent asks although no turn runs; a cancel of nothing does not answer for the client.
    world.cancel().await;
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_2", "agent_id": "task-1"});
    claude
        .lines
        .send(json!({"type": "control_request", "request_id": "ask-1", "request": request}))
        .await;
    let request = world.call("session/request_permission").await;
    assert_eq!(
        request["params"]["toolCall"]["_meta"]["claudeCode"]["parentToolUseId"],
        "toolu_agent"
    );
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": selected("allow-once")}))
        .await;
    let (id, reply) = claude.reply().await;
    assert_eq!((id.as_str(), &reply["behavior"]), ("ask-1", &json!("allow")));

    // Its follow-up turn ends while a prompt runs, which is not answered by it.
    let prompt = world.prompt("next").await;
    let uuid = claude.take_prompt().await;
    let background = json!({"type": "result", "subtype": "success", "is_error": false, "result": "x", "origin": {"kind": "task-notification"}});
    claude.lines.send(background).await;
    claude.text("mine").await;
    claude.result(&uuid, json!({})).await;
    let (answer, before) = world.answer(prompt).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(
        before
            .iter()
            .any(|update| update["params"]["update"]["content"]["text"] == "mine")
    );
}

#[tokio::test(start_paused = true)]
async fn a_close_stops_the_turn_before_it_denies_the_question() {
    let (mut world, mut claude, prompt, _, _) = asked().await;
    let close = world
        .request("session/close", json!({"sessionId": world.session}))
        .await;
    assert_eq!(claude.lines.receive().await["request"]["subtype"], "interrupt");
    assert_eq!(
        claude.reply().await,
        ("ask-1".to_owned(), json!("Tool use aborted"))
    );
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "cancelled");
    assert_eq!(world.answer(close).await.0["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn what_was_granted_for_the_session_is_granted_to_its_next_process() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    let suggestion = json!({"type": "addRules", "rules": [{"toolName": "Read", "ruleContent": "//etc/**"}], "behavior": "allow", "destination": "session"});
    let request = json!({"subtype": "can_use_tool", "tool_name": "Read", "input": {"file_path": "/etc/hosts"},
        "tool_use_id": "toolu_1", "permission_suggestions": [suggestion], "blocked_path": "/etc/hosts"});
    claude
        .lines
        .send(json!({"type": "control_request", "request_id": "ask-1", "request": request}))
        .await;
    let request = world.call("session/request_permission").await;
    let option = &request["params"]["options"][1]["optionId"];
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": selected(option.as_str().unwrap())}))
        .await;
    assert_eq!(claude.reply().await.1["updatedPermissions"], json!([suggestion]));
    claude.result(&uuid, json!({})).await;
    world.answer(prompt).await;
    claude.life.cancel();
    let prompt = world.prompt("again").await;
    let mut next = world.claude().await;
    assert_eq!(next.options.allowed_tools, ["Read(//etc/**)"]);
    next.greet().await;
    let uuid = next.take_prompt().await;
    next.result(&uuid, json!({})).await;
    world.answer(prompt).await;
}
