//! Settings files: from a file's text to typed values that know where they came from.
//!
//! Place in the flow: the host reads the files and hands over their text; [`SettingsFile::parse`] reads one,
//! [`merge()`] layers all of them, [`initial_mode`] and [`offered_modes`] answer what a session may do. Reading order:
//! `document` (JSON with lines), `parse`, `kinds` and
//! `refusal` (what costs a file more than one setting), `merge`, `modes`; `wording` holds every
//! sentence. Must not read files, and must not interpret a rule string.

pub(crate) mod document;
mod kinds;
mod merge;
mod modes;
mod parse;
mod problem;
mod refusal;
mod wording;

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

pub use merge::{EffectiveSettings, merge};
pub use modes::{
    Departure, HostFacts, ModeRefusal, StartMode, initial_mode, may_bypass, offered_modes, refused_mode,
    requested_mode,
};
pub use parse::SettingsFile;
pub use problem::SettingsProblem;

use crate::modes::ModeSetting;
use crate::safe_text;

/// Who a settings file speaks for, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingsSource {
    /// The user, in every project.
    User,
    /// Whoever wrote the repository: committed, so not trusted to loosen anything.
    Project,
    /// The user, in this project.
    Local,
    /// Whoever started Claude, for one session.
    Flag,
    /// Whoever administers the machine.
    Managed,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Whose file it is.
    pub source: SettingsSource,
    /// The file.
    pub file: Arc<Path>,
    /// The line in it, counted from 1.
    pub line: u32,
}

impl Origin {
    /// The place in words, made safe to show.
    pub(crate) fn place(&self) -> String {
        let file = safe_text::visible(&self.file.display().to_string());
        format!("{file}, line {}", self.line)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub origin: Origin,
}

/// Rule strings as they were written, strongest source first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTexts {
    /// `permissions.allow`.
    pub allow: Vec<Sourced<String>>,
    /// `permissions.deny`.
    pub deny: Vec<Sourced<String>>,
    /// `permissions.ask`.
    pub ask: Vec<Sourced<String>>,
}

/// What settings can say, of one file or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsValues {
    /// `permissions.allow`, `.deny` and `.ask`.
    pub rules: RuleTexts,
    /// `allowManagedPermissionRulesOnly` of a managed file: no other file's rules count.
    pub managed_rules_only: Option<Origin>,
    /// `permissions.defaultMode`.
    pub default_mode: Option<Sourced<ModeSetting>>,
    /// `disableBypassPermissionsMode` is `disable`.
    pub bypass_disabled: Option<Origin>,
    /// `disableAutoMode` is `disable`.
    pub auto_disabled: Option<Origin>,
    /// `permissions.additionalDirectories`, as written.
    pub additional_directories: Vec<Sourced<String>>,
    /// `hooks` objects as they stand in their files.
    pub hooks: Vec<Sourced<Value>>,
}

#[cfg(test)]
mod tests;
