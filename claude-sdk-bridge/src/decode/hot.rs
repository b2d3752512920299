//! The one typed parse of a delta: a flat struct without tagged enums, the text left unread as [`RawValue`].
//!
//! Whatever is not exactly a delta as it usually looks is left to `cold`, which reads it again from the start.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

use super::delta::{DeltaKind, DeltaParts, Spans};
use super::surrogates;

/// Where the parts of a delta lie in `line`, if that is what it holds.
pub(super) fn delta(line: &[u8]) -> Option<Spans> {
    let text = std::str::from_utf8(line).ok()?;
    let hot: HotLine<'_> = serde_json::from_str(text).ok()?;
    let delta = hot.event.delta;
    let (kind, literal) = match delta.kind {
        "text_delta" => (DeltaKind::Text, delta.text?),
        "thinking_delta" => (DeltaKind::Thinking, delta.thinking?),
        "input_json_delta" => (DeltaKind::InputJson, delta.partial_json?),
        _ => return None,
    };
    let is_text = literal.get().starts_with('"') && !surrogates::suspicious(literal.get());
    if hot.event.kind != "content_block_delta" || !is_text {
        return None;
    }
    let parts = DeltaParts {
        kind,
        index: hot.event.index,
        literal: literal.get(),
        message_id: hot.api_message_id,
        parent_tool_use_id: hot.parent_tool_use_id,
    };
    parts.spans(line)
}

#[derive(serde::Deserialize)]
struct HotLine<'a> {
    #[serde(rename = "type")]
    _kind: StreamEventTag,
    #[serde(borrow)]
    event: HotEvent<'a>,
    #[serde(borrow)]
    api_message_id: Option<&'a str>,
    #[serde(borrow)]
    parent_tool_use_id: Option<&'a str>,
}

#[derive(serde::Deserialize)]
struct HotEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: &'a str,
    index: u64,
    #[serde(borrow)]
    delta: HotDelta<'a>,
}

#[derive(serde::Deserialize)]
struct HotDelta<'a> {
    #[serde(rename = "type", borrow)]
    kind: &'a str,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Option<&'a RawValue>,
}

/// The type of the line. Any other type ends the parse at once, so that a large message is not scanned for nothing.
struct StreamEventTag;

impl<'de> Deserialize<'de> for StreamEventTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match <&str>::deserialize(deserializer)? {
            "stream_event" => Ok(StreamEventTag),
            _ => Err(D::Error::custom("not a stream event")),
        }
    }
}
