//! Which account a session runs on, and what its user hears who has none.

use serde_json::{Value, json};

use super::world::World;

const SIGNED_OUT: &str = "Please run /login";

fn signed_out() -> Value {
    json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": 401, "result": SIGNED_OUT})
}

#[tokio::test(start_paused = true)]
async fn without_a_login_on_offer_the_error_says_how_to_log_in() {
    for (capabilities, expected) in [
        (
            json!({}),
            "Authentication required: run `agent --cli auth login` in a terminal, then send the prompt again",
        ),
        (json!({"auth": {"terminal": true}}), "Authentication required"),
    ] {
        let mut world = World::without_session().await;
        let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let id = world.request("initialize", hello).await;
        world.answer(id).await;
        let (mut world, mut claude) = world.with_session().await;
        let prompt = world.prompt("hi").await;
        let uuid = claude.take_prompt().await;
        claude.result(&uuid, signed_out()).await;
        let (answer, _) = world.answer(prompt).await;
        assert_eq!(answer["error"]["code"], -32000);
        assert_eq!(answer["error"]["message"], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hides_subscriptions_opens_no_session_on_one() {
    let mut world = World::without_subscriptions().await;
    let cwd = std::env::temp_dir();
    let opening = world
        .request("session/new", json!({"cwd": cwd, "mcpServers": []}))
        .await;
    let mut claude = world.claude().await;
    claude.greet_on(json!({"subscriptionType": "max"})).await;
    let (answer, _) = world.answer(opening).await;
    assert_eq!(answer["error"]["code"], -32000);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.ends_with("`agent --cli auth login --console`"),
        "{message}"
    );
    claude.life.cancelled().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hides_subscriptions_runs_no_turn_on_one() {
    let (mut world, mut claude) = World::without_subscriptions().await.with_session().await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, signed_out()).await;
    world.answer(prompt).await;
    for (account, welcome) in [
        (json!({"subscriptionType": "pro"}), false),
        (json!({"apiKeySource": "ANTHROPIC_API_KEY"}), true),
    ] {
        let prompt = world.prompt("again").await;
        let mut claude = world.claude().await;
        claude.greet_on(account).await;
        if welcome {
            claude.tell_settings().await;
            let uuid = claude.take_prompt().await;
            claude.result(&uuid, json!({})).await;
        }
        let (answer, _) = world.answer(prompt).await;
        assert_eq!(answer["error"]["code"] == -32000, !welcome, "{answer}");
    }
}
