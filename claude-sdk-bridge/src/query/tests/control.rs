//! Control requests in both directions, and what is read around them.

use super::*;
use crate::messages::control::{ControlRequest, GetContextUsage, SetPermissionMode};
use crate::messages::{ControlId, MessageUuid, OutgoingUserMessage};

fn set_mode(mode: &str) -> ControlRequest {
    ControlRequest::SetPermissionMode(SetPermissionMode::to(mode))
}

fn asks(id: &str) -> Value {
    json!({"type": "control_request", "request_id": id,
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t1"}})
}

fn withdraws(id: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": id})
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_requests_in_any_order_between_other_messages() {
    let (mut query, mut claude) = query();
    let (first, second) = (
        query.handle().request(set_mode("plan")),
        query.handle().request(set_mode("auto")),
    );
    assert_eq!(
        claude.hears().await["request"],
        json!({"subtype": "set_permission_mode", "mode": "plan"})
    );
    assert_eq!(claude.hears().await["request_id"], "req_2");
    claude.says(status(0)).await;
    claude.answers("req_2", json!({"mode": "auto"})).await;
    claude.answers("req_7", json!({"mode": "nobody asked"})).await;
    claude.says(status(1)).await;
    claude.answers("req_1", json!({"mode": "plan"})).await;
    claude.says(status(2)).await;
    for number in 0..3 {
        assert_eq!(next(&mut query).await, format!("message {}", status(number)));
    }
    assert_eq!(within(first).await, Ok(json!({"mode": "plan"})));
    assert_eq!(within(second).await, Ok(json!({"mode": "auto"})));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_claudes_text_and_code() {
    let (mut query, mut claude) = query();
    let call = query.handle().request(set_mode("bypassPermissions"));
    let refusal = json!({"subtype": "error", "request_id": "req_1", "error": "not launched", "error_code": "bypass_not_launched"});
    claude
        .says(json!({"type": "control_response", "response": refusal}))
        .await;
    claude.says(status(0)).await;
    next(&mut query).await;
    let error = within(call).await.unwrap_err();
    insta::assert_snapshot!(error, @"claude refused `set_permission_mode`: not launched");
    assert!(
        matches!(error, ControlError::Refused { failure, .. } if failure.code.as_deref() == Some("bypass_not_launched"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_times_out_and_is_withdrawn() {
    let (mut query, mut claude) = query();
    let before = Instant::now();
    let call = query.handle().request(set_mode("plan"));
    claude.hears().await;
    let error = within(call).await.unwrap_err();
    assert_eq!(before.elapsed(), timings().control);
    insta::assert_snapshot!(error, @"claude did not answer `set_permission_mode` within 30s; try again, or cancel the turn if it hangs");
    assert_eq!(claude.hears().await, withdraws("req_1"));
    // The late answer belongs to nobody.
    claude.answers("req_1", json!({"mode": "plan"})).await;
    claude.says(status(0)).await;
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_counts_tokens_takes_as_long_as_it_takes() {
    let (mut query, mut claude) = query();
    let call = query
        .handle()
        .request(ControlRequest::GetContextUsage(GetContextUsage::default()));
    tokio::pin!(call);
    assert!(timeout(Duration::from_secs(24 * 3600), &mut call).await.is_err());
    claude.answers("req_1", json!({"response": "42"})).await;
    claude.says(status(0)).await;
    next(&mut query).await;
    assert_eq!(within(call).await, Ok(json!({"response": "42"})));
}

#[tokio::test(start_paused = true)]
async fn a_request_nobody_waits_for_any_more_is_withdrawn() {
    let (query, mut claude) = query();
    drop(query.handle().request(set_mode("plan")));
    assert_eq!(claude.hears().await["request_id"], "req_1");
    assert_eq!(claude.hears().await, withdraws("req_1"));
    drop(query);
    claude.hears_the_end().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_answered_is_not_withdrawn() {
    let (mut query, mut claude) = query();
    let call = query.handle().request(set_mode("plan"));
    assert_eq!(claude.hears().await["request_id"], "req_1");
    claude.answers("req_1", json!({})).await;
    claude.says(status(0)).await;
    next(&mut query).await;
    drop(call);
    query
        .handle()
        .send_user(&OutgoingUserMessage::prompt(MessageUuid::from("u1"), "hello"))
        .unwrap();
    assert_eq!(claude.hears().await["type"], "user");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_one_line() {
    let (query, mut claude) = query();
    query
        .handle()
        .send_user(&OutgoingUserMessage::prompt(
            MessageUuid::from("u1"),
            "one\ntwo\u{2028}",
        ))
        .unwrap();
    let heard = claude.hears().await;
    assert_eq!(heard["type"], "user");
    assert_eq!(heard["uuid"], "u1");
    assert_eq!(
        heard["message"],
        json!({"role": "user", "content": "one\ntwo\u{2028}"})
    );
}

#[tokio::test(start_paused = true)]
async fn what_claude_asks_is_answered_exactly_once() {
    let (mut query, mut claude) = query();
    let (handle, id) = (query.handle(), ControlId::from("a1"));
    assert_eq!(
        handle.answer(&id, Ok(json!({}))),
        Err(SendError::NotWaiting { id: "a1".to_owned() })
    );
    claude.says(asks("a1")).await;
    claude.says(asks("a1")).await;
    claude.says(asks("a2")).await;
    assert_eq!(next(&mut query).await, "asks a1 can_use_tool");
    assert_eq!(next(&mut query).await, "asks a2 can_use_tool");
    assert_eq!(handle.answer(&id, Ok(json!({"behavior": "allow"}))), Ok(()));
    assert_eq!(claude.hears().await, success("a1", json!({"behavior": "allow"})));
    assert_eq!(
        handle.answer(&id, Ok(json!({}))),
        Err(SendError::NotWaiting { id: "a1".to_owned() })
    );
    assert_eq!(
        handle.answer(&ControlId::from("a2"), Err("no".to_owned())),
        Ok(())
    );
    let refusal = json!({"subtype": "error", "request_id": "a2", "error": "no"});
    assert_eq!(
        claude.hears().await,
        json!({"type": "control_response", "response": refusal})
    );
}

#[tokio::test(start_paused = true)]
async fn what_claude_withdraws_is_not_answered() {
    let (mut query, mut claude) = query();
    claude.says(withdraws("nothing")).await;
    claude.says(asks("a1")).await;
    claude.says(withdraws("a1")).await;
    claude.says(withdraws("a1")).await;
    claude.says(status(0)).await;
    assert_eq!(next(&mut query).await, "asks a1 can_use_tool");
    assert_eq!(next(&mut query).await, "withdraws a1");
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
    let late = query.handle().answer(&ControlId::from("a1"), Ok(json!({})));
    assert_eq!(late, Err(SendError::NotWaiting { id: "a1".to_owned() }));
    drop(query);
    claude.hears_the_end().await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_request_of_claudes_waits_for_its_answer_too() {
    let (mut query, mut claude) = query();
    claude
        .says(json!({"type": "control_request", "request_id": "a1", "request": {"subtype": "dance"}}))
        .await;
    assert_eq!(next(&mut query).await, "asks a1 dance");
    query
        .handle()
        .answer(&ControlId::from("a1"), Err("cannot dance".to_owned()))
        .unwrap();
    assert_eq!(claude.hears().await["response"]["error"], "cannot dance");
}

#[tokio::test(start_paused = true)]
async fn a_bad_line_costs_that_line() {
    let (mut query, mut claude) = query();
    claude
        .writes(b"Debugger listening on ws://\n\n\xff\xfe\n{\"type\":\n")
        .await;
    claude.says(status(0)).await;
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_loses_nothing() {
    let (mut query, mut claude) = query();
    let line = format!("{}\n{}\n", status(0), status(1));
    for byte in line.as_bytes().chunks(1) {
        claude.writes(byte).await;
        // Polls once; on the last byte of a line the event is there.
        if let std::task::Poll::Ready(event) = futures::poll!(Box::pin(query.next())) {
            assert_eq!(shown(&event), format!("message {}", status(0)));
            break;
        }
    }
    let rest = &line.as_bytes()[status(0).to_string().len() + 1..];
    claude.writes(rest).await;
    assert_eq!(next(&mut query).await, format!("message {}", status(1)));
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_slows_claude() {
    let (running, mut claude) = played(1024);
    let mut query = Query::over(running, &timings());
    let line = format!("{}\n", status(0));
    let written = async { while claude.output.write_all(line.as_bytes()).await.is_ok() {} };
    assert!(timeout(Duration::from_secs(1), written).await.is_err());
    assert_eq!(next(&mut query).await, format!("message {}", status(0)));
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_does_not_read_fills_the_queue_and_no_more() {
    let (running, mut claude) = played(16);
    let query = Query::over(running, &timings());
    let prompt = OutgoingUserMessage::prompt(MessageUuid::from("u1"), "hello");
    let sent = (0..)
        .find(|_| query.handle().send_user(&prompt).is_err())
        .unwrap();
    assert_eq!(query.handle().send_user(&prompt), Err(SendError::Full));
    let error = within(query.handle().request(set_mode("plan")))
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"claude does not read its input and the queue is full; cancel the turn or close the session");
    for _ in 0..sent {
        claude.hears().await;
    }
    assert_eq!(query.handle().send_user(&prompt), Ok(()));
    assert_eq!(claude.hears().await["type"], "user");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_found_the_queue_full_can_be_tried_again() {
    let (running, mut claude) = played(200);
    let mut query = Query::over(running, &timings());
    let (handle, id) = (query.handle(), ControlId::from("a1"));
    claude.says(asks("a1")).await;
    assert_eq!(next(&mut query).await, "asks a1 can_use_tool");
    let prompt = OutgoingUserMessage::prompt(MessageUuid::from("u1"), "hello");
    while handle.send_user(&prompt).is_ok() {}
    assert_eq!(handle.answer(&id, Ok(json!({}))), Err(SendError::Full));
    claude.hears().await;
    assert_eq!(handle.answer(&id, Ok(json!({}))), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn deltas_keep_their_place_among_the_other_messages() {
    let (mut query, mut claude) = query();
    let delta = |number: usize| {
        json!({"type": "stream_event", "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
            "event": {"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": format!("piece {number}\n")}}})
    };
    for number in 0..100 {
        claude.says(delta(number)).await;
        claude.says(status(number)).await;
    }
    for number in 0..100 {
        assert_eq!(next(&mut query).await, format!(r#"delta "piece {number}\n""#));
        assert_eq!(next(&mut query).await, format!("message {}", status(number)));
    }
}

#[test]
fn a_line_that_could_not_be_sent_says_why() {
    let errors = [
        SendError::Full,
        SendError::Closed,
        SendError::NotWaiting { id: "a1".to_owned() },
        SendError::Unwritable {
            reason: "key must be a string".to_owned(),
        },
    ];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"), @r"
    claude does not read its input and the queue is full; cancel the turn or close the session
    claude's input is closed; start a new query
    the control request `a1` is not waiting for an answer
    the message could not be written as JSON: key must be a string
    ");
}
