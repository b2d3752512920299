//! Text from outside, made safe to show: what is a space, what is removed or escaped, how long a text may be.
//!
//! Place in the flow: whoever shows or quotes a file, a rule, a command or a sentence of Claude's. Where a client shows it, a
//! text is cleaned: lengths count UTF-16 units and spaces are the ones a JavaScript `trim` knows, so that both ends of the
//! protocol agree, and a text over its limit is left out, because half a sentence misleads. In a sentence of ours it is
//! quoted: nothing in it can hide, or turn the line around.

/// The longest compact text.
const MAX_COMPACT: usize = 160;

/// The length in UTF-16 units.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// A space as JavaScript's `trim` and `\s` see it: Unicode white space, without NEL, with the byte order mark.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Without the spaces at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// A control character that no shown text may hold. TAB, LF and CR are spaces.
pub(crate) fn is_removed_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}')
}

/// One line of at most 160 units.
pub(crate) fn compact(text: &str) -> Option<String> {
    single_line(text, MAX_COMPACT)
}

/// One line: controls removed, every run of spaces one blank.
pub(crate) fn single_line(text: &str, max: usize) -> Option<String> {
    let stripped = without_controls(text);
    let words: Vec<&str> = stripped.split(is_space).filter(|word| !word.is_empty()).collect();
    within(words.join(" "), max)
}

/// Several lines: controls removed, ends trimmed.
pub(crate) fn multi_line(text: &str, max: usize) -> Option<String> {
    within(trim(&without_controls(text)).to_owned(), max)
}

fn without_controls(text: &str) -> String {
    text.chars().filter(|&c| !is_removed_control(c)).collect()
}

fn within(text: String, max: usize) -> Option<String> {
    (!text.is_empty() && utf16_len(&text) <= max).then_some(text)
}

/// The text with everything escaped that would not show, so that nothing can hide or turn the line around.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// The same, of at most so many characters.
pub(crate) fn quoted(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", visible(text.get(..end).unwrap_or_default())),
        None => visible(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_no_controls_and_single_blanks() {
        let rows = [
            (" a\t b\r\n c ", Some("a b c")),
            ("a\u{1b}[31mb\u{7f}", Some("a[31mb")),
            ("a\u{feff}\u{a0}b", Some("a b")),
            ("a\u{85}b", Some("a\u{85}b")),
            ("\u{7} \n", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(single_line(text, 100).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn several_lines_keep_their_inner_breaks() {
        assert_eq!(
            multi_line("\n a\n\n  b\u{0}c \n", 100).as_deref(),
            Some("a\n\n  bc")
        );
        assert_eq!(multi_line(" \u{b} ", 100), None);
    }

    #[test]
    fn a_text_over_its_limit_is_left_out_and_never_cut() {
        assert_eq!(compact(&"x".repeat(160)).map(|text| text.len()), Some(160));
        assert_eq!(compact(&"x".repeat(161)), None);
        assert_eq!(compact(&"\u{1f600}".repeat(81)), None, "counted in UTF-16 units");
        assert_eq!(multi_line("\u{e9}\u{e9}", 2).as_deref(), Some("\u{e9}\u{e9}"));
        assert_eq!(multi_line("abc", 2), None);
    }
}
