//! Tool calls: what comes before one, the question, the run, what comes after it, the result.
//!
//! Place in the flow: operations of `engine::turn`. What comes out of a tool is the script's; whether the host is asked is
//! decided in `by_script` (by the script) or in `by_rules` (by rules and the mode). Answers of the host's stand in `reply`.

use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::messages::control::{CanUseTool, IncomingControl, IncomingRequest};
use claude_sdk_bridge::messages::{
    ControlId, Message, NonExecutionKind, PermissionDecisionMeta, SessionState, ToolResultMeta,
};
use permission_core::PermissionMode;
use serde_json::Map;

use super::Acceptance;
use super::CallState;
use super::Refusal;
use super::by_script::{self, Gate};
use super::hooks::{Moment, Round};
use super::outcome::{self, Outcome};
use super::question;
use crate::engine::core::Core;
use crate::engine::turn::cursor::Cursor;
use crate::engine::turn::{Op, Play, Wait};
use crate::frames::{self, text};

impl Play {
    /// Begins with a call, unless that has been done: the host's hooks, then the gate.
    pub(crate) fn ask(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        if !matches!(call.state, CallState::Planned) {
            return;
        }
        if by_script::is_gone(&call.step, core) {
            let text = text::no_such_tool(&call.step.name);
            call.state = CallState::Refused(Refusal::of_config(text, "other"));
        } else if !self.hear_hooks(number, core) {
            self.pass_gate(number, core);
        }
    }

    /// Goes on with a call after hooks.
    pub(crate) fn pass_gate(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let verdict = call.verdict.clone();
        if let Some(input) = &verdict.input {
            call.input.clone_from(input);
        }
        if call.step.decide && call.step.denied.is_none() {
            self.decide(number, core);
            return;
        }
        if let Some(reason) = &verdict.deny {
            let refusal = Refusal::of_verdict(&verdict, &call.step.name, reason);
            self.denials.extend(refusal.source.map(|_| call.denial()));
            call.state = CallState::Refused(refusal);
            return;
        }
        call.state = match by_script::check(&call.step, &call.verdict, core) {
            Gate::Pass if call.verdict.allow => CallState::Accepted(Acceptance {
                input: call.input.clone(),
                source: "hook",
                reason_type: Some("hook"),
            }),
            Gate::Pass => CallState::Accepted(Acceptance::unasked(call.input.clone())),
            Gate::Refuse { reason_type, message } => {
                frames::permission_denied(&mut core.out, &call.step.name, &call.id, reason_type, &message);
                self.denials.push(call.denial());
                CallState::Refused(Refusal::of_config(message, reason_type))
            }
            Gate::Ask => {
                let request = question::scripted(call, core);
                self.put_question(number, request, core);
                return;
            }
        };
    }

    /// Asks the host about a call; where it can no longer answer, the call fails.
    pub(crate) fn put_question(&mut self, number: usize, request: CanUseTool, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        core.tell(SessionState::RequiresAction);
        if core.end_of_input {
            core.tell(SessionState::Running);
            self.denials.push(call.denial());
            call.state = CallState::Refused(Refusal::failed(text::STREAM_CLOSED));
            return;
        }
        let id = ControlId::from(core.out.uuid().into_string());
        let request = Box::new(request);
        call.question = Some(request.clone());
        let control = IncomingControl {
            request_id: id.clone(),
            request: IncomingRequest::CanUseTool(request),
            extra: Map::new(),
        };
        core.out.send(&Message::ControlRequest(Box::new(control)));
        call.state = CallState::Asked(id);
    }

    /// Waits for what is outside before the call can go on from this operation.
    pub(crate) fn wait_outside(&mut self, number: usize, again: Op) -> bool {
        let Some(call) = self.calls.get(number).filter(|call| call.waits()) else {
            return false;
        };
        let deadline = call.round.as_ref().and_then(Round::deadline);
        self.wait = deadline.map_or(Wait::Answer, Wait::AnswerUntil);
        self.ops.push_front(again);
        true
    }

    /// Waits until it is decided whether the call runs.
    pub(crate) fn settle(&mut self, number: usize) {
        let is_open = |state: &CallState| matches!(state, CallState::Asked(_) | CallState::Tried);
        if self.calls.get(number).is_some_and(|call| is_open(&call.state)) {
            self.wait_outside(number, Op::Settle(number));
        }
    }

    pub(crate) fn run_tool(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let CallState::Accepted(acceptance) = &call.state else {
            return;
        };
        let acceptance = acceptance.clone();
        call.input.clone_from(&acceptance.input);
        if call.step.name == "EnterPlanMode" {
            core.switch_mode(PermissionMode::Plan);
        }
        call.state = CallState::Running(acceptance);
        let run = Duration::from_millis(call.step.run_ms);
        if !run.is_zero() {
            self.ops.push_front(Op::Sleep(run));
        }
        self.plan_subagent(number);
    }

    /// Waits for the tool, then lets hooks see what came out of it.
    pub(crate) fn after_tool(&mut self, number: usize, core: &mut Core) {
        if self.wait_outside(number, Op::After(number)) {
            return;
        }
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        match std::mem::replace(&mut call.state, CallState::Done) {
            CallState::Running(acceptance) => {
                call.outcome = Some(outcome::of_call(call, &acceptance.input, core));
                call.state = CallState::Ran(acceptance);
                self.hear_after(number, core);
                self.wait_outside(number, Op::After(number));
            }
            state @ (CallState::Planned
            | CallState::Ran(_)
            | CallState::Tried
            | CallState::Asked(_)
            | CallState::Accepted(_)
            | CallState::Refused(_)
            | CallState::Withdrawn
            | CallState::Done) => call.state = state,
        }
    }

    pub(crate) fn write_tool_result(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let (outcome, kind, decision) = match std::mem::replace(&mut call.state, CallState::Done) {
            CallState::Running(it) | CallState::Accepted(it) | CallState::Ran(it) => {
                let outcome = call
                    .outcome
                    .take()
                    .unwrap_or_else(|| outcome::of_call(call, &it.input, core));
                (outcome, None, Some(decision("accept", it.source, it.reason_type)))
            }
            CallState::Refused(it) => {
                if let Some(steps) = &call.step.if_refused {
                    self.cursor = Cursor::new(Arc::clone(steps));
                }
                let kind = Some(NonExecutionKind::PermissionRule);
                (
                    Outcome::error(&it.text),
                    kind,
                    it.source.map(|source| decision("reject", source, it.reason_type)),
                )
            }
            CallState::Planned
            | CallState::Tried
            | CallState::Asked(_)
            | CallState::Withdrawn
            | CallState::Done => return,
        };
        let block = outcome.block(call.id.clone());
        if let Some(parent) = &call.parent {
            frames::subagent_result(&mut core.out, block, parent);
            return;
        }
        self.user_frames += 1;
        let meta = decision.map(|decision| ToolResultMeta {
            id: call.id.clone(),
            non_execution_kind: kind.into(),
            permission_decision: decision.into(),
            extra: Map::new(),
        });
        frames::tool_result(&mut core.out, block, outcome.structured, meta);
    }

    /// Calls the host's hooks after the tool, and lets the script's have its say.
    fn hear_after(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(outcome) = &mut call.outcome else { return };
        let failed = outcome.is_failure();
        let moment = if failed {
            Moment::AfterFailure
        } else {
            Moment::After
        };
        let response = if failed {
            outcome.text().into()
        } else {
            outcome.structured.clone()
        };
        if let Some(feedback) = call.step.hook.feedback.as_ref().filter(|_| !failed) {
            outcome.add(&text::hook_feedback(feedback));
        }
        let agent = call.agent();
        if !core.end_of_input {
            let told = call.told(agent.as_deref(), Some(&response));
            call.round = core.call_hooks(moment, &told);
        }
    }
}

fn decision(decision: &str, source: &str, reason_type: Option<&'static str>) -> PermissionDecisionMeta {
    PermissionDecisionMeta {
        decision: decision.into(),
        source: source.into(),
        reason_type: reason_type.map(str::to_owned).into(),
        extra: Map::new(),
    }
}
