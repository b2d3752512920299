//! Names of tools, and matchers of hooks, that no tool fits: a rule or a hook with one never counts.
//!
//! Place in the flow: `file` asks for every name. A name that is like none may be that of a tool that is newer than this.

use super::wording;
use crate::decide::hooks::HookMatcher;
use crate::tools::{self, MCP};
use crate::wildcard::{fits, stars};

/// What is wrong with the name of a rule's tool.
pub(super) fn mistake(tool: &str) -> Option<String> {
    let meant = meant(tool).or_else(|| tools::by_older_name(tool));
    if let Some(meant) = meant {
        return Some(wording::no_such_tool(tool, meant));
    }
    // With a blank it is no rule at all.
    if let Some(odd) = tool.chars().find(|c| !is_of_name(*c) && !"* ".contains(*c)) {
        return Some(wording::not_in_a_name(odd));
    }
    if tool.contains('*') {
        let pattern = stars(tool);
        let known = tool.starts_with("mcp") || tools::names().any(|tool| fits(&pattern, tool));
        return (!known).then(|| wording::NO_TOOL_FITS.to_owned());
    }
    (tool.starts_with(MCP) && tool.ends_with("__")).then(|| wording::NO_SERVER.to_owned())
}

/// What is wrong with a matcher that no tool's name can match.
pub(super) fn matcher_mistake(matcher: &str) -> Option<String> {
    let matcher = matcher.trim();
    if matches!(matcher, "" | "*") {
        return None;
    }
    if matcher.contains(',') {
        return Some(wording::COMMA.to_owned());
    }
    let plain = matcher.replace("(?:", "(");
    let odd = |c: &char| !is_of_name(*c) && !r".*+?^$()[]{}\|".contains(*c);
    if let Some(odd) = plain.chars().find(odd) {
        return Some(wording::not_in_a_name(odd));
    }
    // `(?i)` and the like change what the letters mean.
    let plain = if plain.contains("(?") { "" } else { &plain };
    let names = plain.split(['|', '(', ')', '^', '$']);
    let mut names = names.filter(|name| !name.is_empty() && name.chars().all(is_of_name));
    if let Some((name, meant)) = names.find_map(|name| Some((name, meant(name)?))) {
        return Some(wording::no_such_tool(name, meant));
    }
    let parts: Vec<&str> = matcher.split('|').collect();
    let are_patterns = parts.iter().all(|part| HookMatcher::read(Some(part)).1);
    let parts = if are_patterns { parts } else { vec![matcher] };
    parts.into_iter().find_map(part_mistake)
}

/// The same for one of the alternatives.
fn part_mistake(part: &str) -> Option<String> {
    if part.is_empty() {
        return Some(wording::NO_TOOL_FITS.to_owned());
    }
    if part.chars().all(is_of_name) {
        let mut words_of_server = part.strip_prefix("mcp__")?.splitn(2, "__");
        let tool = words_of_server.nth(1).unwrap_or_default();
        return tool.is_empty().then(|| wording::SERVER_MATCHER.to_owned());
    }
    let (matcher, _) = HookMatcher::read(Some(part));
    // Which tools a server has, nobody knows.
    let known = part.contains("__") || tools::names().any(|tool| matcher.matches(tool));
    (!known).then(|| wording::NO_TOOL_FITS.to_owned())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The name that was probably meant.
fn meant(name: &str) -> Option<&'static str> {
    if name.contains('*') || name.starts_with(MCP) || tools::names().any(|tool| tool == name) {
        return None;
    }
    if name.to_lowercase().starts_with("mcp") {
        return Some(MCP);
    }
    tools::names().find(|tool| is_like(name, tool))
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
    fn a_matcher_that_no_tool_fits_is_a_mistake() {
        let wrong = [
            "Edit | Write",
            "Edit| Write",
            "Bash(npm *)",
            "Bash(npm*)",
            "Bash(git commit:*)",
            "Bash, Edit",
            "bash",
            "Edit|bash",
            "^(Bash|Edti)$",
            "Edti.*",
            "mcp_jira.*",
            "mcp__jira",
            "mcp__jira__",
            "Bash|",
            "|",
            "\"Bash\"",
            "tool_name=Bash",
        ];
        let told = wrong.map(|matcher| {
            let mistake = matcher_mistake(matcher);
            format!(
                "{matcher}: {}",
                mistake.unwrap_or_else(|| panic!("{matcher} has no mistake"))
            )
        });
        insta::assert_snapshot!(told.join("\n"));
        let right = [
            "",
            "*",
            "Bash",
            " Bash ",
            "Edit|Write",
            "FileEditTool",
            "Notebook.*",
            ".*Edit",
            ".*",
            "Bash*",
            "^(Bash|Edit)$",
            "(?:Bash|Edit)",
            "(?i)bash",
            "mcp__jira__delete",
            "mcp__jira__.*",
            "mcp__.*__write.*",
            ".*__delete_.*",
            "mcp__*",
            "NewTool",
            "Monitor",
        ];
        for matcher in right {
            assert_eq!(matcher_mistake(matcher), None, "{matcher}");
        }
    }

    #[test]
    fn a_name_that_is_nearly_a_tools_is_told_from_one_that_may_be() {
        let rows = [
            ("bash", Some("Bash")),
            ("Bahs", Some("Bash")),
            ("Bsh", Some("Bash")),
            ("webfetch", Some("WebFetch")),
            ("WebFetchs", Some("WebFetch")),
            ("mcp_jira", Some(MCP)),
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
