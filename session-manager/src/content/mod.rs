//! A prompt's content blocks as the content of a message to Claude, and back. Links stay where they are; embedded texts go to
//! the end, so that the prompt reads as it was written. What Claude cannot take is refused or left out here.

use acp_proto::schema::{
    self, BlobResourceContents, EmbeddedResource, EmbeddedResourceResource, ImageContent, ResourceLink,
    TextResourceContents,
};
use acp_proto::{RpcError, errors};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use claude_sdk_bridge::messages::{ContentBlock, MediaBlock, MediaSource, UrlSource};
use serde_json::json;

use crate::tools::wording;

/// Why content cannot go to Claude.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContentError {
    /// A block of a kind that no capability of ours allows.
    #[error("Content blocks of type {0} are not supported")]
    Unsupported(&'static str),
    /// Nothing that Claude could read: a turn about nothing would only cost.
    #[error("`prompt` says nothing to Claude; send a text, an image or a resource that is not empty")]
    Empty,
}

impl From<ContentError> for RpcError {
    fn from(error: ContentError) -> Self {
        let data = match error {
            ContentError::Unsupported(kind) => json!({"type": kind}),
            ContentError::Empty => json!({"prompt": []}),
        };
        errors::invalid_params(error, Some(data))
    }
}

/// The blocks for Claude, in order.
///
/// # Errors
/// When a block is of another kind, or nothing is said.
pub(crate) fn user_content(prompt: Vec<schema::ContentBlock>) -> Result<Vec<ContentBlock>, ContentError> {
    let mut out = Blocks::default();
    for block in prompt {
        match block {
            schema::ContentBlock::Text(text) => out.text(text.text),
            schema::ContentBlock::Image(image) => out.image(image),
            schema::ContentBlock::ResourceLink(link) => {
                out.inline.push(ContentBlock::text(link_text(&link.uri)))
            }
            schema::ContentBlock::Resource(embedded) => out.resource(embedded.resource),
            schema::ContentBlock::Audio(_) => return Err(ContentError::Unsupported("audio")),
            _ => return Err(ContentError::Unsupported("unknown")),
        }
    }
    out.inline.append(&mut out.context);
    if out.inline.iter().all(is_blank) {
        return Err(ContentError::Empty);
    }
    Ok(out.inline)
}

/// The blocks of a prompt that Claude has written down, as the client sent them: links and embedded resources are told by
/// the form that [`user_content`] gives them.
pub(crate) fn client_content(content: Vec<ContentBlock>) -> Vec<schema::ContentBlock> {
    let texts = content.iter().filter_map(ContentBlock::as_text);
    let mut embedded: Vec<(String, String)> = texts.filter_map(context).collect();
    let mut blocks: Vec<schema::ContentBlock> = Vec::new();
    for block in content {
        match block {
            ContentBlock::Text(text) if context(&text.text).is_some() => {}
            ContentBlock::Text(text) => {
                let link = link(&text.text);
                let at = embedded.iter().position(|(uri, _)| link_text(uri) == text.text);
                blocks.push(match (at, link) {
                    (Some(at), _) => resource(embedded.remove(at)),
                    (None, Some(link)) => schema::ContentBlock::ResourceLink(link),
                    (None, None) => text.text.into(),
                });
            }
            ContentBlock::Image(media) | ContentBlock::Document(media) => blocks.extend(from_media(media)),
            _ => {}
        }
    }
    blocks.extend(embedded.into_iter().map(resource));
    blocks
}

fn context(text: &str) -> Option<(String, String)> {
    let (uri, rest) = text.strip_prefix("\n<context ref=\"")?.split_once("\">\n")?;
    let inside = rest.strip_suffix("\n</context>")?;
    Some((uri.to_owned(), inside.to_owned()))
}

fn link(text: &str) -> Option<ResourceLink> {
    let (name, uri) = text.strip_prefix("[@")?.strip_suffix(')')?.split_once("](")?;
    (link_text(uri) == text).then(|| ResourceLink::new(name, uri))
}

fn resource((uri, text): (String, String)) -> schema::ContentBlock {
    let contents = TextResourceContents::new(text, uri);
    let contents = EmbeddedResourceResource::TextResourceContents(contents);
    schema::ContentBlock::Resource(EmbeddedResource::new(contents))
}

fn from_media(media: MediaBlock) -> Option<schema::ContentBlock> {
    match media.source {
        MediaSource::Base64(source) if source.media_type.starts_with("image/") => Some(
            schema::ContentBlock::Image(ImageContent::new(source.data, source.media_type)),
        ),
        MediaSource::Base64(source) => {
            let bytes = source.data.trim_end_matches('=').len().saturating_mul(3) / 4;
            Some(wording::document(&source.media_type, bytes).into())
        }
        MediaSource::Url(source) => Some(source.url.into()),
        MediaSource::Text(source) => Some(source.data.into()),
        MediaSource::Unknown(_) => None,
    }
}

fn is_blank(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text(text) if text.text.trim().is_empty())
}

#[derive(Default)]
struct Blocks {
    inline: Vec<ContentBlock>,
    context: Vec<ContentBlock>,
    command_seen: bool,
}

impl Blocks {
    /// The first text may be a prompt of an MCP server, which Claude knows under another name.
    fn text(&mut self, text: String) {
        let first = !std::mem::replace(&mut self.command_seen, true);
        let command = if first { mcp_command(&text) } else { None };
        self.inline.push(ContentBlock::text(command.unwrap_or(text)));
    }

    fn image(&mut self, image: ImageContent) {
        let by_url = image
            .uri
            .filter(|uri| uri.starts_with("http://") || uri.starts_with("https://"));
        let source = match by_url {
            Some(url) if image.data.is_empty() => MediaSource::Url(UrlSource {
                url,
                ..UrlSource::default()
            }),
            _ => MediaSource::base64(image.mime_type, image.data),
        };
        self.inline.push(ContentBlock::Image(MediaBlock {
            source,
            ..MediaBlock::default()
        }));
    }

    fn resource(&mut self, resource: EmbeddedResourceResource) {
        match resource {
            EmbeddedResourceResource::TextResourceContents(text) => self.embed(&text.uri, &text.text),
            EmbeddedResourceResource::BlobResourceContents(blob) => self.blob(blob),
            _ => tracing::debug!("embedded resource of an unknown kind is left out"),
        }
    }

    fn embed(&mut self, uri: &str, text: &str) {
        self.inline.push(ContentBlock::text(link_text(uri)));
        self.context.push(ContentBlock::text(format!(
            "\n<context ref=\"{uri}\">\n{text}\n</context>"
        )));
    }

    fn blob(&mut self, blob: BlobResourceContents) {
        let mime = blob.mime_type.as_deref().and_then(Mime::parse);
        let media = match mime.as_ref().map(|mime| mime.essence.as_str()) {
            Some("image/jpg") => Some("image/jpeg"),
            Some(kind @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf")) => {
                Some(kind)
            }
            _ => None,
        };
        if let Some(media) = media {
            self.inline.push(ContentBlock::text(link_text(&blob.uri)));
            self.inline.push(media_block(media, blob.blob));
            return;
        }
        match mime
            .filter(Mime::is_text)
            .and_then(|mime| mime.decode(&blob.blob))
        {
            Some(text) => self.embed(&blob.uri, &text),
            None => tracing::debug!(
                uri = blob.uri,
                "binary resource that Claude cannot read is left out"
            ),
        }
    }
}

fn media_block(media_type: &str, data: String) -> ContentBlock {
    let block = MediaBlock {
        source: MediaSource::base64(media_type, data),
        ..MediaBlock::default()
    };
    if media_type == "application/pdf" {
        ContentBlock::Document(block)
    } else {
        ContentBlock::Image(block)
    }
}

/// Files are linked by name, as Claude's own `@` mentions are; other addresses stand for themselves.
fn link_text(uri: &str) -> String {
    let path = uri.strip_prefix("file://").or_else(|| uri.strip_prefix("zed://"));
    let name = path
        .and_then(|path| path.trim_end_matches('/').rsplit('/').next())
        .filter(|name| !name.is_empty());
    match (path, name) {
        (Some(_), Some(name)) => format!("[@{name}]({uri})"),
        _ => uri.to_owned(),
    }
}

/// `/mcp:server:prompt args` → `/server:prompt (MCP) args`.
fn mcp_command(text: &str) -> Option<String> {
    let rest = text.strip_prefix("/mcp:")?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (command, arguments) = rest.split_at_checked(end)?;
    let (server, prompt) = command.split_once(':')?;
    let complete = !server.is_empty() && !prompt.is_empty();
    complete.then(|| format!("/{command} (MCP){arguments}"))
}

/// A media type without its parameters, and the one parameter that matters.
struct Mime {
    essence: String,
    charset: Option<String>,
}

impl Mime {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let essence = parts
            .next()
            .filter(|essence| !essence.is_empty())?
            .to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.trim().trim_matches('"').to_ascii_lowercase())
        });
        Some(Self { essence, charset })
    }

    fn is_text(&self) -> bool {
        const TEXTS: &[&str] = &[
            "application/json",
            "application/xml",
            "application/javascript",
            "application/x-javascript",
            "application/typescript",
            "application/x-typescript",
            "application/yaml",
            "application/x-yaml",
            "application/toml",
            "application/x-toml",
            "application/x-sh",
            "application/x-shellscript",
            "application/sql",
            "application/graphql",
        ];
        let kind = self.essence.as_str();
        kind.starts_with("text/")
            || kind.ends_with("+json")
            || kind.ends_with("+xml")
            || TEXTS.contains(&kind)
    }

    fn decode(&self, base64: &str) -> Option<String> {
        let bytes = STANDARD.decode(base64.trim()).ok()?;
        match self.charset.as_deref() {
            None | Some("utf-8" | "utf8" | "us-ascii" | "ascii") => String::from_utf8(bytes).ok(),
            Some("iso-8859-1" | "latin1") => Some(bytes.into_iter().map(char::from).collect()),
            Some("utf-16le" | "utf-16") => utf16(&bytes, u16::from_le_bytes),
            Some("utf-16be") => utf16(&bytes, u16::from_be_bytes),
            Some(_) => None,
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
    let text = String::from_utf16(&units).ok().filter(|_| rest.is_empty())?;
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests;
