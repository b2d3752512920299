//! The hot path: one `content_block_delta` line, byte for byte as the CLI writes it, without building a frame.
//!
//! Place in the flow: `engine::message` makes a template per block and writes one line per delta. The key order is the
//! CLI's, which hosts tune their fast path for; a test holds the line against the bridge's decoder.

use super::outbox::Outbox;

/// What a delta adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeltaKind {
    Text,
    Thinking,
    InputJson,
    Signature,
}

impl DeltaKind {
    /// The delta's `type` and the key of what it adds.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("text_delta", "text"),
            Self::Thinking => ("thinking_delta", "thinking"),
            Self::InputJson => ("input_json_delta", "partial_json"),
            Self::Signature => ("signature_delta", "signature"),
        }
    }
}

/// Everything of a block's delta lines that stays the same.
#[derive(Debug, Clone)]
pub(crate) struct DeltaTemplate {
    before: String,
    between: String,
    after: String,
}

impl DeltaTemplate {
    pub(crate) fn new(out: &Outbox, kind: DeltaKind, index: u64, message_id: &str) -> Self {
        let (delta_type, key) = kind.names();
        let display = match kind {
            DeltaKind::Thinking => "\"thinking_display\":\"updates\",",
            DeltaKind::Text | DeltaKind::InputJson | DeltaKind::Signature => "",
        };
        let session_id = literal(out.session_id.as_str());
        let message_id = literal(message_id);
        Self {
            before: format!(
                "{{\"type\":\"stream_event\",\"event\":{{\"index\":{index},\"delta\":{{\"type\":\"{delta_type}\",\"{key}\":"
            ),
            between: format!(
                "}},\"type\":\"content_block_delta\"}},\"session_id\":{session_id},\"parent_tool_use_id\":null,\"uuid\":\""
            ),
            after: format!("\",{display}\"api_message_id\":{message_id}}}\n"),
        }
    }

    /// Writes one delta.
    pub(crate) fn write(&self, out: &mut Outbox, added: &str) {
        out.bytes.extend_from_slice(self.before.as_bytes());
        out.push_json(added);
        out.bytes.extend_from_slice(self.between.as_bytes());
        out.push_uuid();
        out.bytes.extend_from_slice(self.after.as_bytes());
    }
}

/// A text as a JSON string.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
