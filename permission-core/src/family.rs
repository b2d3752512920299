//! Which family of the option table a tool belongs to.
//!
//! Place in the flow: the first thing `prepare` decides; presentation and options branch on it. Names are compared
//! exactly, case included. Must look at a tool's input only where it decides what the tool is.

use serde_json::Value;

use crate::question::ASK_USER_QUESTION;

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

pub(crate) const BASH: &str = "Bash";
pub(crate) const POWERSHELL: &str = "PowerShell";
pub(crate) const MONITOR: &str = "Monitor";
pub(crate) const READ: &str = "Read";
pub(crate) const EDIT: &str = "Edit";
pub(crate) const WEB_FETCH: &str = "WebFetch";
pub(crate) const SKILL: &str = "Skill";
pub(crate) const SANDBOX_NETWORK: &str = "SandboxNetworkAccess";

const COMPUTER_USE_PREFIX: &str = "mcp__computer-use__";
const MCP_PREFIX: &str = "mcp__";

impl ToolFamily {
    /// The family of a call. Whatever has a command to watch runs it.
    pub(crate) fn of_call(tool_name: &str, input: &Value) -> Self {
        match tool_name {
            MONITOR if input.get("command").is_some_and(Value::is_string) => Self::Shell,
            name if name.starts_with(COMPUTER_USE_PREFIX) => Self::ComputerUse,
            BASH | POWERSHELL => Self::Shell,
            READ | "Glob" | "Grep" => Self::ReadFiles,
            EDIT | "Write" | "NotebookEdit" => Self::EditFiles,
            WEB_FETCH => Self::WebFetch,
            SKILL => Self::Skill,
            "EnterPlanMode" => Self::EnterPlanMode,
            "ExitPlanMode" => Self::ExitPlanMode,
            SANDBOX_NETWORK => Self::SandboxNetwork,
            ASK_USER_QUESTION => Self::Question,
            name if name.starts_with(MCP_PREFIX) => Self::Mcp,
            _ => Self::WholeTool,
        }
    }
}
