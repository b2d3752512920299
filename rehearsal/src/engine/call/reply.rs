//! What the host answers to questions about calls, and what it means for them.
//!
//! Place in the flow: `calls` hands over control responses; `steps` and `by_rules` have put the questions. What an answer changes
//! beside its call counts from the next call on.

use claude_sdk_bridge::messages::control::{AllowReply, DenyReply, PermissionReply};
use claude_sdk_bridge::messages::{ControlId, Field, FromWire, SessionState};
use permission_core::PermissionUpdate;
use serde_json::{Map, Value};

use super::{Acceptance, Call, CallState, Refusal};
use crate::engine::core::Core;
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

impl Call {
    pub(super) fn is_asked(&self, id: &ControlId) -> bool {
        matches!(&self.state, CallState::Asked(asked) if asked == id)
    }

    /// Takes the host's answer to the question.
    pub(super) fn answered(&mut self, reply: Result<Value, String>, core: &mut Core) -> Answered {
        let reply = reply.map(PermissionReply::from_wire);
        let interrupts = matches!(&reply, Ok(Ok(PermissionReply::Deny(deny))) if deny.interrupt.is_true());
        let answer = match reply {
            Ok(Ok(PermissionReply::Allow(reply))) => allow(*reply),
            Ok(Ok(PermissionReply::Deny(reply))) => Err(deny(*reply)),
            Ok(Ok(PermissionReply::Unknown(_)) | Err(_)) => Err(Refusal::failed(text::MALFORMED_ANSWER)),
            Err(failure) => Err(Refusal::failed(&format!("Error: {failure}"))),
        };
        if self.is_decided_by_rules() {
            self.decide_answered(answer, core);
        } else {
            self.accept_answer(answer, core);
        }
        core.tell(SessionState::Running);
        if interrupts {
            Answered::Interrupts
        } else {
            Answered::GoesOn
        }
    }

    fn accept_answer(&mut self, answer: Answer, core: &mut Core) {
        match answer {
            Ok(allowed) => {
                core.take_effect(&self.step.name, &allowed.updates);
                self.state = CallState::Accepted(Acceptance {
                    input: allowed.input.unwrap_or_else(|| self.input.clone()),
                    source: allowed.source,
                    reason_type: None,
                });
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// The host can no longer answer; says whether it had been asked.
    pub(super) fn close_question(&mut self) -> bool {
        let asked = matches!(self.state, CallState::Asked(_));
        if asked {
            self.refuse(Refusal::failed(text::STREAM_CLOSED_PENDING));
        }
        asked
    }

    /// Takes back the question, because nobody waits for the answer any more; says whether there was one.
    pub(super) fn withdraw_question(&mut self, core: &mut Core) -> bool {
        let CallState::Asked(id) = &self.state else {
            return false;
        };
        core.cancel(id);
        self.denied = true;
        self.state = CallState::Withdrawn;
        true
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
