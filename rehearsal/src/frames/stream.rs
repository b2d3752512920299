//! The frames of one message of the model: its stream events and the consolidated `assistant` frame of each block.
//!
//! Place in the flow: `engine::message`, `turn::abort` and `turn::failure` send these in the CLI's order.

use claude_sdk_bridge::messages::{ApiMessageId, ContentBlock, MessageUuid, ToolUseBlock, ToolUseId};
use serde_json::{Value, json};

use super::outbox::Outbox;
use super::recorded::{RECORDED, add};
use super::system::add_prompts;
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

    fn add_prompts(&self, frame: &mut Value) {
        add(frame, "user_message_uuid", self.prompt.as_ref());
        add_prompts(frame, &self.prompts);
    }

    /// The message itself, with this content.
    fn message(&self, content: &[ContentBlock]) -> Value {
        let usage = usage(self.usage, 1);
        json!({ "content": content, "id": self.id, "model": self.model, "usage": usage })
    }

    /// Sends a stream event of the message.
    fn send(&self, out: &mut Outbox, recorded: &Value, mut facts: Value) {
        add(&mut facts, "api_message_id", Some(&self.id));
        out.send_recorded(recorded, facts);
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
    let mut start = json!({ "event": { "message": facts.message(&[]) }, "ttft_ms": ttft_ms });
    facts.add_prompts(&mut start);
    facts.send(out, &RECORDED.message_start, start);
}

pub(crate) fn block_start(out: &mut Outbox, facts: &MessageFacts, index: u64, block: &ContentBlock) {
    let mut start = json!({ "event": { "index": index, "content_block": block } });
    let thinks = matches!(block, ContentBlock::Thinking(_));
    add(&mut start, "thinking_display", thinks.then_some("updates"));
    facts.send(out, &RECORDED.block_start, start);
}

pub(crate) fn block_stop(out: &mut Outbox, facts: &MessageFacts, index: u64) {
    facts.send(out, &RECORDED.block_stop, json!({ "event": { "index": index } }));
}

pub(crate) fn message_delta(out: &mut Outbox, facts: &MessageFacts, stop_reason: &str) {
    let usage = json!({ "output_tokens": facts.usage.output_tokens });
    let event = json!({ "delta": { "stop_reason": stop_reason }, "usage": usage });
    facts.send(out, &RECORDED.message_delta, json!({ "event": event }));
}

pub(crate) fn message_stop(out: &mut Outbox, facts: &MessageFacts) {
    facts.send(out, &RECORDED.message_stop, json!({}));
}

/// The `message_delta` the CLI makes up for a message that was cut off.
pub(crate) fn abandoned_delta(out: &mut Outbox, facts: &MessageFacts) {
    let event = json!({ "usage": usage(facts.usage, 1) });
    facts.send(out, &RECORDED.abandoned_delta, json!({ "event": event }));
}

/// The `message_stop` of a message that was cut off.
pub(crate) fn aborted_stop(out: &mut Outbox, facts: &MessageFacts, from_block_index: u64) {
    let abandoned = json!({ "api_message_id": facts.id, "from_block_index": from_block_index });
    facts.send(
        out,
        &RECORDED.message_stop,
        json!({ "abandoned_blocks": abandoned }),
    );
}

/// The consolidated frame of one block; `aborted` when the block was cut off.
pub(crate) fn assistant(out: &mut Outbox, facts: &MessageFacts, block: ContentBlock, aborted: bool) {
    let thinks = matches!(block, ContentBlock::Thinking(_));
    let mut message = facts.message(&[block]);
    add(&mut message, "context_management", Some(Value::Null));
    let mut frame =
        json!({ "message": message, "request_id": facts.request_id, "timestamp": out.timestamp() });
    add(&mut frame, "aborted", aborted.then_some(true));
    facts.add_prompts(&mut frame);
    add(&mut frame, "thinking_duration_ms", thinks.then_some(1));
    add(&mut frame, "thinking_display", thinks.then_some("updates"));
    out.send_recorded(&RECORDED.assistant, frame);
}

/// A call of a subagent's; `parent` is the call that started it.
pub(crate) fn subagent_call(out: &mut Outbox, facts: &MessageFacts, call: ToolUseBlock, parent: &ToolUseId) {
    let frame = json!({
        "message": facts.message(&[ContentBlock::ToolUse(call)]), "parent_tool_use_id": parent,
        "request_id": facts.request_id, "timestamp": out.timestamp(),
    });
    out.send_recorded(&RECORDED.assistant, frame);
}

/// The frame that tells of a failed request, in the CLI's own voice.
pub(crate) fn synthetic_assistant(out: &mut Outbox, facts: &SyntheticFacts<'_>) {
    let content = [ContentBlock::text(facts.text)];
    let mut frame = json!({
        "message": { "content": content, "id": out.uuid(), "stop_reason": facts.stop_reason },
        "timestamp": out.timestamp(), "error": facts.error,
    });
    add(&mut frame, "request_id", facts.request_id);
    add(&mut frame, "api_error_status", facts.status);
    out.send_recorded(&RECORDED.failed_request, frame);
}

/// What a request has cost, with as many tokens written.
pub(super) fn usage(usage: TokenUsage, output_tokens: u64) -> Value {
    json!({
        "input_tokens": usage.input_tokens, "output_tokens": output_tokens,
        "cache_creation_input_tokens": usage.cache_creation_tokens, "cache_read_input_tokens": usage.cache_read_tokens,
    })
}
