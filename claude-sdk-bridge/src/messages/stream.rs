//! `stream_event`: the API's own stream, passed through by the CLI with partial messages on.
//!
//! Text, thinking and tool-input deltas normally never get here: `decode` turns them into `DeltaLine`s.

use serde_json::Value;

use super::{ApiMessage, ApiMessageId, ClaudeSessionId, ContentBlock, List, MessageUuid, ToolUseId, Usage};

wire! {
    /// One event of the API's stream.
    pub struct StreamEvent {
        required { event: ApiEvent, }
        optional {
            parent_tool_use_id: ToolUseId,
            api_message_id: ApiMessageId,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
            ttft_ms: u64,
            thinking_display: String,
            abandoned_blocks: AbandonedBlocks,
            user_message_uuid: MessageUuid,
            user_message_uuids: List<MessageUuid>,
        }
    }
}

tagged! {
    /// An event as the Messages API has it.
    pub enum ApiEvent by "type" {
        "message_start" => MessageStart(Box<MessageStart>),
        "content_block_start" => BlockStart(Box<BlockStart>),
        "content_block_delta" => BlockDelta(BlockDelta),
        "content_block_stop" => BlockStop(BlockStop),
        "message_delta" => MessageDelta(Box<MessageDelta>),
        "message_stop" => MessageStop(MessageStop),
    }
}

impl Default for ApiEvent {
    fn default() -> Self {
        ApiEvent::Unknown(Value::Null)
    }
}

wire! {
    /// A message begins.
    pub struct MessageStart {
        required { message: ApiMessage, }
    }
}

wire! {
    /// A block begins.
    pub struct BlockStart {
        required {
            index: u64,
            content_block: ContentBlock,
        }
    }
}

impl Default for ContentBlock {
    fn default() -> Self {
        ContentBlock::Unknown(Value::Null)
    }
}

wire! {
    /// A block goes on.
    pub struct BlockDelta {
        required {
            index: u64,
            delta: Delta,
        }
    }
}

tagged! {
    /// What is added to a block.
    pub enum Delta by "type" {
        "text_delta" => Text(TextDelta),
        "thinking_delta" => Thinking(ThinkingDelta),
        "input_json_delta" => InputJson(InputJsonDelta),
        "signature_delta" => Signature(SignatureDelta),
    }
}

impl Default for Delta {
    fn default() -> Self {
        Delta::Unknown(Value::Null)
    }
}

wire! {
    /// More text.
    pub struct TextDelta {
        required { text: String, }
    }
}

wire! {
    /// More thinking.
    pub struct ThinkingDelta {
        required { thinking: String, }
    }
}

wire! {
    /// More of a tool call's input, as JSON text.
    pub struct InputJsonDelta {
        required { partial_json: String, }
    }
}

wire! {
    /// The signature of a thinking block.
    pub struct SignatureDelta {
        optional { signature: String, }
    }
}

wire! {
    /// A block ends.
    pub struct BlockStop {
        required { index: u64, }
    }
}

wire! {
    /// The message's stop reason and final usage.
    pub struct MessageDelta {
        optional {
            delta: StopDelta,
            usage: Usage,
        }
    }
}

wire! {
    /// Why the message ended.
    pub struct StopDelta {
        optional {
            stop_reason: String,
            stop_sequence: String,
        }
    }
}

wire! {
    /// A message ends.
    pub struct MessageStop {}
}

wire! {
    /// Blocks that will not be finished, because the turn was interrupted.
    pub struct AbandonedBlocks {
        optional {
            api_message_id: ApiMessageId,
            from_block_index: u64,
        }
    }
}
