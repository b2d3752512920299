//! The content of a tool result (a text, or Claude's content blocks) as ACP content. Payloads go out once: what
//! is shown as an image is not repeated in `rawOutput`.

use acp_proto::schema::{self, ImageContent, ToolCallContent};
use claude_sdk_bridge::messages::{Content, ContentBlock, MediaBlock, MediaSource};
use serde_json::Value;

use super::markdown::{fenced, for_people};
use super::{input, wording};

/// One text block of tool-call content.
pub(crate) fn text_content(text: impl Into<String>) -> ToolCallContent {
    ToolCallContent::from(schema::ContentBlock::from(text.into()))
}

/// The text of a result, cleaned for people; blocks are joined by line breaks, what is not text is left out.
pub(crate) fn plain_text(content: &Content) -> String {
    match content {
        Content::Text(text) => for_people(text).to_owned(),
        Content::Blocks(blocks) => {
            let texts: Vec<_> = blocks
                .iter()
                .filter_map(ContentBlock::as_text)
                .map(for_people)
                .collect();
            texts.join("\n")
        }
    }
}

/// Whether the text of a result begins with `start`; looks no further than it has to.
pub(super) fn starts_with(content: &Content, start: &str) -> bool {
    match content {
        Content::Text(text) => text.starts_with(start),
        Content::Blocks(blocks) => blocks
            .first()
            .and_then(ContentBlock::as_text)
            .is_some_and(|text| text.starts_with(start)),
    }
}

/// A result as it is: text as Markdown, images as images. Empty texts are dropped.
pub(super) fn shown(content: &Content) -> Vec<ToolCallContent> {
    pieces(content).into_iter().map(Piece::plain).collect()
}

/// A result whose texts are verbatim output: each in a code fence.
pub(super) fn shown_verbatim(content: &Content) -> Vec<ToolCallContent> {
    pieces(content).into_iter().map(Piece::verbatim).collect()
}

/// The images of a result.
pub(super) fn images(content: &Content) -> Vec<ToolCallContent> {
    pieces(content)
        .into_iter()
        .filter(|piece| matches!(piece, Piece::Image(_)))
        .map(Piece::plain)
        .collect()
}

/// The result for `rawOutput`: unchanged, except that binary payloads are dropped.
pub(super) fn raw_output(content: &Content) -> Option<Value> {
    match content {
        Content::Text(text) => Some(Value::String(text.clone())),
        Content::Blocks(blocks) if blocks.is_empty() => None,
        Content::Blocks(blocks) => Some(blocks.iter().map(without_payload).collect()),
    }
}

enum Piece {
    Text(String),
    Note(String),
    Image(Box<ImageContent>),
}

impl Piece {
    fn plain(self) -> ToolCallContent {
        match self {
            Self::Text(text) | Self::Note(text) => text_content(text),
            Self::Image(image) => ToolCallContent::from(schema::ContentBlock::Image(*image)),
        }
    }

    fn verbatim(self) -> ToolCallContent {
        match self {
            Self::Text(text) => text_content(fenced("", &text)),
            Self::Note(_) | Self::Image(_) => self.plain(),
        }
    }
}

fn pieces(content: &Content) -> Vec<Piece> {
    match content {
        Content::Text(text) => text_piece(text).into_iter().collect(),
        Content::Blocks(blocks) => blocks.iter().filter_map(piece).collect(),
    }
}

fn piece(block: &ContentBlock) -> Option<Piece> {
    match block {
        ContentBlock::Text(block) => text_piece(&block.text),
        ContentBlock::Image(block) => image(block),
        ContentBlock::Document(block) => document(block),
        ContentBlock::Unknown(value) => other(value),
        ContentBlock::Thinking(_)
        | ContentBlock::RedactedThinking(_)
        | ContentBlock::ToolUse(_)
        | ContentBlock::ToolResult(_) => None,
    }
}

fn text_piece(text: &str) -> Option<Piece> {
    let text = for_people(text);
    (!text.is_empty()).then(|| Piece::Text(text.to_owned()))
}

fn image(block: &MediaBlock) -> Option<Piece> {
    match &block.source {
        MediaSource::Base64(source) => Some(image_piece(&source.data, &source.media_type)),
        MediaSource::Url(source) => Some(Piece::Note(source.url.clone())),
        MediaSource::Text(_) | MediaSource::Unknown(_) => None,
    }
}

fn image_piece(data: &str, media_type: &str) -> Piece {
    Piece::Image(Box::new(ImageContent::new(data, media_type)))
}

fn document(block: &MediaBlock) -> Option<Piece> {
    match &block.source {
        MediaSource::Base64(source) => Some(Piece::Note(wording::document(
            &source.media_type,
            decoded_len(&source.data),
        ))),
        MediaSource::Url(source) => Some(Piece::Note(source.url.clone())),
        MediaSource::Text(source) => text_piece(&source.data),
        MediaSource::Unknown(_) => None,
    }
}

/// Blocks of MCP's own shape, and those that only the API's servers make.
fn other(block: &Value) -> Option<Piece> {
    match input::text(block, "type")? {
        "image" => {
            let (data, media_type) = (input::text(block, "data")?, input::text(block, "mimeType")?);
            Some(image_piece(data, media_type))
        }
        "tool_reference" => Some(Piece::Note(wording::tool_reference(input::text(
            block,
            "tool_name",
        )?))),
        "resource_link" => Some(Piece::Note(input::text(block, "uri")?.to_owned())),
        "resource" => text_piece(input::text(block.get("resource")?, "text")?),
        "search_result" => Some(Piece::Note(link(block, "title", "source")?)),
        "web_search_result" => Some(Piece::Note(link(block, "title", "url")?)),
        _ => None,
    }
}

/// `title (url)`, or whichever of the two there is.
pub(super) fn link(entry: &Value, title_key: &str, url_key: &str) -> Option<String> {
    match (input::text(entry, title_key), input::text(entry, url_key)) {
        (Some(title), Some(url)) => Some(format!("{title} ({url})")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
        (None, None) => None,
    }
}

fn without_payload(block: &ContentBlock) -> Value {
    let mut block = match block {
        ContentBlock::Image(media) | ContentBlock::Document(media) => media_outline(media, block),
        _ => serde_json::to_value(block).unwrap_or_default(),
    };
    if let Some(resource) = block.get_mut("resource").and_then(Value::as_object_mut) {
        resource.remove("blob");
    }
    if let Some(own) = block.as_object_mut() {
        own.remove("data");
    }
    block
}

fn media_outline(media: &MediaBlock, block: &ContentBlock) -> Value {
    let kind = block.kind().unwrap_or_default();
    match &media.source {
        MediaSource::Base64(source) => {
            serde_json::json!({"type": kind, "source": {"type": "base64", "media_type": source.media_type}})
        }
        MediaSource::Url(_) | MediaSource::Text(_) | MediaSource::Unknown(_) => {
            serde_json::to_value(block).unwrap_or_default()
        }
    }
}

fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len().saturating_mul(3) / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_sdk_bridge::messages::FromWire;
    use serde_json::json;

    fn check(content: Value, as_is: Value, raw: Option<Value>) {
        let content = Content::from_wire(content).unwrap();
        assert_eq!(
            serde_json::to_value(shown(&content)).unwrap(),
            as_is,
            "shown {content:?}"
        );
        assert_eq!(raw_output(&content), raw, "raw {content:?}");
    }

    fn text(text: &str) -> Value {
        json!({"type": "content", "content": {"type": "text", "text": text}})
    }

    #[test]
    fn images_are_shown_once_and_dropped_from_the_raw_output() {
        let image = json!([{"type": "content", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}]);
        check(
            json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]),
            image.clone(),
            Some(json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png"}}])),
        );
        check(
            json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]),
            image,
            Some(json!([{"type": "image", "mimeType": "image/png"}])),
        );
        let pdf = json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"});
        check(
            json!([{"type": "document", "source": pdf}]),
            json!([text("[document: application/pdf, 9 B]")]),
            Some(
                json!([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf"}}]),
            ),
        );
    }

    #[test]
    fn known_blocks_are_shown_and_unknown_ones_are_left_out() {
        let blocks = json!([
            {"type": "text", "text": "a"},
            {"type": "text", "text": "<system-reminder>x</system-reminder>"},
            {"type": "tool_reference", "tool_name": "WebFetch"},
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
            {"type": "resource", "resource": {"uri": "u", "text": "inside"}},
            {"type": "search_result", "title": "T", "source": "https://x"},
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
            {"type": "hologram"}, 3, null,
        ]);
        let lines = [
            "a",
            "Tool: WebFetch",
            "file:///x",
            "inside",
            "T (https://x)",
            "https://x/y.png",
        ];
        check(
            blocks.clone(),
            lines.into_iter().map(text).collect(),
            Some(blocks),
        );
    }

    #[test]
    fn plain_content_is_one_text_or_nothing() {
        check(json!("plain"), json!([text("plain")]), Some(json!("plain")));
        check(json!(""), json!([]), Some(json!("")));
        check(json!([]), json!([]), None);
        let mixed = Content::from_wire(json!([{"type": "text", "text": "a"}, {"type": "image"}])).unwrap();
        assert_eq!(plain_text(&mixed), "a");
    }
}
