//! Every sentence of the guard's that the model, a user or an operator reads.
//!
//! Place in the flow: `examine` puts them into answers, `policy_file` into mistakes.

use super::policy_file::PolicyMistake;
use crate::{modes::PermissionMode, pipeline::AskReason, rules::Rule};

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

pub(super) const NOT_AN_OBJECT: &str = "must be a JSON object";
pub(super) const NOT_A_LIST: &str = "must be a list";
pub(super) const NOT_TEXT: &str = "must be a string that is not blank";
pub(super) const NOT_A_SWITCH: &str = "must be `true` or `false`";
pub(super) const NOT_DISABLE: &str = "must be the string `disable`, or be left out";
pub(super) const NOT_A_COUNT: &str = "must be a whole number; 0 means never";
pub(super) const NOT_ABSOLUTE: &str = "must begin with `/` or `~/`";
pub(super) const NOT_A_TIME: &str = "must be a number of seconds, from 0.05 to 86400";
pub(super) const COMMA: &str = "names of tools are joined by `|`, without blanks";
pub(super) const REPEATED: &str = "stands here more than once";

/// A key that means nothing.
pub(super) fn unknown_key(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("is not a key of a policy; allowed here: {}", names.join(", "))
}

/// More rules than can be handed over.
pub(super) fn too_long(bytes: usize) -> String {
    format!(
        "the deny and ask rules together are longer than the {bytes} bytes that Claude's command line takes; use fewer, wider rules"
    )
}

/// A name that is nearly that of a tool.
pub(super) fn no_such_tool(name: &str, meant: &str) -> String {
    let name: String = name.escape_debug().collect();
    format!("there is no tool `{name}`; did you mean `{meant}`?")
}

/// A mode that is none.
pub(super) fn bad_mode() -> String {
    let modes = PermissionMode::ALL.map(|mode| format!("`{mode}`"));
    format!("must be one of {}", modes.join(", "))
}

/// A rule that does not count as written.
pub(super) fn bad_rule(problem: &str) -> String {
    format!("{problem}; a policy's rules must count as they are written")
}

/// Text that is no JSON.
pub(super) fn bad_json(error: &serde_json::Error) -> String {
    let error = error.to_string();
    let reason = error.split(" at line ").next().unwrap_or_default();
    format!("the file is not valid JSON: {reason}")
}

/// A mistake in one line.
pub(super) fn mistake(mistake: &PolicyMistake) -> String {
    let file: String = mistake.file.display().to_string().escape_debug().collect();
    let key = mistake
        .key
        .as_deref()
        .map(|key| format!("`{}` ", key.escape_debug()));
    format!(
        "`{file}`, line {}: {}{}",
        mistake.line,
        key.unwrap_or_default(),
        mistake.message
    )
}
