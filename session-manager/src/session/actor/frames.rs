//! What Claude says, routed: to the translator, the turn machine, the mode, the open questions.

use claude_sdk_bridge::decode::{DeltaKind, DeltaLine};
use claude_sdk_bridge::messages::control::{ControlRequest, GetContextUsage};
use claude_sdk_bridge::messages::{
    BackgroundTask, ClaudeSessionId, CommandLifecycle, CommandState, Message, MessageUuid, ResultMessage,
    SessionState, SystemEvent, SystemMessage, TaskType, TurnOutcome,
};
use claude_sdk_bridge::query::QueryEvent;
use tokio::time::Instant;

use super::Actor;
use crate::commands;
use crate::session::answers::{self, Cause};
use crate::session::effect::{Effect, Purpose};
use crate::turn::{Attribution, Event, Generation, PromptId, TurnEnd};

impl Actor {
    /// Takes one event of Claude's.
    pub(super) fn frame(&mut self, generation: Generation, event: QueryEvent) {
        match event {
            QueryEvent::Delta(delta) => self.delta(&delta),
            QueryEvent::Message(message) => self.message(generation, &message),
            QueryEvent::ControlRequest { id, request } => {
                self.question(|questions, session| questions.asked(id, request, session));
            }
            QueryEvent::ControlCancel { id } => {
                self.question(|questions, session| questions.withdrawn(&id, session));
            }
            QueryEvent::Ended(exit) => self.process_gone(generation, &exit),
        }
    }

    /// Takes a piece of text, on the hot path, or of a call's input.
    pub(super) fn delta(&mut self, delta: &DeltaLine) {
        if delta.kind() == DeltaKind::InputJson {
            let now = Instant::now().into_std();
            let update = self.translator.input_delta(delta, now);
            return self.outlet.show(update);
        }
        if let Some(line) = self.translator.delta(delta) {
            self.outlet.send(line);
        }
    }

    /// Updates leave before the turn machine hears of the message, so that they come before an answer.
    fn message(&mut self, generation: Generation, message: &Message) {
        if self.is_shown(message) {
            self.outlet.show(self.translator.message(message));
        }
        self.outlet.show(self.meter.message(message));
        if self.meter.wants_window() {
            let request = ControlRequest::GetContextUsage(GetContextUsage {
                detail: "summary".to_owned().into(),
                ..GetContextUsage::default()
            });
            self.perform([Effect::Call(request, Purpose::Window)]);
        }
        self.question(|questions, _| questions.message(message));
        self.choose(|choices| choices.message(message));
        match message {
            Message::System(system) => self.system(generation, system),
            Message::Assistant(assistant) => {
                if let Some(kind) = assistant.error.get() {
                    self.prompts.facts.api_error = Some(kind.clone());
                }
            }
            Message::CommandLifecycle(lifecycle) => self.lifecycle(generation, lifecycle),
            Message::Result(result) => self.result(generation, result),
            Message::ConversationReset(reset) => {
                if let Some(id) = reset.new_conversation_id.get() {
                    self.process.reset(ClaudeSessionId::from(id.as_str()));
                }
            }
            _ => {}
        }
    }

    /// A result that belongs to another turn says nothing to the running one; everything else is shown as it comes.
    fn is_shown(&self, message: &Message) -> bool {
        match message {
            Message::Result(result) => self.turn.concerns(&attribution(result)),
            _ => true,
        }
    }

    fn lifecycle(&mut self, generation: Generation, lifecycle: &CommandLifecycle) {
        let Some(prompt) = prompt_of(&lifecycle.command_uuid) else {
            return;
        };
        match lifecycle.state {
            CommandState::Started => {
                self.prompts.taken_up(prompt);
                self.dispatch(Event::Started(generation, Some(prompt)));
            }
            CommandState::Cancelled => self.dispatch(Event::Dequeued(generation, vec![prompt])),
            CommandState::Queued | CommandState::Completed | CommandState::Other(_) => {}
        }
    }

    fn system(&mut self, generation: Generation, system: &SystemMessage) {
        match &system.event {
            SystemEvent::Init(init) => {
                if let Some(id) = system.session_id.get() {
                    self.process.written(id.clone());
                    self.keeper.begun(id);
                    self.keeper.written();
                }
                for server in init.mcp_servers.known() {
                    let (name, state) = (server.name.as_str(), server.status.as_str());
                    tracing::debug!(name, state, "an MCP server of Claude's");
                }
                let named = init.user_message_uuids.known().find_map(prompt_of);
                self.dispatch(Event::Started(generation, named));
            }
            SystemEvent::SessionStateChanged(changed) if changed.state == SessionState::Idle => {
                self.dispatch(Event::Idle(generation));
            }
            SystemEvent::BackgroundTasksChanged(changed) => {
                let agent = |task: &BackgroundTask| task.task_type.get() == Some(&TaskType::LocalAgent);
                let at_work = changed.tasks.known().any(agent);
                self.dispatch(Event::Agents(generation, at_work));
            }
            SystemEvent::CommandsChanged(changed) => {
                self.commands = commands::update(&changed.commands);
                self.outlet.show([self.commands.clone()]);
            }
            _ => {}
        }
    }

    fn result(&mut self, generation: Generation, result: &ResultMessage) {
        let end = if answers::is_signed_out(result, &self.prompts.facts) {
            TurnEnd::SignedOut
        } else if matches!(result.outcome(), TurnOutcome::Cancelled(_)) {
            TurnEnd::Interrupted
        } else {
            TurnEnd::Completed
        };
        let attribution = attribution(result);
        if self.turn.concerns(&attribution) {
            self.prompts.count(result);
        } else if self.turn.awaits_agents() && attribution == Attribution::Background {
            self.prompts.goes_on(result, &self.process.origin().login);
        }
        let event = Event::Result {
            generation,
            attribution,
            end,
        };
        self.dispatch_because(event, Cause::Result(result));
    }
}

/// Which prompts a result belongs to.
fn attribution(result: &ResultMessage) -> Attribution {
    let uuids: Vec<&MessageUuid> = result
        .user_message_uuid
        .get()
        .into_iter()
        .chain(result.user_message_uuids.known())
        .collect();
    if !uuids.is_empty() {
        Attribution::Prompts(uuids.into_iter().filter_map(prompt_of).collect())
    } else if result
        .origin
        .get()
        .is_some_and(|origin| origin.kind.as_str() != Some("human"))
    {
        Attribution::Background
    } else {
        Attribution::Unnamed
    }
}

fn prompt_of(uuid: &MessageUuid) -> Option<PromptId> {
    PromptId::parse(uuid.as_str())
}
