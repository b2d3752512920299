//! A file change as the lines of a unified diff.

use acp_proto::schema::Diff;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::wording;

/// Above this many lines on either side a comparison costs more than it tells.
const COMPARED_LINES: usize = 20_000;
/// Then what is left to compare counts as changed.
const COMPARING: Duration = Duration::from_millis(200);
const CONTEXT_LINES: usize = 3;

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Same,
    Removed,
    Added,
    /// Something about the lines.
    Remark,
}

/// The lines of a diff, without their sign.
pub(super) fn lines(diff: &Diff) -> Vec<(Change, String)> {
    let old = diff.old_text.as_deref().unwrap_or_default();
    let (before, after) = (old.lines().count(), diff.new_text.lines().count());
    if before.max(after) > COMPARED_LINES {
        return vec![(Change::Remark, wording::too_large(before, after))];
    }
    let comparison = TextDiff::configure()
        .timeout(COMPARING)
        .diff_lines(old, &diff.new_text);
    let mut lines = Vec::new();
    for (number, group) in comparison.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if number > 0 {
            lines.push((Change::Remark, "@@".to_owned()));
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
    lines
}

impl Change {
    /// What stands in front of such a line.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Removed => "-",
            Self::Added => "+",
            Self::Remark => "",
        }
    }
}
