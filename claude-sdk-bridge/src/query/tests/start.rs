//! From a backend to a query that is ready, and every way in which it does not come to that.

use super::*;

async fn start(
    running: Running,
) -> Result<(Query, crate::messages::control::InitializeResponse), StartError> {
    let backend = Played(Mutex::new(Some(running)));
    within(Query::start(
        &backend,
        &options(),
        InitializeRequest::default(),
        &timings(),
    ))
    .await
}

/// Starts a Claude that does what `play` says, and returns why there is no query.
async fn failure(play: impl AsyncFnOnce(&mut Claude)) -> (StartError, Claude) {
    let (running, mut claude) = played(64 * 1024);
    let (started, ()) = tokio::join!(start(running), async {
        let greeting = claude.hears().await;
        assert_eq!(greeting["request"]["subtype"], "initialize");
        play(&mut claude).await;
    });
    (started.unwrap_err(), claude)
}

fn refusing_result() -> Value {
    json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "errors": ["No conversation found with session ID: 1"]})
}

#[tokio::test(start_paused = true)]
async fn events_before_the_answer_are_kept_in_order() {
    let (running, mut claude) = played(64 * 1024);
    let (started, ()) = tokio::join!(start(running), async {
        let greeting = claude.hears().await;
        let expected =
            json!({"type": "control_request", "request_id": "req_1", "request": {"subtype": "initialize"}});
        assert_eq!(greeting, expected);
        for number in 0..3 {
            claude.says(status(number)).await;
        }
        claude
            .answers("req_1", json!({"claude_code_version": "2.1.318"}))
            .await;
        claude.says(status(3)).await;
    });
    let (mut query, response) = started.unwrap();
    assert_eq!(response.claude_code_version.as_str(), Some("2.1.318"));
    for number in 0..4 {
        assert_eq!(next(&mut query).await, format!("message {}", status(number)));
    }
    assert!(claude.life().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_bare_acknowledgement_is_an_answer() {
    let (running, mut claude) = played(64 * 1024);
    let (started, ()) = tokio::join!(start(running), async {
        claude.hears().await;
        claude.says(json!({"type": "control_response", "response": {"subtype": "success", "request_id": "req_1"}})).await;
    });
    assert_eq!(
        started.unwrap().1,
        crate::messages::control::InitializeResponse::default()
    );
}

#[tokio::test(start_paused = true)]
async fn an_end_before_the_answer_carries_the_status_and_the_last_words() {
    let (error, claude) = failure(async |claude| {
        claude.exits(Exit {
            status: ExitStatus::Code(1),
            stderr_tail: "cannot be used as root\n".to_owned(),
        });
        claude.output.shutdown().await.unwrap();
    })
    .await;
    insta::assert_snapshot!(error, @"claude ended before it was ready, with exit code `1`; its last words were `cannot be used as root`");
    assert_eq!(claude.life(), [LifeEvent::Dropped]);
}

#[tokio::test(start_paused = true)]
async fn an_error_result_before_the_answer_is_a_refusal_in_claudes_words() {
    let (error, _) = failure(async |claude| {
        claude.says(refusing_result()).await;
        claude.exits(exited(1));
        claude.output.shutdown().await.unwrap();
    })
    .await;
    insta::assert_snapshot!(error, @"claude refused to start: No conversation found with session ID: 1");
    assert!(matches!(error, StartError::Refused { exit, .. } if exit == exited(1)));
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_refuses_and_stays_is_ended() {
    let (error, claude) = failure(async |claude| claude.says(refusing_result()).await).await;
    assert!(matches!(error, StartError::Refused { .. }), "{error:?}");
    assert_eq!(
        claude.life(),
        [LifeEvent::Killed(timings().grace), LifeEvent::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_result_that_is_followed_by_the_answer_is_an_event() {
    let (running, mut claude) = played(64 * 1024);
    let (started, ()) = tokio::join!(start(running), async {
        claude.hears().await;
        claude.says(refusing_result()).await;
        claude.answers("req_1", json!({})).await;
    });
    let (mut query, _) = started.unwrap();
    assert!(next(&mut query).await.contains("No conversation found"));
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_never_answers_is_ended_after_the_limit() {
    let before = Instant::now();
    let (error, claude) = failure(async |_| {}).await;
    assert!(before.elapsed() >= timings().initialize);
    insta::assert_snapshot!(error, @"claude did not answer `initialize` within 60s; try again, or cancel the turn if it hangs; its last words were `killed`");
    assert_eq!(
        claude.life(),
        [LifeEvent::Killed(timings().grace), LifeEvent::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_does_not_accept_the_greeting_is_ended() {
    let (error, claude) = failure(async |claude| {
        let response = json!({"subtype": "error", "request_id": "req_1", "error": "hooks: not an object"});
        claude
            .says(json!({"type": "control_response", "response": response}))
            .await;
    })
    .await;
    insta::assert_snapshot!(error, @"claude refused `initialize`: hooks: not an object; its last words were `killed`");
    assert_eq!(
        claude.life(),
        [LifeEvent::Killed(timings().grace), LifeEvent::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_floods_is_ended() {
    let (error, claude) = failure(async |claude| {
        let many: String = (0..5000).map(|number| format!("{}\n", status(number))).collect();
        // It may be ended before it has said all.
        let _ = claude.output.write_all(many.as_bytes()).await;
    })
    .await;
    assert!(matches!(error, StartError::Flooded { .. }), "{error:?}");
    assert_eq!(
        claude.life(),
        [LifeEvent::Killed(timings().grace), LifeEvent::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_given_up_ends_claude() {
    let (running, claude) = played(64 * 1024);
    let backend = Played(Mutex::new(Some(running)));
    let options = options();
    let timings = timings();
    let mut started = Box::pin(Query::start(
        &backend,
        &options,
        InitializeRequest::default(),
        &timings,
    ));
    assert!(futures::poll!(&mut started).is_pending());
    drop(started);
    assert_eq!(claude.life(), [LifeEvent::Dropped]);
}
