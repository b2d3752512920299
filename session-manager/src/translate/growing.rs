//! The input of calls while the model writes it: what has been written, and when it is shown again. Time is an argument. A
//! whole input is shown anyway, so nothing waits for a clock.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::partial_json;

/// How often a call is shown again at most.
const INTERVAL: Duration = Duration::from_millis(300);
/// A longer input is shown when it is whole.
const MAX_BYTES: usize = 256 * 1024;

/// The inputs that are being written: those of one message of the main thread.
#[derive(Debug, Default)]
pub(super) struct Growing(Vec<Block>);

#[derive(Debug)]
struct Block {
    index: u64,
    /// The call.
    id: String,
    written: String,
    /// When it was last looked at, and how long it was then.
    shown: Option<(Instant, usize)>,
}

impl Growing {
    /// Another message begins.
    pub(super) fn restart(&mut self) {
        self.0.clear();
    }

    /// A call's block begins.
    pub(super) fn begin(&mut self, index: u64, id: &str) {
        self.0.push(Block {
            index,
            id: id.to_owned(),
            written: String::new(),
            shown: None,
        });
    }

    /// More of a block was written: the call and its input so far, where it is time to show it. Each time it has grown by a
    /// quarter at least, so that a long input is not sent over and over.
    pub(super) fn add(&mut self, index: u64, text: &str, now: Instant) -> Option<(&str, Value)> {
        let block = self.0.iter_mut().rev().find(|block| block.index == index)?;
        if block.written.len().saturating_add(text.len()) > MAX_BYTES {
            return None;
        }
        block.written.push_str(text);
        let length = block.written.len();
        let (at, before) = *block.shown.get_or_insert((now, 0));
        let grown = length.saturating_sub(before) > before.div_ceil(4);
        if !grown || now.saturating_duration_since(at) < INTERVAL {
            return None;
        }
        block.shown = Some((now, length));
        Some((&block.id, partial_json::read(&block.written)?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_input_is_shown_a_few_times_a_second_and_only_when_it_has_grown() {
        let start = Instant::now();
        let mut growing = Growing::default();
        growing.begin(1, "toolu_1");
        let mut shown = Vec::new();
        growing.add(1, "{\"content\": \"", start);
        for step in 1..=1000_u64 {
            let now = start + Duration::from_millis(10 * step);
            if let Some((id, input)) = growing.add(1, "0123456789", now) {
                assert_eq!(id, "toolu_1");
                shown.push((step, input["content"].as_str().unwrap().len()));
            }
        }
        assert!(
            shown.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 30),
            "{shown:?}"
        );
        assert_eq!(shown.first().unwrap(), &(30, 300));
        let sent: usize = shown.iter().map(|(_, length)| length).sum();
        assert!(sent < 5 * 10_000, "sent over and over: {sent}");
        assert!(shown.last().unwrap().1 > 7_500);
    }

    #[test]
    fn a_burst_is_left_to_the_whole_input_and_so_is_what_is_too_long() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        let mut growing = Growing::default();
        growing.begin(0, "a");
        assert_eq!(growing.add(0, "{\"x\": \"", now), None);
        assert_eq!(growing.add(0, "y", now), None);
        assert_eq!(growing.add(7, "of another block", later), None);
        assert_eq!(growing.add(0, &"z".repeat(MAX_BYTES), later), None);
        assert_eq!(growing.add(0, "y", later), Some(("a", json!({"x": "yy"}))));
        growing.restart();
        assert_eq!(growing.add(0, "more", later + Duration::from_secs(1)), None);
    }
}
