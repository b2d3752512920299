//! Every sentence of `sessions`, on the terminal and in what it exports.

use std::fmt::Display;
use std::path::Path;

pub(super) const YOU: &str = "You";
pub(super) const CLAUDE: &str = "Claude";
pub(super) const THINKING: &str = "Thinking";
pub(super) const PLAN: &str = "Plan";
pub(super) const COMPACTED: &str =
    "The conversation was compacted: what is above is not before the model any more, but for a summary.";
pub(super) const COMPACTION_FAILED: &str = "Compacting the conversation failed.";
pub(super) const TIMELINE: &str = "Where the time went";
pub(super) const NOT_RUN: &str = "failed";
pub(super) const UNFINISHED: &str = "no result";
pub(super) const NEW_FILE: &str = "new file";
pub(super) const IDLE: &str = "idle";
pub(super) const MODEL: &str = "model";
pub(super) const TOOL: &str = "tools";
pub(super) const ASKED: &str = "questions to you, and their tools";

pub(super) const NONE_HERE: &str =
    "no conversations here; `claude-acp sessions list --all` shows those of other directories";
pub(super) const NONE: &str = "no conversations yet";

pub(super) fn no_id(id: &str) -> String {
    format!(
        "`{}` is no session id: take one from `claude-acp sessions list`",
        id.escape_debug()
    )
}

pub(super) fn unknown(id: &str) -> String {
    format!("there is no conversation `{id}`: `claude-acp sessions list --all` shows which there are")
}

pub(super) fn unreadable(path: &Path, error: &dyn Display) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

pub(super) fn claudes(path: &Path) -> String {
    format!(
        "`{}` is a file of Claude's own: choose another place",
        path.display()
    )
}

pub(super) fn unwritable(path: &Path, error: &dyn Display) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

pub(super) const NO_HOME: &str = "Claude's directory is not known: set HOME or CLAUDE_CONFIG_DIR";

pub(super) fn too_large(before: usize, after: usize) -> String {
    format!("{before} lines before, {after} after: too many to compare")
}

/// A length of time to the second, or to the tenth below ten of them.
pub(super) fn length(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, milliseconds % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}
