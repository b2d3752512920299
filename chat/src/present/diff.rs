//! A file change as a unified diff. Pure; the agent's texts are sanitized line by line.

use super::changes::{Change, TooManyLines, changes};
use super::style::Style;
use super::{sanitize, wording};
use acp_proto::schema::Diff;

/// The diff as lines without indentation, at most `limit` of them plus one that says how many were left out.
pub(crate) fn lines(diff: &Diff, style: Style, limit: usize) -> Vec<String> {
    let path = sanitize::line(&diff.path.to_string_lossy());
    let mut lines = vec![match &diff.old_text {
        None => style.bold(&wording::diff_new_file(&path)),
        Some(_) => style.bold(&wording::diff_changed_file(&path)),
    }];
    let mut changes = match changes(diff) {
        Ok(changes) => changes,
        Err(TooManyLines { before, after }) => {
            lines.push(wording::diff_too_large(before, after));
            return lines;
        }
    };
    let left_out = changes.len().saturating_sub(limit);
    changes.truncate(limit);
    lines.extend(changes.iter().map(|(change, text)| line(*change, text, style)));
    if left_out > 0 {
        lines.push(style.dim(&wording::more_lines(left_out)));
    }
    lines
}

fn line(change: Change, text: &str, style: Style) -> String {
    let text = format!("{}{}", change.sign(), sanitize::block(text));
    match change {
        Change::Same => text,
        Change::Removed => style.red(&text),
        Change::Added => style.green(&text),
        Change::Gap => style.cyan(&text),
    }
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
        let huge = "x\n".repeat(super::super::changes::COMPARED_LINES + 1);
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
