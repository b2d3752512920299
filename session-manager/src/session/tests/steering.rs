//! `_session/steering`: what is said into a running turn.

use serde_json::json;

use super::world::World;

#[tokio::test(start_paused = true)]
async fn steering_goes_into_the_running_turn_which_is_answered_once_at_its_end() {
    let (mut world, mut claude) = World::open().await;
    let prompt = world.prompt("hi").await;
    let first = claude.take_prompt().await;
    claude.text("working").await;
    world.call("session/update").await;
    let text = json!([{"type": "text", "text": "go left"}]);
    let steer = world
        .request(
            "_session/steering",
            json!({"sessionId": world.session, "prompt": text}),
        )
        .await;
    assert_eq!(
        world.answer(steer).await.0["result"],
        json!({"outcome": "injected"})
    );
    let message = claude.lines.receive().await;
    assert_eq!(message["priority"], "now");
    assert_eq!(message["message"]["content"][0]["text"], "go left");
    let second = message["uuid"].as_str().unwrap().to_owned();
    claude
        .result(&first, json!({"terminal_reason": "aborted_streaming"}))
        .await;
    claude.text("steered").await;
    claude.result(&second, json!({})).await;
    let (answer, before) = world.answer(prompt).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(
        before
            .iter()
            .any(|update| update["params"]["update"]["content"]["text"] == "steered")
    );
}

#[tokio::test(start_paused = true)]
async fn steering_while_the_client_is_asked_does_not_cut_the_turn_short() {
    let (mut world, mut claude) = World::open().await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    claude.ask("ask-1", "toolu_1").await;
    world.call("session/request_permission").await;
    let params = json!({"sessionId": world.session, "prompt": [{"type": "text", "text": "also"}]});
    world.request("_session/steering", params).await;
    assert_eq!(claude.lines.receive().await["priority"], "later");
}

#[tokio::test(start_paused = true)]
async fn steering_an_idle_session_starts_a_turn_unless_the_client_wants_to() {
    let (mut world, mut claude) = World::open().await;
    let mut params = json!({"sessionId": world.session, "prompt": [{"type": "text", "text": "x"}]});
    let steer = world.request("_session/steering", params.clone()).await;
    assert_eq!(
        world.answer(steer).await.0["result"],
        json!({"outcome": "startedNewTurn"})
    );
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, json!({})).await;
    params["_meta"] = json!({"steering": {"idleBehavior": "promptRequired"}});
    // The result above is taken before the request is: both go through the one actor in order of arrival, so a prompt
    // that is answered proves that the turn is over.
    let prompt = world.prompt("next").await;
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, json!({})).await;
    world.answer(prompt).await;
    let steer = world.request("_session/steering", params).await;
    let expected = json!({"outcome": "promptRequired", "reason": "noRunningTurn"});
    assert_eq!(world.answer(steer).await.0["result"], expected);
}
