//! Every fixed sentence that a user, or Claude in a refusal, reads from this crate.
//!
//! Place in the flow: constants and one-line formatters for `options`, `effect`, `modes` and `question`. Must not
//! branch on anything but its arguments.

use crate::modes::PermissionMode;

/// Heading of a request without a usable title.
pub(crate) const NO_TITLE: &str = "Use tool?";
/// Heading of the plan approval.
pub(crate) const READY_TO_CODE: &str = "Ready to code?";
/// Stands before Claude's reason.
pub(crate) const REASON_PREFIX: &str = "Reason: ";

/// Allows one call.
pub(crate) const YES: &str = "Yes";
/// Refuses one call.
pub(crate) const NO: &str = "No";

/// Lets Claude plan first.
pub(crate) const ENTER_PLAN_MODE: &str = "Yes, enter plan mode";
/// Goes on without a plan.
pub(crate) const START_IMPLEMENTING: &str = "No, start implementing now";
/// Stays in plan mode.
pub(crate) const KEEP_PLANNING: &str = "No, keep planning";

/// Leaves plan mode for `mode`, keeping the context.
pub(crate) fn exit_plan(mode: PermissionMode) -> String {
    match mode {
        PermissionMode::Default => "Yes, manually approve edits".to_owned(),
        PermissionMode::AcceptEdits => "Yes, auto-accept edits".to_owned(),
        PermissionMode::Auto
        | PermissionMode::BypassPermissions
        | PermissionMode::Plan
        | PermissionMode::DontAsk => format!("Yes, and {}", going_on_in(mode)),
    }
}

/// Leaves plan mode for `mode` with an empty context.
pub(crate) fn clear_context(mode: PermissionMode, used_percent: Option<u8>) -> String {
    let used = used_percent
        .map(|percent| format!(" ({}% used)", percent.min(100)))
        .unwrap_or_default();
    format!("Yes, clear context{used} and {}", going_on_in(mode))
}

fn going_on_in(mode: PermissionMode) -> String {
    match mode {
        PermissionMode::AcceptEdits => "auto-accept edits".to_owned(),
        PermissionMode::BypassPermissions => "bypass permissions".to_owned(),
        PermissionMode::Auto | PermissionMode::Default | PermissionMode::Plan | PermissionMode::DontAsk => {
            format!("use {} mode", mode.wire_id())
        }
    }
}

/// What Claude reads after a refusal.
pub(crate) const REFUSED: &str = "User refused permission to run tool";

/// A refusal with what the user said about it.
pub(crate) fn with_feedback(message: &str, feedback: &str) -> String {
    format!("{message}\n\nThe user said: {feedback}")
}

/// What Claude reads when the user keeps planning.
pub(crate) const KEPT_PLANNING: &str = "User chose to keep planning";
/// What Claude reads when the plan goes on without it; the turn is interrupted, so no model ever does.
pub(crate) const CLEARS_CONTEXT: &str = "User accepted the plan and continues it with a cleared context";

/// Stands above a form with more than one question.
pub(crate) const SEVERAL_QUESTIONS: &str = "Claude has some questions for you.";
/// The field for an answer in the user's own words.
pub(crate) const FREE_TEXT: &str = "Other";
/// What it is for where one choice is possible.
pub(crate) const FREE_TEXT_NOTES: &str = "Your own answer, or a note on your choice (optional).";
/// What it is for where several are.
pub(crate) const FREE_TEXT_ADDS: &str = "Your own answer, added to your choices (optional).";
/// What Claude reads where a client could not show the form.
pub(crate) const QUESTION_NOT_PRESENTED: &str = "Could not present the question to the user.";
