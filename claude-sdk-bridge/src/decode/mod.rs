//! One line from Claude to one value: the first half of the hot path.
//!
//! Text, thinking and tool-input deltas are parsed once into ranges of the line (`hot`) and never become a tree;
//! everything else goes through the typed, tolerant parser (`cold`). A line that is no JSON costs that line. Nothing
//! here waits, keeps state, or decides.

mod cold;
mod delta;
mod hot;
mod surrogates;

use bytes::Bytes;

use crate::messages::Message;

pub(crate) use cold::parse;
pub use delta::{DeltaKind, DeltaLine};
pub(crate) use surrogates::sound;

/// What a line from Claude is.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// A piece of text, thinking or tool input.
    Delta(DeltaLine),
    /// Any other message, also of an unknown kind.
    Message(Box<Message>),
    /// Not JSON.
    Garbage {
        /// The first characters of the line, for a log.
        line_start: String,
        /// What is wrong with it.
        error: String,
    },
}

/// Reads one line, with or without its line end. Never fails and never panics.
pub fn decode(line: Bytes) -> Decoded {
    match hot::delta(&line) {
        Some(spans) => Decoded::Delta(DeltaLine::of_line(line, spans)),
        None => cold::decode(&line),
    }
}

#[cfg(test)]
mod tests;
