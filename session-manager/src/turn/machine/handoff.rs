//! The hand-off of an approved plan: the running prompt moves from the process that made the plan to a fresh one, and is
//! answered when that has carried the plan out.
//!
//! The steps are [`HandOff`]; each can be cancelled, and each failure answers the prompt. The prompts that wait stay in the
//! machine's queue and follow to the new process. What is shown of it is the actor's business.

use super::{Agents, Claude, Running, Stop, TurnMachine};
use crate::turn::{Effect, Outcome};

/// How far the running prompt has come from one process to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandOff {
    /// None is under way.
    No,
    /// The user has chosen it; the old process is ending its turn.
    Ending,
    /// The old process is on its way out.
    Closing,
    /// The new process is being started.
    Starting,
}

impl TurnMachine {
    /// Whether the running turn can be handed to another process.
    pub(crate) fn can_hand_off(&self) -> bool {
        matches!(self.claude, Claude::Ready(_))
            && self
                .running
                .as_ref()
                .is_some_and(|running| running.stop == Stop::No && running.hand_off == HandOff::No)
    }

    /// The user has approved the plan. Claude was told to end its turn; should it not, the clock sees to it.
    pub(super) fn hand_off(&mut self, effects: &mut Vec<Effect>) {
        if !self.can_hand_off() {
            return;
        }
        let Some(running) = &mut self.running else { return };
        running.hand_off = HandOff::Ending;
        // What was said into the turn and is only queued must not become a turn of the old process.
        if !running.steered.is_empty() {
            effects.push(Effect::Interrupt);
        }
        effects.push(Effect::ArmEscalation);
    }

    /// The old turn has ended as it should. Returns whether that was waited for.
    pub(super) fn hand_off_turn_ended(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(running) = self.handing(HandOff::Ending) else {
            return false;
        };
        running.hand_off = HandOff::Closing;
        effects.push(Effect::DisarmEscalation);
        if let Claude::Ready(generation) = self.claude {
            self.claude = Claude::Ending(generation);
            effects.push(Effect::Retire);
        }
        true
    }

    /// The old process does not end its turn.
    pub(super) fn hand_off_overdue(&mut self, effects: &mut Vec<Effect>) {
        let Claude::Ready(generation) = self.claude else {
            return;
        };
        let Some(running) = self.handing(HandOff::Ending) else {
            return;
        };
        running.hand_off = HandOff::Closing;
        self.claude = Claude::Ending(generation);
        effects.push(Effect::Kill);
    }

    /// The old process is gone. Returns whether that was waited for; a death before it is the death of the turn.
    pub(super) fn hand_off_process_gone(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(running) = self.handing(HandOff::Closing) else {
            return false;
        };
        running.hand_off = HandOff::Starting;
        let generation = self.start();
        effects.push(Effect::LaunchFresh(generation));
        true
    }

    /// The new process is ready: the prompt, which is the plan now, goes to it.
    pub(super) fn hand_off_launched(&mut self, effects: &mut Vec<Effect>) {
        if let Some(running) = self.handing(HandOff::Starting) {
            running.hand_off = HandOff::No;
            running.begun = false;
            running.retried = false;
            running.steered.clear();
            running.cut_short = false;
            running.heard = None;
            running.agents = Agents::None;
            let id = running.id;
            effects.push(Effect::Send(id));
        }
    }

    /// A cancel of the prompt while it is on its way. Returns whether it was.
    pub(super) fn hand_off_cancelled(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(running) = &mut self.running else {
            return false;
        };
        match running.hand_off {
            HandOff::No => return false,
            HandOff::Ending => {
                running.hand_off = HandOff::No;
                effects.push(Effect::DisarmEscalation);
                return false;
            }
            HandOff::Closing => {}
            HandOff::Starting => {
                self.claude = Claude::Absent;
                effects.push(Effect::AbortLaunch);
            }
        }
        self.finish(Outcome::Cancelled, effects);
        true
    }

    fn handing(&mut self, step: HandOff) -> Option<&mut Running> {
        self.running.as_mut().filter(|running| running.hand_off == step)
    }
}
