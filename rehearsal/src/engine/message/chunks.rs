//! The deltas of a block: a text that is cut into chunks while it is written, as often as asked.
//!
//! Place in the flow: `engine::message` drives it. This is the hot path: a delta is a few copies of bytes, and however
//! many there are, only the text is kept.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::frames::{DeltaKind, DeltaTemplate, Outbox};
use crate::script::{Chunk, Stream};

/// Into how many characters the CLI's test double cuts a tool's input.
const INPUT_CHARS: NonZeroU32 = match NonZeroU32::new(40) {
    Some(count) => count,
    None => NonZeroU32::MIN,
};

/// What is left of a block.
#[derive(Debug)]
pub(crate) struct Chunks {
    text: String,
    chunk: Chunk,
    /// How much of the text this round has written.
    at: usize,
    rounds_left: u32,
    delay: Duration,
    template: Option<DeltaTemplate>,
}

impl Chunks {
    pub(crate) fn of(stream: Stream, default_delay_ms: u64) -> Self {
        let delay = Duration::from_millis(stream.delay_ms.unwrap_or(default_delay_ms));
        let rounds_left = if stream.text.is_empty() {
            0
        } else {
            stream.repeat.get()
        };
        Self {
            text: stream.text,
            chunk: stream.chunk,
            at: 0,
            rounds_left,
            delay,
            template: None,
        }
    }

    pub(crate) fn of_input(text: String) -> Self {
        let chunk = Chunk::Chars(INPUT_CHARS);
        Self {
            text,
            chunk,
            at: 0,
            rounds_left: 1,
            delay: Duration::ZERO,
            template: None,
        }
    }

    /// Lets deltas be written, and not only be counted.
    pub(crate) fn prepare(&mut self, out: &Outbox, kind: DeltaKind, index: u64, message_id: &str) {
        self.template = Some(DeltaTemplate::new(out, kind, index, message_id));
    }

    /// Roughly how many tokens one round is.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        u64::try_from(self.text.chars().count().div_ceil(4)).unwrap_or(u64::MAX)
    }

    /// Writes the next delta, or as many as fit if there is no pause between them; says whether more are left.
    pub(crate) fn write(&mut self, out: &mut Outbox, written: &mut String) -> bool {
        while self.rounds_left > 0 {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let piece = rest.get(..first(rest, self.chunk)).unwrap_or(rest);
            if let Some(template) = &self.template {
                template.write(out, piece);
            }
            written.push_str(piece);
            self.at += piece.len();
            if self.at >= self.text.len() {
                self.at = 0;
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

/// How long the first piece of a text is.
fn first(text: &str, chunk: Chunk) -> usize {
    match chunk {
        Chunk::Whole => text.len(),
        Chunk::Words => text
            .split_inclusive(char::is_whitespace)
            .next()
            .map_or(0, str::len),
        Chunk::Chars(count) => {
            let count = usize::try_from(count.get()).unwrap_or(usize::MAX);
            text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Clock;

    #[track_caller]
    fn check(stream: &str, expected: &[&str]) {
        let stream: Stream = serde_json::from_str(stream).unwrap();
        let mut chunks = Chunks::of(stream, 0);
        let mut out = Outbox::new("s".into(), 1, Clock::default());
        chunks.delay = Duration::from_millis(1);
        let mut seen = Vec::new();
        loop {
            let mut written = String::new();
            let more = chunks.write(&mut out, &mut written);
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
