//! What a session has cost, from the counts of Claude's processes.
//!
//! Claude reports a running total: it goes on when a conversation is resumed, unless the process before was killed, and
//! starts again at zero with `/clear` and with a new conversation. The account never goes back. Pure.

use claude_sdk_bridge::messages::ResultMessage;
use serde_json::Number;

/// Totals differ by less than this only because they are sums of fractions.
const NOISE: f64 = 1e-9;

/// No session costs that much; a number like it is an error.
const ABSURD: f64 = 1e9;

/// The cost of a session, in US dollars.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// What the totals came to that have started again.
    closed: f64,
    /// Claude's running total; `None` before the first result since the last close.
    running: Option<f64>,
}

impl Account {
    /// The cost so far; `None` until Claude says.
    pub(super) fn total(&self) -> Option<f64> {
        match self.running {
            Some(running) => Some(self.closed + running),
            None => (self.closed > 0.0).then_some(self.closed),
        }
    }

    /// The next total is another conversation's and starts at zero.
    pub(super) fn close(&mut self) {
        self.closed += self.running.take().unwrap_or(0.0);
    }

    /// Takes the total of a result.
    pub(super) fn result(&mut self, result: &ResultMessage) {
        let added = added(result);
        let Some(total) = amount(result.total_cost_usd.get()) else {
            return;
        };
        if total == 0.0 && added.is_none() && self.running.is_some() {
            // The result of a process that could not even start counting.
            return;
        }
        let before = self.running.unwrap_or(0.0);
        // Where this total stood before the turn.
        let start = match added {
            Some(added) => (total - added).max(0.0),
            None if total + NOISE < before => 0.0,
            None => before,
        };
        if start + NOISE < before {
            self.closed += before - start;
            self.running = Some(total);
        } else {
            self.running = Some(total.max(before));
        }
    }
}

/// What the turn added to the total, where Claude says.
fn added(result: &ResultMessage) -> Option<f64> {
    let models = result.model_usage_since_last_result.get()?;
    models
        .values()
        .map(|usage| amount(usage.get()?.cost_usd.get()))
        .sum()
}

fn amount(number: Option<&Number>) -> Option<f64> {
    number
        .and_then(Number::as_f64)
        .filter(|amount| (0.0..ABSURD).contains(amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// What happens to an account.
    enum Step {
        /// A result with Claude's total, and what it says was added.
        Result(Value, Option<f64>),
        /// A fresh conversation in a new process.
        Close,
    }
    use Step::{Close, Result};

    fn result(total: f64, added: f64) -> Step {
        Result(json!(total), Some(added))
    }

    fn check(what: &str, steps: &[Step], expected: &[Option<f64>]) {
        let mut account = Account::default();
        let mut totals = Vec::new();
        for step in steps {
            match step {
                Result(total, added) => {
                    let mut result = json!({"total_cost_usd": total});
                    if let Some(added) = added {
                        result["model_usage_since_last_result"] = json!({"claude-x": {"costUSD": added}});
                    }
                    account.result(&serde_json::from_value(result).unwrap());
                }
                Close => account.close(),
            }
            // Cents of cents, so that sums of fractions compare.
            totals.push(account.total().map(|total| (total * 10_000.0).round() / 10_000.0));
        }
        assert_eq!(totals, expected, "{what}");
    }

    #[test]
    fn the_cost_never_goes_back_and_never_counts_twice() {
        check("nothing yet", &[Close], &[None]);
        check("nothing spent", &[result(0.0, 0.0)], &[Some(0.0)]);
        check(
            "a running total",
            &[result(0.1, 0.1), result(0.3, 0.2)],
            &[Some(0.1), Some(0.3)],
        );
        check(
            "a loaded session",
            &[result(0.5, 0.1), result(0.6, 0.1)],
            &[Some(0.5), Some(0.6)],
        );
        check(
            "cleared: the total starts again",
            &[result(0.2, 0.2), result(0.0, 0.0), result(0.3, 0.3)],
            &[Some(0.2), Some(0.2), Some(0.5)],
        );
        check(
            "handed over to a fresh conversation, which costs more than the old one",
            &[result(0.2, 0.2), Close, result(0.3, 0.3), result(0.4, 0.1)],
            &[Some(0.2), Some(0.2), Some(0.5), Some(0.6)],
        );
        check(
            "killed, and resumed without its total",
            &[result(0.2, 0.2), result(0.5, 0.5)],
            &[Some(0.2), Some(0.7)],
        );
        check(
            "killed, and resumed with an older total",
            &[result(0.2, 0.2), result(0.3, 0.1), result(0.4, 0.2)],
            &[Some(0.2), Some(0.3), Some(0.5)],
        );
        check(
            "killed during a turn that was paid for",
            &[result(0.2, 0.2), result(0.5, 0.1)],
            &[Some(0.2), Some(0.5)],
        );
    }

    #[test]
    fn without_the_added_amount_a_smaller_total_has_started_again() {
        let total = |total: f64| Result(json!(total), None);
        check("on", &[total(0.1), total(0.3)], &[Some(0.1), Some(0.3)]);
        check("again", &[total(0.3), total(0.1)], &[Some(0.3), Some(0.4)]);
        check(
            "closed",
            &[total(0.1), Close, total(0.3)],
            &[Some(0.1), Some(0.1), Some(0.4)],
        );
        check(
            "a result that counts nothing",
            &[total(0.3), total(0.0), total(0.4)],
            &[Some(0.3), Some(0.3), Some(0.4)],
        );
    }

    #[test]
    fn odd_totals_do_not_count() {
        for odd in [json!(null), json!("1"), json!(-1), json!(1e300)] {
            check("first", &[Result(odd.clone(), Some(0.1))], &[None]);
            check(
                "later",
                &[result(0.2, 0.2), Result(odd, None)],
                &[Some(0.2), Some(0.2)],
            );
        }
        check(
            "an odd part",
            &[result(0.2, 0.2), result(0.3, -5.0)],
            &[Some(0.2), Some(0.3)],
        );
    }
}
