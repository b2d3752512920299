//! The `result` frame: how a turn ended and what it cost.
//!
//! Place in the flow: `turn::end` sends one at the end of every turn; `late_result` and `foreign_result` steps send
//! further ones. Costs are counted in nano dollars, so that sums are exact.

use std::collections::BTreeMap;

use claude_sdk_bridge::messages::{MessageUuid, PermissionDenial, ResultSubtype, TerminalReason};
use serde_json::{Number, Value, json};

use super::outbox::Outbox;
use super::recorded::{RECORDED, add, with};
use super::stream::usage;
use super::system::add_prompts;
use crate::script::TokenUsage;

/// Everything a result says.
#[derive(Debug, Clone)]
pub(crate) struct ResultFacts {
    pub(crate) subtype: ResultSubtype,
    pub(crate) is_error: bool,
    pub(crate) terminal_reason: TerminalReason,
    pub(crate) stop_reason: Option<String>,
    /// The answer; only with a success.
    pub(crate) text: Option<String>,
    /// Diagnostics; only with an error.
    pub(crate) errors: Option<Vec<String>>,
    pub(crate) api_error: Option<&'static str>,
    pub(crate) api_error_status: Option<u64>,
    pub(crate) origin: Option<&'static str>,
    pub(crate) prompt: Option<MessageUuid>,
    pub(crate) prompts: Vec<MessageUuid>,
    pub(crate) denials: Vec<PermissionDenial>,
    pub(crate) num_turns: u64,
    pub(crate) usage: TokenUsage,
    /// What each model has used since the session began.
    pub(crate) totals: BTreeMap<String, TokenUsage>,
    /// What each model has used since the result before this one.
    pub(crate) since_last: BTreeMap<String, TokenUsage>,
    pub(crate) queued: u64,
    pub(crate) index: u64,
    pub(crate) duration_ms: u64,
    pub(crate) timing: Timing,
}

/// Whether a result tells how fast the first word came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timing {
    /// The model answered.
    Answered,
    /// It did not, or not to the end.
    None,
}

pub(crate) fn result(out: &mut Outbox, facts: ResultFacts) {
    let mut frame = json!({
        "subtype": facts.subtype, "is_error": facts.is_error, "stop_reason": facts.stop_reason,
        "terminal_reason": facts.terminal_reason, "duration_ms": facts.duration_ms,
        "duration_api_ms": facts.duration_ms, "num_turns": facts.num_turns,
        "total_cost_usd": cost_usd(facts.totals.values().copied()), "usage": usage(facts.usage, facts.usage.output_tokens),
        "modelUsage": model_usage(&facts.totals), "model_usage_since_last_result": model_usage(&facts.since_last),
        "permission_denials": facts.denials, "queued_turn_count": facts.queued, "result_index": facts.index,
    });
    let success = facts.subtype == ResultSubtype::Success;
    add(
        &mut frame,
        "api_error_status",
        success.then_some(facts.api_error_status),
    );
    add(&mut frame, "result", facts.text);
    add(&mut frame, "errors", facts.errors);
    add(&mut frame, "api_error", facts.api_error);
    add(
        &mut frame,
        "origin",
        facts.origin.map(|kind| json!({ "kind": kind })),
    );
    if facts.timing == Timing::Answered {
        for key in [
            "ttft_ms",
            "ttft_stream_ms",
            "time_to_request_ms",
            "first_content_frame_ms",
        ] {
            add(&mut frame, key, Some(facts.duration_ms));
        }
        let of_prompt = facts.prompt.is_some();
        let tokens = facts.usage.input_tokens;
        add(
            &mut frame,
            "request_sent_wall_ms",
            of_prompt.then(|| out.wall_ms()),
        );
        add(
            &mut frame,
            "first_request_input_tokens",
            of_prompt.then_some(tokens),
        );
    }
    add(&mut frame, "user_message_uuid", facts.prompt);
    add_prompts(&mut frame, &facts.prompts);
    out.send_recorded(&RECORDED.result, frame);
}

/// The result of a session that never started.
pub(crate) fn startup_failure(out: &mut Outbox, error: &str) {
    out.send_recorded(&RECORDED.startup_failure, json!({ "errors": [error] }));
}

/// What the tokens cost, in dollars.
pub(crate) fn cost_usd(usages: impl Iterator<Item = TokenUsage>) -> Number {
    let nanos: u64 = usages.map(nano_dollars).sum();
    // Sums of one session stay far below 2^52 nano dollars (4.5 million dollars), where this is exact.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^52")]
    let dollars = nanos as f64 / 1e9;
    Number::from_f64(dollars).unwrap_or_else(|| Number::from(0))
}

/// The usage table of a result.
fn model_usage(usages: &BTreeMap<String, TokenUsage>) -> Value {
    let usages = usages.iter().map(|(model, used)| {
        let facts = json!({
            "inputTokens": used.input_tokens, "outputTokens": used.output_tokens,
            "cacheReadInputTokens": used.cache_read_tokens, "cacheCreationInputTokens": used.cache_creation_tokens,
            "costUSD": cost_usd([*used].into_iter()), "canonicalModel": model,
        });
        (model.clone(), with(&RECORDED.model_usage, facts))
    });
    Value::Object(usages.collect())
}

fn nano_dollars(usage: TokenUsage) -> u64 {
    usage.input_tokens * 4000
        + usage.output_tokens * 20_000
        + usage.cache_read_tokens * 200
        + usage.cache_creation_tokens * 5000
}
