//! The hand-off of a plan: what the client and both processes see of it.

use serde_json::{Value, json};

use super::world::{FakeClaude, World};

const PLAN: &str = "# Plan\n1. do it";

/// A turn in which Claude asks to leave plan mode; the plan is only in the model's own message.
async fn plan_asked() -> (World, FakeClaude, u64, String, Value) {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("make a plan").await;
    let uuid = claude.take_prompt().await;
    let block = json!({"type": "tool_use", "id": "toolu_p", "name": "ExitPlanMode", "input": {"plan": PLAN}});
    let message = json!({"id": "m", "role": "assistant", "content": [block]});
    claude
        .lines
        .send(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
        .await;
    let request = json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "input": {}, "tool_use_id": "toolu_p"});
    claude
        .lines
        .send(json!({"type": "control_request", "request_id": "ask-1", "request": request}))
        .await;
    let get_plan = claude.lines.receive().await;
    assert_eq!(get_plan["request"]["subtype"], "get_plan");
    claude.succeed(&get_plan, json!({"exists": false})).await;
    let request = world.call("session/request_permission").await;
    assert_eq!(
        request["params"]["_meta"]["permission"]["title"],
        "Ready to code?"
    );
    assert_eq!(
        request["params"]["toolCall"]["content"][0]["content"]["text"],
        PLAN
    );
    (world, claude, prompt, uuid, request)
}

async fn choose(world: &mut World, request: &Value, option: &str) {
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": outcome}))
        .await;
}

fn aborted() -> Value {
    json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools", "errors": ["[ede_diagnostic] x"]})
}

#[tokio::test(start_paused = true)]
async fn what_was_said_while_the_plan_was_asked_about_goes_to_the_fresh_process() {
    let (mut world, mut claude, prompt, uuid, request) = plan_asked().await;
    for (said, heard) in [("go left", true), ("go right", false)] {
        let text = json!([{"type": "text", "text": said}]);
        let params = json!({"sessionId": world.session, "prompt": text});
        world.request("_session/steering", params).await;
        let message = claude.lines.receive().await;
        if heard {
            let started =
                json!({"type": "command_lifecycle", "command_uuid": message["uuid"], "state": "started"});
            claude.lines.send(started).await;
        }
    }
    choose(&mut world, &request, "exit-plan-clear-accept-edits").await;
    claude.reply().await;
    claude.result(&uuid, aborted()).await;
    let mut fresh = world.claude().await;
    fresh.greet().await;
    let message = fresh.lines.receive().await;
    let texts: Vec<&Value> = message["message"]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["text"])
        .collect();
    assert_eq!(
        texts,
        [
            &json!(format!("Implement the following plan:\n\n{PLAN}")),
            &json!("go right")
        ]
    );
    fresh.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_mode_chosen_while_the_fresh_process_starts_is_the_one_the_plan_is_carried_out_in() {
    let (mut world, mut claude, prompt, uuid, request) = plan_asked().await;
    choose(&mut world, &request, "exit-plan-clear-accept-edits").await;
    claude.reply().await;
    claude.result(&uuid, aborted()).await;
    let mut fresh = world.claude().await;
    let params = json!({"sessionId": world.session, "modeId": "plan"});
    let id = world.request("session/set_mode", params).await;
    assert_eq!(world.answer(id).await.0["result"], json!({}));
    fresh.greet().await;
    let request = fresh.lines.receive().await;
    assert_eq!(
        request["request"],
        json!({"subtype": "set_permission_mode", "mode": "plan"})
    );
    fresh.succeed(&request, json!({"mode": "plan"})).await;
    let uuid = fresh.take_prompt().await;
    fresh.result(&uuid, json!({})).await;
    let (_, before) = world.answer(prompt).await;
    let told = before.iter().map(Value::to_string).collect::<String>();
    assert!(!told.contains("current_mode_update"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_keeps_the_context_tells_the_mode_before_claude_hears_of_it() {
    let (mut world, mut claude, prompt, uuid, request) = plan_asked().await;
    choose(&mut world, &request, "exit-plan-accept-edits").await;
    let update = world.call("session/update").await;
    assert_eq!(update["params"]["update"]["currentModeId"], "acceptEdits");
    let (_, reply) = claude.reply().await;
    assert_eq!(reply["behavior"], "allow");
    assert_eq!(
        reply["updatedPermissions"],
        json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
    );
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}
