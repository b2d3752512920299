//! The first part of a rule: which tools it names.
//!
//! Place in the flow: `grammar` reads it, `decide` compares it with a call's tool. Names are compared exactly.

use crate::tools::{BASH, MCP, MONITOR, ToolGroup};
use crate::wildcard::{Glyph, fits, stars};

/// A tool's name, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToolPattern {
    Exact(String),
    /// All tools of an MCP server.
    Server(String),
    Glob(Vec<Glyph>),
}

impl ToolPattern {
    /// Reads a name. An allow rule may have `*` only behind a server's name.
    pub(super) fn read(tool: &str, allows: bool) -> Option<Self> {
        if tool.contains('*') {
            let server = tool.strip_prefix(MCP).and_then(|rest| rest.split_once("__"));
            let literal = server.is_some_and(|(server, _)| !server.is_empty() && !server.contains('*'));
            return (literal || !allows).then(|| Self::Glob(stars(tool)));
        }
        let server = tool.strip_prefix(MCP).filter(|rest| !rest.contains("__"));
        Some(match server {
            Some(_) => Self::Server(format!("{tool}__")),
            None => Self::Exact(tool.to_owned()),
        })
    }

    /// Whether it names the tool.
    pub(super) fn names(&self, tool: &str) -> bool {
        match self {
            Self::Exact(name) => name == tool || is_agent(name) && is_agent(tool),
            Self::Server(prefix) => {
                tool.starts_with(prefix.as_str()) || prefix.strip_suffix("__") == Some(tool)
            }
            Self::Glob(pattern) => fits(pattern, tool),
        }
    }

    /// Whether a limit that names it holds for the tool: what Bash may not run, Monitor may not run either.
    pub(super) fn limits(&self, tool: &str) -> bool {
        self.names(tool) || tool == MONITOR && self.names(BASH)
    }

    /// Whether its content allows commands of the tool. Observed with Claude 2.1.318: what Monitor runs is allowed by rules
    /// for Bash, and by none of its own.
    pub(super) fn names_commands_of(&self, tool: &str) -> bool {
        self.names(if tool == MONITOR { BASH } else { tool })
    }

    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self, Self::Exact(exact) if exact == name)
    }

    /// What its content is about.
    pub(super) fn group(&self) -> ToolGroup {
        match self {
            Self::Exact(name) => ToolGroup::of(name),
            Self::Server(_) | Self::Glob(_) => ToolGroup::Other,
        }
    }
}

/// Two names of one tool.
fn is_agent(name: &str) -> bool {
    ToolGroup::of(name) == ToolGroup::Agent
}
