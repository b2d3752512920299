//! Content blocks: what messages of the model, of the user and tool results are made of.
//!
//! Block kinds that only the API's servers use (server tools, search results) stay `Unknown`, whole.

use serde::Serialize;
use serde_json::Value;

use super::{FromWire, List, ToolUseId};

/// The content of a message or of a tool result: one text, or a list of blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks in order.
    Blocks(Vec<ContentBlock>),
}

impl Content {
    /// The blocks; plain text counts as none.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Content::Text(_) => &[],
            Content::Blocks(blocks) => blocks,
        }
    }

    /// All text, blocks joined by a newline.
    pub fn text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
                texts.join("\n")
            }
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Blocks(Vec::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.to_owned())
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Content::Blocks(blocks)
    }
}

impl Serialize for Content {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Text(text) => serializer.serialize_str(text),
            Content::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

impl FromWire for Content {
    fn fits(value: &Value) -> bool {
        value.is_string() || value.is_array()
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        match value {
            Value::String(text) => Ok(Content::Text(text)),
            Value::Array(items) => Ok(Content::Blocks(
                items.into_iter().map(ContentBlock::read).collect(),
            )),
            other => Err(other),
        }
    }
}

tagged! {
    /// One content block.
    pub enum ContentBlock by "type" {
        "text" => Text(TextBlock),
        "thinking" => Thinking(ThinkingBlock),
        "redacted_thinking" => RedactedThinking(RedactedThinkingBlock),
        "tool_use" => ToolUse(ToolUseBlock),
        "tool_result" => ToolResult(ToolResultBlock),
        "image" => Image(MediaBlock),
        "document" => Document(MediaBlock),
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::Text(TextBlock {
            text: text.into(),
            ..TextBlock::default()
        })
    }

    /// An image given by its base64 data.
    pub fn image(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        ContentBlock::Image(MediaBlock {
            source: MediaSource::base64(media_type, data),
            ..MediaBlock::default()
        })
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentBlock::Text(block) => Some(&block.text),
            ContentBlock::Thinking(_)
            | ContentBlock::RedactedThinking(_)
            | ContentBlock::ToolUse(_)
            | ContentBlock::ToolResult(_)
            | ContentBlock::Image(_)
            | ContentBlock::Document(_)
            | ContentBlock::Unknown(_) => None,
        }
    }

    fn read(value: Value) -> Self {
        Self::from_wire(value).unwrap_or_else(Self::Unknown)
    }
}

wire! {
    /// Text.
    pub struct TextBlock {
        required { text: String, }
        optional { citations: List<Value>, }
    }
}

wire! {
    /// Thinking the model shows.
    pub struct ThinkingBlock {
        required { thinking: String, }
        optional { signature: String, }
    }
}

wire! {
    /// Thinking the API keeps to itself.
    pub struct RedactedThinkingBlock {
        optional { data: String, }
    }
}

wire! {
    /// A tool call.
    pub struct ToolUseBlock {
        required {
            id: ToolUseId,
            name: String,
            /// Usually an object; a stream that was cut may leave something else.
            input: Value,
        }
    }
}

wire! {
    /// What a tool call gave.
    pub struct ToolResultBlock {
        required { tool_use_id: ToolUseId, }
        optional {
            content: Content,
            is_error: bool,
        }
    }
}

wire! {
    /// An image or a document.
    pub struct MediaBlock {
        required { source: MediaSource, }
    }
}

tagged! {
    /// Where an image or a document comes from.
    pub enum MediaSource by "type" {
        "base64" => Base64(Base64Source),
        "url" => Url(UrlSource),
        "text" => Text(TextSource),
    }
}

impl MediaSource {
    /// Data in base64.
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        MediaSource::Base64(Base64Source {
            media_type: media_type.into(),
            data: data.into(),
            ..Base64Source::default()
        })
    }
}

impl Default for MediaSource {
    fn default() -> Self {
        MediaSource::Unknown(Value::Null)
    }
}

wire! {
    /// Data in base64.
    pub struct Base64Source {
        required {
            media_type: String,
            data: String,
        }
    }
}

wire! {
    /// Data behind a URL.
    pub struct UrlSource {
        required { url: String, }
    }
}

wire! {
    /// Plain text of a document.
    pub struct TextSource {
        required { data: String, }
        optional { media_type: String, }
    }
}
