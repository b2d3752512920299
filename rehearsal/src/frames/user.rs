//! `user` frames: tool results, what the CLI writes when it is interrupted, and replays of the host's messages.
//!
//! Place in the flow: sent by `call::steps`, `engine::abort` and `engine::answers`.

use claude_sdk_bridge::messages::{
    Content, ContentBlock, Field, List, Message, MessageUuid, ToolResultBlock, ToolResultMeta, ToolUseId,
    UserContent, UserMessage,
};
use serde_json::{Map, Value};

use super::outbox::Outbox;

pub(crate) fn tool_result(
    out: &mut Outbox,
    block: ToolResultBlock,
    structured: Value,
    meta: Option<ToolResultMeta>,
) {
    let frame = UserMessage {
        timestamp: out.timestamp().into(),
        tool_use_result: structured.into(),
        tool_result_meta: meta.map(|meta| List::from_iter([meta])).into(),
        ..frame(out, vec![ContentBlock::ToolResult(block)].into())
    };
    out.send(&Message::User(Box::new(frame)));
}

/// What came out of a call of a subagent's; the CLI does not give its structured form.
pub(crate) fn subagent_result(out: &mut Outbox, block: ToolResultBlock, parent: &ToolUseId) {
    let frame = UserMessage {
        timestamp: out.timestamp().into(),
        parent_tool_use_id: parent.clone().into(),
        ..frame(out, vec![ContentBlock::ToolResult(block)].into())
    };
    out.send(&Message::User(Box::new(frame)));
}

/// The line the CLI puts into the conversation when it is interrupted.
pub(crate) fn interrupted(out: &mut Outbox, text: &str) {
    let frame = UserMessage {
        timestamp: out.timestamp().into(),
        ..frame(out, vec![ContentBlock::text(text)].into())
    };
    out.send(&Message::User(Box::new(frame)));
}

/// An echo of a message of the host's, under its own id. The CLI gives the time only with a message that starts a turn.
pub(crate) fn replay(out: &mut Outbox, content: Content, uuid: Option<MessageUuid>, starts_turn: bool) {
    let mut frame = frame(out, content);
    if starts_turn {
        frame.timestamp = out.timestamp().into();
    }
    frame.is_replay = true.into();
    if let Some(uuid) = uuid {
        frame.uuid = uuid.into();
    }
    out.send(&Message::User(Box::new(frame)));
}

/// What a slash command printed.
pub(crate) fn local_command_output(out: &mut Outbox, text: &str) {
    replay(out, text.into(), None, true);
}

fn frame(out: &mut Outbox, content: Content) -> UserMessage {
    UserMessage {
        message: UserContent {
            content,
            role: "user".into(),
            extra: Map::new(),
        },
        parent_tool_use_id: Field::Null,
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        ..UserMessage::default()
    }
}
