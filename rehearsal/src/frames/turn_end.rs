//! The `result` frame: how a turn ended and what it cost.
//!
//! Place in the flow: `turn::end` sends one at the end of every turn; `late_result` and `foreign_result` steps send
//! further ones. Costs are counted in nano dollars, so that sums are exact.

use std::collections::BTreeMap;

use claude_sdk_bridge::messages::{
    ApiErrorKind, Field, Lenient, List, Message, MessageUuid, ModelUsage, Origin, OutputTokensDetails,
    PermissionDenial, ResultMessage, ResultSubtype, Table, TerminalReason, Usage,
};
use serde_json::{Map, Number, Value, json};

use super::object;
use super::outbox::Outbox;
use super::system::uuids;
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
    let extra = extra(out, &facts);
    let success = facts.subtype == ResultSubtype::Success;
    let frame = ResultMessage {
        api_error_status: match (success, facts.api_error_status) {
            (true, status) => status.map_or(Field::Null, Field::Known),
            (false, _) => Field::Absent,
        },
        subtype: facts.subtype.into(),
        is_error: facts.is_error.into(),
        result: facts.text.into(),
        errors: facts.errors.map(List::from_iter).into(),
        stop_reason: facts.stop_reason.map_or(Field::Null, Field::Known),
        terminal_reason: facts.terminal_reason.into(),
        api_error: facts
            .api_error
            .map(|kind| ApiErrorKind::from(kind.to_owned()))
            .into(),
        duration_ms: facts.duration_ms.into(),
        duration_api_ms: facts.duration_ms.into(),
        num_turns: facts.num_turns.into(),
        total_cost_usd: cost_usd(facts.totals.values().copied()).into(),
        usage: usage(facts.usage).into(),
        model_usage: model_usage(&facts.totals).into(),
        model_usage_since_last_result: model_usage(&facts.since_last).into(),
        permission_denials: facts.denials.into_iter().collect::<List<_>>().into(),
        queued_turn_count: facts.queued.into(),
        result_index: facts.index.into(),
        user_message_uuid: facts.prompt.into(),
        user_message_uuids: uuids(&facts.prompts),
        origin: facts
            .origin
            .map(|kind| Origin {
                kind: kind.into(),
                extra: Map::new(),
            })
            .into(),
        fast_mode_state: "off".into(),
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        extra,
        ..ResultMessage::default()
    };
    out.send(&Message::Result(Box::new(frame)));
}

/// The result of a session that never started.
pub(crate) fn startup_failure(out: &mut Outbox, error: &str) {
    let nothing = TokenUsage::NONE;
    let frame = ResultMessage {
        subtype: ResultSubtype::ErrorDuringExecution.into(),
        duration_ms: 0.into(),
        duration_api_ms: 0.into(),
        is_error: true.into(),
        num_turns: 0.into(),
        stop_reason: Field::Null,
        total_cost_usd: cost_usd([].into_iter()).into(),
        usage: usage(nothing).into(),
        model_usage: Table::new().into(),
        permission_denials: List::default().into(),
        errors: List::from_iter([error.to_owned()]).into(),
        result_index: 0.into(),
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        ..ResultMessage::default()
    };
    out.send(&Message::Result(Box::new(frame)));
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
fn model_usage(usages: &BTreeMap<String, TokenUsage>) -> Table<ModelUsage> {
    usages
        .iter()
        .map(|(model, used)| {
            let usage = ModelUsage {
                input_tokens: used.input_tokens.into(),
                output_tokens: used.output_tokens.into(),
                cache_read_input_tokens: used.cache_read_tokens.into(),
                cache_creation_input_tokens: used.cache_creation_tokens.into(),
                web_search_requests: 0.into(),
                thinking_tokens: 0.into(),
                cost_usd: cost_usd([*used].into_iter()).into(),
                context_window: 1_000_000.into(),
                max_output_tokens: 128_000.into(),
                canonical_model: model.as_str().into(),
                provider: "firstParty".into(),
                extra: object(json!({
                    "cacheCreationEphemeral5mInputTokens": 0,
                    "cacheCreationEphemeral1hInputTokens": 0,
                    "costBasis": "list",
                })),
            };
            (model.clone(), Lenient::Known(usage))
        })
        .collect()
}

fn nano_dollars(usage: TokenUsage) -> u64 {
    usage.input_tokens * 4000
        + usage.output_tokens * 20_000
        + usage.cache_read_tokens * 200
        + usage.cache_creation_tokens * 5000
}

fn usage(usage: TokenUsage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens.into(),
        output_tokens: usage.output_tokens.into(),
        cache_creation_input_tokens: usage.cache_creation_tokens.into(),
        cache_read_input_tokens: usage.cache_read_tokens.into(),
        output_tokens_details: OutputTokensDetails {
            thinking_tokens: 0.into(),
            extra: Map::new(),
        }
        .into(),
        service_tier: "standard".into(),
        server_tool_use: json!({ "web_search_requests": 0, "web_fetch_requests": 0 }).into(),
        extra: object(json!({
            "cache_creation": { "ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0 },
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
            "fallback_credit": null,
        })),
    }
}

fn extra(out: &Outbox, facts: &ResultFacts) -> Map<String, Value> {
    let mut extra = object(json!({
        "fast_mode_disabled_reason": "sdk_opt_in_required",
        "subagent_stats": {
            "spawned": 0,
            "requested": { "background": 0, "foreground": 0, "unset": 0 },
            "started_in_background": 0,
            "max_depth": 0,
            "spawned_by_subagents": 0,
            "completed": 0,
            "failed": 0,
            "killed": { "parent": 0, "user": 0, "system": 0 },
            "refused": { "depth_limit": 0, "concurrency_limit": 0, "budget": 0 },
            "by_type": {},
        },
        "safety_stops": 0,
    }));
    if facts.timing == Timing::Answered {
        for key in [
            "ttft_ms",
            "ttft_stream_ms",
            "time_to_request_ms",
            "first_content_frame_ms",
        ] {
            extra.insert(key.to_owned(), facts.duration_ms.into());
        }
        if facts.prompt.is_some() {
            extra.insert("request_sent_wall_ms".to_owned(), out.wall_ms().into());
            extra.insert(
                "first_request_input_tokens".to_owned(),
                facts.usage.input_tokens.into(),
            );
        }
    }
    extra
}
