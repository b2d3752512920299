//! The frames of one message of the model: its stream events and the consolidated `assistant` frame of each block.
//!
//! Place in the flow: `engine::message`, `engine::abort` and `engine::failure` send these in the CLI's order.

use claude_sdk_bridge::messages::{
    AbandonedBlocks, ApiErrorKind, ApiEvent, ApiMessage, ApiMessageId, AssistantMessage, BlockStart,
    BlockStop, ContentBlock, Field, Message, MessageDelta, MessageStart, MessageStop, MessageUuid,
    SYNTHETIC_MODEL, StopDelta, StreamEvent, ToolUseBlock, ToolUseId, Usage,
};
use serde_json::{Map, Value, json};

use super::object;
use super::outbox::Outbox;
use super::system::uuids;
use crate::script::TokenUsage;

/// What all frames of one message share.
#[derive(Debug, Clone)]
pub(crate) struct MessageFacts {
    pub(crate) id: ApiMessageId,
    pub(crate) request_id: String,
    pub(crate) model: String,
    pub(crate) usage: TokenUsage,
    /// The prompt the turn answers; only on the first message of a turn.
    pub(crate) prompt: Option<MessageUuid>,
    pub(crate) prompts: Vec<MessageUuid>,
}

impl MessageFacts {
    /// A message of a name of its own, which its ids are made of.
    pub(crate) fn new(name: String, model: String, usage: TokenUsage) -> Self {
        Self {
            id: format!("msg_{name}").into(),
            request_id: format!("req_{name}"),
            model,
            usage,
            prompt: None,
            prompts: Vec::new(),
        }
    }
}

/// A message the CLI makes itself, to tell of a failure.
pub(crate) struct SyntheticFacts<'a> {
    pub(crate) text: &'a str,
    pub(crate) error: &'a str,
    pub(crate) status: Option<u64>,
    pub(crate) stop_reason: &'a str,
    pub(crate) request_id: Option<&'a str>,
}

pub(crate) fn message_start(out: &mut Outbox, facts: &MessageFacts, ttft_ms: u64) {
    let message = api_message(facts, Vec::new(), Map::new());
    let event = ApiEvent::MessageStart(Box::new(MessageStart {
        message,
        extra: Map::new(),
    }));
    let event = StreamEvent {
        ttft_ms: ttft_ms.into(),
        thinking_display: "updates".into(),
        user_message_uuid: facts.prompt.clone().into(),
        user_message_uuids: uuids(&facts.prompts),
        ..stream_event(out, facts, event)
    };
    out.send(&Message::StreamEvent(Box::new(event)));
}

pub(crate) fn block_start(out: &mut Outbox, facts: &MessageFacts, index: u64, content_block: ContentBlock) {
    let thinks = matches!(content_block, ContentBlock::Thinking(_));
    let start = BlockStart {
        index,
        content_block,
        extra: Map::new(),
    };
    let mut event = stream_event(out, facts, ApiEvent::BlockStart(Box::new(start)));
    if thinks {
        event.thinking_display = "updates".into();
    }
    out.send(&Message::StreamEvent(Box::new(event)));
}

pub(crate) fn block_stop(out: &mut Outbox, facts: &MessageFacts, index: u64) {
    let event = stream_event(
        out,
        facts,
        ApiEvent::BlockStop(BlockStop {
            index,
            extra: Map::new(),
        }),
    );
    out.send(&Message::StreamEvent(Box::new(event)));
}

pub(crate) fn message_delta(out: &mut Outbox, facts: &MessageFacts, stop_reason: &str) {
    let delta = StopDelta {
        stop_reason: stop_reason.into(),
        stop_sequence: Field::Null,
        extra: Map::new(),
    };
    let usage = Usage {
        output_tokens: facts.usage.output_tokens.into(),
        ..Usage::default()
    };
    let delta = MessageDelta {
        delta: delta.into(),
        usage: usage.into(),
        extra: Map::new(),
    };
    let event = stream_event(out, facts, ApiEvent::MessageDelta(Box::new(delta)));
    out.send(&Message::StreamEvent(Box::new(event)));
}

pub(crate) fn message_stop(out: &mut Outbox, facts: &MessageFacts) {
    let event = stream_event(out, facts, ApiEvent::MessageStop(MessageStop::default()));
    out.send(&Message::StreamEvent(Box::new(event)));
}

/// The `message_delta` the CLI makes up for a message that was cut off.
pub(crate) fn abandoned_delta(out: &mut Outbox, facts: &MessageFacts) {
    let delta = StopDelta {
        stop_reason: Field::Null,
        stop_sequence: Field::Null,
        extra: object(json!({ "container": null, "stop_details": null })),
    };
    let usage = Usage {
        output_tokens: 1.into(),
        extra: object(json!({
            "output_tokens_details": { "thinking_tokens": 0 },
            "iterations": [],
            "server_tool_use": { "web_search_requests": 0, "web_fetch_requests": 0 },
            "fallback_credit": null,
        })),
        ..start_usage(facts.usage)
    };
    let delta = MessageDelta {
        delta: delta.into(),
        usage: usage.into(),
        extra: object(json!({ "context_management": null })),
    };
    let event = stream_event(out, facts, ApiEvent::MessageDelta(Box::new(delta)));
    out.send(&Message::StreamEvent(Box::new(event)));
}

/// The `message_stop` of a message that was cut off.
pub(crate) fn aborted_stop(out: &mut Outbox, facts: &MessageFacts, from_block_index: u64) {
    let abandoned = AbandonedBlocks {
        api_message_id: facts.id.clone().into(),
        from_block_index: from_block_index.into(),
        extra: Map::new(),
    };
    let event = StreamEvent {
        abandoned_blocks: abandoned.into(),
        ..stream_event(out, facts, ApiEvent::MessageStop(MessageStop::default()))
    };
    out.send(&Message::StreamEvent(Box::new(event)));
}

/// The consolidated frame of one block; `aborted` when the block was cut off.
pub(crate) fn assistant(out: &mut Outbox, facts: &MessageFacts, block: ContentBlock, aborted: bool) {
    let thinks = matches!(block, ContentBlock::Thinking(_));
    let extra = if thinks {
        object(json!({ "thinking_duration_ms": 1, "thinking_display": "updates" }))
    } else {
        Map::new()
    };
    let message = api_message(facts, vec![block], object(json!({ "context_management": null })));
    let frame = AssistantMessage {
        message,
        parent_tool_use_id: Field::Null,
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        request_id: facts.request_id.as_str().into(),
        timestamp: out.timestamp().into(),
        aborted: aborted.then_some(true).into(),
        user_message_uuid: facts.prompt.clone().into(),
        user_message_uuids: uuids(&facts.prompts),
        extra,
        ..AssistantMessage::default()
    };
    out.send(&Message::Assistant(Box::new(frame)));
}

/// A call of a subagent's; `parent` is the call that started it.
pub(crate) fn subagent_call(out: &mut Outbox, facts: &MessageFacts, call: ToolUseBlock, parent: &ToolUseId) {
    let frame = AssistantMessage {
        message: api_message(facts, vec![ContentBlock::ToolUse(call)], Map::new()),
        parent_tool_use_id: parent.clone().into(),
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        request_id: facts.request_id.as_str().into(),
        timestamp: out.timestamp().into(),
        ..AssistantMessage::default()
    };
    out.send(&Message::Assistant(Box::new(frame)));
}

/// The frame that tells of a failed request, in the CLI's own voice.
pub(crate) fn synthetic_assistant(out: &mut Outbox, facts: &SyntheticFacts<'_>) {
    let message = ApiMessage {
        content: vec![ContentBlock::text(facts.text)].into(),
        id: ApiMessageId::from(out.uuid().into_string()).into(),
        kind: "message".into(),
        role: "assistant".into(),
        model: SYNTHETIC_MODEL.into(),
        stop_reason: facts.stop_reason.into(),
        stop_sequence: "".into(),
        usage: Usage {
            extra: object(json!({
                "output_tokens_details": null,
                "server_tool_use": { "web_search_requests": 0, "web_fetch_requests": 0 },
                "service_tier": null,
                "cache_creation": { "ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0 },
                "inference_geo": null,
                "iterations": null,
                "speed": null,
                "fallback_credit": null,
            })),
            ..usage_of(TokenUsage::NONE)
        }
        .into(),
        extra: object(json!({
            "diagnostics": null, "container": null, "stop_details": null, "context_management": null,
        })),
    };
    let frame = AssistantMessage {
        message,
        parent_tool_use_id: Field::Null,
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        timestamp: out.timestamp().into(),
        error: ApiErrorKind::from(facts.error.to_owned()).into(),
        request_id: facts.request_id.map(str::to_owned).into(),
        is_api_error_message: true.into(),
        api_error_status: facts.status.into(),
        ..AssistantMessage::default()
    };
    out.send(&Message::Assistant(Box::new(frame)));
}

fn stream_event(out: &mut Outbox, facts: &MessageFacts, event: ApiEvent) -> StreamEvent {
    StreamEvent {
        event,
        parent_tool_use_id: Field::Null,
        api_message_id: facts.id.clone().into(),
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        ..StreamEvent::default()
    }
}

fn api_message(facts: &MessageFacts, content: Vec<ContentBlock>, extra: Map<String, Value>) -> ApiMessage {
    ApiMessage {
        content: content.into(),
        id: facts.id.clone().into(),
        kind: "message".into(),
        role: "assistant".into(),
        model: facts.model.as_str().into(),
        stop_reason: Field::Null,
        stop_sequence: Field::Null,
        usage: start_usage(facts.usage).into(),
        extra,
    }
}

fn start_usage(usage: TokenUsage) -> Usage {
    usage_of(TokenUsage {
        output_tokens: 1,
        ..usage
    })
}

fn usage_of(usage: TokenUsage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens.into(),
        output_tokens: usage.output_tokens.into(),
        cache_creation_input_tokens: usage.cache_creation_tokens.into(),
        cache_read_input_tokens: usage.cache_read_tokens.into(),
        ..Usage::default()
    }
}
