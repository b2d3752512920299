//! Which tool family a tool name belongs to. Names are Claude's, including those of earlier versions; a name
//! that is not here is shown generically, never refused.

/// The families that are shown alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Shell,
    Monitor,
    Read,
    Write,
    Edit,
    Notebook,
    Glob,
    Grep,
    List,
    WebFetch,
    WebSearch,
    Agent,
    Skill,
    /// Task lists: shown as the session's plan, not as calls, unless one needs a permission.
    Todo,
    EnterPlan,
    ExitPlan,
    Question,
    Findings,
    /// MCP tools and everything unknown.
    Other,
}

impl Family {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "Bash" | "PowerShell" => Self::Shell,
            "Monitor" => Self::Monitor,
            "Read" => Self::Read,
            "Write" => Self::Write,
            "Edit" | "MultiEdit" => Self::Edit,
            "NotebookEdit" => Self::Notebook,
            "Glob" => Self::Glob,
            "Grep" => Self::Grep,
            "LS" => Self::List,
            "WebFetch" => Self::WebFetch,
            "WebSearch" => Self::WebSearch,
            "Agent" | "Task" => Self::Agent,
            "Skill" => Self::Skill,
            "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => Self::Todo,
            "EnterPlanMode" => Self::EnterPlan,
            "ExitPlanMode" => Self::ExitPlan,
            "AskUserQuestion" => Self::Question,
            "ReportFindings" => Self::Findings,
            _ => Self::Other,
        }
    }
}
