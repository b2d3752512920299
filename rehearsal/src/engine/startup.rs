//! Before anything is answered: sessions that cannot start, and the script's `startup` faults.
//!
//! Place in the flow: the first phase of an `Engine`. What the host writes meanwhile is held, and taken in order after.

use std::sync::Arc;
use std::time::Duration;

use super::turn::literal;
use crate::engine::{Engine, Input, Pace, Phase, Refusal};
use crate::frames::{self, text};
use crate::script::Step;

/// What came too early.
#[derive(Debug)]
pub(crate) enum Held {
    Line(Vec<u8>),
    EndOfInput,
    Interrupt,
}

impl Held {
    pub(crate) fn of(input: Input<'_>) -> Self {
        match input {
            Input::Line(line) => Self::Line(line.to_vec()),
            Input::EndOfInput => Self::EndOfInput,
            Input::Interrupt => Self::Interrupt,
        }
    }
}

impl Engine {
    /// Plays the next step before the first answer; `None` to go on.
    pub(crate) fn start(&mut self) -> Option<Pace> {
        if let Some(refusal) = self.core.setup.refusal {
            self.refuse(refusal);
            return None;
        }
        let script = Arc::clone(&self.core.script);
        let Phase::Starting { next, until, held } = &mut self.phase else {
            return None;
        };
        if let Some(then) = *until
            && self.core.out.now() < then
        {
            return Some(Pace::Until(then));
        }
        *until = None;
        let Some(step) = script.startup.get(*next) else {
            let held = std::mem::take(held);
            self.phase = Phase::Idle;
            for input in held {
                self.replay_held(&input);
            }
            return None;
        };
        *next += 1;
        match step {
            Step::DelayMs(ms) => *until = Some(self.core.out.now() + Duration::from_millis(*ms)),
            Step::Hang => self.phase = Phase::Hung,
            Step::Exit(exit) => self.exit(exit),
            other => literal::write(other, &mut self.core),
        }
        None
    }

    fn replay_held(&mut self, input: &Held) {
        let now = self.core.out.now();
        match input {
            Held::Line(line) => self.input(now, Input::Line(line)),
            Held::EndOfInput => self.input(now, Input::EndOfInput),
            Held::Interrupt => self.input(now, Input::Interrupt),
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        let session_id = self.core.setup.session_id.clone();
        match refusal {
            Refusal::NoConversation => {
                let reason = text::no_conversation(session_id.as_str());
                frames::startup_failure(&mut self.core.out, &reason);
                self.core.out.write_stderr(&reason);
            }
            Refusal::SessionInUse => self
                .core
                .out
                .write_stderr(&text::session_in_use(session_id.as_str())),
        }
        self.phase = Phase::Over(1);
    }
}
