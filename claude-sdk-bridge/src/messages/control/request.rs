//! Control requests from the host to Claude, one record each.
//!
//! All fields that Claude may miss are optional; kinds the protocol only names are `Unknown`.

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
    /// What the host can ask.
    pub enum ControlRequest by "subtype" {
        "initialize" => Initialize(Box<InitializeRequest>),
        "interrupt" => Interrupt(Interrupt),
        "cancel_async_message" => CancelAsyncMessage(CancelAsyncMessage),
        "set_permission_mode" => SetPermissionMode(SetPermissionMode),
        "set_model" => SetModel(SetModel),
        "set_max_thinking_tokens" => SetMaxThinkingTokens(SetMaxThinkingTokens),
        "apply_flag_settings" => ApplyFlagSettings(ApplyFlagSettings),
        "get_settings" => GetSettings(NoFields),
        "update_settings" => UpdateSettings(UpdateSettings),
        "stop_task" => StopTask(TaskRef),
        "background_tasks" => BackgroundTasks(BackgroundTasks),
        "get_task_output" => GetTaskOutput(TaskRef),
        "end_session" => EndSession(EndSession),
        "side_question" => SideQuestion(SideQuestion),
        "rename_session" => RenameSession(RenameSession),
        "generate_session_title" => GenerateTitle(GenerateTitle),
        "rewind_files" => RewindFiles(RewindFiles),
        "seed_read_state" => SeedReadState(SeedReadState),
        "mcp_status" => McpStatus(NoFields),
        "mcp_set_servers" => McpSetServers(McpSetServers),
        "mcp_reconnect" => McpReconnect(McpServerName),
        "mcp_toggle" => McpToggle(McpToggle),
        "mcp_message" => McpMessage(HostMcpMessage),
        "mcp_call" => McpCall(McpCall),
        "mcp_read_resource" => McpReadResource(McpReadResource),
        "mcp_authenticate" => McpAuthenticate(McpAuth),
        "mcp_clear_auth" => McpClearAuth(McpAuth),
        "mcp_oauth_callback_url" => McpOauthCallbackUrl(McpAuth),
        "set_mcp_permission_mode_override" => SetMcpMode(SetMcpMode),
        "get_context_usage" => GetContextUsage(GetContextUsage),
        "get_usage" => GetUsage(GetUsage),
        "get_session_cost" => GetSessionCost(NoFields),
        "get_binary_version" => GetBinaryVersion(NoFields),
        "list_models" => ListModels(NoFields),
        "list_permission_rules" => ListPermissionRules(NoFields),
        "file_suggestions" => FileSuggestions(FileSuggestions),
        "read_file" => ReadFile(ReadFile),
        "get_plan" => GetPlan(NoFields),
        "get_status" => GetStatus(NoFields),
        "get_hooks_listing" => GetHooksListing(NoFields),
        "get_memory_dialog" => GetMemoryDialog(NoFields),
        "get_skills_dialog" => GetSkillsDialog(NoFields),
        "get_sandbox_dialog" => GetSandboxDialog(NoFields),
        "export_conversation" => ExportConversation(NoFields),
        "reload_plugins" => ReloadPlugins(ReloadPlugins),
        "reload_skills" => ReloadSkills(NoFields),
        "reload_output_styles" => ReloadOutputStyles(NoFields),
        "register_repo_root" => RegisterRepoRoot(Directory),
        "set_prompt_suggestions_paused" => SetSuggestionsPaused(SetSuggestionsPaused),
        "set_cwd" => SetCwd(SetCwd),
        "set_color" => SetColor(SetColor),
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
            thinking_display: String,
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
    /// Write one of the few settings that may be written this way.
    pub struct UpdateSettings {
        optional {
            source: String,
            settings: Map<String, Value>,
        }
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
    /// Ask the model something beside the conversation.
    pub struct SideQuestion {
        required { question: String, }
    }
}

wire! {
    /// Give the session a title.
    pub struct RenameSession {
        required { title: String, }
        optional {
            source: String,
            session_id: String,
        }
    }
}

wire! {
    /// Let the model find a title.
    pub struct GenerateTitle {
        optional {
            description: String,
            persist: bool,
        }
    }
}

wire! {
    /// Put files back to where they were at a user message.
    pub struct RewindFiles {
        required { user_message_id: MessageUuid, }
        optional { dry_run: bool, }
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
    /// One MCP server.
    pub struct McpServerName {
        optional { server_name as "serverName": String, }
    }
}

wire! {
    /// Turn an MCP server on or off.
    pub struct McpToggle {
        optional {
            server_name as "serverName": String,
            enabled: bool,
        }
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
    /// Call an MCP tool without the model and without asking permission.
    pub struct McpCall {
        required { tool: String, }
        optional { arguments: Value, }
    }
}

wire! {
    /// Read a resource of an MCP server.
    pub struct McpReadResource {
        optional {
            server_name as "serverName": String,
            uri: String,
        }
    }
}

wire! {
    /// A step of an MCP server's login.
    pub struct McpAuth {
        optional { server_name as "serverName": String, }
    }
}

wire! {
    /// A permission mode for one MCP server; null takes it back.
    pub struct SetMcpMode {
        optional {
            server_name as "serverName": String,
            mode: String,
        }
    }
}

wire! {
    /// How full the context is.
    pub struct GetContextUsage {
        optional { detail: String, }
    }
}

wire! {
    /// What was used of the account's limits.
    pub struct GetUsage {
        optional { skip_behaviors: bool, }
    }
}

wire! {
    /// Files whose names match.
    pub struct FileSuggestions {
        optional { query: String, }
    }
}

wire! {
    /// A file's text, as Claude may read it.
    pub struct ReadFile {
        required { path: String, }
        optional {
            max_bytes: u64,
            encoding: String,
        }
    }
}

wire! {
    /// Answer to `get_plan`.
    pub struct PlanContent {
        optional {
            exists: bool,
            content: String,
            path: String,
        }
    }
}

wire! {
    /// Read plugins again.
    pub struct ReloadPlugins {
        optional {
            hold_on_cache_impact: bool,
            add_plugins: Value,
        }
    }
}

wire! {
    /// One directory.
    pub struct Directory {
        optional { directory: String, }
    }
}

wire! {
    /// Pause or resume prompt suggestions.
    pub struct SetSuggestionsPaused {
        optional { paused: bool, }
    }
}

wire! {
    /// Change the working directory.
    pub struct SetCwd {
        optional { path: String, }
    }
}

wire! {
    /// Change the session's colour.
    pub struct SetColor {
        optional { color: String, }
    }
}
