//! `PermissionUpdate`: a change of rules, mode or directories, as Claude suggests it and as we send it back.
//!
//! Place in the flow: `decode` reads one strictly, `snapshot` takes a whole bundle or nothing of it; labels and
//! effects are both made from the snapshot; `grants` keeps what updates have changed. Must not decide whether a bundle is offered: that is the options' task.

mod decode;
mod grants;
mod snapshot;

pub use decode::InvalidUpdate;
pub use grants::Grants;
pub use snapshot::Snapshot;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::modes::PermissionMode;

/// One change of the permission state. Deserializing checks every bound that the protocol sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", try_from = "decode::Raw")]
pub enum PermissionUpdate {
    /// Adds rules to a destination.
    AddRules {
        /// At least one rule.
        rules: Vec<PermissionRule>,
        /// What the rules do.
        behavior: PermissionBehavior,
        /// Where they are kept.
        destination: PermissionDestination,
    },
    /// Replaces all rules of a behaviour at a destination.
    ReplaceRules {
        /// The new rules, possibly none.
        rules: Vec<PermissionRule>,
        /// Which rules are replaced.
        behavior: PermissionBehavior,
        /// Where.
        destination: PermissionDestination,
    },
    /// Removes rules from a destination.
    RemoveRules {
        /// At least one rule.
        rules: Vec<PermissionRule>,
        /// What the rules did.
        behavior: PermissionBehavior,
        /// Where they were kept.
        destination: PermissionDestination,
    },
    /// Switches the permission mode.
    SetMode {
        /// The new mode.
        mode: PermissionMode,
        /// `session`, or the settings file that gets it as default.
        destination: PermissionDestination,
    },
    /// Adds working directories.
    AddDirectories {
        /// At least one path.
        directories: Vec<String>,
        /// Where they are kept.
        destination: PermissionDestination,
    },
    /// Removes working directories.
    RemoveDirectories {
        /// At least one path.
        directories: Vec<String>,
        /// Where they were kept.
        destination: PermissionDestination,
    },
}

/// A rule: a whole tool, or some uses of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "decode::Raw")]
pub struct PermissionRule {
    /// The tool's id.
    pub tool_name: String,
    /// Which uses; every use when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionBehavior {
    /// Runs without a question.
    Allow,
    /// Never runs.
    Deny,
    /// Always asks.
    Ask,
}

/// Where an update is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionDestination {
    /// Until the session ends.
    Session,
    /// As if it had been a command-line argument.
    CliArg,
    /// The user's settings, for all projects.
    UserSettings,
    /// The project's settings, which are committed.
    ProjectSettings,
    /// The project's local settings, which are not.
    LocalSettings,
}

impl PermissionUpdate {
    /// Where it is kept.
    pub fn destination(&self) -> PermissionDestination {
        match self {
            Self::AddRules { destination, .. }
            | Self::ReplaceRules { destination, .. }
            | Self::RemoveRules { destination, .. }
            | Self::SetMode { destination, .. }
            | Self::AddDirectories { destination, .. }
            | Self::RemoveDirectories { destination, .. } => *destination,
        }
    }
}

impl PermissionRule {
    /// The rule for every use of a tool.
    pub fn whole_tool(tool_name: impl Into<String>) -> Self {
        Self {
            tool_name: tool_name.into(),
            rule_content: None,
        }
    }

    /// The rule for some uses of a tool.
    pub fn with_content(tool_name: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            tool_name: tool_name.into(),
            rule_content: Some(content.into()),
        }
    }
}

impl fmt::Display for PermissionRule {
    /// As settings spell it: a parenthesis in the content is no end of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool_name)?;
        let Some(content) = &self.rule_content else {
            return Ok(());
        };
        f.write_str("(")?;
        for letter in content.chars() {
            if matches!(letter, '(' | ')' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{letter}")?;
        }
        f.write_str(")")
    }
}
