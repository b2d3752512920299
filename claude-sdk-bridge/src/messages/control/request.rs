//! Control requests from the host to Claude, one record each.
//!
//! All fields that Claude may miss are optional; kinds that nobody here sends or answers are `Unknown`.

use serde_json::{Map, Number, Value};

use super::InitializeRequest;
use crate::messages::{ControlId, MessageUuid, TaskId, ToolUseId};

wire! {
    /// A request of ours under its id. Claude handles one without an id, and answers without one.
    pub struct HostControl {
        required { request: ControlRequest, }
        optional { request_id: ControlId, }
    }
}

tagged! {
    /// What the agent asks, and what the rehearsal answers.
    pub enum ControlRequest by "subtype" {
        "initialize" => Initialize(Box<InitializeRequest>),
        "interrupt" => Interrupt(Interrupt),
        "cancel_async_message" => CancelAsyncMessage(CancelAsyncMessage),
        "set_permission_mode" => SetPermissionMode(SetPermissionMode),
        "set_model" => SetModel(SetModel),
        "set_max_thinking_tokens" => SetMaxThinkingTokens(SetMaxThinkingTokens),
        "apply_flag_settings" => ApplyFlagSettings(ApplyFlagSettings),
        "get_settings" => GetSettings(NoFields),
        "stop_task" => StopTask(TaskRef),
        "background_tasks" => BackgroundTasks(BackgroundTasks),
        "end_session" => EndSession(EndSession),
        "rename_session" => RenameSession(RenameSession),
        "seed_read_state" => SeedReadState(SeedReadState),
        "mcp_status" => McpStatus(NoFields),
        "mcp_set_servers" => McpSetServers(McpSetServers),
        "mcp_message" => McpMessage(HostMcpMessage),
        "get_context_usage" => GetContextUsage(GetContextUsage),
        "get_session_cost" => GetSessionCost(NoFields),
        "get_binary_version" => GetBinaryVersion(NoFields),
        "list_models" => ListModels(NoFields),
        "list_permission_rules" => ListPermissionRules(NoFields),
        "file_suggestions" => FileSuggestions(FileSuggestions),
        "get_plan" => GetPlan(NoFields),
        "set_prompt_suggestions_paused" => SetSuggestionsPaused(SetSuggestionsPaused),
    }
}

impl Default for ControlRequest {
    fn default() -> Self {
        ControlRequest::Unknown(Value::Null)
    }
}

wire! {
    /// A request or answer without fields of its own.
    pub struct NoFields {}
}

wire! {
    /// Stop the running turn.
    pub struct Interrupt {
        optional { cancel_queued: bool, }
    }
}

wire! {
    /// Take back a user message that is still queued.
    pub struct CancelAsyncMessage {
        required { message_uuid: MessageUuid, }
    }
}

wire! {
    /// Change the permission mode. Does not settle asks that are open.
    pub struct SetPermissionMode {
        required { mode: String, }
    }
}

impl SetPermissionMode {
    /// Change to `mode`, as the wire spells it.
    pub fn to(mode: impl Into<String>) -> Self {
        SetPermissionMode {
            mode: mode.into(),
            ..SetPermissionMode::default()
        }
    }
}

wire! {
    /// Change the model; null for the session's default.
    pub struct SetModel {
        optional { model: String, }
    }
}

wire! {
    /// Change how much the model thinks, and whether that is shown.
    pub struct SetMaxThinkingTokens {
        optional {
            max_thinking_tokens: u64,
        }
    }
}

wire! {
    /// Merge keys into the flag layer of the settings; a null value clears a key.
    pub struct ApplyFlagSettings {
        optional { settings: Map<String, Value>, }
    }
}

wire! {
    /// One task.
    pub struct TaskRef {
        required { task_id: TaskId, }
    }
}

wire! {
    /// Put what runs in the foreground into the background.
    pub struct BackgroundTasks {
        optional { tool_use_id: ToolUseId, }
    }
}

wire! {
    /// End the process after an answer.
    pub struct EndSession {
        optional { reason: String, }
    }
}

wire! {
    /// Give the session a title.
    pub struct RenameSession {
        required { title: String, }
    }
}

wire! {
    /// Tell Claude that a file was read already.
    pub struct SeedReadState {
        required { path: String, }
        optional { mtime: Number, }
    }
}

wire! {
    /// Replace the set of dynamic MCP servers.
    pub struct McpSetServers {
        required { servers: Map<String, Value>, }
    }
}

wire! {
    /// JSON-RPC from an MCP server that lives in the host.
    pub struct HostMcpMessage {
        required { server_name: String, }
        optional { message: Value, }
    }
}

wire! {
    /// How full the context is.
    pub struct GetContextUsage {
        optional { detail: String, }
    }
}

wire! {
    /// Files whose names match.
    pub struct FileSuggestions {
        optional { query: String, }
    }
}

wire! {
    /// Pause or resume prompt suggestions.
    pub struct SetSuggestionsPaused {
        optional { paused: bool, }
    }
}
