//! Whose result it is: the running turn's, with all that was said into it, or another's.
//!
//! Results name prompts by their ids. A late one names a prompt of the past and answers nobody; one that names nobody we
//! know belongs to whatever turn has begun.

use super::{Agents, Claude, HandOff, Running, Stop, TurnMachine};
use crate::turn::{Attribution, PromptId};

/// How many prompts are remembered for their late results.
const REMEMBERED_PROMPTS: usize = 64;

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
            if running.agents == Agents::Awaited {
                running.agents = Agents::Some;
                running.cut_short = true;
            }
            running.steered.push(id);
        }
    }

    /// A result that is not the end of the turn may still be one of the turn's.
    pub(super) fn not_the_end(&mut self, attribution: &Attribution) {
        if let (Some(running), Attribution::Prompts(ids)) = (&mut self.running, attribution) {
            running.cut_short |= ids.iter().any(|id| running.knows(id));
        }
    }

    /// Late results of these prompts answer nobody.
    pub(super) fn forget(&mut self, prompts: impl IntoIterator<Item = PromptId>) {
        self.past.extend(prompts);
        let excess = self.past.len().saturating_sub(REMEMBERED_PROMPTS);
        self.past.drain(..excess);
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
        ids.contains(last) || being_ended && ids.iter().any(|id| self.knows(id))
    }

    /// Whether nothing is left of the turn when Claude throws these prompts out of its queue. As long as it is at work on
    /// another part of the turn, that part's result is still to come.
    pub(super) fn is_over_without(&self, ids: &[PromptId]) -> bool {
        let left = self.steered.last().filter(|_| self.cut_short);
        ids.contains(left.unwrap_or(&self.id))
    }

    /// Whether Claude was done before it heard what was said last: it is idle for a moment, and then goes on.
    pub(super) fn is_about_to_go_on(&self) -> bool {
        self.cut_short && self.hand_off == HandOff::No && self.heard.as_ref() != self.steered.last()
    }
}
