//! Reads a text that no grammar reads, so that deny and ask rules still see what it may run.
//!
//! Place in the flow: `walk` and `runs` come here with what they cannot follow. Every word may begin a command; quotes
//! are read both as nothing and as borders. Must err on the side of finding too much.

use super::{
    Unanalysable,
    word::{Piece, Word},
};

/// A longer text may run anything.
const MAX_BYTES: usize = 256 * 1024;

/// Adds the text's words to what was found.
pub(super) fn read(text: &str, found: &mut Unanalysable) {
    if text.len() > MAX_BYTES {
        found.anything = true;
        return;
    }
    let borders = |c: char| ";&|()<>{}`\n\r\0".contains(c);
    let more_borders = |c: char| borders(c) || "'\"=,\\:![]/".contains(c);
    for part in text.split(borders) {
        add(part, found);
    }
    if text.contains(|c: char| more_borders(c) && !borders(c)) {
        for part in text.split(more_borders) {
            add(part, found);
        }
    }
}

fn add(part: &str, found: &mut Unanalysable) {
    let words: Vec<Word> = part
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .map(word)
        .collect();
    if !words.is_empty() && found.seen.fragments.last() != Some(&words) {
        found.seen.fragments.push(words);
    }
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
