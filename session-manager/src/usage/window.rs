//! How many tokens fit into the context of the model that speaks.
//!
//! A result says it for every model that was used so far; for one that is new Claude is asked. Where it does not tell, the
//! model's name gives it away, as far as it does. The API names a model without the suffix that asks for a large window, so
//! the configured name is looked at too.

use std::collections::BTreeMap;

use claude_sdk_bridge::messages::ResultMessage;
use serde_json::Value;

const USUAL: u64 = 200_000;
const LARGE: u64 = 1_000_000;

/// The models of a session, and their windows as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// The model that Claude was told to use.
    configured: Option<String>,
    /// The model of the main thread's last message.
    speaking: Option<String>,
    known: BTreeMap<String, u64>,
    asked: Asked,
}

/// Whether Claude has been asked for the window of the model that speaks.
#[derive(Debug, Default)]
enum Asked {
    #[default]
    No,
    /// It has not answered yet.
    Waiting,
    /// It did not tell the window of this model.
    InVain(String),
}

impl Windows {
    /// A turn begins with this model.
    pub(super) fn configured(&mut self, model: &str) {
        self.configured = Some(model.to_owned());
    }

    /// A message of the main thread is by this model.
    pub(super) fn speaking(&mut self, model: &str) {
        self.speaking = Some(model.to_owned());
    }

    /// The main thread's model.
    pub(super) fn model(&self) -> Option<&str> {
        self.speaking.as_deref().or(self.configured.as_deref())
    }

    /// Whether Claude is to be asked for the window now; then it counts as asked.
    pub(super) fn ask(&mut self) -> bool {
        let Some(model) = self.full_name() else {
            return false;
        };
        let asked = match &self.asked {
            Asked::No => false,
            Asked::Waiting => true,
            Asked::InVain(about) => about == model,
        };
        let ask = !asked && self.known(model).is_none();
        if ask {
            self.asked = Asked::Waiting;
        }
        ask
    }

    /// Takes the answer to `get_context_usage`, or that there is none.
    pub(super) fn answered(&mut self, answer: Option<&Value>) {
        let tokens = |key: &str| answer?.get(key)?.as_u64();
        let model = answer.and_then(|answer| answer.get("model")?.as_str());
        // The whole window, which settings may have compacted before it is full.
        if let Some((model, tokens)) = model.zip(tokens("rawMaxTokens").or_else(|| tokens("maxTokens"))) {
            self.learn(model, tokens);
        }
        self.asked = match self.full_name() {
            Some(model) if self.known(model).is_none() => Asked::InVain(model.to_owned()),
            Some(_) | None => Asked::No,
        };
    }

    /// Whether the size may be about to change, because Claude has been asked.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.asked, Asked::Waiting)
    }

    /// Takes over the windows of all models of a result.
    pub(super) fn reported(&mut self, result: &ResultMessage) {
        for (name, usage) in result.model_usage.get().into_iter().flatten() {
            let Some(usage) = usage.get() else { continue };
            let window = usage.context_window.copied().unwrap_or(0);
            self.learn(name, window);
            // Cloud providers have names of their own for a model; its messages bear the usual one.
            let usual = usage.canonical_model.as_str();
            if let Some(usual) = usual.filter(|usual| !same_model(usual, name)) {
                self.learn(usual, window);
            }
        }
    }

    /// Takes over the window of one model; none has no room.
    pub(super) fn learn(&mut self, model: &str, tokens: u64) {
        if tokens > 0 {
            self.known.insert(model.to_owned(), tokens);
        }
    }

    /// The window of the main thread's model. Never zero.
    pub(super) fn size(&self) -> u64 {
        let Some(model) = self.full_name() else {
            return USUAL;
        };
        self.known(model).unwrap_or_else(|| guess(model))
    }

    fn known(&self, model: &str) -> Option<u64> {
        // Names with a suffix come after those without, so the plain one wins.
        let alike = || self.known.iter().find(|(known, _)| same_model(known, model));
        let known = self
            .known
            .get(model)
            .or_else(|| alike().map(|(_, tokens)| tokens));
        known.copied()
    }

    /// The main thread's model by the name that says most about its window.
    fn full_name(&self) -> Option<&str> {
        match (self.configured.as_deref(), self.speaking.as_deref()) {
            (Some(configured), Some(speaking)) if !same_model(configured, speaking) => Some(speaking),
            (configured, speaking) => configured.or(speaking),
        }
    }
}

fn same_model(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

/// A model's name without suffix and date: `claude-x-4-20250929[1m]` is `claude-x-4`.
fn plain(name: &str) -> &str {
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let is_date = |end: &str| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((name, end)) if is_date(end) => name,
        _ => name,
    }
}

/// The window by the model's name.
fn guess(model: &str) -> u64 {
    let mut words = model.split(|char: char| !char.is_ascii_alphanumeric());
    if words.any(|word| word.eq_ignore_ascii_case("1m")) {
        LARGE
    } else {
        USUAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The window of `speaking` in a session set to `configured`, after a result with `models`.
    fn check(configured: &str, speaking: &str, models: Value, expected: u64) {
        let mut windows = Windows::default();
        if !configured.is_empty() {
            windows.configured(configured);
        }
        if !speaking.is_empty() {
            windows.speaking(speaking);
        }
        let result = json!({"subtype": "success", "modelUsage": models});
        windows.reported(&serde_json::from_value(result).unwrap());
        assert_eq!(windows.size(), expected, "{configured} / {speaking} / {models}");
    }

    fn models(windows: &[(&str, u64)]) -> Value {
        let entry = |(name, window): &(&str, u64)| ((*name).to_owned(), json!({"contextWindow": window}));
        Value::Object(windows.iter().map(entry).collect())
    }

    #[test]
    fn unknown_windows_are_guessed_from_the_name() {
        check("", "", json!({}), 200_000);
        check("claude-x-5", "", json!({}), 200_000);
        check("claude-x-5[1m]", "", json!({}), 1_000_000);
        check("claude-x-5[1M]", "claude-x-5", json!({}), 1_000_000);
        check("claude-x-5[1m]", "claude-x-5-20260101", json!({}), 1_000_000);
        check("claude-x-5", "some-model-1m", json!({}), 1_000_000);
        check("claude-x-5[1m]", "claude-small-5", json!({}), 200_000);
        check("", "model-11m", json!({}), 200_000);
        check("", "claude-x-5", json!(null), 200_000);
        check("", "claude-x-5", json!({"claude-x-5": 3}), 200_000);
        check(
            "",
            "claude-x-5",
            json!({"claude-x-5": {"contextWindow": "much"}}),
            200_000,
        );
        check("", "claude-x-5", models(&[("claude-x-5", 0)]), 200_000);
    }

    #[test]
    fn claude_is_asked_once_for_a_window_that_nothing_tells() {
        let mut windows = Windows::default();
        assert!(!windows.ask(), "no model yet");
        windows.configured("claude-x-5");
        assert!(windows.ask() && !windows.ask() && windows.is_open());
        let answer = json!({"model": "claude-x-5", "maxTokens": 800_000, "rawMaxTokens": 1_000_000});
        windows.answered(Some(&answer));
        assert_eq!((windows.size(), windows.is_open()), (1_000_000, false));
        windows.speaking("claude-x-5-20260101");
        assert!(!windows.ask(), "the same model by another name");

        windows.speaking("claude-small-5");
        assert!(windows.ask());
        for odd in [
            None,
            Some(&json!({"model": "claude-small-5", "maxTokens": 0})),
            Some(&json!([])),
        ] {
            windows.answered(odd);
            assert_eq!((windows.size(), windows.is_open()), (200_000, false), "{odd:?}");
            assert!(!windows.ask(), "asked in vain: {odd:?}");
        }
        windows.speaking("claude-other-5");
        assert!(windows.ask());
        windows.answered(Some(&json!({"model": "claude-other-5", "maxTokens": 300_000})));
        assert_eq!(windows.size(), 300_000);
    }

    #[test]
    fn of_several_models_the_main_thread_s_counts() {
        let two = models(&[("claude-small-5", 150_000), ("claude-x-5", 900_000)]);
        check("claude-x-5", "claude-x-5", two.clone(), 900_000);
        check("claude-x-5", "claude-small-5", two.clone(), 150_000);
        check("claude-x-5", "", two.clone(), 900_000);
        check("claude-x-5", "claude-x-5-20260101", two.clone(), 900_000);
        check("claude-other", "claude-other", two, 200_000);
    }

    #[test]
    fn suffixes_tell_two_windows_of_a_model_apart() {
        let both = models(&[("claude-x-5", 300_000), ("claude-x-5[1m]", 1_100_000)]);
        check("claude-x-5[1m]", "claude-x-5", both.clone(), 1_100_000);
        check("claude-x-5", "claude-x-5", both.clone(), 300_000);
        check("", "claude-x-5-20260101", both, 300_000);
        let large = models(&[("claude-x-5[1m]", 1_100_000)]);
        check("opus[1m]", "claude-x-5", large, 1_100_000);
    }

    #[test]
    fn a_provider_s_name_stands_for_the_usual_one() {
        let cloud = json!({
            "us.anthropic.claude-x-5-v1:0": {"contextWindow": 700_000, "canonicalModel": "claude-x-5"},
        });
        check(
            "us.anthropic.claude-x-5-v1:0",
            "claude-x-5-20260101",
            cloud,
            700_000,
        );
    }
}
