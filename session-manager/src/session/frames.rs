//! What Claude says, routed: to the translator, the turn machine, the mode, the open questions.

use claude_sdk_bridge::{
    backend::Exit,
    decode::DeltaLine,
    messages::{
        ClaudeSessionId, CommandLifecycle, CommandState, Message, MessageUuid, ResultMessage, SessionState,
        SystemEvent, SystemMessage, TurnOutcome, control::IncomingRequest,
    },
    query::QueryEvent,
};
use permission_core::PermissionMode;

use super::{
    actor::{Actor, Claude, Transcript},
    answers::{self, Cause},
};
use crate::{
    commands,
    turn::{Attribution, Event, Generation, PromptId, TurnEnd},
};

impl Actor {
    /// Takes one event of Claude's.
    pub(super) fn frame(&mut self, event: QueryEvent) {
        let Some(generation) = self.generation() else {
            return;
        };
        match event {
            QueryEvent::Delta(delta) => self.delta(&delta),
            QueryEvent::Message(message) => self.message(generation, &message),
            QueryEvent::ControlRequest { id, request } => match request {
                IncomingRequest::CanUseTool(question) => self.ask(id, question),
                IncomingRequest::HookCallback(callback) => self.called_back(id, callback),
                other => self.other_request(&id, &other),
            },
            QueryEvent::ControlCancel { id } => {
                self.guard.withdraw(&id);
                self.withdrawn_by_claude(&id);
            }
            QueryEvent::Ended(exit) => self.process_gone(generation, &exit),
        }
    }

    /// Takes a piece of text, on the hot path.
    pub(super) fn delta(&mut self, delta: &DeltaLine) {
        if let Some(line) = self.translator.delta(delta) {
            self.outbox.push(&self.link.connection, line);
        }
    }

    /// The process is gone, wanted or not.
    pub(super) fn process_gone(&mut self, generation: Generation, exit: &Exit) {
        self.claude = Claude::Absent;
        self.guard.forget_process();
        self.dispatch_because(Event::Ended(generation), Cause::Exit(exit));
    }

    pub(super) fn generation(&self) -> Option<Generation> {
        match &self.claude {
            Claude::Running(generation, _) => Some(*generation),
            Claude::Absent | Claude::Starting(..) | Claude::Ending(..) => None,
        }
    }

    /// Updates leave before the turn machine hears of the message, so that they come before an answer.
    fn message(&mut self, generation: Generation, message: &Message) {
        if self.is_shown(message) {
            let updates = self.translator.message(message);
            updates.into_iter().for_each(|update| self.update(update));
        }
        let counted = self.meter.message(message);
        counted.into_iter().for_each(|update| self.update(update));
        if self.meter.wants_window() {
            self.ask_window();
        }
        match message {
            Message::System(system) => self.system(generation, system),
            Message::Assistant(assistant) => {
                if let Some(kind) = assistant.error.get() {
                    self.facts.api_error = Some(kind.clone());
                }
            }
            Message::User(user) => self.check_results(user),
            Message::CommandLifecycle(lifecycle) => self.lifecycle(generation, lifecycle),
            Message::Result(result) => self.result(generation, result),
            Message::ConversationReset(reset) => {
                if let Some(id) = reset.new_conversation_id.get() {
                    self.transcript = Transcript::Unwritten(ClaudeSessionId::from(id.as_str()));
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
                self.unheard.retain(|(unheard, _)| *unheard != prompt);
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
                    self.transcript = Transcript::Written(id.clone());
                }
                for server in init.mcp_servers.known() {
                    let (name, state) = (server.name.as_str(), server.status.as_str());
                    tracing::debug!(name, state, "an MCP server of Claude's");
                }
                let seen = self.options.observed_init(init);
                self.observed(seen);
                let named = init.user_message_uuids.known().find_map(prompt_of);
                self.dispatch(Event::Started(generation, named));
            }
            SystemEvent::Status(status) => {
                if let Some(mode) = status
                    .permission_mode
                    .as_str()
                    .and_then(PermissionMode::from_wire_id)
                {
                    self.mode_told(mode);
                }
            }
            SystemEvent::SessionStateChanged(changed) if changed.state == SessionState::Idle => {
                self.dispatch(Event::Idle(generation));
            }
            SystemEvent::TaskStarted(task) => {
                if let Some(parent) = task.tool_use_id.get() {
                    self.subagents.started(&task.task_id, parent);
                }
            }
            SystemEvent::PermissionDenied(denied) => self.guard.denied_by_claude(denied.agent_id.get()),
            SystemEvent::TaskNotification(task) => self.subagents.ended(&task.task_id),
            SystemEvent::CommandsChanged(changed) => {
                let update = commands::update(&changed.commands);
                self.update(update);
            }
            _ => {}
        }
    }

    fn result(&mut self, generation: Generation, result: &ResultMessage) {
        let end = if answers::is_signed_out(result, &self.facts) {
            TurnEnd::SignedOut
        } else if matches!(result.outcome(), TurnOutcome::Cancelled(_)) {
            TurnEnd::Interrupted
        } else {
            TurnEnd::Completed
        };
        if result.local_command.get().is_some() {
            // `/model` and `/effort` show nowhere else.
            self.read_settings();
        }
        let seen = self.options.observed_result(result);
        self.observed(seen);
        let attribution = attribution(result);
        if self.turn.concerns(&attribution) {
            self.turn_usage.add(result);
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
