//! What the host (we) writes to Claude's stdin: user messages, control requests, and answers to Claude's requests.
//!
//! The rehearsal reads the same types when it plays the CLI. Nothing here decides when to send.

use serde_json::Map;

use super::control::{ControlCancel, ControlRequest, ControlResponse, HostControl};
use super::{Content, Field, MessageUuid, Origin, ToolUseId, UserContent};

tagged! {
    /// A message to Claude.
    pub enum HostMessage by "type" {
        "user" => User(Box<OutgoingUserMessage>),
        "control_request" => ControlRequest(Box<HostControl>),
        "control_response" => ControlResponse(Box<ControlResponse>),
        "control_cancel_request" => ControlCancel(ControlCancel),
    }
}

impl HostMessage {
    /// A control request under the id `id`.
    pub fn request(id: super::ControlId, request: ControlRequest) -> Self {
        HostMessage::ControlRequest(Box::new(HostControl {
            request_id: Field::Known(id),
            request,
            ..HostControl::default()
        }))
    }
}

wire! {
    /// A user message as we send it. A repeated `uuid` is dropped by Claude without a word.
    pub struct OutgoingUserMessage {
        required { message: UserContent, }
        optional {
            uuid: MessageUuid,
            session_id: String,
            parent_tool_use_id: ToolUseId,
            priority: Priority,
            origin: Origin,
        }
    }
}

impl OutgoingUserMessage {
    /// A prompt typed by a person.
    pub fn prompt(uuid: MessageUuid, content: impl Into<Content>) -> Self {
        OutgoingUserMessage {
            message: UserContent {
                content: content.into(),
                role: "user".into(),
                extra: Map::new(),
            },
            uuid: uuid.into(),
            session_id: "".into(),
            parent_tool_use_id: Field::Null,
            origin: Origin::human().into(),
            ..OutgoingUserMessage::default()
        }
    }
}

open_enum! {
    /// When a queued message runs.
    pub enum Priority {
        /// At once, ending the running turn.
        Now = "now",
        Next = "next",
        Later = "later",
    }
}
