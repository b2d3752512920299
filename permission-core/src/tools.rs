//! Claude's tools: the one table.
//!
//! Place in the flow: whoever has to know what a tool is asks here: rules, options, the machine that decides, explain. A new
//! tool is a line; a name that is not here is a tool nonetheless, of which nothing is known. Names are compared exactly,
//! case included.

pub(crate) const BASH: &str = "Bash";
pub(crate) const POWERSHELL: &str = "PowerShell";
pub(crate) const MONITOR: &str = "Monitor";
pub(crate) const READ: &str = "Read";
pub(crate) const EDIT: &str = "Edit";
pub(crate) const GLOB: &str = "Glob";
pub(crate) const WEB_FETCH: &str = "WebFetch";
pub(crate) const SKILL: &str = "Skill";
pub(crate) const ENTER_PLAN_MODE: &str = "EnterPlanMode";
pub(crate) const SANDBOX_NETWORK: &str = "SandboxNetworkAccess";

/// The tool that leaves plan mode.
pub(crate) const EXIT_PLAN_MODE: &str = "ExitPlanMode";
/// The tool with which Claude asks the user; to be disabled for clients without form elicitation.
pub const ASK_USER_QUESTION: &str = "AskUserQuestion";

/// How the name of every MCP tool begins.
pub(crate) const MCP: &str = "mcp__";

/// What a tool does, which is also what the content of a rule for it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolGroup {
    /// It runs commands.
    Command,
    /// It reads files.
    Reads,
    /// It changes files.
    Edits,
    /// It calls a host.
    Fetch,
    Skill,
    Agent,
    Other,
}

/// What there is to know of a tool.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "columns of a table, each independent of the others"
)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) group: ToolGroup,
    /// The parameter that rules are about and that no call goes without; may be empty.
    parameter: &'static str,
    /// The fields of its input that name its file, the first of which counts.
    pub(crate) paths: &'static [&'static str],
    /// Without any of them it is about the directory it is called in.
    pub(crate) starts_here: bool,
    /// It only looks something up, keeps the model's own notes, or starts an agent whose calls are calls themselves.
    pub(crate) only_looks: bool,
    /// Claude asks nobody about it unless a rule says otherwise.
    pub(crate) unasked: bool,
    /// It is itself a question to a person, which no mode and no rule answers.
    pub(crate) for_a_person: bool,
    /// It belongs to planning.
    pub(crate) plans: bool,
    /// Today's Claude has it no more; what it asks is about the tool as a whole.
    pub(crate) earlier: bool,
    /// What older documents call it; may be empty.
    older: &'static str,
}

const TOOLS: [Tool; 44] = [
    tool("Agent", ToolGroup::Agent).only_looks().unasked(),
    tool(ASK_USER_QUESTION, ToolGroup::Other).for_a_person().plans(),
    tool(BASH, ToolGroup::Command).about("command").once("BashTool"),
    tool("BashOutput", ToolGroup::Other).only_looks().unasked(),
    tool("CronCreate", ToolGroup::Other),
    tool("CronDelete", ToolGroup::Other),
    tool("CronList", ToolGroup::Other).only_looks(),
    tool(EDIT, ToolGroup::Edits)
        .about("file_path")
        .once("FileEditTool"),
    tool(ENTER_PLAN_MODE, ToolGroup::Other).unasked().plans(),
    tool("EnterWorktree", ToolGroup::Other),
    tool(EXIT_PLAN_MODE, ToolGroup::Other).for_a_person().plans(),
    tool("ExitWorktree", ToolGroup::Other),
    tool(GLOB, ToolGroup::Reads).once("GlobTool"),
    tool("Grep", ToolGroup::Reads)
        .at(&["path"])
        .starts_here()
        .once("GrepTool"),
    tool("KillShell", ToolGroup::Other).unasked(),
    tool("LS", ToolGroup::Reads).at(&["path"]).starts_here().earlier(),
    tool("ListAgents", ToolGroup::Other).only_looks(),
    tool("ListMcpResourcesTool", ToolGroup::Other).only_looks(),
    tool(MONITOR, ToolGroup::Command).about("command"),
    tool("MultiEdit", ToolGroup::Edits).about("file_path").earlier(),
    tool("NotebookEdit", ToolGroup::Edits)
        .about("notebook_path")
        .at(&["notebook_path", "file_path"])
        .once("NotebookEditTool"),
    tool("NotebookRead", ToolGroup::Reads)
        .at(&["notebook_path", "file_path"])
        .earlier(),
    tool(POWERSHELL, ToolGroup::Command).about("command"),
    tool(READ, ToolGroup::Reads)
        .about("file_path")
        .once("FileReadTool"),
    tool("ReadMcpResourceTool", ToolGroup::Other).only_looks(),
    tool("ReportFindings", ToolGroup::Other).only_looks(),
    tool(SANDBOX_NETWORK, ToolGroup::Fetch),
    tool("ScheduleWakeup", ToolGroup::Other),
    tool("SendMessage", ToolGroup::Other),
    tool(SKILL, ToolGroup::Skill).about("skill"),
    tool("Task", ToolGroup::Agent).only_looks().unasked(),
    tool("TaskCreate", ToolGroup::Other).only_looks().unasked(),
    tool("TaskGet", ToolGroup::Other).only_looks().unasked(),
    tool("TaskList", ToolGroup::Other).only_looks().unasked(),
    tool("TaskOutput", ToolGroup::Other).only_looks(),
    tool("TaskStop", ToolGroup::Other).unasked(),
    tool("TaskUpdate", ToolGroup::Other).only_looks().unasked(),
    tool("TodoRead", ToolGroup::Other).only_looks().unasked(),
    tool("TodoWrite", ToolGroup::Other).only_looks().unasked(),
    tool("ToolSearch", ToolGroup::Other).only_looks().unasked(),
    tool(WEB_FETCH, ToolGroup::Fetch)
        .about("url")
        .only_looks()
        .once("WebFetchTool"),
    tool("WebSearch", ToolGroup::Other).only_looks(),
    tool("Workflow", ToolGroup::Other),
    tool("Write", ToolGroup::Edits)
        .about("file_path")
        .once("FileWriteTool"),
];

const fn tool(name: &'static str, group: ToolGroup) -> Tool {
    Tool {
        name,
        group,
        parameter: "",
        paths: &["file_path", "path"],
        starts_here: false,
        only_looks: false,
        unasked: false,
        for_a_person: false,
        plans: false,
        earlier: false,
        older: "",
    }
}

impl Tool {
    /// The tool of a name.
    pub(crate) fn of(name: &str) -> Self {
        let known = TOOLS.into_iter().find(|tool| tool.name == name);
        known.unwrap_or(tool("", ToolGroup::Other))
    }

    const fn about(self, parameter: &'static str) -> Self {
        Self { parameter, ..self }
    }

    const fn at(self, paths: &'static [&'static str]) -> Self {
        Self { paths, ..self }
    }

    const fn starts_here(self) -> Self {
        Self {
            starts_here: true,
            ..self
        }
    }

    const fn only_looks(self) -> Self {
        Self {
            only_looks: true,
            ..self
        }
    }

    const fn unasked(self) -> Self {
        Self {
            unasked: true,
            ..self
        }
    }

    const fn for_a_person(self) -> Self {
        Self {
            for_a_person: true,
            ..self
        }
    }

    const fn plans(self) -> Self {
        Self { plans: true, ..self }
    }

    const fn earlier(self) -> Self {
        Self {
            earlier: true,
            ..self
        }
    }

    const fn once(self, older: &'static str) -> Self {
        Self { older, ..self }
    }

    /// What older documents call it.
    pub(crate) fn older_name(self) -> Option<&'static str> {
        (!self.older.is_empty()).then_some(self.older)
    }
}

impl ToolGroup {
    /// The group of a tool's name.
    pub(crate) fn of(name: &str) -> Self {
        Tool::of(name).group
    }
}

/// The names of all tools.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.into_iter().map(|tool| tool.name)
}

/// The tool that an older name stands for.
pub(crate) fn by_older_name(older: &str) -> Option<&'static str> {
    let tool = TOOLS.into_iter().find(|tool| tool.older_name() == Some(older));
    tool.map(|tool| tool.name)
}

/// The tool that a name stands for which Claude does not know: names are compared letter by letter.
pub fn misspelled(name: &str) -> Option<&'static str> {
    let plain = |text: &str| text.trim().to_lowercase().replace(['_', '-'], "");
    let meant = names().find(|known| plain(known) == plain(name))?;
    (meant != name).then_some(meant)
}

/// Whether a tool is itself a question to a person, which no mode and no rule answers.
pub fn is_for_a_person(name: &str) -> bool {
    Tool::of(name).for_a_person
}

/// Whether a tool edits files.
pub fn edits_files(name: &str) -> bool {
    ToolGroup::of(name) == ToolGroup::Edits
}

/// The parameter of a known tool that rules are about.
pub fn main_parameter(name: &str) -> Option<&'static str> {
    let parameter = Tool::of(name).parameter;
    (!parameter.is_empty()).then_some(parameter)
}
