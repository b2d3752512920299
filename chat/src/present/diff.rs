//! A file change as a unified diff. Pure; the agent's texts are sanitized line by line.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::style::Style;
use super::{sanitize, wording};
use acp_proto::schema::Diff;

/// Above this many lines on either side a line-by-line comparison is not worth its time on a terminal.
const COMPARED_LINES: usize = 20_000;
/// Then what is left to compare counts as changed.
const COMPARING: Duration = Duration::from_millis(200);
const CONTEXT_LINES: usize = 3;

/// The diff as lines without indentation, at most `limit` of them plus one that says how many were left out.
pub(crate) fn lines(diff: &Diff, style: Style, limit: usize) -> Vec<String> {
    let path = sanitize::line(&diff.path.to_string_lossy());
    let mut lines = vec![match &diff.old_text {
        None => style.bold(&wording::diff_new_file(&path)),
        Some(_) => style.bold(&wording::diff_changed_file(&path)),
    }];
    let old = diff.old_text.as_deref().unwrap_or_default();
    if old.lines().count().max(diff.new_text.lines().count()) > COMPARED_LINES {
        lines.push(wording::diff_too_large(
            old.lines().count(),
            diff.new_text.lines().count(),
        ));
        return lines;
    }
    let mut changes = change_lines(old, &diff.new_text, style);
    let left_out = changes.len().saturating_sub(limit);
    changes.truncate(limit);
    lines.extend(changes);
    if left_out > 0 {
        lines.push(style.dim(&wording::more_lines(left_out)));
    }
    lines
}

fn change_lines(old: &str, new: &str, style: Style) -> Vec<String> {
    let comparison = TextDiff::configure().timeout(COMPARING).diff_lines(old, new);
    let mut lines = Vec::new();
    for (number, group) in comparison.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if number > 0 {
            lines.push(style.cyan("@@"));
        }
        for change in group.iter().flat_map(|op| comparison.iter_changes(op)) {
            let text = sanitize::block(change.value().trim_end_matches(['\n', '\r'])).into_owned();
            lines.push(match change.tag() {
                ChangeTag::Equal => format!(" {text}"),
                ChangeTag::Delete => style.red(&format!("-{text}")),
                ChangeTag::Insert => style.green(&format!("+{text}")),
            });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: Option<&str>, new: &str, limit: usize) -> String {
        let diff = Diff::new("src/a.rs", new).old_text(old.map(str::to_owned));
        lines(&diff, Style::Plain, limit).join("\n")
    }

    #[test]
    fn a_new_file_is_all_additions() {
        insta::assert_snapshot!(check(None, "one\ntwo\n", 10), @r"
        new file src/a.rs
        +one
        +two
        ");
    }

    #[test]
    fn distant_changes_are_separate_hunks_with_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\nTWO\n3\n4\n5\n6\n7\n8\n9\n10\nELEVEN\n12\n";
        insta::assert_snapshot!(check(Some(old), new, 40));
    }

    #[test]
    fn a_long_diff_says_how_much_is_left_out() {
        insta::assert_snapshot!(check(None, "1\n2\n3\n4\n5\n", 2), @r"
        new file src/a.rs
        +1
        +2
        … 3 more lines
        ");
    }

    #[test]
    fn an_enormous_file_is_only_counted() {
        let huge = "x\n".repeat(COMPARED_LINES + 1);
        insta::assert_snapshot!(check(Some("y\n"), &huge, 10), @r"
        changed src/a.rs
        1 line before, 20001 lines after: too large to show
        ");
    }

    #[test]
    fn escape_sequences_in_a_file_are_neutralised() {
        let shown = check(Some("a\n"), "\u{1b}[2Ja\n", 10);
        assert!(shown.contains("+␛[2Ja") && !shown.contains('\u{1b}'), "{shown}");
    }
}
