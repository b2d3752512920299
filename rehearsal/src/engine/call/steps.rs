//! Tool calls: what comes before one, the question, the run, what comes after it, the result.
//!
//! Place in the flow: operations of `engine::turn`. What comes out of a tool is the script's; whether the host is asked is
//! decided in `by_script` (by the script) or in `by_rules` (by rules and the mode). Answers of the host's stand in `reply`.

use std::time::Duration;

use claude_sdk_bridge::messages::control::{CanUseTool, IncomingControl, IncomingRequest};
use claude_sdk_bridge::messages::{
    ControlId, Message, NonExecutionKind, PermissionDecisionMeta, SessionState, ToolResultMeta,
};
use permission_core::PermissionMode;
use serde_json::{Map, json};

use super::by_script::{self, Permission};
use super::hooks::Moment;
use super::outcome::{self, Outcome};
use super::{Acceptance, Call, CallState, Refusal, question};
use crate::engine::core::Core;
use crate::frames::{self, text};

impl Call {
    /// Begins with the call, unless that has been done: hooks, then whether it is permitted.
    pub(crate) fn begin(&mut self, core: &mut Core) {
        if !matches!(self.state, CallState::Planned) {
            return;
        }
        if by_script::is_gone(&self.step, core) {
            let text = text::no_such_tool(&self.step.name);
            self.state = CallState::Refused(Refusal::of_config(text, "other"));
        } else if !self.call_back(core) {
            self.permit(core);
        }
    }

    /// Goes on after hooks.
    pub(crate) fn permit(&mut self, core: &mut Core) {
        if let Some(input) = &self.verdict.input {
            self.input.clone_from(input);
        }
        if self.is_decided_by_rules() {
            self.decide(core);
            return;
        }
        if let Some(reason) = &self.verdict.deny {
            let refusal = Refusal::of_verdict(&self.verdict, &self.step.name, reason);
            self.refuse(refusal);
            return;
        }
        match by_script::check(&self.step, &self.verdict, core) {
            Permission::Pass if self.verdict.allow => {
                self.state = CallState::Accepted(Acceptance {
                    input: self.input.clone(),
                    source: "hook",
                    reason_type: Some("hook"),
                });
            }
            Permission::Pass => self.state = CallState::Accepted(Acceptance::unasked(self.input.clone())),
            Permission::Refuse { reason_type, message } => {
                frames::permission_denied(&mut core.out, &self.step.name, &self.id, reason_type, &message);
                self.refuse(Refusal::of_config(message, reason_type));
            }
            Permission::Ask => {
                let request = question::scripted(self, core);
                self.ask(request, core);
            }
        }
    }

    /// Asks the host; where it can no longer answer, the call fails.
    pub(crate) fn ask(&mut self, request: CanUseTool, core: &mut Core) {
        core.tell(SessionState::RequiresAction);
        if core.end_of_input {
            core.tell(SessionState::Running);
            self.refuse(Refusal::failed(text::STREAM_CLOSED));
            return;
        }
        let id = ControlId::from(core.out.uuid().into_string());
        let request = Box::new(request);
        self.question = Some(request.clone());
        let control = IncomingControl {
            request_id: id.clone(),
            request: IncomingRequest::CanUseTool(request),
            extra: Map::new(),
        };
        core.out.send(&Message::ControlRequest(Box::new(control)));
        self.state = CallState::Asked(id);
    }

    /// The question, as it was asked, if it is open.
    pub(super) fn open_question(&self) -> Option<IncomingControl> {
        let CallState::Asked(id) = &self.state else {
            return None;
        };
        Some(IncomingControl {
            request_id: id.clone(),
            request: IncomingRequest::CanUseTool(self.question.clone()?),
            // Here, unlike on a line of their own, they do not say what they are by themselves.
            extra: Map::from_iter([("type".to_owned(), json!("control_request"))]),
        })
    }

    /// Begins to run, if it may; says for how long.
    pub(crate) fn run(&mut self, core: &mut Core) -> Option<Duration> {
        let CallState::Accepted(acceptance) = &self.state else {
            return None;
        };
        let acceptance = acceptance.clone();
        self.input.clone_from(&acceptance.input);
        if self.step.name == "EnterPlanMode" {
            core.switch_mode(PermissionMode::Plan);
        }
        self.state = CallState::Running(acceptance);
        Some(Duration::from_millis(self.step.run_ms))
    }

    /// Lets hooks see what came out of a call that ran.
    pub(crate) fn after(&mut self, core: &mut Core) {
        let CallState::Running(acceptance) = &self.state else {
            return;
        };
        let mut outcome = outcome::of_call(self, &acceptance.input, core);
        self.state = CallState::Ran(acceptance.clone());
        let (moment, response) = if outcome.is_failure() {
            (Moment::AfterFailure, outcome.text().into())
        } else {
            if let Some(feedback) = &self.step.hook.feedback {
                outcome.add(&text::hook_feedback(feedback));
            }
            (Moment::After, outcome.structured.clone())
        };
        self.outcome = Some(outcome);
        if !core.end_of_input {
            let agent = self.agent();
            self.callbacks = core.call_hooks(moment, &self.facts(agent.as_deref(), Some(&response)));
        }
    }

    /// Writes the result, if there is one.
    pub(super) fn write_result(&mut self, core: &mut Core) -> bool {
        let (outcome, kind, decision) = match std::mem::replace(&mut self.state, CallState::Done) {
            CallState::Running(it) | CallState::Accepted(it) | CallState::Ran(it) => {
                let outcome = self.outcome.take();
                let outcome = outcome.unwrap_or_else(|| outcome::of_call(self, &it.input, core));
                (outcome, None, Some(decision("accept", it.source, it.reason_type)))
            }
            CallState::Refused(it) => {
                let kind = Some(NonExecutionKind::PermissionRule);
                let source = it.source;
                (
                    Outcome::error(&it.text),
                    kind,
                    source.map(|source| decision("reject", source, it.reason_type)),
                )
            }
            CallState::Planned
            | CallState::InHooks
            | CallState::Asked(_)
            | CallState::Withdrawn
            | CallState::Done => return false,
        };
        let block = outcome.block(self.id.clone());
        if let Some(parent) = &self.parent {
            frames::subagent_result(&mut core.out, block, parent);
            return true;
        }
        let meta = decision.map(|decision| ToolResultMeta {
            id: self.id.clone(),
            non_execution_kind: kind.into(),
            permission_decision: decision.into(),
            extra: Map::new(),
        });
        frames::tool_result(&mut core.out, block, outcome.structured, meta);
        true
    }

    /// Writes what an interrupt makes of a call without a result, if it is one.
    pub(super) fn reject(&mut self, core: &mut Core) -> bool {
        let text = match std::mem::replace(&mut self.state, CallState::Done) {
            CallState::Done => return false,
            _ if !self.written || self.parent.is_some() => return false,
            CallState::Running(_) | CallState::Ran(_) => {
                format!("{}{}", text::REJECTED, text::STOPPED_WHILE_RUNNING)
            }
            CallState::Planned
            | CallState::InHooks
            | CallState::Asked(_)
            | CallState::Accepted(_)
            | CallState::Refused(_)
            | CallState::Withdrawn => text::REJECTED.to_owned(),
        };
        let outcome = Outcome::rejected(&text);
        let meta = ToolResultMeta {
            id: self.id.clone(),
            non_execution_kind: NonExecutionKind::UserRejected.into(),
            ..ToolResultMeta::default()
        };
        let block = outcome.block(self.id.clone());
        frames::tool_result(&mut core.out, block, outcome.structured, Some(meta));
        true
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
