//! Turns that fail: the retries, the message in the CLI's own voice, and what the result says about it.
//!
//! Place in the flow: `engine::turn` plays the `error` step here, `turn::end` fills in the result. One row of `row`
//! is one way in which the CLI fails.

use claude_sdk_bridge::messages::{ResultSubtype, TerminalReason};

use super::Ending;
use crate::engine::core::Core;
use crate::frames::{self, ResultFacts, SyntheticFacts, text};
use crate::script::{Failure, FailureKind};

struct Row {
    /// The protocol's name of the error; nothing if no message tells of it.
    error: Option<&'static str>,
    /// Its name while the request is tried again.
    retry_error: &'static str,
    status: Option<u64>,
    stop_reason: &'static str,
    subtype: ResultSubtype,
    reason: TerminalReason,
}

/// Plays a failing request; the turn ends with what is returned.
pub(crate) fn play(failure: &Failure, core: &mut Core) -> Ending {
    let row = row(failure.kind);
    let text = failure
        .text
        .clone()
        .unwrap_or_else(|| text::failure(failure.kind, &core.model));
    if let Some(error) = row.error {
        for attempt in 1..=failure.retries {
            frames::api_retry(
                &mut core.out,
                attempt.into(),
                failure.retries.into(),
                row.status,
                row.retry_error,
            );
        }
        let sent = failure.kind != FailureKind::NotLoggedIn;
        let request_id = format!("req_{}", core.state.next_message());
        let facts = SyntheticFacts {
            text: &text,
            error,
            status: row.status,
            stop_reason: row.stop_reason,
            request_id: sent.then_some(request_id.as_str()),
        };
        frames::synthetic_assistant(&mut core.out, &facts);
    }
    Ending::Failed {
        kind: failure.kind,
        text,
    }
}

/// Fills in the result of a failed turn.
pub(crate) fn describe(kind: FailureKind, text: String, facts: &mut ResultFacts) {
    let row = row(kind);
    facts.is_error = true;
    facts.stop_reason = Some(row.stop_reason.to_owned());
    facts.terminal_reason = row.reason;
    facts.api_error_status = row.status;
    facts.api_error = (kind == FailureKind::MaxOutputTokens).then_some("max_output_tokens");
    match row.subtype {
        ResultSubtype::Success => facts.text = Some(text),
        ResultSubtype::ErrorDuringExecution
        | ResultSubtype::ErrorMaxTurns
        | ResultSubtype::ErrorMaxBudgetUsd
        | ResultSubtype::ErrorMaxStructuredOutputRetries
        | ResultSubtype::Other(_) => facts.errors = Some(vec![text]),
    }
    facts.subtype = row.subtype;
}

fn row(kind: FailureKind) -> Row {
    let api = |error: &'static str, status: Option<u64>| Row {
        error: Some(error),
        retry_error: error,
        status,
        stop_reason: "stop_sequence",
        subtype: ResultSubtype::Success,
        reason: TerminalReason::ApiError,
    };
    let limit = |subtype: ResultSubtype, reason: TerminalReason| Row {
        error: None,
        retry_error: "",
        status: None,
        stop_reason: "tool_use",
        subtype,
        reason,
    };
    match kind {
        FailureKind::NotLoggedIn => api("authentication_failed", None),
        FailureKind::AuthenticationFailed => api("authentication_failed", Some(401)),
        FailureKind::BillingError => api("billing_error", Some(400)),
        FailureKind::RateLimit => api("rate_limit", Some(429)),
        FailureKind::Overloaded => Row {
            retry_error: "overloaded",
            ..api("server_error", Some(529))
        },
        FailureKind::Unknown => api("unknown", Some(400)),
        FailureKind::InvalidRequest => api("invalid_request", Some(400)),
        FailureKind::PromptTooLong => Row {
            reason: TerminalReason::PromptTooLong,
            ..api("invalid_request", Some(400))
        },
        FailureKind::ModelNotFound => api("model_not_found", Some(404)),
        FailureKind::ServerError => api("server_error", Some(500)),
        FailureKind::MaxOutputTokens => api("max_output_tokens", None),
        FailureKind::Refusal => Row {
            stop_reason: "refusal",
            ..api("invalid_request", None)
        },
        FailureKind::MaxTurns => limit(ResultSubtype::ErrorMaxTurns, TerminalReason::MaxTurns),
        FailureKind::MaxBudget => limit(ResultSubtype::ErrorMaxBudgetUsd, TerminalReason::BudgetExhausted),
    }
}
