//! [`Message`]: everything that arrives from Claude, one line each.
//!
//! Reading never fails: a line of an unknown kind, or of a known kind without what makes it that kind, is `Unknown`.

use serde_json::Value;

use super::control::{ControlCancel, ControlResponse, IncomingControl};
use super::{
    AssistantMessage, ClaudeSessionId, List, MessageUuid, ResultMessage, StreamEvent, SystemMessage, TaskId,
    ToolUseId, UserMessage,
};

tagged! {
    /// A message from Claude.
    pub enum Message by "type" {
        "system" => System(SystemMessage),
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
        "prompt_suggestion" => PromptSuggestion(PromptSuggestion),
        "transcript_mirror" => TranscriptMirror(TranscriptMirror),
        "tool_progress" => ToolProgress(Box<ToolProgress>),
        "auth_status" => AuthStatus(AuthStatus),
        "keep_alive" => KeepAlive(KeepAlive),
    }
}

impl Message {
    /// The Claude session this message belongs to, where it says so.
    pub fn session_id(&self) -> Option<&ClaudeSessionId> {
        match self {
            Message::System(message) => message.session_id.get(),
            Message::Assistant(message) => message.session_id.get(),
            Message::User(message) => message.session_id.get(),
            Message::Result(message) => message.session_id.get(),
            Message::StreamEvent(message) => message.session_id.get(),
            Message::CommandLifecycle(message) => message.session_id.get(),
            Message::ConversationReset(message) => message.session_id.get(),
            Message::RateLimit(message) => message.session_id.get(),
            Message::PromptSuggestion(message) => message.session_id.get(),
            Message::ToolProgress(message) => message.session_id.get(),
            Message::ControlRequest(_)
            | Message::ControlResponse(_)
            | Message::ControlCancel(_)
            | Message::TranscriptMirror(_)
            | Message::AuthStatus(_)
            | Message::KeepAlive(_)
            | Message::Unknown(_) => None,
        }
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
            trigger: String,
            user_message_uuid: MessageUuid,
            timestamp: String,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// How much of a subscription's limit is used.
    pub struct RateLimitEvent {
        optional {
            rate_limit_info: RateLimitInfo,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// The limit that matters now.
    pub struct RateLimitInfo {
        optional {
            status: String,
            resets_at as "resetsAt": serde_json::Number,
            rate_limit_type as "rateLimitType": String,
            utilization: serde_json::Number,
            is_using_overage as "isUsingOverage": bool,
        }
    }
}

wire! {
    /// What the user might want to ask next.
    pub struct PromptSuggestion {
        required { suggestion: String, }
        optional {
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// Lines added to the transcript.
    pub struct TranscriptMirror {
        optional {
            file_path as "filePath": String,
            entries: List<Value>,
        }
    }
}

wire! {
    /// A tool is still running.
    pub struct ToolProgress {
        required { tool_use_id: ToolUseId, }
        optional {
            tool_name: String,
            parent_tool_use_id: ToolUseId,
            elapsed_time_seconds: serde_json::Number,
            task_id: TaskId,
            heartbeat: bool,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
        }
    }
}

wire! {
    /// A login is going on.
    pub struct AuthStatus {
        optional {
            is_authenticating as "isAuthenticating": bool,
            output: List<String>,
            error: String,
        }
    }
}

wire! {
    /// A sign of life, in either direction.
    pub struct KeepAlive {}
}
