//! Where the time of a conversation went: its moments as spans, and what each kind of span comes to.

use super::conversation::{Moment, Span};

/// A stretch of time with one thing going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) span: Span,
    pub(super) milliseconds: i64,
    /// The item that it ended with.
    pub(super) item: usize,
}

/// The stretches of time, in order. What took no time is left out, what goes on is one.
pub(super) fn stretches(moments: &[Moment]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for pair in moments.windows(2) {
        let [before, moment] = pair else { continue };
        // Times in a transcript are not always in order.
        let milliseconds = moment.at.as_millisecond() - before.at.as_millisecond();
        if milliseconds <= 0 {
            continue;
        }
        match stretches.last_mut() {
            Some(last) if last.span == moment.ended && last.item == moment.item => {
                last.milliseconds += milliseconds;
            }
            _ => stretches.push(Stretch {
                span: moment.ended,
                milliseconds,
                item: moment.item,
            }),
        }
    }
    stretches
}

/// What each kind of span comes to, in a fixed order; kinds without time are left out.
pub(super) fn totals(stretches: &[Stretch]) -> Vec<(Span, i64)> {
    [Span::Model, Span::Tool, Span::Asked, Span::Idle]
        .into_iter()
        .map(|span| {
            let of_kind = stretches.iter().filter(|stretch| stretch.span == span);
            (span, of_kind.map(|stretch| stretch.milliseconds).sum())
        })
        .filter(|(_, milliseconds)| *milliseconds > 0)
        .collect()
}
