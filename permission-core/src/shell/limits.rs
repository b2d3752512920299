//! What must not reach the grammar's reader: it overflows the stack on deep nesting, takes exponential time on some
//! unfinished constructs, and does not come back from a few others.
//!
//! Place in the flow: before `grammar`. Every limit here answers a fault that was observed; what is refused is read
//! coarsely. Must stay stricter than any reading of the text: quotes are not understood here.

use super::{Doubt, cut};

/// The longest text that is parsed, in bytes.
const MAX_BYTES: usize = 32 * 1024;
/// The most characters and words that may open a level.
const MAX_OPENERS: usize = 50;
/// The same where backtracking multiplies with every level.
const MAX_RISKY_OPENERS: usize = 8;

/// Words that open a level.
const KEYWORDS: [&str; 10] = [
    "if", "for", "while", "until", "case", "select", "function", "do", "coproc", "elif",
];

/// Whether the text may be parsed.
pub(super) fn check(text: &str) -> Result<(), Doubt> {
    if text.len() > MAX_BYTES {
        return Err(Doubt::TooLong);
    }
    if !cut::here_documents_end(text) {
        return Err(Doubt::HereDocument);
    }
    // The reader joins continued lines before anything else.
    let joined = text.replace("\\\n", "");
    let openers = joined.matches(['(', '{', '[', '$']).count() + keywords(&joined, &KEYWORDS);
    if openers > MAX_OPENERS {
        return Err(Doubt::TooDeep);
    }
    let risky = joined.matches(['(', '$', '`', '[']).count() + 2 * keywords(&joined, &["case"]);
    if risky > MAX_RISKY_OPENERS && backtracks(&joined) {
        return Err(Doubt::TooDeep);
    }
    if joined.contains(is_forbidden) {
        return Err(Doubt::ControlCharacter);
    }
    if extended_globs(&joined) || huge_descriptor(&joined) || here_document_in_expansion(&joined) {
        return Err(Doubt::Unparsable);
    }
    Ok(())
}

/// Whether a person cannot see the character, or no shell takes it as a shell's text would.
pub(super) fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

fn is_forbidden(c: char) -> bool {
    // The marks of `cut` are ours: a text that has one of its own is refused before.
    is_control(c) && c != '\u{1}'
}

/// Constructs that the reader tries several ways, each time with all that they hold.
fn backtracks(text: &str) -> bool {
    let dense: String = text.split_whitespace().collect();
    let twice = dense.contains("((");
    let substitution = dense.contains("<(") || dense.contains(">(");
    twice || substitution || dense.contains("=~") || indexed(text) || keywords(text, &["case"]) > 0
}

/// `name[` where a word may begin: the index is read as arithmetic.
fn indexed(text: &str) -> bool {
    text.match_indices('[').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let start = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let begins_word = start.ends_with(|c: char| c.is_whitespace() || ";&|()<>=".contains(c));
        start.len() < before.len() && (start.is_empty() || begins_word)
    })
}

/// `!(…)` and its kin: a pattern or a command, depending on an option of the shell.
fn extended_globs(text: &str) -> bool {
    ["?(", "*(", "+(", "@(", "!("]
        .iter()
        .any(|glob| text.contains(glob))
}

/// A file descriptor that does not fit its type, before `<` or `>`.
fn huge_descriptor(text: &str) -> bool {
    text.split(['<', '>'])
        .any(|before| before.chars().rev().take_while(char::is_ascii_digit).count() > 9)
}

/// The reader panics on some here-documents inside `${…}`.
fn here_document_in_expansion(text: &str) -> bool {
    let plain = |rest: &str| {
        let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        name.starts_with('}')
    };
    text.contains("<<") && text.split("${").skip(1).any(|rest| !plain(rest))
}

fn keywords(text: &str, keywords: &[&str]) -> usize {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| keywords.contains(word))
        .count()
}
