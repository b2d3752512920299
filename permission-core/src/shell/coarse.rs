//! Reads a text that no grammar reads, so that deny and ask rules still see what it may run.
//!
//! Place in the flow: `walk` and `runs` come here with what they cannot follow. Every word may begin a command; quotes
//! are read both as nothing and as borders. Must err on the side of finding too much.

use super::Unanalysable;
use super::word::{Piece, Word};

/// A longer text may run anything.
const MAX_BYTES: usize = 256 * 1024;

/// More words than this may run anything.
const MAX_WORDS: usize = 8_000;
/// A longer run of words is taken in pieces, half of each again in the next.
const MAX_RUN: usize = 64;

/// Adds the text's words to what was found.
pub(super) fn read(text: &str, found: &mut Unanalysable) {
    let mut left = MAX_WORDS.saturating_sub(found.seen.fragments.iter().map(Vec::len).sum());
    if text.len() > MAX_BYTES || left == 0 {
        found.anything = true;
        return;
    }
    let borders = |c: char| ";&|()<>{}`\n\r\0".contains(c);
    let more_borders = |c: char| borders(c) || "'\"=,\\:![]/".contains(c);
    for part in text.split(borders) {
        add(part, found, &mut left);
    }
    if text.contains(|c: char| more_borders(c) && !borders(c)) {
        for part in text.split(more_borders) {
            add(part, found, &mut left);
        }
    }
}

fn add(part: &str, found: &mut Unanalysable, left: &mut usize) {
    if *left == 0 {
        found.anything = true;
        return;
    }
    let words: Vec<Word> = part
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .map(word)
        .take(*left)
        .collect();
    if words.is_empty() || found.seen.fragments.last() == Some(&words) {
        return;
    }
    *left -= words.len();
    found.anything |= *left == 0;
    if words.len() <= MAX_RUN {
        found.seen.fragments.push(words);
        return;
    }
    let starts = (0..words.len()).step_by(MAX_RUN / 2);
    let pieces = starts.map(|at| words.iter().skip(at).take(MAX_RUN).cloned().collect());
    found.seen.fragments.extend(pieces);
}

fn word(raw: &str) -> Word {
    let mut word = Word {
        gap: " ".to_owned(),
        raw: raw.to_owned(),
        ..Word::default()
    };
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '\\' => {}
            '*' | '?' | '[' => word.push_piece(Piece::FileNames),
            '$' => {
                word.push_piece(Piece::Anything);
                // Escapes of `$'…'` are not followed.
                if chars.next_if(|c| matches!(c, '\'' | '"')).is_some() {
                    return word;
                }
                while chars.next_if(|c| c.is_alphanumeric() || *c == '_').is_some() {}
            }
            c => word.push(c),
        }
    }
    word
}
