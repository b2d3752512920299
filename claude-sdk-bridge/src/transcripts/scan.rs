//! The first pass over a transcript: what hangs on what. Of each line only its ids, its kind and its place are kept.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lines::{Line, Lines, Span, part};
use crate::decode;

/// The lines of a transcript that make up conversations, and what says which of them is the live one.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// In the order of the file, each uuid once.
    pub(super) nodes: Vec<Node>,
    pub(super) markers: Vec<Marker>,
    ids: HashMap<Box<str>, Id>,
    /// The node of an id, where the file has one.
    node_of: Vec<Option<usize>>,
}

/// An id that the file names: of a line, or of a message of the API's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id(usize);

/// A line that hangs on others.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: Option<Id>,
    /// The parent of a line that begins anew after a compaction.
    pub(super) logical_parent: Option<Id>,
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// It belongs to a subagent.
    pub(super) sidechain: bool,
}

/// What a line is, as far as it decides about what belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A block of a message of the API's.
    Assistant {
        message: Option<Id>,
    },
    /// The result of a call in the line `of`.
    ToolResult {
        of: Option<Id>,
    },
    Attachment,
    Other,
}

/// A `last-prompt` line: where the conversation stands.
#[derive(Debug)]
pub(super) struct Marker {
    /// `None` where everything was taken back.
    pub(super) leaf: Option<Id>,
    /// Set by going back: what is not written after it is gone, though it may hang below.
    pub(super) explicit: bool,
    /// How many nodes stand before it.
    pub(super) after: usize,
}

impl Index {
    /// Reads a transcript.
    ///
    /// # Errors
    /// When the file cannot be read. Lines that make no sense are left out.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut index = Self::default();
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next()? {
            match line {
                Line::Held(_, text) if text.starts_with(b"{\"type\":\"api-request") => {}
                Line::Held(span, text) => match held(text) {
                    Ok(head) => index.add(&head, span),
                    Err(error) => skipped(path, span, &error),
                },
                Line::Long(span) => match long(path, span)? {
                    Ok(head) => index.add(&head, span),
                    Err(error) => skipped(path, span, &error),
                },
            }
        }
        Ok(index)
    }

    /// The id that a text is, if the file names it.
    pub(super) fn known(&self, text: &str) -> Option<Id> {
        self.ids.get(text).copied()
    }

    /// The nodes by their uuids.
    pub(super) fn uuids(&self) -> impl Iterator<Item = (&str, usize)> {
        self.ids
            .iter()
            .filter_map(|(text, id)| Some((text.as_ref(), self.node(*id)?)))
    }

    /// The node of an id, if the file has one.
    pub(super) fn node(&self, id: Id) -> Option<usize> {
        self.node_of.get(id.0).copied().flatten()
    }

    /// The node that a node hangs on.
    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        let node = self.nodes.get(node)?;
        self.node(node.parent.or(node.logical_parent)?)
    }

    fn add(&mut self, head: &Head, span: Span) {
        let kind = match head.kind.as_str() {
            "last-prompt" => {
                let leaf = head.leaf_uuid.as_deref().map(|leaf| self.id(leaf));
                return self.markers.push(Marker {
                    leaf,
                    explicit: head.explicit,
                    after: self.nodes.len(),
                });
            }
            "assistant" => {
                let message = head.message.as_ref().and_then(|message| message.id.as_deref());
                Kind::Assistant {
                    message: message.map(|id| self.id(id)),
                }
            }
            "user"
                if head
                    .message
                    .as_ref()
                    .is_some_and(|message| message.content.has_result) =>
            {
                let call = head.source_tool_assistant_uuid.as_deref();
                let call = call.or(head.parent_uuid.as_deref());
                Kind::ToolResult {
                    of: call.map(|call| self.id(call)),
                }
            }
            "attachment" => Kind::Attachment,
            "user" | "system" | "progress" => Kind::Other,
            _ => return,
        };
        let Some(uuid) = head.uuid.as_deref() else { return };
        let parent = head.parent_uuid.as_deref().map(|parent| self.id(parent));
        let logical_parent = head.logical_parent_uuid.as_deref();
        let logical_parent = logical_parent.map(|parent| self.id(parent));
        let id = self.id(uuid);
        let place = self.nodes.len();
        // A second compaction can write old lines once more: the first one counts.
        if let Some(node_of @ None) = self.node_of.get_mut(id.0) {
            *node_of = Some(place);
            self.nodes.push(Node {
                parent,
                logical_parent,
                kind,
                span,
                sidechain: head.is_sidechain,
            });
        }
    }

    fn id(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = Id(self.node_of.len());
        self.node_of.push(None);
        self.ids.insert(text.into(), id);
        id
    }
}

fn held(line: &[u8]) -> serde_json::Result<Head> {
    // A half of a surrogate pair in a text is no reason to lose the line.
    serde_json::from_slice(line).or_else(|_| {
        let line = serde_json::from_str(&decode::sound(line))?;
        serde_json::from_value(line)
    })
}

/// Reads a line that is not held, without holding it now.
fn long(path: &Path, span: Span) -> io::Result<serde_json::Result<Head>> {
    let mut file = File::open(path)?;
    let line = BufReader::new(part(&mut file, span)?);
    Ok(serde_json::from_reader(line))
}

fn skipped(path: &Path, span: Span, error: &serde_json::Error) {
    tracing::debug!(path = %path.display(), offset = span.offset, %error, "line of a transcript left out");
}

/// What the first pass needs of a line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    parent_uuid: Option<String>,
    #[serde(default)]
    logical_parent_uuid: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default, rename = "sourceToolAssistantUUID")]
    source_tool_assistant_uuid: Option<String>,
    #[serde(default)]
    message: Option<MessageHead>,
    #[serde(default)]
    leaf_uuid: Option<String>,
    #[serde(default)]
    explicit: bool,
}

#[derive(Deserialize)]
struct MessageHead {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    content: ContentHead,
}

/// Whether content has the result of a call in it; everything else is passed over without being kept.
#[derive(Default)]
struct ContentHead {
    has_result: bool,
}

impl<'de> Deserialize<'de> for ContentHead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = ContentHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or content blocks")
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(ContentHead::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ContentHead::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Self::Value, A::Error> {
        let mut content = ContentHead::default();
        while let Some(BlockHead { is_result }) = blocks.next_element()? {
            content.has_result |= is_result;
        }
        Ok(content)
    }
}

struct BlockHead {
    is_result: bool,
}

impl<'de> Deserialize<'de> for BlockHead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(BlockVisitor)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = BlockHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut block: A) -> Result<Self::Value, A::Error> {
        let mut is_result = false;
        while let Some(key) = block.next_key::<String>()? {
            if key == "type" {
                is_result = block.next_value::<String>()? == "tool_result";
            } else {
                block.next_value::<IgnoredAny>()?;
            }
        }
        Ok(BlockHead { is_result })
    }
}
