//! Patterns in which `*` stands for any text, and whether they can meet a text of which only parts are known.
//!
//! Place in the flow: rules about commands, tool names and paths are compared here. Must not know what is compared.

/// One position of a pattern, or of a text that is known in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyph {
    /// This character.
    Char(char),
    /// Any one character.
    One,
    /// Any text without a slash, also none.
    Name,
    /// Any text, also none.
    Run,
}

impl Glyph {
    fn may_be_empty(self) -> bool {
        match self {
            Self::Run | Self::Name => true,
            Self::Char(_) | Self::One => false,
        }
    }
}

/// More steps than this are not compared: then the two may meet.
const MAX_CELLS: usize = 4_000_000;

/// Whether some text fits both. What is too long to tell fits.
pub(crate) fn may_meet(pattern: &[Glyph], text: &[Glyph]) -> bool {
    if pattern.len().saturating_mul(text.len()) > MAX_CELLS {
        return true;
    }
    // row[j]: the pattern read so far can meet the first j glyphs of the text.
    let mut row: Vec<bool> = Vec::with_capacity(text.len() + 1);
    row.push(true);
    for glyph in text {
        let reachable = row.last().copied().unwrap_or(false) && glyph.may_be_empty();
        row.push(reachable);
    }
    for expected in pattern {
        let mut next: Vec<bool> = Vec::with_capacity(row.len());
        next.push(row.first().copied().unwrap_or(false) && expected.may_be_empty());
        for (glyph, (before, above)) in text.iter().zip(row.iter().zip(row.iter().skip(1))) {
            let left = next.last().copied().unwrap_or(false);
            let meets = match (expected, glyph) {
                (Glyph::Name, Glyph::Char('/')) => *above,
                (Glyph::Char('/'), Glyph::Name) => left,
                (Glyph::Run | Glyph::Name, _) | (_, Glyph::Run | Glyph::Name) => *above || left || *before,
                (Glyph::One, _) | (_, Glyph::One) => *before,
                (Glyph::Char(a), Glyph::Char(b)) => *before && a == b,
            };
            next.push(meets);
        }
        row = next;
    }
    row.last().copied().unwrap_or(false)
}

/// Whether the whole of a known text fits the pattern.
pub(crate) fn fits(pattern: &[Glyph], text: &str) -> bool {
    let text: Vec<Glyph> = text.chars().map(Glyph::Char).collect();
    pattern.len().saturating_mul(text.len()) <= MAX_CELLS && may_meet(pattern, &text)
}

/// `*` as any text, everything else as itself.
pub(crate) fn stars(pattern: &str) -> Vec<Glyph> {
    let glyph = |c| if c == '*' { Glyph::Run } else { Glyph::Char(c) };
    pattern.chars().map(glyph).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_what_it_spells() {
        let rows = [
            ("rm *", "rm a b", true),
            ("rm *", "rm", false),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("git * main", "git push origin main", true),
            ("", "", true),
            ("", "a", false),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(fits(&stars(pattern), text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn two_patterns_meet_where_some_text_fits_both() {
        let rows = [
            ("rm *", "* a", true),
            ("rm *", "*m a", true),
            ("rm *", "*x", true),
            ("rm", "*x", false),
            ("rm *", "ls*", false),
            ("*.env", "a*.rs", false),
            ("", "*", true),
            ("ab", "a*b*", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(
                may_meet(&stars(pattern), &stars(text)),
                expected,
                "{pattern} {text}"
            );
            assert_eq!(
                may_meet(&stars(text), &stars(pattern)),
                expected,
                "{text} {pattern}"
            );
        }
    }

    #[test]
    fn a_name_has_no_slash() {
        let name = |text: &str| -> Vec<Glyph> {
            let glyph = |c| if c == '*' { Glyph::Name } else { Glyph::Char(c) };
            text.chars().map(glyph).collect()
        };
        let rows = [
            ("/a/*", "/a/b", true),
            ("/a/*", "/a/b/c", false),
            ("/a/*", "/a/", true),
            ("/*/c", "/b/*", true),
            ("/*.rs", "/a/*.rs", false),
            ("*a", "*/a", false),
            ("*/a", "*/*a", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(
                may_meet(&name(pattern), &name(text)),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn what_is_too_long_to_compare_may_meet_and_does_not_fit() {
        let long = "x".repeat(3_000);
        assert!(may_meet(&stars(&long), &stars(&"y".repeat(3_000))));
        assert!(!fits(&stars(&long), &long));
    }
}
