//! What the host answers to questions about calls, and what it means for them.
//!
//! Place in the flow: `Engine` hands over control responses; `tool` and `real` have put the questions. Effects of an answer
//! to a scripted question are the mode alone; those of real calls stand in `effects`.

use claude_sdk_bridge::messages::control::{
    AllowReply, ControlResponse, DenyReply, IncomingControl, IncomingRequest, PermissionReply,
};
use claude_sdk_bridge::messages::{Field, FromWire, List, SessionState};
use permission_core::PermissionMode;
use serde_json::{Map, Value, json};

use super::call::{Acceptance, Call, CallState, Refusal};
use super::core::Core;
use super::play::Play;
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
        let is_real = self.calls.get(number).is_some_and(|call| call.trial.is_some());
        let verdict = match reply {
            Ok(Ok(PermissionReply::Allow(reply))) => Ok(*reply),
            Ok(Ok(PermissionReply::Deny(reply))) => Err(deny(*reply)),
            Ok(Ok(PermissionReply::Unknown(_)) | Err(_)) => Err(Refusal::failed(text::MALFORMED_ANSWER)),
            Err(failure) => Err(Refusal::failed(&format!("Error: {failure}"))),
        };
        if is_real {
            self.real_answer(number, verdict, core);
        } else {
            self.scripted_answer(number, verdict, core);
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
                call.trial = None;
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
    pub(super) fn withdraw_questions(&mut self, core: &mut Core) -> bool {
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

    fn scripted_answer(&mut self, number: usize, verdict: Result<AllowReply, Refusal>, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        match verdict.and_then(|reply| allow(reply, call, core)) {
            Ok(acceptance) => call.state = CallState::Accepted(acceptance),
            Err(refusal) => {
                self.denials.push(call.denial());
                call.state = CallState::Refused(refusal);
            }
        }
    }
}

/// Whether the user has decided for longer than this call.
pub(super) fn source(reply: &AllowReply) -> &'static str {
    match reply.decision_classification.as_str() {
        Some("user_permanent") => "user_permanent",
        Some(_) | None => "user_temporary",
    }
}

/// Takes an approval: the input it brings and the mode it switches to.
fn allow(reply: AllowReply, call: &Call, core: &mut Core) -> Result<Acceptance, Refusal> {
    let source = source(&reply);
    let new_mode = reply.updated_permissions.known().filter_map(mode_of).last();
    let input = match reply.updated_input {
        Field::Known(input) => input,
        Field::Absent | Field::Null => call.input.clone(),
        Field::Raw(_) => return Err(Refusal::failed(text::MALFORMED_ANSWER)),
    };
    match new_mode {
        Some(mode) => core.switch_mode(mode),
        None if call.step.name == "ExitPlanMode" => core.switch_mode(core.before_plan),
        None => {}
    }
    Ok(Acceptance {
        input,
        source,
        reason_type: None,
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

/// The mode that a permission update switches to, if it does.
fn mode_of(update: &Value) -> Option<PermissionMode> {
    let is_mode = update.get("type").and_then(Value::as_str) == Some("setMode");
    let mode = update
        .get("mode")
        .and_then(Value::as_str)
        .and_then(PermissionMode::from_wire_id);
    mode.filter(|_| is_mode)
}
