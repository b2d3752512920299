//! The deltas of a block: a text cut into pieces, each kept ready as a JSON string, written as often as asked.
//!
//! Place in the flow: `engine::blocks` drives it. This is the hot path: a delta is a few copies of bytes.

use std::time::Duration;

use crate::frames::{DeltaKind, DeltaTemplate, Outbox, literal};
use crate::script::{Chunk, Stream};

/// Into how many characters the CLI's test double cuts a tool's input.
const INPUT_CHARS: usize = 40;

/// What is left of a block.
#[derive(Debug)]
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    next: usize,
    rounds_left: u32,
    delay: Duration,
    template: Option<DeltaTemplate>,
}

#[derive(Debug)]
struct Piece {
    text: String,
    literal: String,
}

impl Pieces {
    pub(crate) fn of(stream: &Stream, default_delay_ms: u64) -> Self {
        let texts = match stream.chunk {
            Chunk::Whole => vec![stream.text.as_str()],
            Chunk::Words => stream.text.split_inclusive(char::is_whitespace).collect(),
            Chunk::Chars(count) => by_chars(&stream.text, usize::try_from(count.get()).unwrap_or(usize::MAX)),
        };
        let delay_ms = stream.delay_ms.unwrap_or(default_delay_ms);
        Self::new(texts, stream.repeat.get(), Duration::from_millis(delay_ms))
    }

    pub(crate) fn of_input(text: &str) -> Self {
        Self::new(by_chars(text, INPUT_CHARS), 1, Duration::ZERO)
    }

    fn new(texts: Vec<&str>, rounds: u32, delay: Duration) -> Self {
        let pieces: Vec<Piece> = texts
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| Piece {
                text: text.to_owned(),
                literal: literal(text),
            })
            .collect();
        let rounds_left = if pieces.is_empty() { 0 } else { rounds };
        Self {
            pieces,
            next: 0,
            rounds_left,
            delay,
            template: None,
        }
    }

    /// Lets deltas be written, and not only be counted.
    pub(crate) fn prepare(&mut self, out: &Outbox, kind: DeltaKind, index: u64, message_id: &str) {
        self.template = Some(DeltaTemplate::new(out, kind, index, message_id));
    }

    /// Roughly how many tokens one round is.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        let chars: usize = self.pieces.iter().map(|piece| piece.text.chars().count()).sum();
        u64::try_from(chars.div_ceil(4)).unwrap_or(u64::MAX)
    }

    /// Writes the next delta, or as many as fit if there is no pause between them; says whether more are left.
    pub(crate) fn write(&mut self, out: &mut Outbox, written: &mut String) -> bool {
        while self.rounds_left > 0 {
            let Some(piece) = self.pieces.get(self.next) else {
                break;
            };
            if let Some(template) = &self.template {
                template.write(out, &piece.literal);
            }
            written.push_str(&piece.text);
            self.next += 1;
            if self.next == self.pieces.len() {
                self.next = 0;
                self.rounds_left -= 1;
            }
            if !self.delay.is_zero() || out.is_full() {
                break;
            }
        }
        self.rounds_left > 0
    }

    /// The pause after what was just written.
    pub(crate) fn pause(&self) -> Option<Duration> {
        (!self.delay.is_zero()).then_some(self.delay)
    }
}

fn by_chars(text: &str, count: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((at, _)) = rest.char_indices().nth(count) {
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Clock;

    #[track_caller]
    fn check(stream: &str, expected: &[&str]) {
        let stream: Stream = serde_json::from_str(stream).unwrap();
        let mut pieces = Pieces::of(&stream, 0);
        let mut out = Outbox::new("s".into(), 1, Clock::default());
        pieces.delay = Duration::from_millis(1);
        let mut seen = Vec::new();
        loop {
            let mut written = String::new();
            let more = pieces.write(&mut out, &mut written);
            seen.extend((!written.is_empty()).then_some(written));
            if !more {
                break;
            }
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_text_is_cut_as_the_script_says() {
        check(
            r#"{"text":"one two  three\n"}"#,
            &["one ", "two ", " ", "three\n"],
        );
        check(
            r#"{"text":"one two","chunk":"whole","repeat":3}"#,
            &["one two", "one two", "one two"],
        );
        check(r#"{"text":"añb😀c","chunk":{"chars":2}}"#, &["añ", "b😀", "c"]);
        check(r#"{"text":""}"#, &[]);
        check(r#"{"text":"","repeat":4000000000}"#, &[]);
    }
}
