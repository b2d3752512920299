//! `system` messages: everything Claude tells about itself, by subtype. Tasks have a file of their own.
//!
//! All share `uuid` and `session_id`, which stand on [`SystemMessage`]; the rest is in [`SystemEvent`].

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::tasks::{BackgroundTasksChanged, TaskNotification, TaskStarted};
use super::{
    ApiErrorKind, ClaudeSessionId, Field, FromWire, List, MessageUuid, TaskId, ToolUseId, WireFields,
};

/// A `system` message.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemMessage {
    /// Wire field `uuid`.
    pub uuid: Field<MessageUuid>,
    /// Wire field `session_id`.
    pub session_id: Field<ClaudeSessionId>,
    /// What it tells.
    pub event: SystemEvent,
}

impl SystemMessage {
    /// A message without ids.
    pub fn new(event: SystemEvent) -> Self {
        SystemMessage {
            uuid: Field::Absent,
            session_id: Field::Absent,
            event,
        }
    }
}

impl FromWire for SystemMessage {
    fn fits(value: &Value) -> bool {
        value.is_object()
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        let Value::Object(mut map) = value else {
            return Err(value);
        };
        let uuid = Field::read(map.shift_remove("uuid"));
        let session_id = Field::read(map.shift_remove("session_id"));
        let event = SystemEvent::from_wire(Value::Object(map)).unwrap_or_else(SystemEvent::Unknown);
        Ok(SystemMessage {
            uuid,
            session_id,
            event,
        })
    }
}

impl WireFields for SystemMessage {
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.event.write_fields(map)?;
        if !self.uuid.is_absent() {
            map.serialize_entry("uuid", &self.uuid)?;
        }
        if !self.session_id.is_absent() {
            map.serialize_entry("session_id", &self.session_id)?;
        }
        Ok(())
    }
}

impl Serialize for SystemMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_fields(&mut map)?;
        map.end()
    }
}

tagged! {
    /// What a `system` message tells.
    pub enum SystemEvent by "subtype" {
        "init" => Init(Box<SystemInit>),
        "status" => Status(Status),
        "session_state_changed" => SessionStateChanged(SessionStateChanged),
        "compact_boundary" => CompactBoundary(CompactBoundary),
        "api_retry" => ApiRetry(ApiRetry),
        "permission_denied" => PermissionDenied(Box<PermissionDenied>),
        "informational" => Informational(Box<Informational>),
        "task_started" => TaskStarted(Box<TaskStarted>),
        "background_tasks_changed" => BackgroundTasksChanged(BackgroundTasksChanged),
        "task_notification" => TaskNotification(Box<TaskNotification>),
        "thinking_tokens" => ThinkingTokens(ThinkingTokens),
        "session_title_changed" => SessionTitleChanged(SessionTitleChanged),
        "model_refusal_fallback" => ModelRefusalFallback(Box<ModelRefusal>),
        "local_command_output" => LocalCommandOutput(LocalCommandOutput),
        "commands_changed" => CommandsChanged(CommandsChanged),
    }
}

wire! {
    /// The state at the start of a turn. Comes before every turn, not once a session.
    pub struct SystemInit {
        optional {
            cwd: String,
            tools: List<String>,
            mcp_servers: List<McpServerState>,
            model: String,
            permission_mode as "permissionMode": String,
            slash_commands: List<String>,
            terminal_slash_commands: List<String>,
            api_key_source as "apiKeySource": String,
            claude_code_version: String,
            output_style: String,
            agents: List<String>,
            skills: List<String>,
            plugins: List<Value>,
            capabilities: List<String>,
            fast_mode_state: String,
            original_cwd: String,
            additional_directories: List<String>,
            user_message_uuids: List<MessageUuid>,
        }
    }
}

wire! {
    /// An MCP server and whether it is connected.
    pub struct McpServerState {
        required { name: String, }
        optional {
            status: String,
            source: String,
        }
    }
}

wire! {
    /// What Claude is doing right now, or that the mode changed.
    pub struct Status {
        optional {
            /// Null when nothing in particular is going on.
            status: ActivityStatus,
            permission_mode as "permissionMode": String,
            compact_result: String,
            compact_error: String,
            user_message_uuids: List<MessageUuid>,
        }
    }
}

open_enum! {
    /// `status` of [`Status`].
    pub enum ActivityStatus {
        Requesting = "requesting",
        Compacting = "compacting",
    }
}

wire! {
    /// The authoritative sign whether Claude is idle; needs an environment variable, see `launch`.
    pub struct SessionStateChanged {
        required { state: SessionState, }
        optional { sdk_host_only: bool, }
    }
}

open_enum! {
    /// Whether Claude works, waits for an answer, or for a prompt.
    pub enum SessionState {
        Idle = "idle",
        Running = "running",
        RequiresAction = "requires_action",
    }
}

wire! {
    /// The conversation before this point was summarised.
    pub struct CompactBoundary {
        optional {
            compact_metadata: CompactMetadata,
        }
    }
}

wire! {
    /// How a compaction went.
    pub struct CompactMetadata {
        optional {
            trigger: String,
            pre_tokens: u64,
            post_tokens: u64,
            duration_ms: u64,
            preserved_messages: PreservedMessages,
        }
    }
}

wire! {
    /// The messages that a compaction leaves as they are. Claude may send them once more.
    pub struct PreservedMessages {
        optional { uuids: List<MessageUuid>, }
    }
}

wire! {
    /// An API request failed and is tried again.
    pub struct ApiRetry {
        optional {
            attempt: u64,
            max_retries: u64,
            retry_delay_ms: u64,
            /// Null when there was no HTTP answer.
            error_status: u64,
            error: ApiErrorKind,
        }
    }
}

wire! {
    /// A tool call was denied without anybody being asked.
    pub struct PermissionDenied {
        required { tool_use_id: ToolUseId, }
        optional {
            tool_name: String,
            agent_id: TaskId,
            decision_reason_type: String,
            decision_reason: String,
            message: String,
        }
    }
}

wire! {
    /// A note for the user.
    pub struct Informational {
        optional {
            content: String,
            level: String,
            prevent_continuation: bool,
        }
    }
}

wire! {
    /// How much the model has thought, while the thinking itself is not shown.
    pub struct ThinkingTokens {
        optional {
            estimated_tokens: u64,
            estimated_tokens_delta: u64,
        }
    }
}

wire! {
    /// The session has a new title.
    pub struct SessionTitleChanged {
        required { title: String, }
    }
}

wire! {
    /// The model refused, with or without another model to fall back on.
    pub struct ModelRefusal {
        optional {
            content: String,
        }
    }
}

wire! {
    /// Output of a slash command.
    pub struct LocalCommandOutput {
        optional { content: String, }
    }
}

wire! {
    /// The list of slash commands changed; replaces the one of the initialize response.
    pub struct CommandsChanged {
        optional { commands: List<super::control::SlashCommand>, }
    }
}
