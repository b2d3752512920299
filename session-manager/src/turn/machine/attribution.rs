//! Whose result it is: the running turn's, with all that was said into it, or another's.
//!
//! Results name prompts by their ids. A late one names a prompt of the past and answers nobody; one that names nobody we
//! know belongs to whatever turn has begun.

use super::{Claude, HandOff, Running, Stop, TurnMachine};
use crate::turn::{Attribution, PromptId};

impl TurnMachine {
    /// Whether a result belongs to the running turn, be it its end or not.
    pub(crate) fn concerns(&self, attribution: &Attribution) -> bool {
        self.running.as_ref().is_some_and(|running| match attribution {
            Attribution::Prompts(ids) if ids.iter().any(|id| running.knows(id)) => true,
            Attribution::Prompts(ids) => running.begun && !ids.iter().any(|id| self.past.contains(id)),
            Attribution::Background => false,
            Attribution::Unnamed => running.begun,
        })
    }

    /// Whether something can be said into the running turn.
    pub(crate) fn can_steer(&self) -> bool {
        self.running.is_some() && !self.stopping() && matches!(self.claude, Claude::Ready(_))
    }

    /// Claude was told something more in the running turn.
    pub(super) fn steer(&mut self, id: PromptId) {
        if !self.can_steer() {
            return;
        }
        if let Some(running) = &mut self.running {
            running.steered.push(id);
        }
    }
}

impl Running {
    pub(super) fn knows(&self, id: &PromptId) -> bool {
        self.id == *id || self.steered.contains(id)
    }

    /// Whether a result that names these prompts is the end of this turn. What was said into it may have cut it short, and
    /// is answered last; once the turn is being ended, any end will do.
    pub(super) fn ends_with(&self, ids: &[PromptId]) -> bool {
        let last = self.steered.last().unwrap_or(&self.id);
        let being_ended = self.stop != Stop::No || self.hand_off != HandOff::No;
        ids.contains(last) || being_ended && ids.contains(&self.id)
    }
}
