//! Rules that are well formed and cannot mean what they seem to: in a policy each is a mistake.
//!
//! Place in the flow: `file` asks for every rule that `rules` has no problem with. Goes by the text, since what a rule
//! seems to say is a matter of how it is written. Must not change what a rule means.

use serde_json::json;

use super::{tool_names, wording};
use crate::call::{ToolCall, Workspace};
use crate::paths::LexicalPaths;
use crate::rules::{RuleKind, RuleOrigin, RuleSet};
use crate::tools::ToolGroup;

/// Fields that have a grammar of their own, so that they are no parameters.
const OWN_GRAMMAR: [&str; 6] = ["command", "file_path", "path", "notebook_path", "url", "domain"];
/// What else tools that run commands are given.
const OF_COMMANDS: [&str; 6] = [
    "description",
    "timeout",
    "timeout_ms",
    "run_in_background",
    "persistent",
    "dangerouslyDisableSandbox",
];
/// What agents and skills are given.
const OF_NAMES: [&str; 9] = [
    "args",
    "description",
    "isolation",
    "mode",
    "model",
    "name",
    "prompt",
    "run_in_background",
    "skill",
];

/// What is wrong with the name of a rule's tool, if no tool has it.
pub(super) fn tool_mistake(text: &str) -> Option<String> {
    tool_names::mistake(parts(text).0)
}

/// What is wrong with a rule's content, if it cannot have the effect that it reads as.
pub(super) fn mistake(kind: RuleKind, text: &str) -> Option<String> {
    let (tool, content) = parts(text);
    let inner = content.trim();
    if matches!(inner, "" | "*") {
        return None;
    }
    if is_quoted(inner) {
        return Some(wording::QUOTED.to_owned());
    }
    let tried = kind == RuleKind::Allow && ToolGroup::of(tool) == ToolGroup::Command;
    let nothing = || tried.then(|| allows_nothing(tool, text, content)).flatten();
    content_mistake(kind, tool, inner).or_else(nothing)
}

/// The tool, and the content, which is empty where there is none.
fn parts(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (tool, rest) = text.split_once('(').unwrap_or((text, ""));
    (tool.trim(), rest.strip_suffix(')').unwrap_or(rest))
}

fn content_mistake(kind: RuleKind, tool: &str, content: &str) -> Option<String> {
    match ToolGroup::of(tool) {
        ToolGroup::Command => command(kind, content),
        ToolGroup::Reads | ToolGroup::Edits => path(content),
        ToolGroup::Fetch => {
            let dot = content.strip_prefix("domain:")?.trim().starts_with('.');
            dot.then(|| wording::LEADING_DOT.to_owned())
        }
        ToolGroup::Skill | ToolGroup::Agent => name(kind, content),
        ToolGroup::Other => None,
    }
}

fn command(kind: RuleKind, content: &str) -> Option<String> {
    if content.starts_with('^') || content.starts_with(".*") || content.ends_with('$') {
        return Some(wording::REGULAR_EXPRESSION.to_owned());
    }
    let base = content.strip_suffix(":*").unwrap_or(content);
    let first = base.split_whitespace().next().unwrap_or_default();
    let field = field_of(first);
    if let Some((name, sign)) = field
        && (OWN_GRAMMAR.contains(&name) || sign == '=' && OF_COMMANDS.contains(&name))
    {
        return Some(wording::no_parameter(name));
    }
    if base.trim().is_empty() {
        return Some(wording::NO_COMMAND.to_owned());
    }
    if base.contains(":*") {
        return Some(wording::COLON_STAR.to_owned());
    }
    if let Some((name, ':')) = field {
        let parameter = kind != RuleKind::Allow && OF_COMMANDS.contains(&name);
        return (!parameter).then(|| wording::colon_in_command(first, &OF_COMMANDS));
    }
    separator(content).map(wording::several_commands)
}

fn path(content: &str) -> Option<String> {
    if let Some((name, _)) = field_of(content).filter(|(name, _)| OWN_GRAMMAR.contains(name)) {
        return Some(wording::no_parameter(name));
    }
    if content.contains("://") {
        return Some(wording::ADDRESS.to_owned());
    }
    if content.split('/').any(|step| step.starts_with('$')) {
        return Some(wording::VARIABLE.to_owned());
    }
    content.contains(", ").then(|| wording::SEVERAL.to_owned())
}

fn name(kind: RuleKind, content: &str) -> Option<String> {
    match field_of(content) {
        Some((name, '=')) => return Some(wording::no_parameter(name)),
        // The parts of a plugin's name are joined so, too.
        Some((name, _)) if kind == RuleKind::Allow && OF_NAMES.contains(&name) => {
            return Some(wording::parameter_allows(name));
        }
        Some(_) | None => {}
    }
    content.contains(',').then(|| wording::SEVERAL.to_owned())
}

/// The name before the first `:` or `=`, and which of the two it is.
fn field_of(text: &str) -> Option<(&str, char)> {
    let at = text.find([':', '='])?;
    let (name, rest) = text.split_at_checked(at)?;
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    plain.then_some((name, rest.chars().next()?))
}

fn is_quoted(text: &str) -> bool {
    ['"', '\'', '`'].iter().any(|quote| {
        let inner = text
            .strip_prefix(*quote)
            .and_then(|rest| rest.strip_suffix(*quote));
        inner.is_some_and(|inner| !inner.contains(*quote))
    })
}

/// What separates commands, or redirects them, outside of quotes: a rule is compared with one command and its arguments.
fn separator(content: &str) -> Option<&'static str> {
    const SEPARATORS: [&str; 9] = ["||", "&&", "|", ";", "&", ">", "<", "$(", ", "];
    let (mut quote, mut rest) = (None, content);
    while let Some(c) = rest.chars().next() {
        let separator = SEPARATORS
            .into_iter()
            .find(|separator| rest.starts_with(separator));
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '`') => return Some("`"),
            (None, _) if separator.is_some() => return separator,
            (None | Some(_), _) => {}
        }
        let taken = if c == '\\' { 2 } else { 1 };
        rest = rest
            .char_indices()
            .nth(taken)
            .and_then(|(at, _)| rest.get(at..))
            .unwrap_or_default();
    }
    None
}

/// What may stand for `*` where a rule is tried.
const STAND_INS: [&str; 4] = ["x", "1", "-x", ""];

/// Whether an allow rule does not even allow a command that is written like it.
fn allows_nothing(tool: &str, text: &str, content: &str) -> Option<String> {
    // What a rule about the command leaves to rules about its files is not the matter here.
    let mut rules = RuleSet::default();
    for rule in [text, "Read", "Edit"] {
        rules.add(RuleKind::Allow, rule, RuleOrigin::Arguments);
    }
    let content = content
        .strip_suffix(":*")
        .map_or_else(|| content.to_owned(), |base| format!("{base} *"));
    let plain = content
        .replace("\\(", "(")
        .replace("\\)", ")")
        .replace("\\\\", "\\");
    let mut doubts = Vec::new();
    for stand_in in STAND_INS {
        let input = json!({ "command": plain.replace('*', stand_in) });
        let call = ToolCall::new(tool, &input, ANYWHERE);
        if rules.allows(&call, false).is_some() {
            return None;
        }
        doubts.push(call.doubt());
    }
    let always = doubts.iter().all(Option::is_some);
    let doubt = doubts.into_iter().flatten().next();
    Some(wording::allows_nothing(doubt.filter(|_| always)))
}

const ANYWHERE: Workspace<'_> = Workspace {
    cwd: "/project",
    current: "/project",
    project_root: "/project",
    home: None,
    additional: &[],
    paths: &LexicalPaths,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_cannot_count_as_it_reads_is_a_mistake() {
        let rules = [
            "deny Bash(git:* push)",
            "deny Bash(:*push)",
            "deny Bash(git:*push*)",
            "deny Bash(command=*x*)",
            "deny Bash(command:*x*)",
            "deny Bash(git:push)",
            "deny Bash(:*)",
            "ask Bash(git push:* --force)",
            "deny Bash(run_in_background=true)",
            "allow Bash(run_in_background:true)",
            "deny Bash(^rm)",
            "deny Bash(.*)",
            "deny Bash(rm -rf$)",
            "deny Bash(\"rm *\")",
            "deny Bash(curl * | sh)",
            "deny Bash(curl *|sh)",
            "deny Bash(cd x && rm *)",
            "ask Bash(rm *; mv *)",
            "deny Bash(rm *, mv *)",
            "deny Bash(echo * > /etc/*)",
            "deny Bash(echo $(id))",
            "deny Monitor(git:push)",
            "allow Bash(npm test | tee *)",
            "allow Bash( npm test *)",
            "allow Bash(eval *)",
            "allow Bash(PATH=x npm test)",
            "allow Bash(timeout * npm test)",
            "deny Bash|Write",
            "deny Bash,Edit",
            "deny Bash:rm",
            "deny BashTool(rm *)",
            "deny FileEditTool",
            "deny mcp__",
            "deny mcp__jira__",
            "deny mcp__my.server__tool",
            "deny Wirte*",
            "deny Read($HOME/.ssh/**)",
            "deny Read(~/x/${Y}/z)",
            "deny Read(file_path:*secret*)",
            "deny Edit(path=/etc/**)",
            "deny Read(file:///etc/passwd)",
            "deny Read('.env')",
            "deny Read(.env, .env.local)",
            "deny WebFetch(domain:.example.com)",
            "deny Agent(model=opus)",
            "allow Agent(model:opus)",
            "deny Skill(review, deploy)",
        ];
        let told = rules.map(|rule| {
            let (kind, text) = read(rule);
            let mistake = tool_mistake(text).or_else(|| mistake(kind, text));
            format!(
                "{rule}: {}",
                mistake.unwrap_or_else(|| panic!("{rule} has no mistake"))
            )
        });
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn a_rule_that_counts_as_it_reads_is_none() {
        let rules = [
            "deny Bash",
            "deny Bash()",
            "deny Bash(*)",
            "deny *",
            "deny mcp__*",
            "deny mcp__jira",
            "deny mcp__jira__get_*",
            "deny mcp__jira__delete-all",
            "deny W*",
            "deny NewTool",
            "deny Bash(rm *)",
            "deny Bash(rm:*)",
            "deny Bash(npm test:*)",
            "deny Bash(curl http://*)",
            "deny Bash(* --version)",
            "deny Bash(FOO=1 rm *)",
            "deny Bash(./a:b *)",
            "deny Bash(find * -exec rm {} \\;)",
            "deny Bash(grep -E \"a|b\" *)",
            "deny Bash(run_in_background:true)",
            "deny Bash(dangerouslyDisableSandbox:true)",
            "ask Bash(git commit -m \"a, b\")",
            "allow Bash(npm run build)",
            "allow Bash(cat /var/log/*)",
            "allow Bash(cp /srv/seed/* .)",
            "allow Bash(npm test *)",
            "allow Bash(npm test:*)",
            "allow Bash(* --version)",
            "allow Bash(git * main)",
            "allow Bash(foo 'a\\(b\\)')",
            "allow Monitor(tail -f *)",
            "deny Read(./.env)",
            "deny Read(//etc/**)",
            "deny Read(Foo$Bar.class)",
            "deny Edit(/src/**)",
            "deny WebFetch(domain:*.example.com)",
            "deny Agent(model:opus)",
            "deny Agent(plugin:agent)",
            "allow Skill(plugin:review)",
            "allow Skill(review:*)",
            "deny mcp__s__t(a:b)",
        ];
        for rule in rules {
            let (kind, text) = read(rule);
            assert_eq!((tool_mistake(text), mistake(kind, text)), (None, None), "{rule}");
        }
    }

    fn read(rule: &str) -> (RuleKind, &str) {
        let (kind, text) = rule.split_once(' ').unwrap();
        let kind = match kind {
            "allow" => RuleKind::Allow,
            "deny" => RuleKind::Deny,
            _ => RuleKind::Ask,
        };
        (kind, text)
    }
}
