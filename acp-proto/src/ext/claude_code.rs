//! `_meta.claudeCode`: what Claude Code knows of a tool call or a message beyond the protocol.
//!
//! Place in the flow: on tool calls and chunks going out. It must not hold anything a client needs to show the conversation: clients may ignore all of it.

use serde::{Deserialize, Serialize};

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
    /// Why the tool did not run, in Claude's words (`permission-rule`, `user-rejected`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_execution_kind: Option<String>,
    /// What kind of message a chunk is (`informational`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The level of an informational message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
}

impl MetaRecord for ClaudeCodeMeta {
    const KEY: &'static str = "claudeCode";
}
