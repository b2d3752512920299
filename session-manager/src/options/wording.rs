//! Every word of the options that is ours. Names and descriptions of models and agents are Claude's own.

use super::view::OptionId;

/// Names that stand in more than one option.
pub(super) const DEFAULT: &str = "Default";
pub(super) const ON: &str = "On";
pub(super) const OFF: &str = "Off";

/// Descriptions of single values.
pub(super) const MODEL_OF_SETTINGS: &str = "Named in your settings";
pub(super) const MODEL_IN_USE: &str = "In use now, but not among the models on offer";
pub(super) const DEFAULT_EFFORT: &str = "As much as the model uses on its own";
pub(super) const DEFAULT_AGENT: &str = "Claude Code itself";

/// The description of a model that Claude serves by another one.
pub(super) fn runs_as(other: &str) -> String {
    format!("{MODEL_OF_SETTINGS}; Claude runs {other} for it")
}

/// Name and description of an option.
pub(super) fn option(id: OptionId) -> (&'static str, &'static str) {
    match id {
        OptionId::Mode => ("Mode", "What Claude may do without asking"),
        OptionId::Model => ("Model", "The model that works for you"),
        OptionId::Effort => ("Effort", "How hard the model works on an answer"),
        OptionId::Fast => ("Fast mode", "The same model, answering faster"),
        OptionId::Agent => ("Agent", "Who leads the session"),
    }
}

/// An effort level, as its name for people.
pub(super) fn effort(level: &str) -> String {
    let mut letters = level.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Why Claude does not serve fast mode although it was chosen; `None` when that is no refusal.
pub(super) fn fast_refused(reason: &str) -> Option<String> {
    let why = match reason {
        // What Claude says whenever fast mode is off, and while it still asks.
        "" | "sdk_opt_in_required" | "pending" => return None,
        "free" => "it needs a paid plan",
        "preference" => "it is turned off for your organization",
        "extra_usage_disabled" => "it needs extra usage, which is not enabled for your account",
        "network_error" => "it could not be found out whether it is available",
        "not_first_party" => "it is only available from Anthropic's own API",
        "disabled_by_env" => "an environment variable disables it",
        "model_not_allowed" => "no model that has it is allowed by your settings",
        other => return Some(format!("Fast mode is off: Claude gave the reason `{other}`.")),
    };
    Some(format!("Fast mode is off: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_reads_well() {
        let mut lines: Vec<String> = OptionId::ALL
            .into_iter()
            .map(|id| format!("{:?}", option(id)))
            .collect();
        lines.extend([MODEL_OF_SETTINGS, MODEL_IN_USE, DEFAULT_EFFORT, DEFAULT_AGENT].map(str::to_owned));
        lines.push(runs_as("claude-opus-5-5"));
        lines.extend(["low", "xhigh", ""].map(effort));
        let reasons = [
            "free",
            "preference",
            "extra_usage_disabled",
            "network_error",
            "not_first_party",
            "disabled_by_env",
            "model_not_allowed",
            "unknown",
        ];
        lines.extend(reasons.iter().filter_map(|reason| fast_refused(reason)));
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn fast_mode_that_is_merely_off_is_no_refusal() {
        for reason in ["", "sdk_opt_in_required", "pending"] {
            assert_eq!(fast_refused(reason), None, "{reason}");
        }
    }
}
