//! What an edit changed, as hosts show it: one run of lines with some context.
//!
//! Place in the flow: `files` puts it into the structured results of Write and Edit. From the first line that differs to the
//! last one that does; what is alike in between stands in it as it is.

use serde_json::{Value, json};

const CONTEXT_LINES: usize = 3;

/// The change from one text to another, in the CLI's form.
pub(super) fn structured(before: &str, after: &str) -> Value {
    if before == after {
        return json!([]);
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let alike = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let head = alike(&mut old.iter().zip(&new));
    let shortest = old.len().min(new.len()) - head;
    let tail = alike(&mut old.iter().rev().zip(new.iter().rev())).min(shortest);
    let start = head.saturating_sub(CONTEXT_LINES);
    let after_tail = CONTEXT_LINES.min(tail);
    let part = |lines: &[&str], from: usize, to: usize, mark: char| -> Vec<String> {
        let lines = lines.get(from..to).unwrap_or_default();
        lines.iter().map(|line| format!("{mark}{line}")).collect()
    };
    let mut lines = part(&old, start, head, ' ');
    lines.extend(part(&old, head, old.len() - tail, '-'));
    lines.extend(part(&new, head, new.len() - tail, '+'));
    lines.extend(part(&old, old.len() - tail, old.len() - tail + after_tail, ' '));
    json!([{
        "oldStart": start + 1, "oldLines": old.len() - tail + after_tail - start,
        "newStart": start + 1, "newLines": new.len() - tail + after_tail - start,
        "lines": lines,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let lines = |before: &str, after: &str| {
            let patch = structured(before, after);
            let hunk = &patch[0];
            let text = |key: &str| hunk[key].to_string();
            format!(
                "-{},{} +{},{} {}",
                text("oldStart"),
                text("oldLines"),
                text("newStart"),
                text("newLines"),
                hunk["lines"]
            )
        };
        assert_eq!(
            lines("one\ntwo\nthree\n", "one\n2\nthree\n"),
            r#"-1,3 +1,3 [" one","-two","+2"," three"]"#
        );
        assert_eq!(lines("", "a\n"), r#"-1,0 +1,1 ["+a"]"#);
        assert_eq!(lines("a\na\n", "a\na\na\n"), r#"-1,2 +1,3 [" a"," a","+a"]"#);
        assert_eq!(
            lines("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n6\n7\n8\n9\n"),
            r#"-2,7 +2,6 [" 2"," 3"," 4","-5"," 6"," 7"," 8"]"#
        );
        assert_eq!(structured("a", "a"), json!([]));
    }
}
