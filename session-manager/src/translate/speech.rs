//! What Claude says and the calls it makes: the stream off the hot path, and the whole messages that follow it.

use acp_proto::schema::SessionUpdate;
use claude_sdk_bridge::messages::{ApiEvent, AssistantMessage, Content, ContentBlock, Delta, StreamEvent};

use super::calls::Input;
use super::stream::BlockKind;
use super::{Translator, notices};
use crate::tools::{self, ToolCallRef};

impl Translator {
    pub(super) fn stream_event(&mut self, event: &StreamEvent) -> Option<SessionUpdate> {
        if event.parent_tool_use_id.get().is_some() {
            return None;
        }
        let id = event.api_message_id.get().map(|id| id.as_str());
        match &event.event {
            ApiEvent::MessageStart(start) => {
                self.growing.restart();
                self.streams
                    .start(id.or(start.message.id.get().map(|id| id.as_str())));
                None
            }
            ApiEvent::BlockStart(start) => self.block_start(id, start.index, &start.content_block),
            ApiEvent::BlockDelta(delta) => match &delta.delta {
                Delta::Text(text) => self.piece(id, delta.index, BlockKind::Text, &text.text),
                Delta::Thinking(part) => self.piece(id, delta.index, BlockKind::Thinking, &part.thinking),
                Delta::InputJson(_) | Delta::Signature(_) | Delta::Unknown(_) => None,
            },
            ApiEvent::BlockStop(_)
            | ApiEvent::MessageDelta(_)
            | ApiEvent::MessageStop(_)
            | ApiEvent::Unknown(_) => None,
        }
    }

    pub(super) fn assistant(&mut self, assistant: &AssistantMessage) -> Vec<SessionUpdate> {
        // Under another message id, so that nothing else tells.
        if assistant
            .uuid
            .get()
            .is_some_and(|uuid| self.preserved.contains(uuid))
        {
            return Vec::new();
        }
        let parent = assistant.parent_tool_use_id.get().map(|id| id.as_str());
        let mut updates = Vec::new();
        if let Content::Text(text) = &assistant.message.content {
            updates.extend(self.spoken(assistant, BlockKind::Text, text));
        }
        for block in assistant.message.content.blocks() {
            match block {
                ContentBlock::Text(text) => {
                    updates.extend(self.spoken(assistant, BlockKind::Text, &text.text))
                }
                ContentBlock::Thinking(part) => {
                    updates.extend(self.spoken(assistant, BlockKind::Thinking, &part.thinking));
                }
                ContentBlock::ToolUse(_) | ContentBlock::Unknown(_) => {
                    updates.extend(self.called(block, parent))
                }
                ContentBlock::ToolResult(result) => updates.extend(self.tool_result(result, None, None)),
                ContentBlock::RedactedThinking(_) | ContentBlock::Image(_) | ContentBlock::Document(_) => {}
            }
        }
        updates
    }

    /// A text of Claude's, whole or in part.
    pub(super) fn chunk(&mut self, kind: BlockKind, text: &str, id: Option<&str>) -> SessionUpdate {
        match kind {
            BlockKind::Text => {
                self.spoke = true;
                notices::text(text, id)
            }
            BlockKind::Thinking => notices::thought(text, id),
        }
    }

    fn block_start(&mut self, id: Option<&str>, index: u64, block: &ContentBlock) -> Option<SessionUpdate> {
        match block {
            ContentBlock::Text(text) => self.piece(id, index, BlockKind::Text, &text.text),
            ContentBlock::Thinking(part) => self.piece(id, index, BlockKind::Thinking, &part.thinking),
            ContentBlock::ToolUse(_) | ContentBlock::Unknown(_) => {
                let call = call_in(block, None)?;
                self.growing.begin(index, call.id);
                self.calls
                    .seen(&call, Input::Begun, &self.surroundings.presenting())
            }
            ContentBlock::RedactedThinking(_)
            | ContentBlock::ToolResult(_)
            | ContentBlock::Image(_)
            | ContentBlock::Document(_) => None,
        }
    }

    /// A piece of text that did not come on the hot path.
    fn piece(&mut self, id: Option<&str>, index: u64, kind: BlockKind, text: &str) -> Option<SessionUpdate> {
        if text.is_empty() {
            return None;
        }
        self.streams.add(id, index, kind, text);
        let id = id.or(self.streams.current()).map(str::to_owned);
        Some(self.chunk(kind, text, id.as_deref()))
    }

    /// A whole block of text or thinking: what of it has not been streamed. What subagents say is not shown, nor an
    /// API error, which the prompt's answer tells; a refusal ends the turn without an error, so it is told here.
    fn spoken(&mut self, assistant: &AssistantMessage, kind: BlockKind, text: &str) -> Option<SessionUpdate> {
        let error = assistant.is_api_error_message.is_true();
        let refusal = assistant.message.stop_reason.as_str() == Some("refusal");
        if assistant.parent_tool_use_id.get().is_some() || (error && !refusal) {
            return None;
        }
        let id = assistant.message.id.get().map(|id| id.as_str());
        let rest = self.streams.remainder(id, kind, text);
        self.spoke |= kind == BlockKind::Text && !text.is_empty();
        (!rest.is_empty()).then(|| self.chunk(kind, rest, id))
    }

    /// A call, of Claude's tools or of the API's own; or a result of one of the latter.
    fn called(&mut self, block: &ContentBlock, parent: Option<&str>) -> Vec<SessionUpdate> {
        if let Some(call) = call_in(block, parent) {
            let seen = self
                .calls
                .seen(&call, Input::Complete, &self.surroundings.presenting());
            let plan = if parent.is_none() {
                self.plan.called(&call)
            } else {
                None
            };
            return seen.into_iter().chain(plan).collect();
        }
        let ContentBlock::Unknown(value) = block else {
            return Vec::new();
        };
        match tools::server_result(value) {
            Some(result) => self.tool_result(&result, None, None),
            None => {
                tracing::debug!(
                    kind = block.kind(),
                    "content block of an unknown kind is not shown"
                );
                Vec::new()
            }
        }
    }
}

/// The call in a content block; the API's own tools come as blocks of other kinds with the same fields.
fn call_in<'a>(block: &'a ContentBlock, parent: Option<&'a str>) -> Option<ToolCallRef<'a>> {
    match block {
        ContentBlock::ToolUse(call) => Some(ToolCallRef {
            id: call.id.as_str(),
            name: &call.name,
            input: &call.input,
            parent,
        }),
        ContentBlock::Unknown(value) => tools::server_call(value, parent),
        ContentBlock::Text(_)
        | ContentBlock::Thinking(_)
        | ContentBlock::RedactedThinking(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_)
        | ContentBlock::Document(_) => None,
    }
}
