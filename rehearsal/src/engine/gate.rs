//! Whether a tool call is asked about, runs without a word, or is refused without a word.
//!
//! Place in the flow: `engine::tool` checks here before it asks. This is the place where the permission pipeline will
//! stand as the authority; until then the script says what would be asked, and the session's mode what that means.

use permission_core::PermissionMode;

use super::core::Core;
use crate::frames::text;
use crate::script::ToolStep;

/// What becomes of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Pass,
    Ask,
    /// The host has taken the tool out of the session.
    NoSuchTool,
    Refuse {
        reason_type: &'static str,
        message: String,
    },
}

/// Decides about a call in the session's present mode.
pub(crate) fn check(step: &ToolStep, core: &Core) -> Gate {
    if core.setup.disallowed_tools.contains(&step.name) {
        return Gate::NoSuchTool;
    }
    decide(step, core.mode, core.setup.asks)
}

fn decide(step: &ToolStep, mode: PermissionMode, host_takes_questions: bool) -> Gate {
    if let Some(message) = &step.denied {
        return Gate::Refuse {
            reason_type: "rule",
            message: message.clone(),
        };
    }
    let Some(ask) = &step.ask else { return Gate::Pass };
    let is_edit = matches!(step.name.as_str(), "Edit" | "Write" | "NotebookEdit");
    let needs_person = matches!(step.name.as_str(), "AskUserQuestion" | "ExitPlanMode");
    match mode {
        PermissionMode::BypassPermissions if !ask.always && !needs_person => Gate::Pass,
        // A question with a reason of its own (outside the working directory, a safety check) stays one.
        PermissionMode::AcceptEdits | PermissionMode::Auto
            if !ask.always && is_edit && ask.decision_reason_type.is_none() =>
        {
            Gate::Pass
        }
        PermissionMode::DontAsk => Gate::Refuse {
            reason_type: "mode",
            message: text::DONT_ASK.to_owned(),
        },
        PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::Plan
        | PermissionMode::Auto
        | PermissionMode::BypassPermissions => {
            if host_takes_questions {
                Gate::Ask
            } else {
                Gate::Refuse {
                    reason_type: "asyncAgent",
                    message: text::NOBODY_TO_ASK.to_owned(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, mode: PermissionMode, expected: &str) {
        let step: ToolStep = serde_json::from_str(tool).unwrap();
        let name = |gate: Gate| match gate {
            Gate::Pass => "pass".to_owned(),
            Gate::Ask => "ask".to_owned(),
            Gate::NoSuchTool => "no such tool".to_owned(),
            Gate::Refuse { reason_type, .. } => reason_type.to_owned(),
        };
        assert_eq!(name(decide(&step, mode, true)), expected, "{tool} in {mode}");
        let unasked = if expected == "ask" { "asyncAgent" } else { expected };
        assert_eq!(
            name(decide(&step, mode, false)),
            unasked,
            "{tool} in {mode} without anyone to ask"
        );
    }

    #[test]
    fn the_mode_says_what_becomes_of_a_question() {
        use PermissionMode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
        let bash = r#"{"name":"Bash","ask":true}"#;
        let edit = r#"{"name":"Edit","ask":true}"#;
        check(r#"{"name":"Bash"}"#, Default, "pass");
        check(r#"{"name":"Bash","ask":false}"#, DontAsk, "pass");
        check(
            r#"{"name":"Bash","denied":"no","ask":true}"#,
            BypassPermissions,
            "rule",
        );
        for mode in [Default, AcceptEdits, Plan, Auto] {
            check(bash, mode, "ask");
        }
        check(bash, BypassPermissions, "pass");
        check(bash, DontAsk, "mode");
        check(edit, Default, "ask");
        check(edit, AcceptEdits, "pass");
        check(edit, Auto, "pass");
        check(edit, Plan, "ask");
        check(r#"{"name":"Edit","ask":{"always":true}}"#, AcceptEdits, "ask");
        check(
            r#"{"name":"Edit","ask":{"decision_reason_type":"workingDir"}}"#,
            AcceptEdits,
            "ask",
        );
        check(
            r#"{"name":"Bash","ask":{"always":true}}"#,
            BypassPermissions,
            "ask",
        );
        check(r#"{"name":"ExitPlanMode","ask":true}"#, BypassPermissions, "ask");
    }
}
