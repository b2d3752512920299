//! Which family of the option table a tool belongs to.
//!
//! Place in the flow: the first thing `prepare` decides; presentation and options branch on it. Names are compared
//! exactly, case included. Must look at a tool's input only where it decides what the tool is.

use serde_json::Value;

use crate::tools::{
    ASK_USER_QUESTION, ENTER_PLAN_MODE, EXIT_PLAN_MODE, MCP, MONITOR, SANDBOX_NETWORK, Tool, ToolGroup,
};

/// The row of the option table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolFamily {
    Shell,
    ReadFiles,
    EditFiles,
    WebFetch,
    Skill,
    EnterPlanMode,
    ExitPlanMode,
    SandboxNetwork,
    ComputerUse,
    Mcp,
    Question,
    WholeTool,
}

const COMPUTER_USE_PREFIX: &str = "mcp__computer-use__";

impl ToolFamily {
    /// The family of a call. Whatever has a command to watch runs it.
    pub(crate) fn of_call(tool_name: &str, input: &Value) -> Self {
        let tool = Tool::of(tool_name);
        match tool_name {
            MONITOR if !input.get("command").is_some_and(Value::is_string) => Self::WholeTool,
            name if name.starts_with(COMPUTER_USE_PREFIX) => Self::ComputerUse,
            name if name.starts_with(MCP) => Self::Mcp,
            ENTER_PLAN_MODE => Self::EnterPlanMode,
            EXIT_PLAN_MODE => Self::ExitPlanMode,
            SANDBOX_NETWORK => Self::SandboxNetwork,
            ASK_USER_QUESTION => Self::Question,
            _ if tool.earlier => Self::WholeTool,
            _ => match tool.group {
                ToolGroup::Command => Self::Shell,
                ToolGroup::Reads => Self::ReadFiles,
                ToolGroup::Edits => Self::EditFiles,
                ToolGroup::Fetch => Self::WebFetch,
                ToolGroup::Skill => Self::Skill,
                ToolGroup::Agent | ToolGroup::Other => Self::WholeTool,
            },
        }
    }
}
