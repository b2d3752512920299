//! Claude's messages → ACP session updates, one translator a session. It knows what the client has been shown
//! (streamed text, open tool calls, the plan), so that everything appears once and in order. Pure: no clock, no
//! process, no sending; modes, turns and permission answers are not its business.

mod calls;
mod compaction;
mod events;
mod growing;
mod notices;
mod partial_json;
mod plan;
mod speech;
mod stream;

use std::path::PathBuf;
use std::time::Instant;

use acp_proto::schema::{SessionId, SessionUpdate, ToolCallUpdate};
use acp_proto::{ChunkKind, Line};
use claude_sdk_bridge::decode::{DeltaKind, DeltaLine};
use claude_sdk_bridge::messages::{Message, MessageUuid};
use serde_json::Value;

pub(crate) use calls::SettleReason;

use calls::Calls;
use compaction::Compaction;
use growing::Growing;
use plan::PlanBoard;
use stream::{BlockKind, Streams};

use crate::tools::{self, Presenting, SeenFiles, TerminalSupport, ToolCallRef, wording};

/// What one client has been shown of one session.
#[derive(Debug)]
pub(crate) struct Translator {
    session_id: SessionId,
    surroundings: Surroundings,
    streams: Streams,
    calls: Calls,
    growing: Growing,
    plan: PlanBoard,
    compaction: Compaction,
    /// What the last compaction has left as it was. It has been shown.
    preserved: Vec<MessageUuid>,
    /// Whether this turn has shown the text that its result repeats.
    spoke: bool,
}

/// What the appearance of a tool call depends on besides the call.
#[derive(Debug)]
struct Surroundings {
    cwd: PathBuf,
    terminal: TerminalSupport,
    seen: SeenFiles,
}

impl Surroundings {
    fn presenting(&self) -> Presenting<'_> {
        Presenting {
            cwd: &self.cwd,
            terminal: self.terminal,
            seen: Some(&self.seen),
        }
    }
}

impl Translator {
    /// A session in which nothing has been shown.
    pub(crate) fn new(session_id: SessionId, cwd: PathBuf, terminal: TerminalSupport) -> Self {
        Self {
            session_id,
            surroundings: Surroundings {
                cwd,
                terminal,
                seen: SeenFiles::default(),
            },
            streams: Streams::default(),
            calls: Calls::default(),
            growing: Growing::default(),
            plan: PlanBoard::default(),
            compaction: Compaction::default(),
            preserved: Vec::new(),
            spoke: false,
        }
    }

    /// The same for a client that has been shown nothing.
    pub(crate) fn fresh(&self) -> Self {
        let Surroundings { cwd, terminal, .. } = &self.surroundings;
        Self::new(self.session_id.clone(), cwd.clone(), *terminal)
    }

    /// The hot path: a piece of the main thread's text or thinking, pasted into its line as Claude wrote it.
    pub(crate) fn delta(&mut self, delta: &DeltaLine) -> Option<Line> {
        let (block, chunk) = match delta.kind() {
            DeltaKind::Text => (BlockKind::Text, ChunkKind::Message),
            DeltaKind::Thinking => (BlockKind::Thinking, ChunkKind::Thought),
            DeltaKind::InputJson => return None,
        };
        let literal = delta.literal();
        if delta.parent_tool_use_id().is_some() || literal == "\"\"" {
            return None;
        }
        let id = delta.message_id();
        match unescaped(literal) {
            Some(text) => self.streams.add(id, delta.index(), block, text),
            None => self.streams.add(id, delta.index(), block, &delta.text()),
        }
        self.spoke |= block == BlockKind::Text;
        Some(Line::text_chunk(
            &self.session_id.0,
            chunk,
            literal,
            id.or(self.streams.current()),
        ))
    }

    /// A piece of a call's input. Shown now and then, until the call has it whole.
    pub(crate) fn input_delta(&mut self, delta: &DeltaLine, now: Instant) -> Option<SessionUpdate> {
        if delta.parent_tool_use_id().is_some() {
            return None;
        }
        let (id, input) = self.growing.add(delta.index(), &delta.text(), now)?;
        self.calls.grown(id, input, &self.surroundings.presenting())
    }

    /// Everything else that Claude says.
    pub(crate) fn message(&mut self, message: &Message) -> Vec<SessionUpdate> {
        match message {
            Message::StreamEvent(event) => self.stream_event(event).into_iter().collect(),
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::User(user) => self.user(user),
            Message::System(system) => self.system(system),
            Message::Result(result) => self.result(result).into_iter().collect(),
            Message::ToolProgress(progress) => self
                .calls
                .running(progress.tool_use_id.as_str())
                .into_iter()
                .collect(),
            Message::ConversationReset(_) => self.plan.reset().into_iter().collect(),
            Message::ControlRequest(_)
            | Message::ControlResponse(_)
            | Message::ControlCancel(_)
            | Message::CommandLifecycle(_)
            | Message::RateLimit(_)
            | Message::KeepAlive(_) => Vec::new(),
            Message::Unknown(_) => {
                tracing::debug!(kind = message.kind(), "message of an unknown kind is not shown");
                Vec::new()
            }
        }
    }

    /// A prompt begins.
    pub(crate) fn prompted(&self) -> Option<SessionUpdate> {
        self.plan.unfinished()
    }

    /// Makes sure that the client knows a call, with its whole input, before it is asked about it.
    pub(crate) fn announce(&mut self, call: &ToolCallRef<'_>) -> Option<SessionUpdate> {
        self.calls.announce(call, &self.surroundings.presenting())
    }

    /// The question about a call was answered, or will not be: it runs now, or its result will say that it was denied.
    pub(crate) fn decided(&mut self, id: &str, allowed: bool) -> Option<SessionUpdate> {
        let ended = self.calls.end_without_result(id, allowed);
        if allowed {
            ended.or_else(|| self.calls.running(id))
        } else {
            ended
        }
    }

    /// The plan of this call is handed to another process; the rejection that ends it in this one is not shown.
    pub(crate) fn handed_over(&mut self, id: &str) -> Option<SessionUpdate> {
        self.calls.complete(id)
    }

    /// The tool call of a permission request: what its announcement shows.
    pub(crate) fn permission_tool_call(&self, call: &ToolCallRef<'_>) -> ToolCallUpdate {
        tools::for_permission(call, &self.surroundings.presenting())
    }

    /// The input of an open call, as Claude's own message gave it.
    pub(crate) fn input_of(&self, id: &str) -> Option<&Value> {
        self.calls.input(id)
    }

    /// What has been shown of the message that is being written.
    pub(crate) fn open_message(&self) -> Vec<SessionUpdate> {
        let open = self.streams.open();
        open.map(|(kind, text, id)| match kind {
            BlockKind::Text => notices::text(text, id),
            BlockKind::Thinking => notices::thought(text, id),
        })
        .collect()
    }

    /// A turn is over without Claude having told its result.
    pub(crate) fn turn_over(&mut self) {
        self.spoke = false;
    }

    /// Ends everything that is still open, because nothing more will come of it.
    pub(crate) fn settle_open(&mut self, reason: SettleReason) -> Vec<SessionUpdate> {
        self.streams.end();
        let mut updates = self.calls.settle(reason, &self.surroundings.presenting());
        updates.extend(self.compaction.settle(reason.text()));
        updates
    }
}

/// An error of the API's that was the answer to a prompt.
pub(crate) fn error(text: &str) -> SessionUpdate {
    notices::notice("error", text)
}

/// What Claude keeps of the conversation before a compaction, as part of its call.
pub(crate) fn compaction_summary(id: &MessageUuid, summary: &str) -> SessionUpdate {
    compaction::summary(id, summary)
}

/// A note that the user should see.
pub(crate) fn warning(text: &str) -> SessionUpdate {
    notices::notice("warning", text)
}

/// The note that a question of Claude's could not be put to the user.
pub(crate) fn unanswerable(error: &str) -> SessionUpdate {
    notices::notice("warning", &wording::question_not_shown(error))
}

/// The text of a JSON string literal that has no escapes.
fn unescaped(literal: &str) -> Option<&str> {
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

#[cfg(test)]
mod tests;
