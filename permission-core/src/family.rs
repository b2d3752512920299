//! Which family of the option table a tool belongs to.
//!
//! Place in the flow: the first thing `prepare` decides; presentation and options branch on it. Names are compared
//! exactly, case included. Must not look at a tool's input.

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
pub(crate) const READ: &str = "Read";
pub(crate) const EDIT: &str = "Edit";
pub(crate) const WEB_FETCH: &str = "WebFetch";
pub(crate) const SKILL: &str = "Skill";
pub(crate) const SANDBOX_NETWORK: &str = "SandboxNetworkAccess";

const COMPUTER_USE_PREFIX: &str = "mcp__computer-use__";
const MCP_PREFIX: &str = "mcp__";

impl ToolFamily {
    /// The family of a tool name.
    pub(crate) fn of(tool_name: &str) -> Self {
        match tool_name {
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
