//! What a turn may do: an immutable snapshot.
//!
//! Place in the flow: the host builds a [`PermissionContext`] at the start of each turn; an evaluation keeps the one it
//! began with.

use std::collections::BTreeMap;

use crate::{
    decide::{DENIAL_THRESHOLD, hooks::Hooks},
    modes::PermissionMode,
    paths::PathResolver,
    rules::{RuleOrigin, RuleSet, Workspace},
};

/// Everything that decides about the tool calls of one turn.
#[derive(Clone, Debug)]
pub struct PermissionContext {
    /// The mode.
    pub mode: PermissionMode,
    /// The working directory, absolute.
    pub cwd: String,
    /// The user's home directory, absolute.
    pub home: Option<String>,
    /// Further working directories, absolute, with where each comes from.
    pub additional_working_directories: BTreeMap<String, RuleOrigin>,
    /// The rules of all sources.
    pub rules: RuleSet,
    /// The hooks of all sources.
    pub hooks: Hooks,
    /// Whether `bypassPermissions` may be used; otherwise it counts as `default`.
    pub bypass_available: bool,
    /// Whether `auto` may be used; otherwise it counts as `default`.
    pub auto_available: bool,
    /// Nobody is there to answer: what would be asked is denied.
    pub avoid_prompts: bool,
    /// The file that may be written in `plan`.
    pub plan_file: Option<String>,
    /// So many denials in a row make the next call a question; 0 for never.
    pub denial_threshold: u32,
}

impl PermissionContext {
    /// A context without rules, hooks and further directories.
    pub fn new(cwd: impl Into<String>, mode: PermissionMode) -> Self {
        Self {
            mode,
            cwd: cwd.into(),
            home: None,
            additional_working_directories: BTreeMap::new(),
            rules: RuleSet::default(),
            hooks: Hooks::default(),
            bypass_available: false,
            auto_available: false,
            avoid_prompts: false,
            plan_file: None,
            denial_threshold: DENIAL_THRESHOLD,
        }
    }

    /// The mode that counts: one that is not available counts as `default`.
    pub fn effective_mode(&self) -> PermissionMode {
        match self.mode {
            PermissionMode::BypassPermissions if !self.bypass_available => PermissionMode::Default,
            PermissionMode::Auto if !self.auto_available => PermissionMode::Default,
            mode @ (PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::BypassPermissions
            | PermissionMode::DontAsk
            | PermissionMode::Auto) => mode,
        }
    }

    /// The directories, for rules; `additional` is [`Self::directories`].
    pub fn workspace<'a>(&'a self, additional: &'a [String], paths: &'a dyn PathResolver) -> Workspace<'a> {
        Workspace {
            cwd: &self.cwd,
            current: &self.cwd,
            project_root: &self.cwd,
            home: self.home.as_deref(),
            additional,
            paths,
        }
    }

    /// The further working directories.
    pub fn directories(&self) -> Vec<String> {
        self.additional_working_directories.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_is_not_available_counts_as_default() {
        for mode in [PermissionMode::BypassPermissions, PermissionMode::Auto] {
            let mut context = PermissionContext::new("/repo", mode);
            assert_eq!(context.effective_mode(), PermissionMode::Default);
            context.bypass_available = true;
            context.auto_available = true;
            assert_eq!(context.effective_mode(), mode);
        }
    }
}
