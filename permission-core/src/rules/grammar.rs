//! One rule: `Tool` or `Tool(content)`.
//!
//! Place in the flow: `Rule::read` comes here. A malformed allow rule means nothing; a malformed deny or ask rule means
//! every use of its tool. Must never read a limiting rule as less than it may have been meant to be.

use super::command::CommandPattern;
use super::names::ToolPattern;
use super::path::PathPattern;
use super::value::{HostPattern, NamePattern, ParameterPattern};
use super::{RuleKind, ToolGroup, wording};
use crate::tools::SANDBOX_NETWORK;

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) tool: ToolPattern,
    pub(super) content: Content,
    /// Another reading of a limiting rule's content, by a parameter of the tool.
    pub(super) parameter: Option<ParameterPattern>,
}

/// Which uses of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Whole,
    Command(CommandPattern),
    Path(PathPattern),
    Host(HostPattern),
    Name(NamePattern),
    /// Only the parameter counts.
    Nothing,
}

type Read = (Option<Meaning>, Option<&'static str>);

/// The meaning of a rule's text, and what is wrong with it.
pub(super) fn read(kind: RuleKind, text: &str) -> Read {
    let Some((tool, content)) = split(text.trim()) else {
        return malformed(kind, text);
    };
    let allows = kind == RuleKind::Allow;
    let Some(pattern) = ToolPattern::read(tool, allows) else {
        return (None, Some(wording::GLOB_ALLOW));
    };
    let Some(content) = content else {
        return (Some(whole(pattern)), None);
    };
    let group = pattern.group();
    let mut meaning = whole(pattern);
    // What a command or a path is, is no parameter: those have their own grammar.
    if !allows {
        meaning.parameter = ParameterPattern::read(&content);
    }
    let problem = match group {
        ToolGroup::Command => {
            meaning.content = Content::Command(CommandPattern::read(&content));
            None
        }
        ToolGroup::Reads | ToolGroup::Edits => return path(kind, meaning, tool, &content),
        ToolGroup::Fetch => match host(tool, &content).and_then(HostPattern::read) {
            Some(host) => {
                meaning.content = Content::Host(host);
                None
            }
            None => return other(kind, meaning),
        },
        ToolGroup::Skill | ToolGroup::Agent => {
            meaning.content = Content::Name(NamePattern::read(&content));
            None
        }
        ToolGroup::Other => return other(kind, meaning),
    };
    (Some(meaning), problem)
}

/// The tool's name and the content, `None` for the whole tool.
pub(super) fn split(text: &str) -> Option<(&str, Option<String>)> {
    let Some((tool, rest)) = text.split_once('(') else {
        return (!text.is_empty() && !text.contains([')', ' '])).then_some((text, None));
    };
    let content = rest.strip_suffix(')').filter(|content| !ends_escaped(content))?;
    if tool.is_empty() || tool.contains([')', ' ']) {
        return None;
    }
    let content = unescaped(content);
    let whole = content.trim().is_empty() || content.trim() == "*";
    Some((tool, (!whole).then_some(content)))
}

/// Whether the rule is about the tool as a whole.
pub(super) fn whole_tool(text: &str) -> bool {
    split(text.trim()).is_some_and(|(_, content)| content.is_none())
}

/// Whether the closing parenthesis is escaped, so that the rule has none.
fn ends_escaped(content: &str) -> bool {
    content.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

/// `\(`, `\)` and `\\` stand for the character.
fn unescaped(content: &str) -> String {
    let mut text = String::new();
    let mut chars = content.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = (c == '\\')
            .then(|| chars.next_if(|c| matches!(c, '(' | ')' | '\\')))
            .flatten();
        text.push(escaped.unwrap_or(c));
    }
    text
}

fn malformed(kind: RuleKind, text: &str) -> Read {
    match kind {
        RuleKind::Allow => (None, Some(wording::MALFORMED_ALLOW)),
        RuleKind::Deny | RuleKind::Ask => {
            let tool = text.trim().split(['(', ')', ' ']).next().unwrap_or_default();
            let tool = if tool.is_empty() { "*" } else { tool };
            let pattern = ToolPattern::read(tool, false);
            (pattern.map(whole), Some(wording::MALFORMED_LIMIT))
        }
    }
}

fn whole(tool: ToolPattern) -> Meaning {
    let content = match tool.group() {
        ToolGroup::Reads if tool.is("Read") => Content::Path(PathPattern::anything()),
        ToolGroup::Edits if tool.is("Edit") => Content::Path(PathPattern::anything()),
        ToolGroup::Reads
        | ToolGroup::Edits
        | ToolGroup::Command
        | ToolGroup::Fetch
        | ToolGroup::Skill
        | ToolGroup::Agent
        | ToolGroup::Other => Content::Whole,
    };
    Meaning {
        tool,
        content,
        parameter: None,
    }
}

/// `Read(p)` and `Edit(p)`; of the other tools' names only limits are taken.
fn path(kind: RuleKind, mut meaning: Meaning, tool: &str, content: &str) -> Read {
    let allows = kind == RuleKind::Allow;
    let own_name = matches!(tool, "Read" | "Edit");
    if allows && !own_name {
        return (None, Some(wording::PATH_ALLOW));
    }
    let Some(pattern) = PathPattern::read(content) else {
        if allows {
            return (None, Some(wording::PATTERN_ALLOW));
        }
        meaning.content = Content::Path(PathPattern::anything());
        return (Some(meaning), Some(wording::PATTERN_LIMIT));
    };
    meaning.content = Content::Path(pattern);
    (Some(meaning), (!own_name).then_some(wording::PATH_LIMIT))
}

/// `domain:host` of an address, or the host itself of a connection from the sandbox.
fn host<'c>(tool: &str, content: &'c str) -> Option<&'c str> {
    if tool == SANDBOX_NETWORK {
        Some(content)
    } else {
        content.strip_prefix("domain:")
    }
}

fn other(kind: RuleKind, mut meaning: Meaning) -> Read {
    if kind == RuleKind::Allow {
        return (None, Some(wording::CONTENT_ALLOW));
    }
    if meaning.parameter.is_some() {
        meaning.content = Content::Nothing;
        return (Some(meaning), None);
    }
    (Some(meaning), Some(wording::CONTENT_LIMIT))
}
