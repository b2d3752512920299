//! Control requests from Claude: permission, hooks, in-process MCP, elicitation, dialogs.
//!
//! Exactly one answer each, unless Claude withdraws it. What to answer is decided above.

use serde_json::{Map, Value};

use crate::messages::{ClaudeSessionId, ControlId, List, TaskId, ToolUseId};

wire! {
    /// A request from Claude under its id.
    pub struct IncomingControl {
        required {
            request_id: ControlId,
            request: IncomingRequest,
        }
    }
}

tagged! {
    /// What Claude asks.
    pub enum IncomingRequest by "subtype" {
        "can_use_tool" => CanUseTool(Box<CanUseTool>),
        "hook_callback" => HookCallback(Box<HookCallback>),
        "mcp_message" => McpMessage(Box<McpMessage>),
        "elicitation" => Elicitation(Box<Elicitation>),
        "request_user_dialog" => UserDialog(Box<UserDialog>),
    }
}

impl Default for IncomingRequest {
    fn default() -> Self {
        IncomingRequest::Unknown(Value::Null)
    }
}

wire! {
    /// May this tool call run?
    pub struct CanUseTool {
        required {
            tool_name: String,
            /// Normalised; may differ from the `tool_use` block, and is what an approval must echo.
            input: Map<String, Value>,
            tool_use_id: ToolUseId,
        }
        optional {
            display_name: String,
            title: String,
            description: String,
            /// Permission updates Claude proposes; `permission-core` reads them.
            permission_suggestions: List<Value>,
            blocked_path: String,
            decision_reason: String,
            decision_reason_type: String,
            decision_reason_rule_source: String,
            decision_reason_hook_event: String,
            decision_reason_hook_source: String,
            suppress_always_allow_rule: bool,
            default_to_no: bool,
            matched_ask_rule: MatchedAskRule,
            requires_user_interaction: bool,
            /// Set when a subagent asks; its task id.
            agent_id: TaskId,
        }
    }
}

wire! {
    /// The ask rule that made Claude ask.
    pub struct MatchedAskRule {
        optional {
            source: String,
            tool_name: String,
            rule_content: String,
        }
    }
}

wire! {
    /// A hook we registered fires.
    pub struct HookCallback {
        required {
            callback_id: String,
            input: HookInput,
        }
        optional {
            /// The tool call for tool events, else a made-up id.
            tool_use_id: ToolUseId,
        }
    }
}

wire! {
    /// What a hook is told; which fields are there depends on the event.
    pub struct HookInput {
        optional {
            hook_event_name: String,
            session_id: ClaudeSessionId,
            transcript_path: String,
            cwd: String,
            prompt_id: String,
            permission_mode: String,
            agent_id: TaskId,
            agent_type: String,
            tool_name: String,
            tool_input: Value,
            tool_use_id: ToolUseId,
            tool_response: Value,
            error: String,
            is_interrupt: bool,
        }
    }
}

wire! {
    /// JSON-RPC for an MCP server that lives in the host.
    pub struct McpMessage {
        required {
            server_name: String,
            message: Value,
        }
    }
}

wire! {
    /// An MCP server asks the user something.
    pub struct Elicitation {
        required { mcp_server_name: String, }
    }
}

wire! {
    /// A dialog of a kind that was declared in `initialize`; of an undeclared kind it stays unanswered.
    pub struct UserDialog {
        required { dialog_kind: String, }
    }
}
