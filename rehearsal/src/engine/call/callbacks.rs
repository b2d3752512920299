//! Calls whose hooks are heard: rounds of the host's callbacks.
//!
//! Place in the flow: `steps` starts rounds; `reply` and `Play::advance` (time) report here what came of them, and the call
//! goes on.

use claude_sdk_bridge::messages::ControlId;
use serde_json::Value;

use super::CallState;
use super::Refusal;
use super::hooks::{Moment, Round};
use crate::engine::core::Core;
use crate::engine::turn::{Play, Wait};
use crate::frames::text;

impl Play {
    /// Calls the host's hooks before a call; says whether there are any.
    pub(crate) fn hear_hooks(&mut self, number: usize, core: &mut Core) -> bool {
        let Some(call) = self.calls.get_mut(number) else {
            return false;
        };
        let agent = call.agent();
        let told = call.told(agent.as_deref(), None);
        let Some(mut round) = core.call_hooks(Moment::Before, &told) else {
            return false;
        };
        round.verdict = std::mem::take(&mut call.verdict);
        call.round = Some(round);
        call.state = CallState::Tried;
        if core.end_of_input {
            self.close_round(number, core);
        }
        true
    }

    /// Takes an answer to a callback; says whether one was waited for.
    pub(crate) fn hook_answered(
        &mut self,
        id: &ControlId,
        answer: Result<Value, String>,
        core: &mut Core,
    ) -> bool {
        let waits = |round: &Option<Round>| round.as_ref().is_some_and(|round| round.waits_for(id));
        let Some(number) = self.calls.iter().position(|call| waits(&call.round)) else {
            return false;
        };
        if let Some(round) = self.calls.get_mut(number).and_then(|call| call.round.as_mut()) {
            round.answered(id, answer, core);
        }
        self.round_goes_on(number, core);
        true
    }

    /// Gives up on callbacks that have had their time.
    pub(crate) fn expire(&mut self, core: &mut Core) {
        self.goes_on();
        for number in 0..self.calls.len() {
            if let Some(round) = self.calls.get_mut(number).and_then(|call| call.round.as_mut()) {
                round.expire(core);
                self.round_goes_on(number, core);
            }
        }
    }

    /// The host can no longer answer: what was to be decided by it is refused.
    pub(crate) fn close_round(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(mut round) = call.round.take() else {
            return;
        };
        round.withdraw(core);
        if round.moment == Moment::Before {
            self.denials.push(call.denial());
            call.state = CallState::Refused(Refusal::failed(text::STREAM_CLOSED_PENDING));
        }
        self.goes_on();
    }

    /// Takes back everything that is waited for, because the turn ends.
    pub(crate) fn withdraw_hooks(&mut self, core: &mut Core) {
        for call in &mut self.calls {
            if let Some(mut round) = call.round.take() {
                round.withdraw(core);
            }
        }
    }

    pub(crate) fn goes_on(&mut self) {
        if matches!(self.wait, Wait::Answer | Wait::AnswerUntil(_)) {
            self.wait = Wait::Nothing;
        }
    }

    /// Goes on with a call whose round may be over.
    fn round_goes_on(&mut self, number: usize, core: &mut Core) {
        self.goes_on();
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(round) = call.round.take_if(|round| round.is_over()) else {
            return;
        };
        if round.moment == Moment::Before {
            call.verdict = round.verdict;
            self.pass_gate(number, core);
        } else if let Some(outcome) = &mut call.outcome {
            for feedback in &round.verdict.feedback {
                outcome.add(&text::hook_feedback(feedback));
            }
        }
    }
}
