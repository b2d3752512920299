//! `user` frames: tool results, what the CLI writes when it is interrupted, and replays of the host's messages.
//!
//! Place in the flow: sent by `call::steps`, `turn::abort` and `engine::answers`.

use claude_sdk_bridge::messages::{
    Content, ContentBlock, MessageUuid, ToolResultBlock, ToolResultMeta, ToolUseId,
};
use serde_json::{Value, json};

use super::outbox::Outbox;
use super::recorded::{RECORDED, add};

pub(crate) fn tool_result(
    out: &mut Outbox,
    block: ToolResultBlock,
    structured: Value,
    meta: Option<ToolResultMeta>,
) {
    let mut facts = said(vec![ContentBlock::ToolResult(block)].into());
    add(&mut facts, "timestamp", Some(out.timestamp()));
    add(&mut facts, "tool_use_result", Some(structured));
    add(&mut facts, "tool_result_meta", meta.map(|meta| [meta]));
    out.send_recorded(&RECORDED.user, facts);
}

/// What came out of a call of a subagent's; the CLI does not give its structured form.
pub(crate) fn subagent_result(out: &mut Outbox, block: ToolResultBlock, parent: &ToolUseId) {
    let mut facts = said(vec![ContentBlock::ToolResult(block)].into());
    add(&mut facts, "timestamp", Some(out.timestamp()));
    add(&mut facts, "parent_tool_use_id", Some(parent));
    out.send_recorded(&RECORDED.user, facts);
}

/// The line the CLI puts into the conversation when it is interrupted.
pub(crate) fn interrupted(out: &mut Outbox, text: &str) {
    let mut facts = said(vec![ContentBlock::text(text)].into());
    add(&mut facts, "timestamp", Some(out.timestamp()));
    out.send_recorded(&RECORDED.user, facts);
}

/// An echo of a message of the host's, under its own id. The CLI gives the time only with a message that starts a turn.
pub(crate) fn replay(out: &mut Outbox, content: Content, uuid: Option<MessageUuid>, starts_turn: bool) {
    let mut facts = said(content);
    add(&mut facts, "timestamp", starts_turn.then(|| out.timestamp()));
    add(&mut facts, "isReplay", Some(true));
    add(&mut facts, "uuid", uuid);
    out.send_recorded(&RECORDED.user, facts);
}

/// What a slash command printed.
pub(crate) fn local_command_output(out: &mut Outbox, text: &str) {
    replay(out, text.into(), None, true);
}

fn said(content: Content) -> Value {
    json!({ "message": { "content": content } })
}
