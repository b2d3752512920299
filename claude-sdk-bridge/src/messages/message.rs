//! [`Message`]: everything that arrives from Claude, one line each.
//!
//! Reading never fails: a line of an unknown kind, or of a known kind without what makes it that kind, is `Unknown`.

use super::control::{ControlCancel, ControlResponse, IncomingControl};
use super::{
    AssistantMessage, ClaudeSessionId, MessageUuid, ResultMessage, StreamEvent, SystemMessage, ToolUseId,
    UserMessage,
};

tagged! {
    /// A message from Claude.
    pub enum Message by "type" {
        "system" => System(Box<SystemMessage>),
        "assistant" => Assistant(Box<AssistantMessage>),
        "user" => User(Box<UserMessage>),
        "result" => Result(Box<ResultMessage>),
        "stream_event" => StreamEvent(Box<StreamEvent>),
        "control_request" => ControlRequest(Box<IncomingControl>),
        "control_response" => ControlResponse(Box<ControlResponse>),
        "control_cancel_request" => ControlCancel(ControlCancel),
        "command_lifecycle" => CommandLifecycle(CommandLifecycle),
        "conversation_reset" => ConversationReset(Box<ConversationReset>),
        "rate_limit_event" => RateLimit(RateLimitEvent),
        "tool_progress" => ToolProgress(Box<ToolProgress>),
        "keep_alive" => KeepAlive(KeepAlive),
    }
}

wire! {
    /// What became of a user message that was sent with a `uuid`.
    pub struct CommandLifecycle {
        required {
            command_uuid: MessageUuid,
            state: CommandState,
        }
        optional {
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
        }
    }
}

open_enum! {
    /// Where a user message is.
    pub enum CommandState {
        Queued = "queued",
        Started = "started",
        Completed = "completed",
        Cancelled = "cancelled",
    }
}

wire! {
    /// The conversation starts anew (`/clear`), under another session id.
    pub struct ConversationReset {
        optional {
            new_conversation_id: String,
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// How much of a subscription's limit is used.
    pub struct RateLimitEvent {
        optional {
            rate_limit_info: RateLimitInfo,
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// The limit that matters now.
    pub struct RateLimitInfo {}
}

wire! {
    /// A tool is still running.
    pub struct ToolProgress {
        required { tool_use_id: ToolUseId, }
        optional {
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// A sign of life, in either direction.
    pub struct KeepAlive {}
}
