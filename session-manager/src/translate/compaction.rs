//! A compaction of the conversation, shown as a tool call: in progress while Claude compacts, then completed or
//! failed, then its numbers.

use acp_proto::schema::{
    Meta, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use claude_sdk_bridge::messages::{ActivityStatus, CompactBoundary, MessageUuid, Status};
use serde_json::{Value, json};

use crate::tools::blocks::text_content;
use crate::tools::{call_meta, wording};

#[derive(Debug, Default)]
pub(super) enum Compaction {
    #[default]
    None,
    Running {
        id: String,
    },
    /// Ended, its numbers are still to come.
    Ended {
        id: String,
    },
}

impl Compaction {
    /// A status message; those that are not about compaction change nothing.
    pub(super) fn status(&mut self, status: &Status, uuid: Option<&MessageUuid>) -> Option<SessionUpdate> {
        if status.status.get() == Some(&ActivityStatus::Compacting) {
            return self.begin(uuid);
        }
        match status.compact_result.as_str()? {
            "success" => self.end(completed()),
            result => {
                let error = status.compact_error.as_str().unwrap_or(result);
                self.end(failed(error))
            }
        }
    }

    /// The boundary in the transcript, with the numbers.
    pub(super) fn boundary(
        &mut self,
        boundary: &CompactBoundary,
        uuid: Option<&MessageUuid>,
    ) -> Option<SessionUpdate> {
        let numbers = numbers(boundary);
        match std::mem::take(self) {
            Self::None => {
                let call = call(uuid?.as_str())
                    .status(ToolCallStatus::Completed)
                    .raw_output(numbers);
                Some(SessionUpdate::ToolCall(call))
            }
            Self::Running { id } => Some(update(id, completed().raw_output(numbers))),
            Self::Ended { id } => Some(update(id, ToolCallUpdateFields::new().raw_output(numbers))),
        }
    }

    /// Nothing more will come of it.
    pub(super) fn settle(&mut self, text: &str) -> Option<SessionUpdate> {
        match std::mem::take(self) {
            Self::Running { id } => {
                let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
                Some(update(id, fields.content(vec![text_content(text)])))
            }
            Self::None | Self::Ended { .. } => None,
        }
    }

    fn begin(&mut self, uuid: Option<&MessageUuid>) -> Option<SessionUpdate> {
        if matches!(self, Self::Running { .. }) {
            return None;
        }
        let id = uuid?.as_str().to_owned();
        let call = call(&id).status(ToolCallStatus::InProgress);
        *self = Self::Running { id };
        Some(SessionUpdate::ToolCall(call))
    }

    fn end(&mut self, fields: ToolCallUpdateFields) -> Option<SessionUpdate> {
        let Self::Running { id } = std::mem::take(self) else {
            return None;
        };
        if fields.status == Some(ToolCallStatus::Completed) {
            *self = Self::Ended { id: id.clone() };
        }
        Some(update(id, fields))
    }
}

/// What the model is told instead of the conversation.
pub(super) fn summary(id: &MessageUuid, summary: &str) -> SessionUpdate {
    let fields = ToolCallUpdateFields::new().content(vec![text_content(summary)]);
    update(id.as_str().to_owned(), fields)
}

/// The messages that are left as they are.
pub(super) fn preserved(boundary: &CompactBoundary) -> Vec<MessageUuid> {
    let metadata = boundary.compact_metadata.get();
    let preserved = metadata.and_then(|metadata| metadata.preserved_messages.get());
    let uuids = preserved
        .into_iter()
        .flat_map(|preserved| preserved.uuids.known());
    uuids.cloned().collect()
}

fn call(id: &str) -> ToolCall {
    ToolCall::new(id.to_owned(), wording::COMPACT_CONVERSATION)
        .kind(ToolKind::Think)
        .meta(meta())
}

fn update(id: String, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields).meta(meta()))
}

fn meta() -> Meta {
    call_meta("compact", None)
}

fn completed() -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().status(ToolCallStatus::Completed)
}

fn failed(error: &str) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new()
        .status(ToolCallStatus::Failed)
        .content(vec![text_content(wording::compaction_failed(error))])
        .raw_output(json!({"error": error}))
}

fn numbers(boundary: &CompactBoundary) -> Value {
    let Some(metadata) = boundary.compact_metadata.get() else {
        return json!({});
    };
    let mut numbers = json!({});
    let fields = [
        ("trigger", metadata.trigger.as_str().map(Value::from)),
        ("preTokens", metadata.pre_tokens.copied().map(Value::from)),
        ("postTokens", metadata.post_tokens.copied().map(Value::from)),
        ("durationMs", metadata.duration_ms.copied().map(Value::from)),
    ];
    if let Some(map) = numbers.as_object_mut() {
        map.extend(
            fields
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?))),
        );
    }
    numbers
}
