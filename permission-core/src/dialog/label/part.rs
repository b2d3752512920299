//! The parts of a label: one named effect each, with its wording.
//!
//! Place in the flow: built from a rule, a directory or a mode by a checked constructor; a part that exists can be
//! printed and read back. Must not be built around an unchecked text.

use super::value::is_showable;
use crate::paths::{Places, RulePath, normalized};

/// One named effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A shell rule for every command that begins so.
    CommandPrefix(String),
    /// A shell rule for one command.
    Command(String),
    /// A shell rule with `*` somewhere.
    CommandsMatching(String),
    /// A rule for a whole tool, or for one host of the tool at hand.
    Thing(String),
    /// A skill with these very arguments.
    Skill(String),
    /// A skill whatever its arguments, by its bare name.
    SkillByName(String),
    /// A skill whatever its arguments, by a prefix rule.
    SkillPrefix(String),
    /// Reading where a path rule says so.
    Reading(PathPart),
    /// Reading anything.
    ReadingAnything,
    /// Editing where a path rule says so.
    Editing(PathPart),
    /// Editing anything.
    EditingAnything,
    /// One more working directory.
    Directory(String),
    /// The mode `acceptEdits`.
    AcceptEdits,
}

/// A path rule and its text.
#[derive(Clone, Debug)]
pub(crate) struct PathPart {
    pub(crate) rule: RulePath,
    shown: String,
}

/// Two spellings of one path are one part.
impl PartialEq for PathPart {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown
    }
}

impl Eq for PathPart {}

/// What stands behind an edit rule for Claude's settings; no path may end so by itself.
const CLAUDE_SETTINGS: &str = " (Claude's own settings)";
const ANYTHING: &str = "anything";
const WITH_ANY_ARGUMENTS: &str = ", with any arguments";

impl Part {
    /// A shell rule, by its content.
    pub(crate) fn command(content: &str) -> Option<Self> {
        if content
            .chars()
            .all(|c| matches!(c, '*' | ':' | '/' | '.' | '?' | ' '))
        {
            return None;
        }
        let stem = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
        match stem {
            Some(stem) if !stem.contains('*') => shown(stem).map(Self::CommandPrefix),
            Some(_) | None if content.contains('*') => shown(content).map(Self::CommandsMatching),
            Some(_) | None => shown(content).map(Self::Command),
        }
    }

    /// A whole tool, by its id. Any other character could make the rule mean more than this tool.
    pub(crate) fn tool(name: &str) -> Option<Self> {
        let is_id = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'));
        if is_id { shown(name).map(Self::Thing) } else { None }
    }

    /// One host; with `*` a rule would mean more than one.
    pub(crate) fn host(host: &str) -> Option<Self> {
        let is_one = !host.contains(char::is_whitespace) && !host.contains('*');
        if is_one {
            shown(host).map(Self::Thing)
        } else {
            None
        }
    }

    /// A skill rule, by its content.
    pub(crate) fn skill(content: &str) -> Option<Self> {
        match content.strip_suffix(":*") {
            Some(name) if name.contains([' ', '*']) => None,
            Some(name) => shown(name).map(Self::SkillPrefix),
            None if content.contains('*') || content.ends_with(WITH_ANY_ARGUMENTS) => None,
            None if content.contains(' ') => shown(content).map(Self::Skill),
            None => shown(content).map(Self::SkillByName),
        }
    }

    /// A `Read` rule, by its content.
    pub(crate) fn reading(content: Option<&str>, places: &Places<'_>) -> Option<Self> {
        match content {
            None => Some(Self::ReadingAnything),
            Some(content) => PathPart::parse(content, places).map(Self::Reading),
        }
    }

    /// An `Edit` rule, by its content.
    pub(crate) fn editing(content: Option<&str>, places: &Places<'_>) -> Option<Self> {
        match content {
            None => Some(Self::EditingAnything),
            Some(content) => PathPart::parse(content, places).map(Self::Editing),
        }
    }

    /// A working directory; only an absolute path without detours says where it is.
    pub(crate) fn directory(path: &str) -> Option<Self> {
        if normalized(path) == path {
            shown(path).map(Self::Directory)
        } else {
            None
        }
    }

    /// The order of the kinds in a label.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::CommandPrefix(_)
            | Self::Command(_)
            | Self::CommandsMatching(_)
            | Self::Thing(_)
            | Self::Skill(_)
            | Self::SkillByName(_)
            | Self::SkillPrefix(_) => 0,
            Self::Reading(_) | Self::ReadingAnything => 1,
            Self::Editing(_) | Self::EditingAnything => 2,
            Self::Directory(_) => 3,
            Self::AcceptEdits => 4,
        }
    }

    /// The wording.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::CommandPrefix(stem) => format!("don't ask again for {stem} commands"),
            Self::Command(command) => format!("don't ask again for the command {command}"),
            Self::CommandsMatching(pattern) => format!("don't ask again for commands matching {pattern}"),
            Self::Thing(name) => format!("don't ask again for {name}"),
            Self::Skill(invocation) => format!("don't ask again for the skill {invocation}"),
            Self::SkillByName(name) => format!("don't ask again for the skill {name}{WITH_ANY_ARGUMENTS}"),
            Self::SkillPrefix(name) => format!("don't ask again for {name}:* skills"),
            Self::Reading(path) => format!("allow reading {}", path.shown),
            Self::ReadingAnything => format!("allow reading {ANYTHING}"),
            Self::Editing(path) if path.rule.names_claude_settings() => {
                format!("allow editing {}{CLAUDE_SETTINGS}", path.shown)
            }
            Self::Editing(path) => format!("allow editing {}", path.shown),
            Self::EditingAnything => format!("allow editing {ANYTHING}"),
            Self::Directory(path) => format!("allow access to {path}"),
            Self::AcceptEdits => "turn on Accept edits".to_owned(),
        }
    }
}

impl PathPart {
    fn parse(content: &str, places: &Places<'_>) -> Option<Self> {
        let rule = RulePath::parse(content)?;
        let text = rule
            .shown(places)
            .filter(|text| text != ANYTHING && !text.ends_with(CLAUDE_SETTINGS))?;
        Some(Self {
            shown: shown(&text)?,
            rule,
        })
    }
}

fn shown(text: &str) -> Option<String> {
    is_showable(text).then(|| text.to_owned())
}
