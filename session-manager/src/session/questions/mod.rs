//! Claude's questions to the client, step by step: announce the tool call, prepare, ask, settle.
//!
//! Which options there are and what an answer does is permission-core's; which questions are open is `permission`'s.
//! Every question ends here with one reply, or without one because Claude has withdrawn it. What Claude asks the session's
//! guard alone is in `callbacks`.

mod callbacks;

use acp_proto::Connection;
use acp_proto::schema::SessionId;
use claude_sdk_bridge::messages::control::{CanUseTool, ControlRequest, IncomingRequest};
use claude_sdk_bridge::messages::{ControlId, Message, SystemEvent};
use permission_core::{FollowUp, PermissionResult, PrepareError, QuestionForm, SettleError, Workspace};
use serde_json::{Value, json};

use super::choices::{ApprovedPlan, Choices};
use super::effect::{Effect, Purpose};
use super::prompts::Prompts;
use crate::permission::{
    self, Answered, AskFacts, Asks, Guarded, HookEnded, SessionGuard, Settled, Shown, Subagents,
};
use crate::tools::ToolCallRef;
use crate::translate::{self, Translator};
use crate::turn::{Event, TurnMachine};
use crate::usage::UsageMeter;

/// The open questions of one session, and its guard.
pub(super) struct Questions {
    asks: Asks,
    guard: SessionGuard,
    subagents: Subagents,
    client: Client,
}

/// Who is asked, about which session.
pub(super) struct Client {
    pub(super) connection: Connection,
    pub(super) session: SessionId,
}

/// The rest of the session, as far as questions concern it.
pub(super) struct Context<'a> {
    pub(super) turn: &'a TurnMachine,
    pub(super) prompts: &'a mut Prompts,
    pub(super) choices: &'a mut Choices,
    pub(super) translator: &'a mut Translator,
    pub(super) meter: &'a UsageMeter,
}

/// What came of what was waited for.
pub(super) enum QuestionEvent {
    /// The client answered, or cannot.
    Answered(Answered),
    /// A hook of the policy's has ended.
    HookEnded(HookEnded),
}

impl Questions {
    /// A session whose Claude has asked nothing.
    pub(super) fn new(guard: SessionGuard, client: Client) -> Self {
        Self {
            asks: Asks::default(),
            guard,
            subagents: Subagents::default(),
            client,
        }
    }

    /// Whether the client is not being asked anything.
    pub(super) fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    /// Waits for the client, and for hooks. Cancel-safe.
    pub(super) async fn next(&mut self) -> QuestionEvent {
        tokio::select! {
            biased;
            Some(answered) = self.asks.next() => QuestionEvent::Answered(answered),
            Some(ended) = self.guard.next() => QuestionEvent::HookEnded(ended),
            else => std::future::pending().await,
        }
    }

    /// Takes what was waited for.
    pub(super) fn take(&mut self, event: QuestionEvent, session: Context<'_>) -> Vec<Effect> {
        match event {
            QuestionEvent::Answered(answered) => self.answered(answered, session),
            QuestionEvent::HookEnded(ended) => self.hook_ended(ended, &session).into_iter().collect(),
        }
    }

    /// Takes a control request of Claude's.
    pub(super) fn asked(
        &mut self,
        control: ControlId,
        request: IncomingRequest,
        session: Context<'_>,
    ) -> Vec<Effect> {
        match request {
            IncomingRequest::CanUseTool(question) => self.ask(control, question, session),
            IncomingRequest::HookCallback(callback) => self.called_back(control, callback, &session),
            IncomingRequest::Elicitation(_) => vec![Effect::Reply(control, Ok(json!({"action": "cancel"})))],
            // An undeclared kind is to be left unanswered: Claude withdraws it itself.
            IncomingRequest::UserDialog(_) => Vec::new(),
            IncomingRequest::McpMessage(_) | IncomingRequest::Unknown(_) => {
                let refusal = "this host does not support the request".to_owned();
                vec![Effect::Reply(control, Err(refusal))]
            }
        }
    }

    /// What Claude's messages tell about tool calls: which were denied, which ran, and for which of them agents work.
    pub(super) fn message(&mut self, message: &Message) -> Vec<Effect> {
        match message {
            Message::System(system) => match &system.event {
                SystemEvent::TaskStarted(task) => {
                    if let Some(parent) = task.tool_use_id.get() {
                        self.subagents.started(&task.task_id, parent);
                    }
                }
                SystemEvent::TaskNotification(task) => self.subagents.ended(&task.task_id),
                SystemEvent::PermissionDenied(denied) => self.guard.denied_by_claude(denied.agent_id.get()),
                _ => {}
            },
            Message::User(user) => return self.check_results(user),
            _ => {}
        }
        Vec::new()
    }

    /// Takes a question of Claude's. One about a plan waits until the plan is read.
    fn ask(&mut self, control: ControlId, question: Box<CanUseTool>, session: Context<'_>) -> Vec<Effect> {
        let guarded = self.guard.question(&question, session.choices.modes().current());
        if session.turn.stopping() {
            self.guard.unanswered(&guarded, CANCELLED);
            return vec![Effect::Reply(control, Err(SettleError::Aborted.to_string()))];
        }
        if let Some(reason) = self.guard.refuses_to_ask(&guarded) {
            let denial = Ok(PermissionResult::deny(reason));
            return settle(control, question.tool_use_id.as_str(), denial, session.translator);
        }
        if question.tool_name == EXIT_PLAN_MODE && plan_text(question.input.get("plan")).is_none() {
            self.asks.expect(control.clone());
            let request = ControlRequest::GetPlan(Default::default());
            return vec![Effect::Call(request, Purpose::Plan(control, question))];
        }
        self.show((control, guarded), &question, None, session)
    }

    /// The plan of a waiting question has been read, if there is one; the model's own message is the last place to look.
    pub(super) fn plan_read(
        &mut self,
        control: ControlId,
        question: &CanUseTool,
        response: Option<&Value>,
        session: Context<'_>,
    ) -> Vec<Effect> {
        // Withdrawn meanwhile, by Claude or by a cancel.
        if !self.asks.expected(&control) {
            return Vec::new();
        }
        let stated = || session.translator.input_of(question.tool_use_id.as_str());
        let plan = response.and_then(|response| plan_text(response.get("content")));
        let plan = plan
            .or_else(|| plan_text(stated()?.get("plan")))
            .map(str::to_owned);
        let guarded = self.guard.question(question, session.choices.modes().current());
        self.show((control, guarded), question, plan.as_deref(), session)
    }

    /// The client answered a question, or cannot.
    fn answered(&mut self, answered: Answered, session: Context<'_>) -> Vec<Effect> {
        let Some(Settled {
            control,
            tool_use,
            guarded,
            outcome,
            client_error,
        }) = self.asks.settle(answered)
        else {
            return Vec::new();
        };
        let tool_use = tool_use.as_str();
        let mut effects = Vec::new();
        if let Some(error) = client_error {
            tracing::warn!(%error, "the client did not answer a question");
            // The user is told once a turn.
            if !std::mem::replace(&mut session.prompts.facts.complained, true) {
                effects.push(Effect::update(translate::unanswerable(&error)));
            }
        }
        let mut settlement = match outcome {
            Ok(settlement) => settlement,
            Err(text) => {
                self.guard.unanswered(&guarded, &text);
                effects.extend(settle(control, tool_use, Err(text), session.translator));
                return effects;
            }
        };
        let mode = session.choices.modes().current();
        if let Err(reason) = self.guard.settled(guarded, mode, &settlement) {
            let denial = Ok(PermissionResult::deny(reason));
            effects.extend(settle(control, tool_use, denial, session.translator));
            return effects;
        }
        session.choices.grant(&mut settlement);
        let mut then = None;
        match settlement.follow_up {
            FollowUp::None => {}
            FollowUp::ModeChanges(mode) => effects.extend(session.choices.mode_changed(mode)),
            FollowUp::EndTurn => session.prompts.facts.plan_rejected = true,
            FollowUp::ClearContext { .. } if !session.turn.can_hand_off() => {
                let aborted = Err(SettleError::Aborted.to_string());
                effects.extend(settle(control, tool_use, aborted, session.translator));
                return effects;
            }
            FollowUp::ClearContext { mode, plan: text } => {
                session.choices.hand_over(ApprovedPlan { mode, text });
                // The rejection that Claude gets instead is not shown.
                effects.extend(session.translator.handed_over(tool_use).map(Effect::update));
                then = Some(Effect::Turn(Event::HandOff));
            }
        }
        effects.extend(settle(
            control,
            tool_use,
            Ok(settlement.result),
            session.translator,
        ));
        effects.extend(then);
        effects
    }

    /// Claude does not wait for this any more.
    pub(super) fn withdrawn(&mut self, control: &ControlId, session: Context<'_>) -> Vec<Effect> {
        self.guard.withdraw(control);
        let Some((tool_use, guarded)) = self.asks.withdraw(control) else {
            return Vec::new();
        };
        self.guard.unanswered(&guarded, WITHDRAWN);
        let update = session.translator.decided(tool_use.as_str(), false);
        update.map(Effect::update).into_iter().collect()
    }

    /// Nobody may answer the open questions any more; Claude is told so.
    pub(super) fn withdraw_all(&mut self, session: Context<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (control, asked) in self.asks.withdraw_all() {
            if let Some((_, guarded)) = &asked {
                self.guard.unanswered(guarded, CANCELLED);
            }
            let shown = asked.as_ref().map_or("", |(id, _)| id.as_str());
            let aborted = Err(SettleError::Aborted.to_string());
            effects.extend(settle(control, shown, aborted, session.translator));
        }
        effects
    }

    /// Claude told what its settings come to.
    pub(super) fn settings_told(&mut self, settings: &Value) {
        self.guard.settings_told(settings);
    }

    /// The process is gone.
    pub(super) fn process_gone(&mut self) {
        self.guard.forget_process();
    }

    fn show(
        &mut self,
        (control, guarded): (ControlId, Guarded),
        question: &CanUseTool,
        plan: Option<&str>,
        session: Context<'_>,
    ) -> Vec<Effect> {
        let parent = self.subagents.parent(question).cloned();
        let with_plan = plan.map(|plan| {
            let mut fields = question.input.clone();
            fields.insert("plan".to_owned(), Value::from(plan));
            Value::Object(fields)
        });
        let input = with_plan.as_ref().unwrap_or(guarded.input());
        let call = ToolCallRef {
            id: question.tool_use_id.as_str(),
            name: &question.tool_name,
            input,
            parent: parent.as_ref().map(|parent| parent.as_str()),
        };
        let announcement = session.translator.announce(&call);
        let mut effects: Vec<Effect> = announcement.map(Effect::update).into_iter().collect();
        let shown = session.translator.permission_tool_call(&call);
        let title = shown.fields.title.clone().unwrap_or_default();
        let modes = session.choices.modes();
        let guarded_call = self.guard.call(&guarded);
        let mut additional = guarded_call.workspace.additional.to_vec();
        let rules = session.choices.rules(&mut additional);
        let facts = AskFacts {
            call: guarded_call.within(Workspace {
                additional: &additional,
                ..guarded_call.workspace
            }),
            title: &title,
            rules: &rules,
            plan,
            modes: &modes.after_plan(),
            fresh_modes: &modes.offered(),
            context_used_percent: session.meter.context_used_percent(),
        };
        let Client {
            connection,
            session: id,
        } = &self.client;
        let (shown, (line, pending)) = match permission::prepare(question, &facts) {
            Ok(prepared) => {
                let request = permission::wire_request(id.clone(), shown, &prepared);
                let request = connection.prepare_request("session/request_permission", &request);
                (Shown::Options(Box::new(prepared)), request)
            }
            Err(PrepareError::MustBeElicited) => match QuestionForm::build(input) {
                Ok(form) => {
                    let request = permission::form_request(id, call.id, &form);
                    let request = connection.prepare_request("elicitation/create", &request);
                    (Shown::Form(form), request)
                }
                Err(error) => {
                    let error = Err(error.to_string());
                    effects.extend(settle(control, call.id, error, session.translator));
                    return effects;
                }
            },
        };
        self.asks
            .open(control, question.tool_use_id.clone(), guarded, (shown, pending));
        effects.push(Effect::Request(line));
        effects
    }
}

/// The end of a question: the client sees what becomes of the call, and Claude gets its reply, an error where there is no
/// answer.
fn settle(
    control: ControlId,
    tool_use: &str,
    result: Result<PermissionResult, String>,
    translator: &mut Translator,
) -> Vec<Effect> {
    let allowed = result.as_ref().is_ok_and(PermissionResult::is_allow);
    let update = translator.decided(tool_use, allowed);
    let reply = result.and_then(|result| serde_json::to_value(&result).map_err(|error| error.to_string()));
    let reply = Effect::Reply(control, reply);
    update.map(Effect::update).into_iter().chain([reply]).collect()
}

/// A plan with something in it.
fn plan_text(plan: Option<&Value>) -> Option<&str> {
    plan.and_then(Value::as_str)
        .filter(|plan| !plan.trim().is_empty())
}

const WITHDRAWN: &str = "Claude took the question back";
const CANCELLED: &str = "the turn was cancelled, or the client left";
const EXIT_PLAN_MODE: &str = "ExitPlanMode";
