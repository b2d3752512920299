//! Tool calls: the question before one, the answer to it, the run, the result.
//!
//! Place in the flow: operations of `engine::play`, and `answer` for what the host sends. What comes out of a tool is
//! the script's; `gate` decides whether the host is asked. Effects of an answer on the session stand here, too.

use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::messages::control::{
    AllowReply, ControlCancel, ControlResponse, DenyReply, IncomingControl, PermissionReply,
};
use claude_sdk_bridge::messages::{
    ControlId, Field, FromWire, List, Message, NonExecutionKind, PermissionDecisionMeta, PermissionDenial,
    SessionState, ToolResultMeta, ToolUseId,
};
use permission_core::PermissionMode;
use serde_json::{Map, Value, json};

use super::core::Core;
use super::cursor::Cursor;
use super::gate::{self, Gate};
use super::outcome::{self, Outcome};
use super::play::{Op, Play, Wait};
use super::{question, subagent};
use crate::frames::{self, text};
use crate::script::ToolStep;

/// A tool call of the message that is being played.
#[derive(Debug)]
pub(crate) struct Call {
    pub(super) id: ToolUseId,
    pub(super) step: Box<ToolStep>,
    /// Whether the call's own frame has been written.
    pub(super) written: bool,
    pub(super) state: CallState,
}

/// How far a call is.
#[derive(Debug)]
pub(crate) enum CallState {
    Planned,
    Asked(ControlId),
    Accepted(Acceptance),
    Running(Acceptance),
    Refused(Refusal),
    /// Was to be asked about, or has been, when an interrupt came.
    Withdrawn,
    Done,
}

/// Why, and with which input, a call may run.
#[derive(Debug, Clone)]
pub(crate) struct Acceptance {
    pub(super) input: Map<String, Value>,
    source: &'static str,
    reason_type: Option<&'static str>,
}

/// Why a call may not run.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    text: String,
    source: &'static str,
    reason_type: Option<&'static str>,
}

/// What an answer of the host's means for the turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It was not about a question of this turn.
    Nothing,
    GoesOn,
    /// The host wants the turn to end.
    Interrupts,
}

impl Call {
    pub(super) fn new(id: ToolUseId, step: Box<ToolStep>) -> Self {
        Self {
            id,
            step,
            written: false,
            state: CallState::Planned,
        }
    }

    /// The input as the model would write it.
    pub(super) fn input_text(&self) -> String {
        Value::Object(self.step.input.clone()).to_string()
    }

    pub(super) fn denial(&self) -> PermissionDenial {
        PermissionDenial {
            tool_name: self.step.name.as_str().into(),
            tool_use_id: self.id.clone().into(),
            tool_input: Value::Object(self.step.input.clone()).into(),
            ..PermissionDenial::default()
        }
    }
}

impl Play {
    /// Asks the host about a call, unless that has been done or need not be done.
    pub(super) fn ask(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        if !matches!(call.state, CallState::Planned) {
            return;
        }
        call.state = match gate::check(&call.step, core) {
            Gate::Pass => CallState::Accepted(Acceptance {
                input: call.step.input.clone(),
                source: "config",
                reason_type: Some("mode"),
            }),
            Gate::NoSuchTool => CallState::Refused(Refusal {
                text: text::no_such_tool(&call.step.name),
                source: "config",
                reason_type: Some("other"),
            }),
            Gate::Refuse { reason_type, message } => {
                frames::permission_denied(&mut core.out, &call.step.name, &call.id, reason_type, &message);
                self.denials.push(call.denial());
                CallState::Refused(Refusal {
                    text: message,
                    source: "config",
                    reason_type: Some(reason_type),
                })
            }
            Gate::Ask if core.end_of_input => {
                core.tell(SessionState::RequiresAction);
                core.tell(SessionState::Running);
                self.denials.push(call.denial());
                CallState::Refused(Refusal::failed(text::STREAM_CLOSED))
            }
            Gate::Ask => {
                core.tell(SessionState::RequiresAction);
                let id = ControlId::from(core.out.uuid().into_string());
                core.out.send(&Message::ControlRequest(Box::new(question::about(
                    &id, call, core,
                ))));
                CallState::Asked(id)
            }
        };
    }

    /// Waits for the answer, if the host was asked.
    pub(super) fn settle(&mut self, number: usize) {
        if let Some(Call {
            state: CallState::Asked(_),
            ..
        }) = self.calls.get(number)
        {
            self.ops.push_front(Op::Settle(number));
            self.wait = Wait::Answer;
        }
    }

    pub(super) fn run_tool(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let CallState::Accepted(acceptance) = &call.state else {
            return;
        };
        if call.step.name == "EnterPlanMode" {
            core.switch_mode(PermissionMode::Plan);
        }
        subagent::play(call, self.usage, core);
        let run = Duration::from_millis(call.step.run_ms);
        call.state = CallState::Running(acceptance.clone());
        if !run.is_zero() {
            self.wait = Wait::Until(core.now() + run);
        }
    }

    pub(super) fn write_tool_result(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let decision =
            |decision: &str, source: &str, reason_type: Option<&'static str>| PermissionDecisionMeta {
                decision: decision.into(),
                source: source.into(),
                reason_type: reason_type.map(str::to_owned).into(),
                extra: Map::new(),
            };
        let (outcome, meta) = match std::mem::replace(&mut call.state, CallState::Done) {
            CallState::Running(it) | CallState::Accepted(it) => {
                let meta = ToolResultMeta {
                    id: call.id.clone(),
                    permission_decision: decision("accept", it.source, it.reason_type).into(),
                    ..ToolResultMeta::default()
                };
                (
                    outcome::of(&call.step.name, &call.step.result, &it.input, core),
                    meta,
                )
            }
            CallState::Refused(it) => {
                let meta = ToolResultMeta {
                    id: call.id.clone(),
                    non_execution_kind: NonExecutionKind::PermissionRule.into(),
                    permission_decision: decision("reject", it.source, it.reason_type).into(),
                    extra: Map::new(),
                };
                if let Some(steps) = &call.step.if_refused {
                    self.cursor = Cursor::new(Arc::clone(steps));
                }
                (Outcome::error(&it.text), meta)
            }
            CallState::Planned | CallState::Asked(_) | CallState::Withdrawn | CallState::Done => return,
        };
        self.user_frames += 1;
        frames::tool_result(
            &mut core.out,
            outcome.block(call.id.clone()),
            outcome.structured,
            meta,
        );
    }

    /// Takes the host's answer to a question.
    pub(crate) fn answer(&mut self, response: ControlResponse, core: &mut Core) -> Answered {
        let Some(id) = response.request_id().cloned() else {
            return Answered::Nothing;
        };
        let asked = self
            .calls
            .iter_mut()
            .find(|call| matches!(&call.state, CallState::Asked(asked) if *asked == id));
        let Some(call) = asked else {
            return Answered::Nothing;
        };
        let mut answered = Answered::GoesOn;
        let refusal = match response.into_result().map(PermissionReply::from_wire) {
            Ok(Ok(PermissionReply::Allow(reply))) => match allow(*reply, call, core) {
                Ok(acceptance) => {
                    call.state = CallState::Accepted(acceptance);
                    None
                }
                Err(refusal) => Some(refusal),
            },
            Ok(Ok(PermissionReply::Deny(reply))) => {
                if reply.interrupt.is_true() {
                    answered = Answered::Interrupts;
                }
                Some(deny(*reply))
            }
            Ok(Ok(PermissionReply::Unknown(_)) | Err(_)) => Some(Refusal::failed(text::MALFORMED_ANSWER)),
            Err(failure) => Some(Refusal::failed(&format!("Error: {failure}"))),
        };
        if let Some(refusal) = refusal {
            self.denials.push(call.denial());
            call.state = CallState::Refused(refusal);
        }
        self.answered(core);
        answered
    }

    /// The host can no longer answer: open questions fail, and the turn goes on.
    pub(crate) fn close_questions(&mut self, core: &mut Core) {
        let mut closed = false;
        for call in &mut self.calls {
            if matches!(call.state, CallState::Asked(_)) {
                self.denials.push(call.denial());
                call.state = CallState::Refused(Refusal::failed(text::STREAM_CLOSED_PENDING));
                closed = true;
            }
        }
        if closed {
            self.answered(core);
        }
    }

    /// Takes back every open question, because nobody waits for the answer any more.
    pub(super) fn withdraw_questions(&mut self, core: &mut Core) -> bool {
        let mut withdrawn = false;
        for call in &mut self.calls {
            if let CallState::Asked(id) = &call.state {
                let cancel = ControlCancel {
                    request_id: id.clone(),
                    extra: Map::new(),
                };
                core.out.send(&Message::ControlCancel(cancel));
                self.denials.push(call.denial());
                call.state = CallState::Withdrawn;
                withdrawn = true;
            }
        }
        withdrawn
    }

    /// The questions that are open, as they were asked.
    pub(crate) fn open_questions(&self, core: &Core) -> List<IncomingControl> {
        self.calls
            .iter()
            .filter_map(|call| match &call.state {
                // Here, unlike on a line of their own, they do not say what they are by themselves.
                CallState::Asked(id) => Some(IncomingControl {
                    extra: Map::from_iter([("type".to_owned(), json!("control_request"))]),
                    ..question::about(id, call, core)
                }),
                CallState::Planned
                | CallState::Accepted(_)
                | CallState::Running(_)
                | CallState::Refused(_)
                | CallState::Withdrawn
                | CallState::Done => None,
            })
            .collect()
    }

    fn answered(&mut self, core: &mut Core) {
        core.tell(SessionState::Running);
        if self.wait == Wait::Answer {
            self.wait = Wait::Nothing;
        }
    }
}

impl Refusal {
    fn failed(reason: &str) -> Self {
        Self {
            text: text::request_failed(reason),
            source: "config",
            reason_type: Some("other"),
        }
    }
}

/// Takes an approval: the input it brings and the permissions it changes.
fn allow(reply: AllowReply, call: &Call, core: &mut Core) -> Result<Acceptance, Refusal> {
    let input = match reply.updated_input {
        Field::Known(input) => input,
        Field::Absent | Field::Null => call.step.input.clone(),
        Field::Raw(_) => return Err(Refusal::failed(text::MALFORMED_ANSWER)),
    };
    let new_mode = reply.updated_permissions.known().filter_map(mode_of).last();
    match new_mode {
        Some(mode) => core.switch_mode(mode),
        None if call.step.name == "ExitPlanMode" => core.switch_mode(core.before_plan),
        None => {}
    }
    let source = match reply.decision_classification.as_str() {
        Some("user_permanent") => "user_permanent",
        Some(_) | None => "user_temporary",
    };
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
        source: "user_reject",
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
