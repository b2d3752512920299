//! A call whose hooks are heard: the round of the host's callbacks before it, or after it.
//!
//! Place in the flow: `steps` calls back; `calls` brings what came of it, and the call goes on.

use claude_sdk_bridge::messages::ControlId;
use serde_json::Value;

use super::hooks::Moment;
use super::{Call, CallState, Refusal};
use crate::engine::core::Core;
use crate::frames::text;

impl Call {
    /// Calls the host's hooks before the call; says whether there are any.
    pub(super) fn call_back(&mut self, core: &mut Core) -> bool {
        let agent = self.agent();
        let Some(mut round) = core.call_hooks(Moment::Before, &self.told(agent.as_deref(), None)) else {
            return false;
        };
        round.verdict = std::mem::take(&mut self.verdict);
        self.round = Some(round);
        self.state = CallState::Tried;
        if core.end_of_input {
            self.close_callbacks(core);
        }
        true
    }

    pub(super) fn waits_for_callback(&self, id: &ControlId) -> bool {
        self.round.as_ref().is_some_and(|round| round.waits_for(id))
    }

    /// Takes the answer to a callback.
    pub(super) fn callback_answered(
        &mut self,
        id: &ControlId,
        answer: Result<Value, String>,
        core: &mut Core,
    ) {
        if let Some(round) = &mut self.round {
            round.answered(id, answer, core);
        }
        self.heard(core);
    }

    /// Gives up on callbacks that have had their time.
    pub(super) fn expire(&mut self, core: &mut Core) {
        if let Some(round) = &mut self.round {
            round.expire(core);
        }
        self.heard(core);
    }

    /// The host can no longer answer: what was to be decided by it is refused.
    pub(super) fn close_callbacks(&mut self, core: &mut Core) {
        if let Some(mut round) = self.round.take() {
            round.withdraw(core);
            if round.moment == Moment::Before {
                self.refuse(Refusal::failed(text::STREAM_CLOSED_PENDING));
            }
        }
    }

    /// Takes back what is waited for, because the turn ends.
    pub(super) fn withdraw_callbacks(&mut self, core: &mut Core) {
        if let Some(mut round) = self.round.take() {
            round.withdraw(core);
        }
    }

    /// Goes on, if the round is over.
    fn heard(&mut self, core: &mut Core) {
        let Some(round) = self.round.take_if(|round| round.is_over()) else {
            return;
        };
        if round.moment == Moment::Before {
            self.verdict = round.verdict;
            self.permit(core);
        } else if let Some(outcome) = &mut self.outcome {
            for feedback in &round.verdict.feedback {
                outcome.add(&text::hook_feedback(feedback));
            }
        }
    }
}
