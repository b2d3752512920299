//! Turns the engine's own time into the time of day that frames show.
//!
//! Place in the flow: used by `outbox`. The engine is given its start as a number, so that it stays pure.

use std::time::Duration;

use jiff::Timestamp;

/// When the engine started, in time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Milliseconds between the Unix epoch and the start of the engine.
    pub start_ms: u64,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn system() -> Self {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            start_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        }
    }

    pub(crate) fn wall_ms(self, now: Duration) -> u64 {
        self.start_ms
            .saturating_add(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }

    /// The time of day as in `2026-11-30T10:49:14.881Z`.
    pub(crate) fn timestamp(self, now: Duration) -> String {
        let ms = i64::try_from(self.wall_ms(now)).unwrap_or(i64::MAX);
        let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
        format!("{time:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_dates() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_123, "2000-02-29T00:00:00.123Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_796_035_754_881, "2026-11-30T10:49:14.881Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Clock { start_ms: ms }.timestamp(Duration::ZERO), expected);
        }
    }
}
