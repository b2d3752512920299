//! A stored conversation as session updates: through the translator that shows the live stream, so that both look the same.
//!
//! A call appears once, in its final state, where that is near; what the user said comes back as it was sent.

use acp_proto::schema::{ContentChunk, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate};
use claude_sdk_bridge::messages::{
    AssistantMessage, ContentBlock, Message, MessageUuid, OutgoingUserMessage, SystemEvent,
};
use claude_sdk_bridge::transcripts::Entry;

use crate::content;
use crate::tools::wording;
use crate::translate::{self, SettleReason, Translator};
use crate::usage::UsageMeter;

/// How many updates wait for the results of calls among them.
const WAITING: usize = 256;

/// What the client has been shown of a session, by whatever way.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) translator: Translator,
    pub(crate) meter: UsageMeter,
    /// The last compaction.
    compaction: Option<MessageUuid>,
    /// What was shown of the running turn and has not come up in what is written down.
    running: Vec<SessionUpdate>,
}

impl Shown {
    /// Nothing yet.
    pub(crate) fn new(translator: Translator) -> Self {
        Self {
            translator,
            meter: UsageMeter::new(),
            compaction: None,
            running: Vec::new(),
        }
    }

    /// A turn is running: its prompt, and what has been shown of the message that is being written.
    pub(crate) fn runs(mut self, prompt: Option<&OutgoingUserMessage>, open: Vec<SessionUpdate>) -> Self {
        if let Some(prompt) = prompt {
            let content = prompt.message.content.blocks().to_vec();
            self.running = said(prompt.uuid.get(), content);
        }
        self.running.extend(open);
        self
    }

    /// What is not written down of the running turn.
    pub(super) fn rest(&mut self) -> Vec<SessionUpdate> {
        std::mem::take(&mut self.running)
    }

    /// What a piece of the conversation looks like.
    pub(super) fn entry(&mut self, entry: Entry) -> Vec<SessionUpdate> {
        let updates = self.updates(entry);
        self.running
            .retain(|running| !updates.iter().any(|update| contains(update, running)));
        updates
    }

    fn updates(&mut self, entry: Entry) -> Vec<SessionUpdate> {
        match entry {
            Entry::Prompt(prompt) => said(prompt.uuid.as_ref(), prompt.content),
            Entry::Message(message) => {
                // Told once the window is known.
                let _ = self.meter.message(&message);
                match message.as_ref() {
                    Message::Assistant(assistant) if is_error(assistant) => {
                        vec![translate::error(&assistant.message.content.text())]
                    }
                    Message::System(system) => {
                        if matches!(system.event, SystemEvent::CompactBoundary(_)) {
                            self.compaction = system.uuid.get().cloned();
                        }
                        self.translator.message(&message)
                    }
                    message => self.translator.message(message),
                }
            }
            Entry::Summary(summary) => {
                let compaction = self.compaction.iter();
                compaction
                    .map(|id| translate::compaction_summary(id, &summary))
                    .collect()
            }
            Entry::LeftOut { bytes } => vec![translate::warning(&wording::line_left_out(bytes))],
        }
    }

    /// The conversation is over, as far as it is written down: what is open in it has no end any more.
    pub(super) fn end(&mut self) -> Vec<SessionUpdate> {
        self.translator.turn_over();
        self.translator.settle_open(SettleReason::ProcessDied)
    }
}

/// An error of the API's, which was the answer to the prompt. A refusal is what the model says.
fn is_error(assistant: &AssistantMessage) -> bool {
    assistant.is_api_error_message.is_true() && assistant.message.stop_reason.as_str() != Some("refusal")
}

/// Whether a running turn's update came up in one of what is written down: the same prompt, or the whole of a text.
fn contains(written: &SessionUpdate, running: &SessionUpdate) -> bool {
    let text = |chunk: &ContentChunk| match &chunk.content {
        acp_proto::schema::ContentBlock::Text(text) => text.text.clone(),
        _ => String::new(),
    };
    match (written, running) {
        (SessionUpdate::UserMessageChunk(written), SessionUpdate::UserMessageChunk(running)) => {
            written.message_id == running.message_id
        }
        (SessionUpdate::AgentMessageChunk(written), SessionUpdate::AgentMessageChunk(running))
        | (SessionUpdate::AgentThoughtChunk(written), SessionUpdate::AgentThoughtChunk(running)) => {
            written.message_id == running.message_id && text(written).starts_with(&text(running))
        }
        _ => false,
    }
}

fn said(id: Option<&MessageUuid>, content: Vec<ContentBlock>) -> Vec<SessionUpdate> {
    let blocks = content::client_content(content).into_iter();
    let chunks = blocks.map(|block| {
        let chunk = ContentChunk::new(block);
        match id {
            Some(id) => chunk.message_id(id.as_str()),
            None => chunk,
        }
    });
    chunks.map(SessionUpdate::UserMessageChunk).collect()
}

/// Joins a call with its result, where that follows soon.
#[derive(Debug, Default)]
pub(super) struct Joined {
    waiting: Vec<SessionUpdate>,
    /// How many calls among those have no result.
    open: usize,
}

impl Joined {
    /// Takes an update, and hands back what can be shown.
    pub(super) fn push(&mut self, update: SessionUpdate) -> Vec<SessionUpdate> {
        match update {
            SessionUpdate::ToolCall(call) if joins(&call) => {
                self.open += 1;
                self.waiting.push(SessionUpdate::ToolCall(call));
            }
            SessionUpdate::ToolCallUpdate(update) => self.update(update),
            other => self.waiting.push(other),
        }
        if self.open == 0 || self.waiting.len() > WAITING {
            self.rest()
        } else {
            Vec::new()
        }
    }

    /// Everything that waits.
    pub(super) fn rest(&mut self) -> Vec<SessionUpdate> {
        self.open = 0;
        std::mem::take(&mut self.waiting)
    }

    fn update(&mut self, update: ToolCallUpdate) {
        let waiting = self.waiting.iter_mut().find_map(|waiting| match waiting {
            SessionUpdate::ToolCall(call) if call.tool_call_id == update.tool_call_id && joins(call) => {
                Some(call)
            }
            _ => None,
        });
        let Some(call) = waiting else {
            return self.waiting.push(SessionUpdate::ToolCallUpdate(update));
        };
        call.update(update.fields);
        if let Some(more) = update.meta {
            call.meta.get_or_insert_default().extend(more);
        }
        if !joins(call) {
            self.open -= 1;
        }
    }
}

/// Whether a call waits for its end. One in a display terminal does not: its output comes in updates.
fn joins(call: &ToolCall) -> bool {
    let has_terminal = call
        .meta
        .as_ref()
        .is_some_and(|meta| meta.contains_key("terminal_info"));
    let open = matches!(call.status, ToolCallStatus::Pending | ToolCallStatus::InProgress);
    open && !has_terminal
}
