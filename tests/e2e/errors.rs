//! Errors of the model's API: shown once, with their kind, and the session goes on. Where there is none, stderr is silent.

use e2e_tests::harness::{Turn, World, allow_once, no_questions};
use e2e_tests::model::{Step, fail, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::policy_support::greet_under;
use crate::support::{assert_error, greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_healthy_session_writes_nothing_to_stderr,
        a_rejected_key_asks_for_a_login,
        a_forbidden_request_asks_for_a_login,
        a_rate_limit_is_named,
        a_server_error_is_named,
        an_overload_is_named,
        a_bad_request_is_named,
        a_long_wait_for_the_api_is_told_and_the_answer_follows,
        an_unknown_model_is_named,
        without_credentials_a_login_is_asked_for_and_the_next_prompt_works,
    ]
}

fn a_healthy_session_writes_nothing_to_stderr(world: &mut World) {
    let hook = json!({"matcher": "Read", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]});
    let policy = json!({"hooks": {"PreToolUse": [hook]}});
    let (mut agent, mut client) = greet_under(world, &policy, &[]);
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    let session = client.new_session(&world.cwd());
    let calls = [
        ("Bash", json!({"command": "touch a"})),
        ("Read", json!({"file_path": world.cwd()})),
    ];
    for (number, (name, input)) in calls.into_iter().enumerate() {
        let call = tool(&format!("toolu_{number}"), name, input);
        world.model().script([call, text("done")]);
        client.prompt(&session, "go", allow_once).ignore_rest();
    }
    client.close();
    assert!(agent.wait_end().success());
    assert_eq!(agent.all_stderr(), "");
}

fn a_rejected_key_asks_for_a_login(world: &mut World) {
    login_is_asked_for(world, 401, "authentication_error");
}

fn a_forbidden_request_asks_for_a_login(world: &mut World) {
    login_is_asked_for(world, 403, "permission_error");
}

fn login_is_asked_for(world: &mut World, status: u16, kind: &str) {
    world.model().begin_outage(fail(status, kind, "no entry"));
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "hi", no_questions);
    assert_error(turn.error(), -32000, "Authentication required");
    turn.ignore("agent_message_chunk");
    world.model().end_outage();
    world.model().script([text("welcome back")]);
    assert_eq!(
        client.prompt(&session, "again", no_questions).text(),
        "welcome back"
    );
}

fn a_rate_limit_is_named(world: &mut World) {
    let step = fail(429, "rate_limit_error", "Slow down please");
    api_error(world, step, "rate_limit", "429");
}

fn a_server_error_is_named(world: &mut World) {
    api_error(
        world,
        fail(500, "api_error", "Something broke"),
        "server_error",
        "500",
    );
}

fn an_overload_is_named(world: &mut World) {
    api_error(
        world,
        fail(529, "overloaded_error", "Overloaded"),
        "server_error",
        "529",
    );
}

fn a_bad_request_is_named(world: &mut World) {
    let step = fail(
        400,
        "invalid_request_error",
        "prompt is too long: 300000 tokens > 200000 maximum",
    );
    api_error(world, step, "invalid_request", "too long");
}

fn an_unknown_model_is_named(world: &mut World) {
    api_error(
        world,
        fail(404, "not_found_error", "model: nonsense"),
        "model_not_found",
        "model",
    );
}

fn api_error(world: &mut World, failure: Step, kind: &str, words: &str) {
    world.model().begin_outage(failure);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "hi", no_questions);
    assert_error(turn.error(), -32603, "");
    assert_eq!(turn.error()["data"]["errorKind"], kind, "{}", turn.error());
    shown_once(&mut turn, words);
    world.model().end_outage();
    world.model().script([text("fine again")]);
    let mut turn = client.prompt(&session, "again", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert!(turn.text().contains("fine again"));
}

/// The error's text stands either in the transcript or in the error, not in both.
fn shown_once(turn: &mut Turn, words: &str) {
    let in_error = turn.error()["message"]
        .as_str()
        .is_some_and(|message| message.contains(words));
    let transcript = turn.text();
    let in_transcript = transcript.contains(words);
    assert!(
        in_error != in_transcript,
        "`{words}` once: {transcript:?}, {}",
        turn.error()
    );
}

fn without_credentials_a_login_is_asked_for_and_the_next_prompt_works(world: &mut World) {
    world.remove_env("ANTHROPIC_API_KEY");
    world.model().script([text("logged in")]);
    let (_agent, mut client) = greet(world);
    let session = client.new_session(&world.cwd());
    let mut turn = client.prompt(&session, "hi", no_questions);
    assert_error(turn.error(), -32000, "Authentication required");
    turn.ignore("agent_message_chunk");
    log_in(world);
    assert_eq!(client.prompt(&session, "again", no_questions).text(), "logged in");
    assert_eq!(
        world.model().wait_request(0).credential.as_deref(),
        Some("Bearer token-after-login")
    );
}

/// What a login in a terminal leaves behind.
fn log_in(world: &World) {
    let login = json!({"claudeAiOauth": {
        "accessToken": "token-after-login", "refreshToken": "unused", "expiresAt": 4_102_444_800_000_u64,
        "scopes": ["user:inference"], "subscriptionType": "max",
    }});
    std::fs::write(world.home().join(".claude/.credentials.json"), login.to_string()).unwrap();
}

fn a_long_wait_for_the_api_is_told_and_the_answer_follows(world: &mut World) {
    world.set_env("CLAUDE_CODE_MAX_RETRIES", "5");
    let broken = || fail(500, "api_error", "Broken");
    world
        .model()
        .script([broken(), broken(), broken(), text("here").into()]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    let said = turn.text();
    let told = "**Warning:** The API failed (server_error, 500). Try 3 of 5 follows in 2 s.\n\nhere";
    assert_eq!((said.as_str(), turn.stop_reason()), (told, "end_turn"));
}
