//! What the pipeline's decision about a real call means: on the wire, for the session, and for the call.
//!
//! Place in the flow: the end of `real`. Nobody who was asked is told of a denial again; effects of an answer are carried
//! out only where the call may run.

use permission_core::pipeline::{AskReason, Decision, Outcome, Reason, Stage};
use permission_core::{PermissionMode, PermissionUpdate};
use serde_json::{Map, Value};

use super::call::{Acceptance, CallState, Refusal};
use super::core::Core;
use super::play::Play;
use super::real::Trial;
use crate::frames::{self, text};

impl Play {
    /// The pipeline has decided about a call.
    pub(super) fn decided(&mut self, number: usize, decision: Decision, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(trial) = call.trial.take() else { return };
        let name = call.step.name.clone();
        if let Outcome::Allow { input } = &decision.outcome {
            let input = input.as_object().cloned().unwrap_or_default();
            call.state = CallState::Accepted(accepted(&decision, &trial, call.verdict.allow, input));
            let updates = trial.answer.map(|(_, updates)| updates).unwrap_or_default();
            core.take_effect(&name, &updates);
            return;
        }
        let refusal = match (&call.verdict.deny, trial.refusal) {
            (_, Some(refusal)) => refusal,
            (Some(reason), None) if decision.stage == Stage::Hooks => {
                Refusal::of_verdict(&call.verdict, &name, reason)
            }
            _ => refused(&decision, &name, core.mode),
        };
        let asked = trial.answer.is_some() || matches!(decision.reason, Reason::User(_));
        let told = matches!(decision.stage, Stage::Rules | Stage::Prompt | Stage::Check) && !asked;
        if told {
            let reason_type = refusal.reason_type.unwrap_or("other");
            frames::permission_denied(&mut core.out, &name, &call.id, reason_type, &refusal.text);
        }
        if decision.stage != Stage::Validate && refusal.source.is_some() {
            self.denials.push(call.denial());
        }
        call.state = CallState::Refused(refusal);
    }
}

impl Core {
    /// What an allowed call changes in the session.
    fn take_effect(&mut self, tool: &str, updates: &[PermissionUpdate]) {
        let switches = |update: &PermissionUpdate| matches!(update, PermissionUpdate::SetMode { .. });
        self.apply(updates);
        if tool == "ExitPlanMode" && !updates.iter().any(switches) {
            self.switch_mode(self.before_plan);
        }
    }
}

fn accepted(decision: &Decision, trial: &Trial, hook_allows: bool, input: Map<String, Value>) -> Acceptance {
    let (source, reason_type) = match (&trial.answer, &decision.reason) {
        (Some((source, _)), _) => (*source, None),
        (None, _) if hook_allows => ("hook", Some("hook")),
        (None, Reason::Rule) => ("config", Some("rule")),
        (None, _) => ("config", Some("mode")),
    };
    Acceptance {
        input,
        source,
        reason_type,
    }
}

fn refused(decision: &Decision, tool: &str, mode: PermissionMode) -> Refusal {
    let message = match &decision.outcome {
        Outcome::Deny { message } => message.clone(),
        Outcome::Allow { .. } => String::new(),
    };
    match &decision.reason {
        Reason::UnknownTool => Refusal::of_config(text::no_such_tool(tool), "other"),
        Reason::InvalidInput(why) => Refusal::of_config(text::invalid_input(why), "other"),
        Reason::Hook(reason) => Refusal::of_hook(text::hook_denied(tool, reason)),
        Reason::Rule => Refusal::of_config(message, "rule"),
        Reason::Plan => Refusal::of_config(message, "mode"),
        Reason::NoPrompt(_) if mode == PermissionMode::DontAsk => Refusal::of_config(message, "mode"),
        Reason::NoPrompt(AskReason::Rule(_)) => Refusal::of_config(message, "rule"),
        Reason::NoPrompt(_) => Refusal::of_config(message, "asyncAgent"),
        Reason::ReadOnly | Reason::AcceptedEdit | Reason::Bypass | Reason::User(_) | Reason::Check(_) => {
            Refusal::of_config(message, "other")
        }
    }
}
