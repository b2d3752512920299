//! Where the engine's output is collected: lines for stdout, text for stderr, and what every frame carries.
//!
//! Place in the flow: `engine` fills it, whoever runs the engine empties it and writes it out in one go. Ids are
//! counted from a seed, so that the same run gives the same ids. It must not know what the frames mean.

use std::time::Duration;

use claude_sdk_bridge::messages::{ClaudeSessionId, MessageUuid};
use serde::Serialize;

use super::clock::Clock;

/// From this many waiting bytes on, the engine stops to let them be written.
const FULL_BYTES: usize = 48 * 1024;

/// The engine's output and the facts that stand on every frame.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// What is to be written to stdout.
    pub(crate) bytes: Vec<u8>,
    /// What is to be written to stderr.
    pub(crate) stderr: Vec<u8>,
    /// The session all frames belong to.
    pub(crate) session_id: ClaudeSessionId,
    uuid_prefix: String,
    uuids: u64,
    clock: Clock,
    now: Duration,
}

impl Outbox {
    pub(crate) fn new(session_id: ClaudeSessionId, seed: u64, clock: Clock) -> Self {
        let [a, b, c, d, e, f, g, h] = seed.to_be_bytes();
        let uuid_prefix = format!(
            "{a:02x}{b:02x}{c:02x}{d:02x}-{e:02x}{f:02x}-4{:01x}{g:02x}-8{:01x}{h:02x}-",
            g >> 4,
            h >> 4
        );
        Self {
            bytes: Vec::new(),
            stderr: Vec::new(),
            session_id,
            uuid_prefix,
            uuids: 0,
            clock,
            now: Duration::ZERO,
        }
    }

    /// Whether enough has been collected to be written first.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_BYTES
    }

    /// Moves the time on; `now` counts from the start of the engine.
    pub(crate) fn set_now(&mut self, now: Duration) {
        self.now = now;
    }

    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// Writes one line.
    pub(crate) fn send(&mut self, frame: &impl Serialize) {
        self.push_json(frame);
        self.bytes.push(b'\n');
    }

    /// Writes a value into the line that is being written.
    pub(crate) fn push_json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Writing into memory cannot fail: there are no maps with other keys than strings in a frame.
        if let Err(error) = serde_json::to_writer(&mut self.bytes, value) {
            tracing::error!(%error, "a frame of the rehearsal could not be written");
        }
    }

    /// Writes a line to stderr.
    pub(crate) fn write_stderr(&mut self, text: &str) {
        self.stderr.extend_from_slice(text.as_bytes());
        self.stderr.push(b'\n');
    }

    /// A new id for a frame.
    pub(crate) fn uuid(&mut self) -> MessageUuid {
        let mut text = self.uuid_prefix.clone();
        text.push_str(&format!("{:012x}", self.next_uuid()));
        MessageUuid::from(text)
    }

    /// Writes a new id for a frame right into the output, without allocating.
    pub(crate) fn push_uuid(&mut self) {
        let number = self.next_uuid();
        self.bytes.extend_from_slice(self.uuid_prefix.as_bytes());
        for shift in (0..12).rev() {
            let digit = (number >> (shift * 4)) & 0xf;
            let digit = u8::try_from(digit).unwrap_or_default();
            self.bytes.push(if digit < 10 {
                b'0' + digit
            } else {
                b'a' + digit - 10
            });
        }
    }

    /// The time of day, as frames spell it.
    pub(crate) fn timestamp(&self) -> String {
        self.clock.timestamp(self.now)
    }

    /// Milliseconds since the Unix epoch.
    pub(crate) fn wall_ms(&self) -> u64 {
        self.clock.wall_ms(self.now)
    }

    fn next_uuid(&mut self) -> u64 {
        self.uuids += 1;
        self.uuids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_both_ways_of_making_one_agree() {
        let mut outbox = Outbox::new("s".into(), 0x0123_4567_89ab_cdef, Clock::default());
        let mut other = Outbox::new("s".into(), 0x0123_4567_89ab_cdef, Clock::default());
        for _ in 0..300 {
            let id = outbox.uuid();
            assert!(
                uuid::Uuid::parse_str(id.as_str()).is_ok_and(|id| id.get_version_num() == 4),
                "{id}"
            );
            other.bytes.clear();
            other.push_uuid();
            assert_eq!(other.bytes, id.as_str().as_bytes());
        }
    }
}
