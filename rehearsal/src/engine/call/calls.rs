//! The tool calls of a message, until all have a result, and what a turn keeps of them.
//!
//! Place in the flow: `engine::turn` routes its operations, and what the host says, through here to the call they are about.

use std::ops::Range;
use std::sync::Arc;

use claude_sdk_bridge::messages::control::{ControlResponse, IncomingControl};
use claude_sdk_bridge::messages::{List, PermissionDenial};

use super::reply::Answered;
use super::{Call, CallState};
use crate::engine::core::Core;
use crate::script::{AskAt, Step, ToolStep};

/// The calls of a message.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    list: Vec<Call>,
    /// Denied calls of messages that are done with.
    denials: Vec<PermissionDenial>,
    /// How many results the turn has had.
    results: u64,
}

impl Calls {
    /// Takes in a call; gives its number.
    pub(crate) fn add(&mut self, tool: Box<ToolStep>, core: &mut Core) -> usize {
        let number = self.list.len();
        self.list.push(Call::new(core.tool_id(&tool), tool));
        number
    }

    /// Takes in the calls that a call makes in its turn; gives their numbers.
    pub(crate) fn add_subagent(&mut self, number: usize) -> Range<usize> {
        let first = self.list.len();
        if let Some(call) = self.list.get(number) {
            let parent = call.id.clone();
            let tools = call.step.subagent.clone().into_iter();
            self.list
                .extend(tools.map(|tool| Call::of_subagent(Box::new(tool), parent.clone())));
        }
        first..self.list.len()
    }

    /// The call of this number.
    pub(crate) fn get(&self, number: usize) -> Option<&Call> {
        self.list.get(number)
    }

    /// The same, to move it along.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Call> {
        self.list.get_mut(number)
    }

    /// When the first call of the message is asked about. The host's hooks are called as soon as the call is there.
    pub(crate) fn asked_at(&self, core: &Core) -> AskAt {
        let Some(call) = self.list.first() else {
            return AskAt::default();
        };
        let at = call.step.ask.as_ref().map_or_else(AskAt::default, |ask| ask.at);
        if at == AskAt::MessageDelta && core.host_hooks.are_for(&call.step.name) {
            AskAt::BlockEnd
        } else {
            at
        }
    }

    /// Writes the result of a call; gives the steps that follow instead of the turn's, if it was refused.
    pub(crate) fn write_result(&mut self, number: usize, core: &mut Core) -> Option<Arc<[Step]>> {
        let call = self.list.get_mut(number)?;
        let refused = matches!(call.state, CallState::Refused(_));
        let counts = call.parent.is_none();
        if call.write_result(core) && counts {
            self.results += 1;
        }
        call.step.if_refused.clone().filter(|_| refused)
    }

    /// How many results the turn has had.
    pub(crate) fn results(&self) -> u64 {
        self.results
    }

    /// The denied calls of the turn.
    pub(crate) fn take_denials(&mut self) -> Vec<PermissionDenial> {
        let denied = self.list.iter().filter(|call| call.denied);
        self.denials.extend(denied.map(Call::denial));
        std::mem::take(&mut self.denials)
    }

    /// The message is done with.
    pub(crate) fn clear(&mut self) {
        self.denials = self.take_denials();
        self.list.clear();
    }

    /// Takes the host's answer to a question or a callback.
    pub(crate) fn answer(&mut self, response: ControlResponse, core: &mut Core) -> Answered {
        let Some(id) = response.request_id().cloned() else {
            return Answered::Nothing;
        };
        let answer = response.into_result().map_err(|failure| failure.to_string());
        if let Some(call) = self.list.iter_mut().find(|call| call.is_asked(&id)) {
            return call.answered(answer, core);
        }
        match self.list.iter_mut().find(|call| call.waits_for_callback(&id)) {
            Some(call) => {
                call.callback_answered(&id, answer, core);
                Answered::GoesOn
            }
            None => Answered::Nothing,
        }
    }

    /// Gives up on callbacks that have had their time.
    pub(crate) fn expire(&mut self, core: &mut Core) {
        self.list.iter_mut().for_each(|call| call.expire(core));
    }

    /// The host can no longer answer: what is open fails.
    pub(crate) fn close(&mut self, core: &mut Core) {
        let mut closed = false;
        for call in &mut self.list {
            closed |= call.close_question();
        }
        core.runs_again(closed);
        self.list.iter_mut().for_each(|call| call.close_callbacks(core));
    }

    /// Takes back everything that is asked, because nobody waits for the answer any more; says whether there was a question.
    pub(crate) fn withdraw(&mut self, core: &mut Core) -> bool {
        let mut withdrawn = false;
        for call in &mut self.list {
            withdrawn |= call.withdraw_question(core);
            call.withdraw_callbacks(core);
        }
        withdrawn
    }

    /// Takes callbacks back, because the turn ends.
    pub(crate) fn withdraw_callbacks(&mut self, core: &mut Core) {
        self.list
            .iter_mut()
            .for_each(|call| call.withdraw_callbacks(core));
    }

    /// What has not been begun with is not asked about any more.
    pub(crate) fn withdraw_planned(&mut self) {
        let planned = |call: &&mut Call| matches!(call.state, CallState::Planned);
        for call in self.list.iter_mut().filter(planned) {
            call.state = CallState::Withdrawn;
        }
    }

    /// Gives every call that has none a result, because of an interrupt; says whether there was one.
    pub(crate) fn reject(&mut self, core: &mut Core) -> bool {
        let mut rejected = false;
        for call in &mut self.list {
            if call.reject(core) {
                self.results += 1;
                rejected = true;
            }
        }
        rejected
    }

    /// The questions that are open, as they were asked.
    pub(crate) fn open_questions(&self) -> List<IncomingControl> {
        self.list.iter().filter_map(Call::open_question).collect()
    }
}
