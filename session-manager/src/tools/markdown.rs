//! Markdown that survives its content, and the removal of what Claude's harness wrote for the model. Used by
//! every tool family; wording stands in `wording.rs`, not here.

/// `text` in a code fence longer than any run of backticks inside it, so that output cannot break out.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_backtick_run(text).max(2).saturating_add(1));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// `text` as inline code, by the same rule.
pub(crate) fn inline_code(text: &str) -> String {
    let ticks = "`".repeat(longest_backtick_run(text).saturating_add(1));
    let touches = text.starts_with('`') || text.ends_with('`') || text.is_empty();
    let pad = if touches { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// What a person should see of a tool result's text: without the error tags and the reminders that the harness
/// puts around it for the model. Only complete blocks at either end are removed, and at the end only those that
/// start a line; the same words in the middle are content (a file, a page) and stay visible.
pub(crate) fn for_people(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = without_reminder(rest).or_else(|| without_error_tags(rest)) {
        rest = shorter;
    }
    rest
}

fn without_reminder(text: &str) -> Option<&str> {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    if let Some((_, after)) = text
        .trim_start()
        .strip_prefix(OPEN)
        .and_then(|rest| rest.split_once(CLOSE))
    {
        return Some(after.trim_start_matches('\n'));
    }
    let (before, _) = text.trim_end().strip_suffix(CLOSE)?.rsplit_once(OPEN)?;
    (before.is_empty() || before.ends_with('\n')).then(|| before.trim_end())
}

fn without_error_tags(text: &str) -> Option<&str> {
    text.trim()
        .strip_prefix("<tool_use_error>")?
        .strip_suffix("</tool_use_error>")
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fences_are_longer_than_any_run_inside() {
        for (text, expected) in [
            ("plain", "```console\nplain\n```"),
            ("ends\n", "```console\nends\n```"),
            ("", "```console\n\n```"),
            (
                "a```b\n```\ncode\n```",
                "````console\na```b\n```\ncode\n```\n````",
            ),
            ("`````", "``````console\n`````\n``````"),
        ] {
            assert_eq!(fenced("console", text), expected);
        }
        assert_eq!(inline_code("a"), "`a`");
        assert_eq!(inline_code("a`b"), "``a`b``");
        assert_eq!(inline_code("`b"), "`` `b ``");
    }

    #[test]
    fn harness_tags_are_removed_only_around_the_text() {
        for (raw, shown) in [
            ("plain", "plain"),
            (
                "<tool_use_error>Error: No such tool available: X</tool_use_error>",
                "Error: No such tool available: X",
            ),
            ("<system-reminder>empty file</system-reminder>", ""),
            (
                "1\tone\n\n<system-reminder>\nbe careful\n</system-reminder>\n",
                "1\tone",
            ),
            ("<system-reminder>a</system-reminder>\nrest", "rest"),
            (
                "<tool_use_error>x</tool_use_error>\n<system-reminder>y</system-reminder>",
                "x",
            ),
            (
                "1\t<system-reminder>in the file</system-reminder>",
                "1\t<system-reminder>in the file</system-reminder>",
            ),
            (
                "a <system-reminder>x</system-reminder> b",
                "a <system-reminder>x</system-reminder> b",
            ),
            ("  indented\n", "  indented\n"),
        ] {
            assert_eq!(for_people(raw), shown, "{raw}");
        }
    }

    proptest! {
        #[test]
        fn no_content_closes_its_own_fence(text in "[`a\n\r ]{0,60}") {
            let out = fenced("", &text);
            let fence: String = out.chars().take_while(|c| *c == '`').collect();
            let body = out.strip_prefix(fence.as_str()).and_then(|rest| rest.strip_suffix(fence.as_str())).unwrap();
            prop_assert!(!body.contains(fence.as_str()));
            prop_assert!(body.contains(&text));
        }
    }
}
