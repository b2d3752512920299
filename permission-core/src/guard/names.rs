//! Names of tools that are nearly right: a rule or a matcher with one never matches.
//!
//! Place in the flow: `policy_file` asks for every name. A name that is like none may be that of a tool that is newer than this.

/// The tools of Claude's that there are.
const TOOLS: [&str; 33] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "LS",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "Task",
    "TaskStop",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
    "mcp__",
];

/// The name that was probably meant.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    if name.contains('*') || name.starts_with("mcp__") || TOOLS.contains(&name) {
        return None;
    }
    if name.to_lowercase().starts_with("mcp") {
        return Some("mcp__");
    }
    TOOLS.into_iter().find(|tool| is_like(name, tool))
}

/// The same letters in another case or order, or one too many or too few.
fn is_like(name: &str, tool: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let (given, wanted) = (sorted(name), sorted(tool));
    let (short, long) = if given.len() < wanted.len() {
        (&given, &wanted)
    } else {
        (&wanted, &given)
    };
    let mut rest = long.iter();
    let within = short.iter().all(|letter| rest.any(|other| other == letter));
    within && long.len() - short.len() <= usize::from(wanted.len() > 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_a_tools_is_told_from_one_that_may_be() {
        let rows = [
            ("bash", Some("Bash")),
            ("Bahs", Some("Bash")),
            ("Bsh", Some("Bash")),
            ("webfetch", Some("WebFetch")),
            ("WebFetchs", Some("WebFetch")),
            ("mcp_jira", Some("mcp__")),
            ("Bash", None),
            ("mcp__jira", None),
            ("B*", None),
            ("NewTool", None),
            ("L", None),
        ];
        for (name, expected) in rows {
            assert_eq!(meant(name), expected, "{name}");
        }
    }
}
