//! Claude's questions to the client, step by step: announce the tool call, prepare, ask, settle.
//!
//! Which options there are and what an answer does is permission-core's; which questions are open is `permission`'s.
//! Every question ends here with one reply, or without one because Claude has withdrawn it.

use claude_sdk_bridge::messages::{
    ClaudeSessionId, ControlId,
    control::{CanUseTool, ControlRequest},
};
use permission_core::{FollowUp, PermissionMode, PermissionResult, PrepareError, QuestionForm, SettleError};
use serde_json::Value;

use super::{
    actor::{Actor, HandOffPlan},
    control::{CallDone, plan_text},
};
use crate::{
    permission::{self, Answered, AskFacts, Guarded, Settled, Shown},
    tools::ToolCallRef,
    turn::Event,
};

impl Actor {
    /// Takes a question of Claude's. One about a plan waits until the plan is read.
    pub(super) fn ask(&mut self, control: ControlId, question: Box<CanUseTool>) {
        let guarded = self.guard.question(&question, self.modes.current());
        if self.turn.stopping() {
            self.guard.unanswered(&guarded, CANCELLED);
            return self.reply(&control, Err(SettleError::Aborted.to_string()));
        }
        if let Some(reason) = self.guard.refuses_to_ask(&guarded) {
            return self.deny(&control, question.tool_use_id.as_str(), reason);
        }
        let names_plan = plan_text(question.input.get("plan")).is_some();
        match self.query() {
            Some(query) if question.tool_name == EXIT_PLAN_MODE && !names_plan => {
                let call = query.request(ControlRequest::GetPlan(Default::default()));
                self.asks.expect(control.clone());
                self.calls.push(Box::pin(async move {
                    CallDone::PlanRead(control, question, call.await)
                }));
            }
            _ => self.show(control, &question, None, guarded),
        }
    }

    /// The plan of a waiting question has been read, if there is one; the model's own message is the last place to look.
    pub(super) fn plan_read(&mut self, control: ControlId, question: &CanUseTool, plan: Option<String>) {
        // Withdrawn meanwhile, by Claude or by a cancel.
        if !self.asks.expected(&control) {
            return;
        }
        let stated = || {
            plan_text(
                self.translator
                    .input_of(question.tool_use_id.as_str())?
                    .get("plan"),
            )
        };
        let plan = plan.or_else(stated);
        let guarded = self.guard.question(question, self.modes.current());
        self.show(control, question, plan.as_deref(), guarded);
    }

    /// The client answered a question, or cannot.
    pub(super) fn answered(&mut self, answered: Answered) {
        let Some(Settled {
            control,
            tool_use,
            guarded,
            outcome,
            client_error,
        }) = self.asks.settle(answered)
        else {
            return;
        };
        if let Some(error) = client_error {
            self.complain(&error);
        }
        let mut settlement = match outcome {
            Ok(settlement) => settlement,
            Err(text) => {
                self.guard.unanswered(&guarded, &text);
                return self.refuse(&control, tool_use.as_str(), text);
            }
        };
        if let Err(reason) = self.guard.settled(guarded, self.modes.current(), &settlement) {
            return self.deny(&control, tool_use.as_str(), reason);
        }
        self.grants.take(&settlement.result);
        // The model may have changed since the options were made.
        if self.options.supports_auto(self.options.model()) == Some(false) {
            settlement.degrade_auto();
        }
        let mut hand_off = false;
        match settlement.follow_up {
            FollowUp::None => {}
            FollowUp::ModeChanges(mode) => self.mode_changed(mode),
            FollowUp::EndTurn => self.facts.plan_rejected = true,
            FollowUp::ClearContext { mode, plan } => {
                if !self.turn.can_hand_off() {
                    return self.refuse(&control, tool_use.as_str(), SettleError::Aborted.to_string());
                }
                self.hand_over(tool_use.as_str(), mode, plan);
                hand_off = true;
            }
        }
        let update = self
            .translator
            .decided(tool_use.as_str(), settlement.result.is_allow());
        update.into_iter().for_each(|update| self.update(update));
        let result = serde_json::to_value(&settlement.result).map_err(|error| error.to_string());
        self.reply(&control, result);
        if hand_off {
            self.dispatch(Event::HandOff);
        }
    }

    /// Claude does not ask any more.
    pub(super) fn withdrawn_by_claude(&mut self, control: &ControlId) {
        if let Some((tool_use, guarded)) = self.asks.withdraw(control) {
            self.guard.unanswered(&guarded, WITHDRAWN);
            let update = self.translator.aborted(tool_use.as_str());
            update.into_iter().for_each(|update| self.update(update));
        }
    }

    /// Nobody may answer the open questions any more; Claude is told so.
    pub(super) fn withdraw_asks(&mut self) {
        for (control, asked) in self.asks.withdraw_all() {
            let shown = asked.as_ref().map_or("", |(id, _)| id.as_str());
            if let Some((_, guarded)) = &asked {
                self.guard.unanswered(guarded, CANCELLED);
            }
            self.refuse(&control, shown, SettleError::Aborted.to_string());
        }
    }

    /// Replies to Claude.
    pub(super) fn reply(&self, control: &ControlId, reply: Result<Value, String>) {
        let Some(query) = self.query() else { return };
        if let Err(error) = query.answer(control, reply) {
            tracing::debug!(%error, "reply not delivered to claude");
        }
    }

    fn show(&mut self, control: ControlId, question: &CanUseTool, plan: Option<&str>, guarded: Guarded) {
        let parent = self.subagents.parent(question).cloned();
        let mut input = Value::Object(question.input.clone());
        if let (Some(plan), Value::Object(fields)) = (plan, &mut input) {
            fields.insert("plan".to_owned(), Value::from(plan));
        }
        let call = ToolCallRef {
            id: question.tool_use_id.as_str(),
            name: &question.tool_name,
            input: &input,
            parent: parent.as_ref().map(|parent| parent.as_str()),
        };
        let announcement = self.translator.announce(&call);
        let shown = self.translator.permission_tool_call(&call);
        let title = shown.fields.title.clone().unwrap_or_default();
        let (modes, fresh_modes) = (self.modes.after_plan(), self.modes.offered());
        let mut rules = self.modes.rules();
        let mut additional = self.guard.directories().to_vec();
        self.grants.add_to(&mut rules, &mut additional);
        let facts = AskFacts {
            cwd: &self.origin.options.cwd,
            home: self.origin.home.as_deref(),
            current: guarded.current(),
            additional: &additional,
            title: &title,
            rules: &rules,
            mode: self.modes.current(),
            plan,
            modes: &modes,
            fresh_modes: &fresh_modes,
            context_used_percent: self.meter.context_used_percent(),
        };
        let prepared = permission::prepare(question, &facts);
        announcement.into_iter().for_each(|update| self.update(update));
        let session = self.link.session_id.clone();
        let (shown, (line, pending)) = match prepared {
            Ok(prepared) => {
                let request = permission::wire_request(session, shown, &prepared);
                let request = self
                    .link
                    .connection
                    .prepare_request("session/request_permission", &request);
                (Shown::Options(Box::new(prepared)), request)
            }
            Err(PrepareError::MustBeElicited) => match QuestionForm::build(&input) {
                Ok(form) => {
                    let request = permission::form_request(&session, call.id, &form);
                    let request = self
                        .link
                        .connection
                        .prepare_request("elicitation/create", &request);
                    (Shown::Form(form), request)
                }
                Err(error) => return self.refuse(&control, call.id, error.to_string()),
            },
        };
        self.asks
            .open(control, question.tool_use_id.clone(), guarded, (shown, pending));
        self.outbox.push(&self.link.connection, line);
    }

    /// The user approved a plan for a fresh process. The rejection that Claude gets instead is not shown.
    fn hand_over(&mut self, tool_use: &str, mode: PermissionMode, plan: String) {
        let session = ClaudeSessionId::from(uuid::Uuid::new_v4().to_string());
        self.hand_off = Some(HandOffPlan { mode, plan, session });
        let update = self.translator.handed_over(tool_use);
        update.into_iter().for_each(|update| self.update(update));
    }

    /// Denies what no answer of the client's can allow.
    fn deny(&mut self, control: &ControlId, tool_use: &str, reason: String) {
        let update = self.translator.decided(tool_use, false);
        update.into_iter().for_each(|update| self.update(update));
        let result = serde_json::to_value(PermissionResult::deny(reason)).map_err(|error| error.to_string());
        self.reply(control, result);
    }

    /// Denies a question that has no answer.
    fn refuse(&mut self, control: &ControlId, tool_use: &str, text: String) {
        let update = self.translator.aborted(tool_use);
        update.into_iter().for_each(|update| self.update(update));
        self.reply(control, Err(text));
    }

    /// Tells the user once a turn that the client cannot show Claude's questions.
    fn complain(&mut self, error: &str) {
        tracing::warn!(%error, "the client did not answer a question");
        if !std::mem::replace(&mut self.facts.complained, true) {
            self.update(crate::translate::unanswerable(error));
        }
    }
}

const WITHDRAWN: &str = "Claude took the question back";
const CANCELLED: &str = "the turn was cancelled, or the client left";
const EXIT_PLAN_MODE: &str = "ExitPlanMode";
