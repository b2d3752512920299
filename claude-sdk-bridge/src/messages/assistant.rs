//! `assistant` messages: one frame a content block, several frames with the same `message.id` one API message.
//!
//! `stop_reason` and `usage` of these frames are those of the message's start; the final ones come with
//! `message_delta` or the result.

use super::{ApiMessageId, ClaudeSessionId, Content, List, MessageUuid, ToolUseId, Usage};

/// The model name of messages the CLI made itself (API errors, local commands).
pub const SYNTHETIC_MODEL: &str = "<synthetic>";

wire! {
    /// A message of the model, or of the CLI in its place.
    pub struct AssistantMessage {
        required { message: ApiMessage, }
        optional {
            /// The tool call of the subagent that speaks; null for the main loop.
            parent_tool_use_id: ToolUseId,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
            request_id: String,
            timestamp: String,
            /// What went wrong, when this message tells an API error.
            error: ApiErrorKind,
            is_api_error_message: bool,
            api_error_status: u64,
            /// The turn was interrupted here; the block is what had arrived.
            aborted: bool,
            user_message_uuid: MessageUuid,
            user_message_uuids: List<MessageUuid>,
        }
    }
}

impl AssistantMessage {
    /// Whether the CLI made this message itself.
    pub fn is_synthetic(&self) -> bool {
        self.message.model.as_str() == Some(SYNTHETIC_MODEL)
    }
}

wire! {
    /// A message as the Messages API has it.
    pub struct ApiMessage {
        required { content: Content, }
        optional {
            id: ApiMessageId,
            kind as "type": String,
            role: String,
            model: String,
            stop_reason: String,
            stop_sequence: String,
            usage: Usage,
        }
    }
}

open_enum! {
    /// The kind of an API error.
    pub enum ApiErrorKind {
        AuthenticationFailed = "authentication_failed",
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        AccountOnHold = "account_on_hold",
        VerificationRequired = "verification_required",
        BillingError = "billing_error",
        RateLimit = "rate_limit",
        Overloaded = "overloaded",
        InvalidRequest = "invalid_request",
        ModelNotFound = "model_not_found",
        ServerError = "server_error",
        Unknown = "unknown",
        MaxOutputTokens = "max_output_tokens",
        CloudCredentialError = "cloud_credential_error",
    }
}
