//! What the host answers to questions about calls, and what it means for them.
//!
//! Place in the flow: `Engine` hands over control responses; `steps` and `by_rules` have put the questions. What an answer changes
//! beside its call counts from the next call on.

use claude_sdk_bridge::messages::control::{
    AllowReply, ControlResponse, DenyReply, IncomingControl, IncomingRequest, PermissionReply,
};
use claude_sdk_bridge::messages::{Field, FromWire, List, SessionState};
use permission_core::PermissionUpdate;
use serde_json::{Map, Value, json};

use super::Acceptance;
use super::CallState;
use super::Refusal;
use crate::engine::core::Core;
use crate::engine::turn::Play;
use crate::frames::text;

/// What an answer of the host's means for the turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It was not about a question of this turn.
    Nothing,
    GoesOn,
    /// The host wants the turn to end.
    Interrupts,
}

/// An answer to the question about a call.
pub(crate) type Answer = Result<Allowed, Refusal>;

/// An approval.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// Replaces the input, if given.
    pub(crate) input: Option<Map<String, Value>>,
    /// Who has decided, and for how long.
    pub(crate) source: &'static str,
    /// What it changes beside the call.
    pub(crate) updates: Vec<PermissionUpdate>,
}

impl Play {
    /// Takes the host's answer to a question or a callback.
    pub(crate) fn answer(&mut self, response: ControlResponse, core: &mut Core) -> Answered {
        let Some(id) = response.request_id().cloned() else {
            return Answered::Nothing;
        };
        let asked = self
            .calls
            .iter()
            .position(|call| matches!(&call.state, CallState::Asked(asked) if *asked == id));
        let answer = response.into_result().map_err(|failure| failure.to_string());
        let Some(number) = asked else {
            return if self.hook_answered(&id, answer, core) {
                Answered::GoesOn
            } else {
                Answered::Nothing
            };
        };
        let reply = answer.map(PermissionReply::from_wire);
        let interrupts = matches!(&reply, Ok(Ok(PermissionReply::Deny(deny))) if deny.interrupt.is_true());
        let answer = match reply {
            Ok(Ok(PermissionReply::Allow(reply))) => allow(*reply),
            Ok(Ok(PermissionReply::Deny(reply))) => Err(deny(*reply)),
            Ok(Ok(PermissionReply::Unknown(_)) | Err(_)) => Err(Refusal::failed(text::MALFORMED_ANSWER)),
            Err(failure) => Err(Refusal::failed(&format!("Error: {failure}"))),
        };
        if self.calls.get(number).is_some_and(|call| call.pending.is_some()) {
            self.decide_answered(number, answer, core);
        } else {
            self.accept_answer(number, answer, core);
        }
        core.tell(SessionState::Running);
        self.goes_on();
        if interrupts {
            Answered::Interrupts
        } else {
            Answered::GoesOn
        }
    }

    /// The host can no longer answer: what is open fails, and the turn goes on.
    pub(crate) fn close_questions(&mut self, core: &mut Core) {
        let mut closed = false;
        for call in &mut self.calls {
            if matches!(call.state, CallState::Asked(_)) {
                self.denials.push(call.denial());
                call.state = CallState::Refused(Refusal::failed(text::STREAM_CLOSED_PENDING));
                call.pending = None;
                closed = true;
            }
        }
        if closed {
            core.tell(SessionState::Running);
            self.goes_on();
        }
        for number in 0..self.calls.len() {
            self.close_round(number, core);
        }
    }

    /// Takes back every open question, because nobody waits for the answer any more.
    pub(crate) fn withdraw_questions(&mut self, core: &mut Core) -> bool {
        let mut withdrawn = false;
        for call in &mut self.calls {
            if let CallState::Asked(id) = &call.state {
                core.cancel(id);
                self.denials.push(call.denial());
                call.state = CallState::Withdrawn;
                withdrawn = true;
            }
        }
        self.withdraw_hooks(core);
        withdrawn
    }

    /// The questions that are open, as they were asked.
    pub(crate) fn open_questions(&self) -> List<IncomingControl> {
        self.calls
            .iter()
            .filter_map(|call| {
                let CallState::Asked(id) = &call.state else {
                    return None;
                };
                Some(IncomingControl {
                    request_id: id.clone(),
                    request: IncomingRequest::CanUseTool(call.question.clone()?),
                    // Here, unlike on a line of their own, they do not say what they are by themselves.
                    extra: Map::from_iter([("type".to_owned(), json!("control_request"))]),
                })
            })
            .collect()
    }

    fn accept_answer(&mut self, number: usize, answer: Answer, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        call.state = match answer {
            Ok(allowed) => {
                core.take_effect(&call.step.name, &allowed.updates);
                CallState::Accepted(Acceptance {
                    input: allowed.input.unwrap_or_else(|| call.input.clone()),
                    source: allowed.source,
                    reason_type: None,
                })
            }
            Err(refusal) => {
                self.denials.push(call.denial());
                CallState::Refused(refusal)
            }
        };
    }
}

impl Core {
    /// What the answer to an allowed call changes in the session.
    pub(crate) fn take_effect(&mut self, tool: &str, updates: &[PermissionUpdate]) {
        let mut mode = (tool == "ExitPlanMode").then_some(self.before_plan);
        for update in updates {
            if let PermissionUpdate::SetMode { mode: new, .. } = update {
                mode = Some(*new);
            }
            self.state.granted.apply(update);
        }
        if let Some(mode) = mode {
            self.switch_mode(mode);
        }
    }
}

fn allow(reply: AllowReply) -> Answer {
    let updates = reply.updated_permissions.known();
    let input = match reply.updated_input {
        Field::Known(input) => Some(input),
        Field::Absent | Field::Null => None,
        Field::Raw(_) => return Err(Refusal::failed(text::MALFORMED_ANSWER)),
    };
    Ok(Allowed {
        input,
        // Whether the user has decided for longer than this call.
        source: match reply.decision_classification.as_str() {
            Some("user_permanent") => "user_permanent",
            Some(_) | None => "user_temporary",
        },
        updates: updates
            .filter_map(|update| PermissionUpdate::try_from(update).ok())
            .collect(),
    })
}

fn deny(reply: DenyReply) -> Refusal {
    let text = reply.message.into_known().unwrap_or_default();
    Refusal {
        text,
        source: Some("user_reject"),
        reason_type: None,
    }
}
