//! A file change as the lines of a unified diff, for a terminal and for what is exported. Must not style or clean them.

use std::time::Duration;

use acp_proto::schema::Diff;
use similar::{ChangeTag, TextDiff};

/// Above this many lines on either side a comparison costs more than it tells.
pub(super) const COMPARED_LINES: usize = 20_000;
/// Then what is left to compare counts as changed.
const COMPARING: Duration = Duration::from_millis(200);
const CONTEXT_LINES: usize = 3;

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It stands in both.
    Same,
    /// It stands in the old text only.
    Removed,
    /// It stands in the new text only.
    Added,
    /// No line: others that are the same are left out here.
    Gap,
}

/// There are too many lines to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyLines {
    /// In the old text.
    pub before: usize,
    /// In the new text.
    pub after: usize,
}

/// The lines of a diff, without their sign.
///
/// # Errors
/// When there are too many.
pub fn changes(diff: &Diff) -> Result<Vec<(Change, String)>, TooManyLines> {
    let old = diff.old_text.as_deref().unwrap_or_default();
    let (before, after) = (old.lines().count(), diff.new_text.lines().count());
    if before.max(after) > COMPARED_LINES {
        return Err(TooManyLines { before, after });
    }
    let comparison = TextDiff::configure()
        .timeout(COMPARING)
        .diff_lines(old, &diff.new_text);
    let mut lines = Vec::new();
    for (number, group) in comparison.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if number > 0 {
            lines.push((Change::Gap, "@@".to_owned()));
        }
        for change in group.iter().flat_map(|op| comparison.iter_changes(op)) {
            let kind = match change.tag() {
                ChangeTag::Equal => Change::Same,
                ChangeTag::Delete => Change::Removed,
                ChangeTag::Insert => Change::Added,
            };
            lines.push((kind, change.value().trim_end_matches(['\n', '\r']).to_owned()));
        }
    }
    Ok(lines)
}

impl Change {
    /// What stands in front of such a line.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Removed => "-",
            Self::Added => "+",
            Self::Gap => "",
        }
    }
}
