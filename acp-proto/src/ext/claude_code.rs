//! `_meta.claudeCode`: what Claude Code knows of a tool call, a message or a session beyond the protocol.
//!
//! Place in the flow: on tool calls and chunks going out. It must not hold anything a client needs to show the conversation: clients may ignore all of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::MetaRecord;

/// On `tool_call`, `tool_call_update`, message chunks, and the tool call of a permission request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeCodeMeta {
    /// The tool's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The tool call of the subagent this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<String>,
    /// Why the tool did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_execution_kind: Option<NonExecutionKind>,
    /// What the user said when rejecting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_feedback: Option<String>,
    /// The structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<Value>,
    /// The MCP server the tool comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerOrigin>,
    /// What kind of message a chunk is (`informational`, `mcpServerStatus`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The level of an informational message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The MCP server a status message is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// That server's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Members this crate does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An MCP server and where its configuration came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServerOrigin {
    /// The name in the configuration.
    pub name: String,
    /// The configuration's scope (`dynamic`, `project`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Why a tool call has no result of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NonExecutionKind {
    /// A rule, a hook or a rejecting answer denied it.
    PermissionRule,
    /// The user rejected it and stopped the turn.
    UserRejected,
    /// It was interrupted.
    Interrupted,
    /// Its turn was cancelled.
    Cancelled,
    /// The classifier's answer could not be read.
    AutomodeParsingError,
    /// A kind this crate does not know.
    #[serde(untagged)]
    Other(String),
}

impl MetaRecord for ClaudeCodeMeta {
    const KEY: &'static str = "claudeCode";
}
