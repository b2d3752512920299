//! Every sentence about hooks that a model, a user or a log reads.
//!
//! Place in the flow: outcomes and problems of hooks take their words from here.

use crate::safe_text::quoted;
use crate::settings::Origin;

/// The longest output of a hook that is quoted, in characters.
const MAX_QUOTE: usize = 200;
/// The longest reason that a hook which failed gives, in characters.
const MAX_REASON: usize = 2_000;

pub(super) const HOOK_TIMED_OUT: &str = "a hook took too long and was ended; the call goes on without it";
pub(super) const HOOK_OVERFLOWED: &str = "a hook wrote too much, so its decision cannot be trusted";
pub(super) const HOOK_DENIED: &str = "a hook denied the call and gave no reason";
pub(super) const HOOK_ASKED: &str = "a hook wants the user to be asked";
pub(super) const HOOK_BAD_JSON: &str = "a hook's output begins like JSON and is not a JSON object";
pub(super) const HOOK_BAD_DECISION: &str = "a hook's `permissionDecision` is not one of `allow`, `deny` and `ask`, or its `decision` neither `approve` nor `block`";
pub(super) const HOOK_BAD_INPUT: &str = "a hook's `updatedInput` is not one JSON object";
pub(super) const HOOK_BAD_OUTPUT: &str =
    "a hook's `hookSpecificOutput` is not an object about the event `PreToolUse`";
pub(super) const HOOK_FEEDBACK: &str = "a hook objects to the result and gives no reason";
pub(super) const HOOK_UNUSABLE: &str = "is not one that can be run, so it denies what it matches; give it the type \
                                        `command` and a command";
pub(super) const HOOK_UNUSABLE_BY_US: &str =
    "is none that can be run here; give it the type `command` and a command";
pub(super) const HOOK_BAD_MATCHER: &str = "has a matcher that is neither a name, nor names joined by `|`, nor a regular expression, so it matches every tool";
pub(super) const HOOK_BAD_MATCHER_OF_CLAUDE: &str =
    "has a matcher that is neither a list of names nor a regular expression, so it matches no tool";

/// Something wrong in a hook's configuration, in one line.
pub(super) fn hook_problem(origin: &Origin, message: &str) -> String {
    format!("{}: a hook {message}", origin.place())
}

/// A hook that did not run.
pub(super) fn hook_failed(why: &str) -> String {
    format!("a hook did not run: {why}")
}

/// A hook that ended with an exit code that means nothing, with what it printed.
pub(super) fn hook_exit(code: i32, printed: Option<&str>) -> String {
    let reason = printed.map(|text| format!(": {}", cut(text, MAX_REASON)));
    format!("a hook ended with exit code {code}{}", reason.unwrap_or_default())
}

/// Output that is no decision.
pub(super) fn hook_said(text: &str) -> String {
    let text = quoted(text, MAX_QUOTE);
    format!("a hook's output is neither empty, nor `DENY:`, nor JSON: `{text}`")
}

/// A field that nobody reads.
pub(super) fn hook_unknown_field(name: &str) -> String {
    let name = quoted(name, MAX_QUOTE);
    format!("a hook's output has the field `{name}`, which decides nothing")
}

/// A reason for no decision.
pub(super) fn hook_undecided(reason: &str, decision: &str) -> String {
    format!("a hook's output has a `{reason}`, but no `{decision}`")
}

fn cut(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if text.chars().nth(most).is_some() {
        cut.push('…');
    }
    cut
}
