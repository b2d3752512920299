//! Everything that is not an ordinary delta: one JSON tree, taken apart into a typed message by moving.
//!
//! Also deltas that the hot parse would not take (escapes in an id, halves of surrogate pairs): they become
//! [`DeltaLine`]s here, so that nobody above sees two kinds of delta.

use bytes::Bytes;
use serde_json::Value;

use super::delta::{DeltaKind, DeltaLine, DeltaParts};
use super::{Decoded, surrogates};
use crate::messages::{ApiEvent, ApiMessageId, Delta, FromWire, Message, StreamEvent, ToolUseId};

/// How much of a bad line a log gets.
const LINE_START_CHARS: usize = 200;

pub(super) fn decode(line: &Bytes) -> Decoded {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return garbage(line, &error),
    };
    let value = match parse(text) {
        Ok(value) => value,
        Err(error) => return garbage(line, &error),
    };
    let message = Message::from_wire(value).unwrap_or_else(Message::Unknown);
    if let Message::StreamEvent(event) = &message
        && let Some(delta) = delta(event)
    {
        return Decoded::Delta(delta);
    }
    Decoded::Message(Box::new(message))
}

/// A line with a half surrogate pair is no garbage: the half is replaced and the line read again.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match surrogates::suspicious(text) {
        true => serde_json::from_str(&surrogates::repair(text)),
        false => Err(error),
    })
}

fn delta(event: &StreamEvent) -> Option<DeltaLine> {
    let ApiEvent::BlockDelta(block) = &event.event else {
        return None;
    };
    let (kind, text) = match &block.delta {
        Delta::Text(delta) => (DeltaKind::Text, &delta.text),
        Delta::Thinking(delta) => (DeltaKind::Thinking, &delta.thinking),
        Delta::InputJson(delta) => (DeltaKind::InputJson, &delta.partial_json),
        Delta::Signature(_) | Delta::Unknown(_) => return None,
    };
    let literal = serde_json::to_string(text).ok()?;
    Some(DeltaLine::owned(&DeltaParts {
        kind,
        index: block.index,
        literal: &literal,
        message_id: event.api_message_id.get().map(ApiMessageId::as_str),
        parent_tool_use_id: event.parent_tool_use_id.get().map(ToolUseId::as_str),
    }))
}

fn garbage(line: &[u8], error: &dyn std::fmt::Display) -> Decoded {
    // Four bytes are enough for any character, so the cut never shows within the characters kept.
    let head = line.get(..LINE_START_CHARS * 4).unwrap_or(line);
    let line_start = String::from_utf8_lossy(head)
        .chars()
        .take(LINE_START_CHARS)
        .collect();
    Decoded::Garbage {
        line_start,
        error: error.to_string(),
    }
}
