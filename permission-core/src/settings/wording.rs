//! Every sentence about a settings file that a user reads.
//!
//! Place in the flow: `parse`, `merge` and `modes` put them into problems. A message follows the name of its setting,
//! so it begins with a verb; it says what is allowed. Values of a file are quoted only where they are no secret, and
//! never raw: a file may come from a stranger.

use super::{Origin, SettingsProblem};
use crate::modes::PermissionMode;
use crate::safe_text::quoted;

/// The longest part of a file that is quoted, in characters.
const MAX_QUOTE: usize = 60;

pub(super) const NOT_AN_OBJECT: &str = "must be a JSON object, such as `{}`";
pub(super) const NOT_TEXT: &str = "must be a string that is not blank";
pub(super) const NOT_A_LIST: &str = "must be a list of strings";
pub(super) const NOT_A_SWITCH: &str = "must be `true` or `false`";
pub(super) const NOT_DISABLE: &str = "must be the string `disable`, or be left out";
pub(super) const NOT_A_VARIABLE: &str = "must be a string, a number, or `true` or `false`";
pub(super) const REPEATED: &str =
    "stands here more than once; only the last one counts, so put them together";
pub(super) const NOT_A_STRING: &str = "must be a string";
pub(super) const NOT_A_NUMBER: &str = "must be a number";
pub(super) const NOT_MATCHERS: &str = "must be a list of matchers";
pub(super) const NOT_A_MATCHER: &str = "must be a matcher with a list of hooks, each with its `type`, such as `{\"type\": \"command\", \"command\": \"…\"}`";
pub(super) const SPELLED_MODE: &str = "is spelled as Claude does not read it; write `default`, `acceptEdits`, `plan`, `auto`, `dontAsk` or \
     `bypassPermissions`";
pub(super) const BROKEN_POLICY: &str = "cannot be read completely, so `auto` and `bypassPermissions` are not \
                                        available until this managed file is repaired";

/// A problem in one line.
pub(super) fn problem(problem: &SettingsProblem) -> String {
    let file = in_backticks(&problem.file.display().to_string(), usize::MAX);
    let line = problem
        .line
        .map(|line| format!(", line {line}"))
        .unwrap_or_default();
    let column = problem
        .column
        .map(|column| format!(", column {column}"))
        .unwrap_or_default();
    let key = problem
        .key
        .as_deref()
        .map(|key| format!("`{key}` "))
        .unwrap_or_default();
    format!("{file}{line}{column}: {key}{}", problem.message)
}

/// The name of a setting below `parent`.
pub(super) fn member(parent: &str, name: &str) -> String {
    format!("{parent}.{}", quoted(name, MAX_QUOTE))
}

/// The name of an element of the list `parent`.
pub(super) fn element(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// The JSON is broken; `reason` is the parser's.
pub(super) fn broken(reason: &serde_json::Error) -> String {
    if reason.is_eof() {
        return "ends too early, so nothing of this file counts; complete its JSON".to_owned();
    }
    let reason = reason.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    format!("is not valid JSON from here on ({reason}), so nothing of this file counts; correct it")
}

/// A setting that costs the whole file.
pub(super) fn refused(message: &str, managed: bool) -> String {
    if managed {
        return message.to_owned();
    }
    format!("{message}; until then Claude takes nothing from this file, deny rules included")
}

/// The name of a setting with the object that it stands in.
pub(super) fn below(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        quoted(name, MAX_QUOTE)
    } else {
        member(parent, name)
    }
}

/// A name that is hardly meant so.
pub(super) fn unknown_name(meant: &str) -> String {
    format!("is no setting, so it says nothing; did you mean `{meant}`?")
}

/// A default mode that is none.
pub(super) fn unknown_mode(value: Option<&str>) -> String {
    let modes = PermissionMode::ALL.map(|mode| format!("`{mode}`")).join(", ");
    let given = value
        .map(|value| format!(", not {}", in_backticks(value, MAX_QUOTE)))
        .unwrap_or_default();
    format!("must be one of {modes}{given}")
}

/// A default mode that a repository may not choose.
pub(super) fn untrusted_mode(mode: PermissionMode) -> String {
    format!(
        "is `{mode}`, which a project's shared settings may not choose; to start in it, set it in your own settings or \
         in `.claude/settings.local.json`"
    )
}

/// `bypassPermissions` for root.
pub(super) const BYPASS_AS_ROOT: &str = "is `bypassPermissions`, which is not available to root outside a sandbox; the \
                                         session starts in `default`";
/// `bypassPermissions` against the client.
pub(super) const BYPASS_OPTED_OUT: &str =
    "is `bypassPermissions`, which this client does not allow; the session starts in `default`";
/// `auto` with a model that lacks it.
pub(super) const AUTO_UNSUPPORTED: &str =
    "is `auto`, which the current model does not support; the session starts in `acceptEdits`";

/// A mode that Claude does not start in.
pub(super) fn refused_mode(named: PermissionMode, started: PermissionMode) -> String {
    format!("is `{named}`, which Claude does not have here; the session starts in `{started}`")
}

/// A mode that settings disable.
pub(super) fn disabled_mode(mode: PermissionMode, by: &Origin) -> String {
    let file = in_backticks(&by.file.display().to_string(), usize::MAX);
    let line = by.line;
    format!("is `{mode}`, which {file}, line {line}, disables; the session starts in `default`")
}

/// `text` in backticks, made safe to show, at most `max` characters of it.
fn in_backticks(text: &str, max: usize) -> String {
    format!("`{}`", quoted(text, max))
}
