//! Token counts of a turn, from Claude's results.

use acp_proto::schema::Usage;
use claude_sdk_bridge::messages::ResultMessage;

/// What a prompt has used over all results that it took: one, or more when it went on in another conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnUsage {
    total: Option<Usage>,
}

impl TurnUsage {
    /// Adds what one result counts.
    pub(crate) fn add(&mut self, result: &ResultMessage) {
        let more = of_turn(result);
        self.total = Some(match self.total.take() {
            Some(sum) => plus(&sum, &more),
            None => more,
        });
    }

    /// The sum; `None` before the first result.
    pub(crate) fn total(&self) -> Option<Usage> {
        self.total.clone()
    }
}

/// What the turn used in the main thread; a result without counts reads as zero.
pub(crate) fn of_turn(result: &ResultMessage) -> Usage {
    let counts = result.usage.get();
    let count =
        |read: fn(&claude_sdk_bridge::messages::Usage) -> Option<u64>| counts.and_then(read).unwrap_or(0);
    let input = count(|usage| usage.input_tokens.copied());
    let output = count(|usage| usage.output_tokens.copied());
    let cache_read = count(|usage| usage.cache_read_input_tokens.copied());
    let cache_write = count(|usage| usage.cache_creation_input_tokens.copied());
    let thought = count(|usage| usage.output_tokens_details.get()?.thinking_tokens.copied());
    let total = [input, output, cache_read, cache_write]
        .into_iter()
        .fold(0_u64, u64::saturating_add);
    Usage::new(total, input, output)
        .cached_read_tokens(cache_read)
        .cached_write_tokens(cache_write)
        .thought_tokens((thought > 0).then_some(thought))
}

fn plus(one: &Usage, other: &Usage) -> Usage {
    let sum = |one: u64, other: u64| one.saturating_add(other);
    let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (Some(one), Some(other)) => Some(sum(one, other)),
        (one, other) => one.or(other),
    };
    Usage::new(
        sum(one.total_tokens, other.total_tokens),
        sum(one.input_tokens, other.input_tokens),
        sum(one.output_tokens, other.output_tokens),
    )
    .cached_read_tokens(both(one.cached_read_tokens, other.cached_read_tokens))
    .cached_write_tokens(both(one.cached_write_tokens, other.cached_write_tokens))
    .thought_tokens(both(one.thought_tokens, other.thought_tokens))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(result: Value, expected: Value) {
        let result: ResultMessage = serde_json::from_value(result).unwrap();
        assert_eq!(serde_json::to_value(of_turn(&result)).unwrap(), expected);
    }

    #[test]
    fn counts_are_those_of_the_turn_and_odd_ones_read_as_zero() {
        check(
            json!({"usage": {"input_tokens": 1000, "output_tokens": 20, "cache_read_input_tokens": 300,
                "cache_creation_input_tokens": 200, "output_tokens_details": {"thinking_tokens": 0}}}),
            json!({"totalTokens": 1520, "inputTokens": 1000, "outputTokens": 20, "cachedReadTokens": 300, "cachedWriteTokens": 200}),
        );
        check(
            json!({"usage": {"input_tokens": 1, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 4}}}),
            json!({"totalTokens": 6, "inputTokens": 1, "outputTokens": 5, "cachedReadTokens": 0, "cachedWriteTokens": 0, "thoughtTokens": 4}),
        );
        let zero = json!({"totalTokens": 0, "inputTokens": 0, "outputTokens": 0, "cachedReadTokens": 0, "cachedWriteTokens": 0});
        for odd in [
            json!({}),
            json!({"usage": null}),
            json!({"usage": {"input_tokens": "many", "output_tokens": null}}),
        ] {
            check(odd, zero.clone());
        }
    }
    #[test]
    fn a_prompt_that_went_on_elsewhere_used_both() {
        let result = |value: Value| serde_json::from_value(value).unwrap();
        let mut turn = TurnUsage::default();
        assert_eq!(turn.total(), None);
        turn.add(&result(json!({"usage": {"input_tokens": 10, "output_tokens": 2,
            "output_tokens_details": {"thinking_tokens": 1}}})));
        turn.add(&result(
            json!({"usage": {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 9}}),
        ));
        turn.add(&result(json!({"subtype": "error_during_execution"})));
        assert_eq!(
            serde_json::to_value(turn.total()).unwrap(),
            json!({"totalTokens": 36, "inputTokens": 15, "outputTokens": 5, "cachedReadTokens": 7, "cachedWriteTokens": 9, "thoughtTokens": 1}),
        );
        turn.add(&result(json!({"usage": {"input_tokens": u64::MAX}})));
        assert_eq!(turn.total().unwrap().input_tokens, u64::MAX);
    }
}
