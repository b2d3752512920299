//! The session that a call is explained for: its mode, its directories and Claude's own rules, from the settings.
//!
//! Place in the flow: the host reads the files and fills an [`ExplainedSession`]; `operator` and `claude` look at what
//! comes of it here. Must not read a file.

use std::sync::Arc;

use serde_json::Value;

use super::wording;
use crate::call::Workspace;
use crate::decide::hooks::{HookCommand, HookEvent, Hooks};
use crate::modes::PermissionMode;
use crate::paths::{PathResolver, normalized};
use crate::policy::Policy;
use crate::rules::RuleSet;
use crate::settings::{HostFacts, SettingsFile, SettingsSource, Sourced, initial_mode, may_bypass, merge};

/// A session as it would begin.
#[derive(Clone, Copy)]
pub struct ExplainedSession<'a> {
    /// Its working directory, absolute.
    pub cwd: &'a str,
    /// The user's home directory, absolute.
    pub home: Option<&'a str>,
    /// The directory in which Claude keeps plans, absolute.
    pub plans: Option<&'a str>,
    /// Claude's settings files.
    pub settings: &'a [SettingsFile],
    /// What the host knows about modes.
    pub host: HostFacts,
    /// Its mode; `None` for the one that it begins in.
    pub mode: Option<PermissionMode>,
    /// The operator's policy.
    pub policy: Option<&'a Arc<Policy>>,
    /// The file system.
    pub paths: &'a dyn PathResolver,
}

/// What comes of it.
pub(super) struct Prepared {
    pub(super) mode: PermissionMode,
    /// Claude's own rules.
    pub(super) rules: RuleSet,
    /// The further working directories that Claude knows.
    pub(super) directories: Vec<String>,
    /// Those of them that the guard knows.
    pub(super) guarded_directories: Vec<String>,
    pub(super) auto_available: bool,
    /// The `hooks` objects of Claude's settings.
    hooks: Vec<Sourced<Value>>,
    /// Why it is in this mode.
    pub(super) mode_from: String,
    pub(super) warnings: Vec<String>,
}

impl<'a> ExplainedSession<'a> {
    pub(super) fn prepare(&self) -> Prepared {
        let own = merge(self.settings.iter().cloned());
        let mut warnings: Vec<String> = own.problems.iter().map(ToString::to_string).collect();
        // For the mode a policy is one of the settings.
        let policy = self.policy.and_then(|policy| policy.settings.clone());
        let all = merge(policy.into_iter().chain(self.settings.iter().cloned()));
        let start = initial_mode(&all, &self.host);
        if self.mode.is_none() {
            warnings.extend(start.notes.iter().map(ToString::to_string));
        }
        let auto_available = all.values.auto_disabled.is_none();
        let asked = self.mode.unwrap_or(start.mode);
        let mode = match asked {
            PermissionMode::BypassPermissions if !may_bypass(&all, &self.host) => PermissionMode::Default,
            PermissionMode::Auto if !auto_available => PermissionMode::Default,
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::BypassPermissions
            | PermissionMode::DontAsk
            | PermissionMode::Auto => asked,
        };
        let mode_from = if mode != asked {
            warnings.push(wording::unavailable(asked, mode));
            wording::instead_of(asked)
        } else if self.mode.is_some() {
            wording::MODE_ASKED_FOR.to_owned()
        } else {
            let setting = all.values.default_mode.as_ref();
            wording::mode_of_settings(setting.map(|setting| &setting.origin))
        };
        let guarded_directories = self.directories_of_policy();
        let of_settings = own.values.additional_directories.iter();
        let of_settings = of_settings.map(|directory| self.absolute(&directory.value));
        Prepared {
            mode,
            rules: RuleSet::of_claude(&own.values.rules),
            directories: of_settings.chain(guarded_directories.iter().cloned()).collect(),
            guarded_directories,
            auto_available,
            hooks: own.values.hooks,
            mode_from,
            warnings,
        }
    }

    /// Where a call happens, with these further working directories.
    pub(super) fn workspace(&self, additional: &'a [String]) -> Workspace<'a> {
        Workspace {
            cwd: self.cwd,
            current: self.cwd,
            project_root: self.cwd,
            home: self.home,
            additional,
            paths: self.paths,
        }
    }

    /// Claude's hooks for the tool. Under a policy Claude runs none but managed ones.
    pub(super) fn claude_hooks(&self, prepared: &Prepared, tool: &str) -> Vec<Arc<HookCommand>> {
        let all = prepared.hooks.iter();
        let counting =
            all.filter(|hooks| self.policy.is_none() || hooks.origin.source == SettingsSource::Managed);
        let (hooks, _) = Hooks::of_claude(&counting.cloned().collect::<Vec<_>>());
        hooks.matching(HookEvent::PreToolUse, tool)
    }

    /// Whether a policy keeps hooks of the settings from running.
    pub(super) fn keeps_hooks_out(&self, prepared: &Prepared) -> bool {
        self.policy.is_some() && !prepared.hooks.is_empty()
    }

    /// The file of a call, if it is a plan's.
    pub(super) fn plan_file<'i>(&self, input: &'i Value) -> Option<&'i str> {
        let file = input.get("file_path").and_then(Value::as_str)?;
        let name = file.strip_prefix(self.plans?)?.strip_prefix('/')?;
        (name.ends_with(".md") && !name.contains('/')).then_some(file)
    }

    fn directories_of_policy(&self) -> Vec<String> {
        let directories = self.policy.map(|policy| policy.directories(self.home));
        directories.into_iter().flatten().collect()
    }

    fn absolute(&self, path: &str) -> String {
        let below_home = path
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (below_home, self.home) {
            (Some(rest), Some(home)) => normalized(&format!("{home}{rest}")),
            _ if path.starts_with('/') => normalized(path),
            _ => normalized(&format!("{}/{path}", self.cwd)),
        }
    }
}
