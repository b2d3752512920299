//! A call whose hooks are heard: the callbacks before it and after it.
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
        let Some(mut callbacks) = core.call_hooks(Moment::Before, &self.facts(agent.as_deref(), None)) else {
            return false;
        };
        callbacks.verdict = std::mem::take(&mut self.verdict);
        self.callbacks = Some(callbacks);
        self.state = CallState::InHooks;
        if core.end_of_input {
            self.close_callbacks(core);
        }
        true
    }

    pub(super) fn waits_for_callback(&self, id: &ControlId) -> bool {
        self.callbacks
            .as_ref()
            .is_some_and(|callbacks| callbacks.waits_for(id))
    }

    /// Takes the answer to a callback.
    pub(super) fn callback_answered(
        &mut self,
        id: &ControlId,
        answer: Result<Value, String>,
        core: &mut Core,
    ) {
        if let Some(callbacks) = &mut self.callbacks {
            callbacks.answered(id, answer, core);
        }
        self.heard(core);
    }

    /// Gives up on callbacks that have had their time.
    pub(super) fn expire(&mut self, core: &mut Core) {
        if let Some(callbacks) = &mut self.callbacks {
            callbacks.expire(core);
        }
        self.heard(core);
    }

    /// The host can no longer answer: what was to be decided by it is refused.
    pub(super) fn close_callbacks(&mut self, core: &mut Core) {
        if let Some(mut callbacks) = self.callbacks.take() {
            callbacks.withdraw(core);
            if callbacks.moment == Moment::Before {
                self.refuse(Refusal::failed(text::STREAM_CLOSED_PENDING));
            }
        }
    }

    /// Takes back what is waited for, because the turn ends.
    pub(super) fn withdraw_callbacks(&mut self, core: &mut Core) {
        if let Some(mut callbacks) = self.callbacks.take() {
            callbacks.withdraw(core);
        }
    }

    /// Goes on, if all have answered.
    fn heard(&mut self, core: &mut Core) {
        let Some(callbacks) = self.callbacks.take_if(|callbacks| callbacks.is_over()) else {
            return;
        };
        if callbacks.moment == Moment::Before {
            self.verdict = callbacks.verdict;
            self.permit(core);
        } else if let Some(outcome) = &mut self.outcome {
            for feedback in &callbacks.verdict.feedback {
                outcome.add(&text::hook_feedback(feedback));
            }
        }
    }
}
