//! How a query ends: by itself, by `close`, by `kill`, by being dropped.

use super::*;
use crate::messages::control::{ControlRequest, NoFields};
use crate::messages::{MessageUuid, OutgoingUserMessage};

fn result() -> Value {
    json!({"type": "result", "subtype": "error_during_execution", "is_error": true})
}

fn ask() -> Value {
    json!({"type": "control_request", "request_id": "a1",
        "request": {"subtype": "hook_callback", "callback_id": "c1", "input": {}}})
}

#[tokio::test(start_paused = true)]
async fn the_end_follows_everything_that_was_said_and_stays() {
    let (mut query, mut claude) = query();
    claude.exits(exited(3));
    claude.says(status(0)).await;
    // The last line has no end.
    claude.writes(status(1).to_string().as_bytes()).await;
    drop(claude.output);
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
    assert_eq!(next(&mut query).await, format!("message {}", status(1)));
    for _ in 0..2 {
        assert_eq!(next(&mut query).await, "ended with exit code `3`");
    }
}

#[tokio::test(start_paused = true)]
async fn half_a_line_before_the_end_costs_that_line() {
    let (mut query, mut claude) = query();
    claude.exits(exited(0));
    claude.writes(br#"{"type":"assist"#).await;
    drop(claude.output);
    assert_eq!(next(&mut query).await, "ended with exit code `0`");
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_learn_of_the_end() {
    let (mut query, claude) = query();
    let handle = query.handle();
    let waiting = handle.request(ControlRequest::GetContextUsage(Default::default()));
    claude.exits(exited(1));
    drop(claude.output);
    assert_eq!(next(&mut query).await, "ended with exit code `1`");
    insta::assert_snapshot!(within(waiting).await.unwrap_err(), @"claude ended before it answered `get_context_usage`; start a new query");
    let late = within(handle.request(ControlRequest::McpStatus(NoFields::default())))
        .await
        .unwrap_err();
    assert_eq!(late, ControlError::Send(SendError::Closed));
    insta::assert_snapshot!(late, @"claude's input is closed; start a new query");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_outlives_its_output_is_ended() {
    let (mut query, claude) = query();
    let before = Instant::now();
    drop(claude.output);
    assert!(next(&mut query).await.starts_with("ended with signal `15`"));
    assert_eq!(before.elapsed(), timings().exit_after_output);
    assert_eq!(*claude.log.lock().unwrap(), [LifeEvent::Killed(timings().grace)]);
}

#[tokio::test(start_paused = true)]
async fn output_that_outlives_its_process_is_read_for_a_bounded_time() {
    let (mut query, mut claude) = query();
    claude.says(status(0)).await;
    claude.exits(exited(0));
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
    let before = Instant::now();
    assert_eq!(next(&mut query).await, "ended with exit code `0`");
    assert_eq!(before.elapsed(), timings().drain);
    claude.output.write_all(b"nobody reads this").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn output_that_never_stops_after_its_process_is_cut_off() {
    let (mut query, claude) = query();
    claude.exits(exited(0));
    let mut output = claude.output;
    let endless = tokio::spawn(async move {
        let line = format!(
            "{}\n",
            json!({"type": "prompt_suggestion", "suggestion": "x".repeat(30_000)})
        );
        while output.write_all(line.as_bytes()).await.is_ok() {}
    });
    while next(&mut query).await != "ended with exit code `0`" {}
    endless.abort();
}

#[tokio::test(start_paused = true)]
async fn a_closed_input_is_not_the_end() {
    let (mut query, mut claude) = query();
    drop(claude.input);
    let prompt = OutgoingUserMessage::prompt(MessageUuid::from("u1"), "hello");
    assert_eq!(query.handle().send_user(&prompt), Ok(()));
    claude
        .output
        .write_all(format!("{}\n", status(0)).as_bytes())
        .await
        .unwrap();
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
    // By now the writer has found the input closed.
    assert!(timeout(Duration::from_millis(1), query.next()).await.is_err());
    assert_eq!(query.handle().send_user(&prompt), Err(SendError::Closed));
    claude.exit.send_replace(Some(exited(1)));
    drop(claude.output);
    assert_eq!(next(&mut query).await, "ended with exit code `1`");
}

#[tokio::test(start_paused = true)]
async fn closing_an_idle_claude_ends_its_input_and_waits() {
    let (query, mut claude) = query();
    let prompt = OutgoingUserMessage::prompt(MessageUuid::from("u1"), "hello");
    query.handle().send_user(&prompt).unwrap();
    let timings = timings();
    let (exit, ()) = tokio::join!(within(query.close(false, &timings)), async {
        assert_eq!(claude.hears().await["type"], "user");
        claude.hears_the_end().await;
        // More than its pipe holds: it can only end because it is read.
        claude.writes(&b"x".repeat(1024 * 1024)).await;
        claude.exits(exited(0));
        claude.output.shutdown().await.unwrap();
    });
    assert_eq!(exit, exited(0));
    assert_eq!(claude.life(), [LifeEvent::Dropped]);
}

#[tokio::test(start_paused = true)]
async fn closing_interrupts_a_running_turn_and_waits_for_its_result() {
    let (query, mut claude) = query();
    let timings = timings();
    let (exit, ()) = tokio::join!(within(query.close(true, &timings)), async {
        assert_eq!(claude.hears().await["request"]["subtype"], "interrupt");
        claude.says(ask()).await;
        assert_eq!(
            claude.hears().await["response"]["error"],
            "the session is being closed"
        );
        claude.answers("req_1", json!({"still_queued": []})).await;
        claude.says(result()).await;
        claude.hears_the_end().await;
        claude.exits(exited(1));
        claude.output.shutdown().await.unwrap();
    });
    assert_eq!(exit, exited(1));
    assert_eq!(claude.life(), [LifeEvent::Dropped]);
}

#[tokio::test(start_paused = true)]
async fn closing_a_claude_that_does_nothing_is_bounded() {
    let (query, claude) = query();
    let before = Instant::now();
    let exit = within(query.close(true, &timings())).await;
    assert_eq!(exit.status, ExitStatus::Signal(15));
    assert_eq!(
        before.elapsed(),
        timings().interrupted_result + timings().grace.eof
    );
    assert_eq!(
        claude.life(),
        [LifeEvent::Killed(timings().grace), LifeEvent::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn a_killed_query_is_at_its_end() {
    let (mut query, claude) = query();
    let exit = within(query.kill(&timings())).await;
    assert_eq!(exit.status, ExitStatus::Signal(15));
    assert_eq!(within(query.kill(&timings())).await, exit);
    assert_eq!(next(&mut query).await, format!("ended with {exit}"));
    drop(query);
    assert_eq!(
        claude.life(),
        [LifeEvent::Killed(timings().grace), LifeEvent::Dropped]
    );
}

#[tokio::test(start_paused = true)]
async fn dropping_a_query_ends_its_claude_whoever_holds_a_handle() {
    let (query, mut claude) = query();
    let handle = query.handle();
    drop(query);
    assert_eq!(claude.life(), [LifeEvent::Dropped]);
    claude.hears_the_end().await;
    let prompt = OutgoingUserMessage::prompt(MessageUuid::from("u1"), "hello");
    assert_eq!(handle.send_user(&prompt), Err(SendError::Closed));
}
