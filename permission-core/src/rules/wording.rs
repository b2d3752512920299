//! Every sentence about rules that a user reads.
//!
//! Place in the flow: `grammar` and `mod` put them into problems and reasons. A rule's text is never shown raw: it may
//! come from a stranger.

use super::{Rule, RuleKind, RuleOrigin, RuleProblem};
use crate::safe_text::quoted;
use crate::shell::Doubt;

/// The longest rule that is quoted, in characters.
const MAX_QUOTE: usize = 120;

pub(super) const MALFORMED_ALLOW: &str =
    "is not a rule, so it allows nothing; write it as `Tool` or `Tool(content)`";
pub(super) const MALFORMED_LIMIT: &str =
    "is not a rule, so it counts for every use of the tool; write it as `Tool` or `Tool(content)`";
pub(super) const GLOB_ALLOW: &str =
    "allows nothing: `*` in a tool's name may stand only behind `mcp__server__`";
pub(super) const PATH_ALLOW: &str = "allows nothing: rules about paths are written as `Read(path)` or `Edit(path)`, for all tools that read or edit";
pub(super) const PATH_LIMIT: &str =
    "counts for all tools that read or edit; rules about paths are written as `Read(path)` or `Edit(path)`";
pub(super) const PATTERN_ALLOW: &str = "allows nothing: its path is not a plain pattern; use a path without `..`, `\\`, `{`, `}` and unclosed brackets";
pub(super) const PATTERN_LIMIT: &str = "counts for every path: its path is not a plain pattern; use a path without `..`, \
                                        `\\`, `{`, `}` and unclosed brackets";
pub(super) const CONTENT_ALLOW: &str =
    "allows nothing: its content is none that rules for this tool can have";
pub(super) const CONTENT_LIMIT: &str =
    "counts for every use of the tool: its content is neither a pattern of this tool nor `parameter:value`";

pub(super) const NO_RULE: &str = "it is none; write it as `Tool` or `Tool(content)`, without blanks around";
pub(super) const EMPTY: &str = "nothing stands in its parentheses; leave them out for the whole tool";
pub(super) const NO_CONTENT: &str = "rules for this tool have no content; leave the parentheses out";
pub(super) const OTHER_NAME: &str =
    "rules about paths are written as `Read(path)` or `Edit(path)`, for all tools that read or edit";
pub(super) const NO_PATH: &str =
    "its path is not a plain pattern; use a path without `..`, `\\`, `{`, `}` and unclosed brackets";
pub(super) const NO_HOST: &str = "its content is no host; write it as `WebFetch(domain:example.com)`";
pub(super) const COLON: &str =
    "`:*` may stand only at the end, behind a command; write ` *` for any arguments elsewhere";
pub(super) const FIELD: &str = "what a command is, is compared without a name; write `Bash(npm test *)`";

/// A tool's name in another spelling.
pub(super) fn misspelled(tool: &str, meant: &str) -> String {
    format!(
        "there is no tool `{}`; did you mean `{meant}`?",
        quoted(tool, MAX_QUOTE)
    )
}

/// A rule that Claude does not take as it reads.
pub(super) fn flawed(kind: RuleKind, text: &str, why: &str) -> String {
    let nothing = match kind {
        RuleKind::Allow => "allows nothing",
        RuleKind::Deny => "denies nothing",
        RuleKind::Ask => "asks about nothing",
    };
    let why = why.strip_prefix("allows nothing: ").unwrap_or(why);
    format!(
        "the {kind} rule `{}` does not count for Claude and {nothing}: {why}",
        quoted(text, MAX_QUOTE)
    )
}

/// Why a command cannot be analysed.
pub(crate) fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::TooLong => "it is too long",
        Doubt::TooDeep => "it is nested too deeply",
        Doubt::TooMany => "it has too many parts",
        Doubt::ControlCharacter => "it holds control characters",
        Doubt::HereDocument => "the end of a here-document is unusual or missing",
        Doubt::Unparsable => "it is not a plain shell command",
        Doubt::Substitution | Doubt::Captured => "it holds the output of another command",
        Doubt::Expansion => "it holds an expansion that only the shell can work out",
        Doubt::Arithmetic => "it holds arithmetic",
        Doubt::Branch | Doubt::Subshell | Doubt::Loop | Doubt::Joined | Doubt::ControlStructure => {
            "it holds a control structure or a group"
        }
        Doubt::Definition => "it defines a function",
        Doubt::Array => "it sets an array",
        Doubt::CommandName => "the name of a command in it is not literal",
        Doubt::Code => "it runs a text or its input as code",
        Doubt::Wrapper => "it runs another command in a way that is not looked through",
        Doubt::Device => "it opens a network connection",
        Doubt::ChangedDirectory => "it runs git after a change of directory",
        Doubt::Background => "it runs a command in the background with `&`",
    }
}

/// A rule with its place.
pub(super) fn rule(rule: &Rule) -> String {
    format!(
        "`{}` ({}, {})",
        quoted(&rule.text, MAX_QUOTE),
        rule.kind,
        origin(&rule.origin)
    )
}

/// A problem in one line.
pub(super) fn problem(problem: &RuleProblem) -> String {
    let (place, kind, text) = (
        origin(&problem.origin),
        problem.kind,
        quoted(&problem.text, MAX_QUOTE),
    );
    format!("{place}: the {kind} rule `{text}` {}", problem.message)
}

fn origin(origin: &RuleOrigin) -> String {
    match origin {
        RuleOrigin::File(origin) => origin.place(),
        RuleOrigin::Arguments => "command line".to_owned(),
        RuleOrigin::Session => "this session".to_owned(),
    }
}
