//! Tests of what kind of end a result is. The ends that were recorded are checked in `tests/outcomes.rs`.

use serde_json::{Value, json};

use super::*;

fn result(value: Value) -> ResultMessage {
    serde_json::from_value(value).unwrap()
}

fn check(value: Value, expected: TurnOutcome) {
    assert_eq!(result(value.clone()).outcome(), expected, "{value}");
}

fn sorry() -> String {
    "sorry".to_owned()
}

#[test]
fn the_reason_the_loop_ended_comes_before_everything_else() {
    let ended = |reason: &str| json!({"subtype": "success", "is_error": true, "terminal_reason": reason, "result": "sorry"});
    check(
        ended("prompt_too_long"),
        TurnOutcome::PromptTooLong { text: sorry() },
    );
    check(ended("aborted_tools"), TurnOutcome::Cancelled(Abort::Tools));
    check(
        ended("aborted_elsewhere"),
        TurnOutcome::Cancelled(Abort::Other("aborted_elsewhere".to_owned())),
    );
    check(ended("budget_exhausted"), TurnOutcome::MaxBudget);
}

#[test]
fn the_subtype_is_enough_where_the_reason_is_missing() {
    check(
        json!({"subtype": "error_max_budget_usd", "is_error": true}),
        TurnOutcome::MaxBudget,
    );
    check(json!({"subtype": "error_max_turns"}), TurnOutcome::MaxTurns);
    check(
        json!({"subtype": "error_max_structured_output_retries"}),
        TurnOutcome::StructuredOutputFailed,
    );
    check(json!({"subtype": "success"}), TurnOutcome::Completed);
}

#[test]
fn api_errors_are_told_from_refusals_and_from_the_output_limit() {
    check(
        json!({"subtype": "success", "is_error": true, "terminal_reason": "api_error", "api_error_status": null,
            "api_error": "max_output_tokens"}),
        TurnOutcome::MaxTokens,
    );
    check(
        json!({"subtype": "success", "is_error": false, "stop_reason": "refusal", "result": "sorry"}),
        TurnOutcome::Refusal { text: sorry() },
    );
    check(
        json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "api_error",
            "api_error_status": 529, "errors": ["sorry"]}),
        TurnOutcome::ApiError {
            kind: None,
            status: Some(529),
            text: sorry(),
        },
    );
}

#[test]
fn an_end_nobody_knows_is_a_failure_with_its_text() {
    check(
        json!({"subtype": "error_during_execution", "terminal_reason": "image_error", "errors": ["sorry", 3]}),
        TurnOutcome::Failed {
            reason: Some(TerminalReason::ImageError),
            text: sorry(),
        },
    );
    let unknown = TurnOutcome::Failed {
        reason: None,
        text: sorry(),
    };
    check(
        json!({"subtype": "error_brand_new", "errors": ["sorry"]}),
        unknown,
    );
    check(
        json!({}),
        TurnOutcome::Failed {
            reason: None,
            text: String::new(),
        },
    );
}

#[test]
fn a_result_answers_every_message_it_names_and_no_other() {
    let one = result(json!({"user_message_uuid": "a"}));
    let many = result(json!({"user_message_uuid": "b", "user_message_uuids": ["a", "b", 3]}));
    let none = result(json!({}));
    let answered = |result: &ResultMessage| ["a", "b", "c"].map(|uuid| result.answers(&uuid.into()));
    assert_eq!(answered(&one), [true, false, false]);
    assert_eq!(answered(&many), [true, true, false]);
    assert_eq!(answered(&none), [false, false, false]);
}
