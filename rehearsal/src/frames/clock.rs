//! Turns the engine's own time into the time of day that frames show.
//!
//! Place in the flow: used by `outbox`. The engine is given its start as a number, so that it stays pure.

use std::time::Duration;

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
        let wall_ms = self.wall_ms(now);
        let (days, ms_of_day) = (wall_ms / 86_400_000, wall_ms % 86_400_000);
        let (year, month, day) = civil(days);
        let (hour, minute) = (ms_of_day / 3_600_000, ms_of_day / 60_000 % 60);
        let (second, ms) = (ms_of_day / 1000 % 60, ms_of_day % 1000);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01: years are counted from 1 March, so that the leap day is the
/// last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_EPOCH: u64 = 719_468;
    let shifted = days + DAYS_TO_EPOCH;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
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
