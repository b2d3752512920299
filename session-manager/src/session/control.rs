//! The commands of the client, and the control requests between us and Claude that are no questions to the client.

use acp_proto::{errors, schema};
use claude_sdk_bridge::{
    messages::{
        ContentBlock, ControlId, MessageUuid, OutgoingUserMessage, Priority,
        control::{CanUseTool, ControlRequest, GetContextUsage, HookCallback, IncomingRequest, Interrupt},
    },
    query::ControlError,
};
use permission_core::PermissionMode;
use serde_json::{Value, json};

use super::{
    Command, Reply, Steered, WhenIdle,
    actor::{Actor, Prompt},
    configure::Waiter,
};
use crate::{
    options::Request,
    turn::{Event, Generation, PromptId},
};

/// The end of a control request that we made.
pub(super) enum CallDone {
    /// Claude heard the interrupt.
    Interrupted(Generation, Result<Value, ControlError>),
    /// Claude was told the mode.
    ModeSet(PermissionMode, Waiter, Result<Value, ControlError>),
    /// Claude was told a choice, after which another is to follow.
    Applied(Request, Option<Request>, Waiter, Result<Value, ControlError>),
    /// Claude told what its settings come to.
    SettingsRead(Result<Value, ControlError>),
    /// Claude told how large the context can be.
    WindowTold(Result<Value, ControlError>),
    /// The state of the MCP servers, for the sake of a callback.
    ServersTold(ControlId, Box<HookCallback>, Result<Value, ControlError>),
    /// The plan that a question is about.
    PlanRead(ControlId, Box<CanUseTool>, Result<Value, ControlError>),
}

impl Actor {
    /// Takes one request of the client's.
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Prompt { id, content, reply } => {
                self.prompt(id, content, Some(reply));
            }
            Command::Steer {
                content,
                when_idle,
                reply,
            } => self.steer(content, when_idle, reply),
            Command::Cancel => self.dispatch(Event::Cancel),
            Command::CancelPrompt(id) => self.dispatch(Event::CancelPrompt(id)),
            Command::SetMode { id, reply } => self.choose_mode(&id, Waiter::Mode(reply)),
            Command::SetOption { id, value, reply } => {
                self.choose_option(&id, &value, Waiter::Options(reply))
            }
            Command::Close { done } => {
                self.closing.push(done);
                self.dispatch(Event::Close);
            }
        }
    }

    fn prompt(
        &mut self,
        id: PromptId,
        content: Vec<ContentBlock>,
        reply: Option<Reply<schema::PromptResponse>>,
    ) {
        let message = user_message(id, content);
        self.prompts.insert(
            id,
            Prompt {
                message,
                sent: false,
                reply,
            },
        );
        self.dispatch(Event::Prompt(id));
    }

    /// Says something into the running turn: at once, which cuts Claude short, but not while the client is being asked.
    fn steer(&mut self, content: Vec<ContentBlock>, when_idle: WhenIdle, reply: Reply<Steered>) {
        let id = PromptId::new();
        let steered = match (self.turn.can_steer().then(|| self.query()).flatten(), when_idle) {
            (Some(query), _) => {
                let priority = if self.asks.is_empty() {
                    Priority::Now
                } else {
                    Priority::Later
                };
                let message = OutgoingUserMessage {
                    priority: priority.into(),
                    ..user_message(id, content.clone())
                };
                query.send_user(&message).map(|()| {
                    self.unheard.push((id, content));
                    self.dispatch(Event::Steer(id));
                    Steered::Injected
                })
            }
            (None, WhenIdle::StartTurn) => {
                self.prompt(id, content, None);
                Ok(Steered::StartedNewTurn)
            }
            (None, WhenIdle::RequirePrompt) => Ok(Steered::PromptRequired),
        };
        let answer =
            steered.map_err(|error| errors::internal(format!("Claude did not take it: {error}"), None));
        // A client that has gone does not want the answer any more.
        self.outbox.then(move || drop(reply.send(answer)));
    }

    /// Answers a request of Claude's that has nothing to do with permissions.
    pub(super) fn other_request(&mut self, control: &ControlId, request: &IncomingRequest) {
        match request {
            IncomingRequest::Elicitation(_) => self.reply(control, Ok(json!({"action": "cancel"}))),
            // An undeclared kind is to be left unanswered: Claude withdraws it itself.
            IncomingRequest::UserDialog(_) => {}
            IncomingRequest::CanUseTool(_)
            | IncomingRequest::HookCallback(_)
            | IncomingRequest::McpMessage(_)
            | IncomingRequest::Unknown(_) => {
                self.reply(control, Err("this host does not support the request".to_owned()));
            }
        }
    }

    /// Asks Claude how large the context of its model can be.
    pub(super) fn ask_window(&mut self) {
        let Some(query) = self.query() else { return };
        let call = query.request(ControlRequest::GetContextUsage(GetContextUsage {
            detail: "summary".to_owned().into(),
            ..GetContextUsage::default()
        }));
        self.calls
            .push(Box::pin(async move { CallDone::WindowTold(call.await) }));
    }

    /// Asks Claude to stop, and to forget a prompt that it has only queued.
    pub(super) fn interrupt(&mut self) {
        let (Some(query), Some(generation)) = (self.query(), self.generation()) else {
            return;
        };
        let call = query.request(ControlRequest::Interrupt(Interrupt {
            cancel_queued: true.into(),
            ..Interrupt::default()
        }));
        self.calls.push(Box::pin(
            async move { CallDone::Interrupted(generation, call.await) },
        ));
    }

    /// Takes the end of a control request that we made.
    pub(super) fn called(&mut self, done: CallDone) {
        match done {
            CallDone::Interrupted(generation, Ok(response)) => {
                self.dispatch(Event::Dequeued(generation, dequeued(&response)));
            }
            // A process that does not take the interrupt is ended by the escalation clock.
            CallDone::Interrupted(_, Err(error)) => tracing::debug!(%error, "interrupt failed"),
            CallDone::PlanRead(control, question, response) => {
                let plan = response
                    .ok()
                    .and_then(|response| plan_text(response.get("content")));
                self.plan_read(control, &question, plan);
            }
            CallDone::ServersTold(control, callback, status) => self.servers_told(control, callback, status),
            CallDone::ModeSet(mode, waiter, answer) => self.mode_set(mode, waiter, answer),
            CallDone::Applied(request, then, waiter, answer) => self.applied(&request, then, waiter, answer),
            CallDone::SettingsRead(answer) => self.settings_read(answer),
            CallDone::WindowTold(answer) => {
                let update = self.meter.window_told(answer.ok().as_ref());
                update.into_iter().for_each(|update| self.update(update));
            }
        }
    }
}

fn user_message(id: PromptId, content: Vec<ContentBlock>) -> OutgoingUserMessage {
    OutgoingUserMessage::prompt(MessageUuid::from(id.to_string()), content)
}

/// The prompts that Claude threw out of its queue when it was interrupted.
fn dequeued(response: &Value) -> Vec<PromptId> {
    let uuids = response
        .get("cancelled")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    uuids
        .filter_map(Value::as_str)
        .filter_map(PromptId::parse)
        .collect()
}

/// A plan with something in it.
pub(super) fn plan_text(plan: Option<&Value>) -> Option<String> {
    plan.and_then(Value::as_str)
        .filter(|plan| !plan.trim().is_empty())
        .map(str::to_owned)
}
