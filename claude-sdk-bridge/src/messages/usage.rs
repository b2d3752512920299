//! Token and cost counts as Claude reports them.
//!
//! Numbers only; which of them are cumulative is said at the fields, and nothing here adds them up.

use serde_json::{Number, Value};

wire! {
    /// Tokens of one API message, or in a result: of the main loop of this turn.
    pub struct Usage {
        optional {
            input_tokens: u64,
            output_tokens: u64,
            cache_creation_input_tokens: u64,
            cache_read_input_tokens: u64,
            output_tokens_details: OutputTokensDetails,
            service_tier: String,
            server_tool_use: Value,
        }
    }
}

wire! {
    /// How the output tokens divide.
    pub struct OutputTokensDetails {
        optional { thinking_tokens: u64, }
    }
}

wire! {
    /// Tokens and cost of one model. In `modelUsage` cumulative over the session (and continued on resume).
    pub struct ModelUsage {
        optional {
            input_tokens as "inputTokens": u64,
            output_tokens as "outputTokens": u64,
            cache_read_input_tokens as "cacheReadInputTokens": u64,
            cache_creation_input_tokens as "cacheCreationInputTokens": u64,
            web_search_requests as "webSearchRequests": u64,
            thinking_tokens as "thinkingTokens": u64,
            cost_usd as "costUSD": Number,
            context_window as "contextWindow": u64,
            max_output_tokens as "maxOutputTokens": u64,
            canonical_model as "canonicalModel": String,
            provider: String,
        }
    }
}
