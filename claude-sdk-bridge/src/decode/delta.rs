//! [`DeltaLine`]: a piece of text, thinking or tool input, kept as ranges of the line it came in.
//!
//! The literal is handed on as it stands, quotes and escapes included, so that it can be pasted into an outgoing line.

use std::ops::Range;

use bytes::Bytes;

/// What a delta adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaKind {
    /// The answer.
    Text,
    /// The model's thinking.
    Thinking,
    /// The input of a tool call, as JSON text.
    InputJson,
}

/// One delta.
#[derive(Clone, Debug)]
pub struct DeltaLine {
    /// The line it came in, or a buffer made for it.
    line: Bytes,
    spans: Spans,
}

/// Where the parts of a delta are in its line.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    kind: DeltaKind,
    index: u64,
    literal: Range<usize>,
    message_id: Option<Range<usize>>,
    parent_tool_use_id: Option<Range<usize>>,
}

/// The parts of a delta, borrowed from wherever they were read.
#[derive(Clone, Copy)]
pub(super) struct DeltaParts<'a> {
    pub(super) kind: DeltaKind,
    pub(super) index: u64,
    /// A JSON string literal, quotes included.
    pub(super) literal: &'a str,
    pub(super) message_id: Option<&'a str>,
    pub(super) parent_tool_use_id: Option<&'a str>,
}

impl DeltaParts<'_> {
    /// Where the parts lie in `line`; `None` when they are no slices of it.
    pub(super) fn spans(&self, line: &[u8]) -> Option<Spans> {
        let optional = |part: Option<&str>| match part {
            Some(part) => span(line, part).map(Some),
            None => Some(None),
        };
        Some(Spans {
            kind: self.kind,
            index: self.index,
            literal: span(line, self.literal)?,
            message_id: optional(self.message_id)?,
            parent_tool_use_id: optional(self.parent_tool_use_id)?,
        })
    }
}

impl DeltaLine {
    /// What it adds to.
    pub fn kind(&self) -> DeltaKind {
        self.spans.kind
    }

    /// The content block it belongs to.
    pub fn index(&self) -> u64 {
        self.spans.index
    }

    /// The text as a JSON string literal, quotes included; valid in any JSON document.
    pub fn literal(&self) -> &str {
        self.str_at(&self.spans.literal).unwrap_or("\"\"")
    }

    /// The text itself. Allocates; for those who need to look at it.
    pub fn text(&self) -> String {
        serde_json::from_str(self.literal()).unwrap_or_default()
    }

    /// The API message it belongs to.
    pub fn message_id(&self) -> Option<&str> {
        self.str_at(self.spans.message_id.as_ref()?)
    }

    /// The tool call of the subagent that speaks; `None` for the main loop.
    pub fn parent_tool_use_id(&self) -> Option<&str> {
        self.str_at(self.spans.parent_tool_use_id.as_ref()?)
    }

    /// A delta that keeps its line.
    pub(super) fn of_line(line: Bytes, spans: Spans) -> Self {
        DeltaLine { line, spans }
    }

    /// A delta with a buffer of its own, for parts that are no slices of a line.
    pub(super) fn owned(parts: &DeltaParts<'_>) -> Self {
        let mut buffer = Vec::new();
        let mut keep = |part: &str| {
            let start = buffer.len();
            buffer.extend_from_slice(part.as_bytes());
            start..buffer.len()
        };
        let spans = Spans {
            kind: parts.kind,
            index: parts.index,
            literal: keep(parts.literal),
            message_id: parts.message_id.map(&mut keep),
            parent_tool_use_id: parts.parent_tool_use_id.map(&mut keep),
        };
        DeltaLine {
            line: Bytes::from(buffer),
            spans,
        }
    }

    fn str_at(&self, range: &Range<usize>) -> Option<&str> {
        std::str::from_utf8(self.line.get(range.clone())?).ok()
    }
}

/// Equal when they say the same, wherever their parts lie.
impl PartialEq for DeltaLine {
    fn eq(&self, other: &Self) -> bool {
        let parts = |line: &Self| (line.kind(), line.index());
        parts(self) == parts(other)
            && self.literal() == other.literal()
            && self.message_id() == other.message_id()
            && self.parent_tool_use_id() == other.parent_tool_use_id()
    }
}

/// Where `part` lies in `line`, when it does.
fn span(line: &[u8], part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= line.len()).then_some(start..end)
}
