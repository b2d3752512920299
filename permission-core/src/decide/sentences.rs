//! Every sentence about a decision that the model, a user or an operator reads.
//!
//! Place in the flow: `authorizer` puts them into decisions.

use crate::{pipeline::AskReason, rules::Rule};

pub(super) const PLAN_CHANGE: &str = "the session is in plan mode, where no file but the plan may be changed";
pub(super) const PLAN_COMMAND: &str = "the session is in plan mode, and this may do more than read";
pub(super) const PLAN_TOOL: &str =
    "the session is in plan mode, and the server of this tool does not say that it only reads";
pub(super) const NO_OBJECT: &str = "the tool's input is not an object";
pub(super) const UNKNOWN_FILES: &str = "the operator's policy confines the session to its working directories, and it cannot be told which files this opens";
pub(super) const MAY_TOUCH: &str =
    "the operator's policy protects its own settings and Claude's, and this may change some of them";
pub(super) const HEADLESS: &str = "the operator's policy lets nobody be asked";
pub(super) const OUT_OF_ORDER: &str = "the guard was used out of order";

/// A rule of the policy, or one that comes with every policy.
pub(super) fn rule(rule: &Rule) -> String {
    format!("the operator's policy denies it by the rule {rule}")
}

/// A file that a policy protects.
pub(super) fn protected(rule: &Rule) -> String {
    let text: String = rule.text().escape_debug().collect();
    format!("the operator's policy protects its own settings and Claude's (`{text}`)")
}

/// A file outside the working directories.
pub(super) fn outside(path: &str) -> String {
    let path: String = path.escape_debug().collect();
    format!("the operator's policy confines the session to its working directories, and `{path}` is outside")
}

/// A hook of the policy's.
pub(super) fn hook(reason: &str) -> String {
    format!("a hook of the operator's policy denies it: {reason}")
}

/// Why the policy wants a question.
pub(super) fn ask(reason: &AskReason) -> String {
    format!("the operator's policy: {reason}")
}

/// A question that nobody can be asked.
pub(super) fn unasked(reason: &str) -> String {
    format!("{reason}, and {HEADLESS}")
}
