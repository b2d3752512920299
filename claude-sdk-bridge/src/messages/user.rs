//! `user` messages as Claude writes them: tool results, replays of what we sent, and messages the CLI makes itself.
//!
//! What we send is in `host`.

use serde_json::Value;

use super::{ClaudeSessionId, Content, List, MessageUuid, ToolUseId};

wire! {
    /// A message in the user's place.
    pub struct UserMessage {
        required { message: UserContent, }
        optional {
            /// The tool call of the subagent whose message this is; null for the main loop.
            parent_tool_use_id: ToolUseId,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
            timestamp: String,
            /// The tool's structured output (object or list), or text that begins with `Error: `.
            tool_use_result: Value,
            tool_result_meta: List<ToolResultMeta>,
            /// An echo of a message we sent, or the output of a slash command.
            is_replay as "isReplay": bool,
        }
    }
}

impl UserMessage {
    /// What the CLI notes about the result of one tool call.
    pub fn result_meta(&self, id: &ToolUseId) -> Option<&ToolResultMeta> {
        self.tool_result_meta.known().find(|meta| meta.id == *id)
    }
}

wire! {
    /// Role and content.
    pub struct UserContent {
        required { content: Content, }
        optional { role: String, }
    }
}

wire! {
    /// Why a tool call has the result it has.
    pub struct ToolResultMeta {
        required { id: ToolUseId, }
        optional {
            /// Present when the tool did not run.
            non_execution_kind: NonExecutionKind,
            permission_decision: PermissionDecisionMeta,
        }
    }
}

open_enum! {
    /// Why a tool did not run.
    pub enum NonExecutionKind {
        UserRejected = "user-rejected",
        PermissionRule = "permission-rule",
    }
}

wire! {
    /// Who decided about a tool call, and how.
    pub struct PermissionDecisionMeta {
        optional {
            decision: String,
            source: String,
            reason_type: String,
        }
    }
}

wire! {
    /// What started a turn or sent a message: `human`, `task-notification` and others.
    pub struct Origin {
        optional { kind: String, }
    }
}

impl Origin {
    /// A person typed it.
    pub fn human() -> Self {
        Origin {
            kind: "human".into(),
            ..Origin::default()
        }
    }
}
