//! Rules of Claude's settings files that do not count for Claude as they read.
//!
//! Place in the flow: whoever reads a settings file has it [`judged`], so that a session and an explanation find the
//! same; `claude` leaves such a rule out. Must not be asked about a policy's rules, which count by our own reading.

use super::grammar::split;
use super::names::ToolPattern;
use super::path::PathPattern;
use super::value::{HostPattern, ParameterPattern};
use super::{RuleKind, ToolGroup, wording};
use crate::settings::{Origin, RuleTexts, SettingsFile, SettingsProblem, Sourced};
use crate::tools;

/// Parameters of shell tools by which a rule can be about them. Other names are part of a command.
const SHELL_PARAMETERS: [&str; 4] = [
    "dangerouslyDisableSandbox",
    "description",
    "run_in_background",
    "timeout",
];

/// The file with what is wrong in its rules among its problems, in the order of lines.
pub fn judged(mut file: SettingsFile) -> SettingsFile {
    let RuleTexts { allow, deny, ask } = &file.values.rules;
    let lists = [
        (RuleKind::Deny, deny),
        (RuleKind::Ask, ask),
        (RuleKind::Allow, allow),
    ];
    let found = lists.into_iter().flat_map(|(kind, list)| {
        list.iter().filter_map(move |Sourced { value, origin }| {
            let message = wording::flawed(kind, value, &flaw(kind, value)?);
            Some(problem(origin, message))
        })
    });
    let found: Vec<SettingsProblem> = found.collect();
    file.problems.extend(found);
    file.problems.sort_by_key(|problem| problem.line);
    file
}

/// Why Claude does not take the rule as it reads.
pub(super) fn flaw(kind: RuleKind, text: &str) -> Option<String> {
    let parts = (text.trim() == text).then(|| split(text)).flatten();
    let Some((tool, content)) = parts else {
        return Some(wording::NO_RULE.to_owned());
    };
    let inside = text.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    if inside.is_some_and(|inside| inside.trim().is_empty()) {
        return Some(wording::EMPTY.to_owned());
    }
    if let Some(meant) = tools::misspelled(tool) {
        return Some(wording::misspelled(tool, meant));
    }
    if ToolPattern::read(tool, kind == RuleKind::Allow).is_none() {
        return Some(wording::GLOB_ALLOW.to_owned());
    }
    let content = content?;
    let found = content_flaw(kind, tool, &content);
    found.map(str::to_owned)
}

fn content_flaw(kind: RuleKind, tool: &str, content: &str) -> Option<&'static str> {
    if tool.contains('*') || tool.starts_with("mcp__") {
        return Some(wording::NO_CONTENT);
    }
    let group = ToolGroup::of(tool);
    let parameter = kind != RuleKind::Allow && ParameterPattern::read(content).is_some();
    let by_name = match group {
        ToolGroup::Command => content
            .split(':')
            .next()
            .is_some_and(|name| SHELL_PARAMETERS.contains(&name)),
        ToolGroup::Fetch => false,
        ToolGroup::Reads | ToolGroup::Edits | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => true,
    };
    if parameter && by_name {
        return None;
    }
    let host = content.strip_prefix("domain:").and_then(HostPattern::read);
    let host = || host.is_none().then_some(wording::NO_HOST);
    match group {
        ToolGroup::Command => command_flaw(content),
        ToolGroup::Reads | ToolGroup::Edits if !matches!(tool, "Read" | "Edit") => Some(wording::OTHER_NAME),
        ToolGroup::Reads | ToolGroup::Edits => {
            PathPattern::read(content).is_none().then_some(wording::NO_PATH)
        }
        ToolGroup::Fetch => host(),
        ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => None,
    }
}

/// `:*` stands at the end, behind something, or it is only a text.
fn command_flaw(content: &str) -> Option<&'static str> {
    let begins = content.strip_suffix(":*").unwrap_or(content);
    if begins.is_empty() || begins.contains(":*") || begins.starts_with(":*") {
        return Some(wording::COLON);
    }
    let field = content.split_once([':', '=']).map(|(name, _)| name);
    (field == Some("command")).then_some(wording::FIELD)
}

fn problem(origin: &Origin, message: String) -> SettingsProblem {
    SettingsProblem {
        file: origin.file.clone(),
        line: Some(origin.line),
        column: None,
        key: None,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_does_not_count_for_claude_has_a_flaw() {
        use RuleKind::{Allow, Ask, Deny};
        // Each was seen on the real Claude: what it lists as a rule, and what it denies then.
        let flawed = [
            (Deny, "Bash(npm publish)*"),
            (Deny, "Bash("),
            (Deny, "Bash)"),
            (Deny, "Bash(touch *"),
            (Deny, "Bash(touch *) "),
            (Deny, " Bash(touch *)"),
            (Deny, "Bash (touch *)"),
            (Deny, "Bash()"),
            (Deny, "Bash( )"),
            (Deny, "(x)"),
            (Deny, "bash(touch *)"),
            (Ask, "BASH"),
            (Deny, "Bash(touch:* x)"),
            (Deny, "Bash(:*)"),
            (Deny, "Bash(:*x)"),
            (Deny, "Bash(touch:*z*)"),
            (Deny, "Bash(command:touch x)"),
            (Deny, "Bash(command=*touch*)"),
            (Deny, "B*(touch *)"),
            (Deny, "Write(secret.txt)"),
            (Deny, "Glob(private/**)"),
            (Ask, "NotebookEdit(x)"),
            (Allow, "Write(x)"),
            (Deny, "Read(../x)"),
            (Deny, "Read(x{a,b})"),
            (Deny, "Read([ab)"),
            (Deny, "WebFetch(x)"),
            (Deny, "WebFetch(https://x)"),
            (Deny, "WebFetch(domain:https://x)"),
            (Deny, "mcp__a__b(x)"),
            (Allow, "B*"),
            (Allow, "*"),
            (Allow, "mcp__*"),
            (Allow, "mcp__a*__b"),
        ];
        for (kind, text) in flawed {
            assert!(flaw(kind, text).is_some(), "{kind} {text}");
        }
        let plain = [
            (Deny, "Bash"),
            (Deny, "Bash(*)"),
            (Deny, "Bash(**)"),
            (Deny, "Bash(touch *)"),
            (Deny, "Bash(touch:*)"),
            (Deny, "Bash( touch *)"),
            (Deny, "Bash(*zz)"),
            (Deny, "Bash(a))"),
            (Deny, "Bash(timeout:5000)"),
            (Deny, "B*"),
            (Deny, "*"),
            (Deny, "Read"),
            (Deny, "Read(./x)"),
            (Deny, "Read(limit:5)"),
            (Deny, "Write"),
            (Deny, "Write(content:x)"),
            (Allow, "Edit(*)"),
            (Deny, "WebFetch(domain:*.x)"),
            (Deny, "mcp__a"),
            (Deny, "mcp__*"),
            (Allow, "mcp__a__get_*"),
            (Deny, "Agent(model:opus)"),
            (Deny, "Task(x)"),
            (Allow, "Skill(x *)"),
            (Deny, "SomeTool"),
        ];
        for (kind, text) in plain {
            assert_eq!(flaw(kind, text), None, "{kind} {text}");
        }
    }
}
