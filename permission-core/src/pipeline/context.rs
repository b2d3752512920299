//! What a turn may do: an immutable snapshot, and the rules that the session adds while it runs.
//!
//! Place in the flow: the host builds a [`PermissionContext`] at the start of each turn; an evaluation keeps the one it
//! began with. Of what is added meanwhile, limits count at once and allow rules from the next call on.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    denials::DENIAL_THRESHOLD,
    hooks::{HookOptions, Hooks},
};
use crate::{
    modes::PermissionMode,
    paths::PathResolver,
    rules::{RuleKind, RuleOrigin, RuleProblem, RuleSet, Workspace},
};

/// Everything that decides about the tool calls of one turn.
#[derive(Clone, Debug)]
pub struct PermissionContext {
    /// The mode.
    pub mode: PermissionMode,
    /// The mode that was left for `plan`.
    pub pre_plan_mode: Option<PermissionMode>,
    /// The working directory, absolute.
    pub cwd: String,
    /// The project's root, absolute.
    pub project_root: String,
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
    /// A classifier is heard before anybody is asked, in every mode.
    pub await_automated_checks: bool,
    /// The file that may be written in `plan`.
    pub plan_file: Option<String>,
    /// How the pipeline treats what its settings leave open.
    pub options: PipelineOptions,
}

/// Switches of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineOptions {
    /// How outcomes of hooks are read.
    pub hooks: HookOptions,
    /// So many denials in a row make the next call a question; 0 for never.
    pub denial_threshold: u32,
    /// In `bypassPermissions` the tool's own check is skipped, too.
    pub bypass_skips_checks: bool,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        Self {
            hooks: HookOptions::default(),
            denial_threshold: DENIAL_THRESHOLD,
            bypass_skips_checks: false,
        }
    }
}

impl PermissionContext {
    /// A context without rules, hooks and further directories.
    pub fn new(cwd: impl Into<String>, mode: PermissionMode) -> Self {
        let cwd = cwd.into();
        Self {
            mode,
            pre_plan_mode: None,
            project_root: cwd.clone(),
            cwd,
            home: None,
            additional_working_directories: BTreeMap::new(),
            rules: RuleSet::default(),
            hooks: Hooks::default(),
            bypass_available: false,
            auto_available: false,
            avoid_prompts: false,
            await_automated_checks: false,
            plan_file: None,
            options: PipelineOptions::default(),
        }
    }

    /// The context in another mode. `plan` remembers the mode that it is entered from.
    pub fn with_mode(mut self, mode: PermissionMode) -> Self {
        if mode == PermissionMode::Plan {
            if self.mode != PermissionMode::Plan {
                self.pre_plan_mode = Some(self.mode);
            }
        } else {
            self.pre_plan_mode = None;
        }
        self.mode = mode;
        self
    }

    /// The context after `plan`: back in the mode before it.
    pub fn leave_plan(self) -> Self {
        let mode = self.pre_plan_mode.unwrap_or(PermissionMode::Default);
        self.with_mode(mode)
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
            project_root: &self.project_root,
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

/// Rules that the session adds, in the order of their coming.
#[derive(Clone, Debug, Default)]
pub struct SessionRules {
    limits: RuleSet,
    allows: Vec<Arc<RuleSet>>,
}

impl SessionRules {
    /// Adds a rule of the session's.
    pub fn add(&mut self, kind: RuleKind, text: &str) -> Option<RuleProblem> {
        match kind {
            RuleKind::Deny | RuleKind::Ask => self.limits.add(kind, text, RuleOrigin::Session),
            RuleKind::Allow => {
                let mut set = RuleSet::default();
                let problem = set.add(kind, text, RuleOrigin::Session);
                self.allows.push(Arc::new(set));
                problem
            }
        }
    }

    /// Deny and ask rules, as of now.
    pub(super) fn limits(&self) -> &RuleSet {
        &self.limits
    }

    /// How many allow rules there are: a call that begins now sees these.
    pub(super) fn mark(&self) -> usize {
        self.allows.len()
    }

    /// The allow rules that were there at a mark.
    pub(super) fn allows_at(&self, mark: usize) -> impl Iterator<Item = &Arc<RuleSet>> {
        self.allows.iter().take(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_remembers_the_mode_before_it() {
        let context = PermissionContext::new("/repo", PermissionMode::AcceptEdits);
        let plan = context
            .with_mode(PermissionMode::Plan)
            .with_mode(PermissionMode::Plan);
        assert_eq!(plan.pre_plan_mode, Some(PermissionMode::AcceptEdits));
        let left = plan.clone().leave_plan();
        assert_eq!(
            (left.mode, left.pre_plan_mode),
            (PermissionMode::AcceptEdits, None)
        );
        let other = plan.with_mode(PermissionMode::Default);
        assert_eq!((other.mode, other.pre_plan_mode), (PermissionMode::Default, None));
        let started = PermissionContext::new("/repo", PermissionMode::Plan).leave_plan();
        assert_eq!(started.mode, PermissionMode::Default);
    }

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
