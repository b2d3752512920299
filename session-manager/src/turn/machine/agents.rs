//! Agents that work in the background for the running prompt. Claude's result comes before they have ended; the prompt is
//! answered when they have, and Claude has dealt with what they brought: then it is idle. Commands in the background do not
//! keep it from that.

use super::{HandOff, Running, Stop, TurnMachine};
use crate::turn::{Effect, Generation, Outcome};

/// What the running prompt has to do with such agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agents {
    /// None has been at work.
    None,
    /// Some are, or were, and Claude may come back to what they bring.
    Some,
    /// They are all that the prompt waits for: it has its result.
    Awaited,
}

impl TurnMachine {
    /// Whether the running prompt has its result, and waits for agents.
    pub(crate) fn awaits_agents(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| running.agents == Agents::Awaited)
    }

    /// Claude told whether agents are at work in the background.
    pub(super) fn agents(&mut self, generation: Generation, at_work: bool) {
        if !self.is_current(generation) {
            return;
        }
        self.agents_at_work = at_work;
        if let Some(running) = self
            .running
            .as_mut()
            .filter(|running| at_work && running.agents == Agents::None)
        {
            running.agents = Agents::Some;
        }
    }

    /// The running prompt has its result. Returns whether it waits for agents all the same.
    pub(super) fn hold(&mut self, effects: &mut Vec<Effect>) -> bool {
        let goes_on = self
            .running
            .as_mut()
            .filter(|running| running.stop == Stop::No && running.hand_off == HandOff::No)
            .filter(|running| running.agents != Agents::None);
        let Some(running) = goes_on else { return false };
        running.agents = Agents::Awaited;
        running.begun = true;
        effects.push(Effect::Hold(running.id));
        true
    }

    /// Claude has nothing left to do.
    pub(super) fn idle(&mut self, generation: Generation, effects: &mut Vec<Effect>) {
        let awaited = self.awaits_agents();
        let over = |running: &Running| running.begun && !running.is_about_to_go_on();
        let over = self.running.as_ref().is_some_and(over);
        if self.is_current(generation) && over && !self.hand_off_turn_ended(effects) {
            let outcome = if awaited {
                Outcome::Finished
            } else {
                Outcome::NoResult
            };
            self.finish(outcome, effects);
        }
    }
}
