//! All settings files as one: who wins, and who is not trusted.
//!
//! Place in the flow: after `parse`, before `modes` and the rules. A scalar is the strongest file's; lists are
//! concatenated; what disables or limits cannot be undone by another file. Must not look into a file's text.

use super::{RuleTexts, SettingsFile, SettingsProblem, SettingsSource, SettingsValues, Sourced, wording};
use crate::modes::ModeSetting;

/// What holds for a session, and every problem of the files it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectiveSettings {
    /// What holds, each value with the place it comes from.
    pub values: SettingsValues,
    /// The problems, of the strongest file first.
    pub problems: Vec<SettingsProblem>,
}

/// Layers files, given in any order: managed over flag over local over project over user. Lists hold the strongest
/// file's elements first.
pub fn merge(files: impl IntoIterator<Item = SettingsFile>) -> EffectiveSettings {
    let mut files: Vec<SettingsFile> = files.into_iter().collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.source));
    leave_to_managed(&mut files);
    let mut effective = EffectiveSettings::default();
    for mut file in files {
        drop_untrusted_mode(&mut file);
        effective.problems.append(&mut file.problems);
        effective.values.lay_over(file.values);
    }
    effective
}

/// Empties, in all other files, the rules that a managed file keeps for itself.
fn leave_to_managed(files: &mut [SettingsFile]) {
    let managed = |file: &SettingsFile| file.source == SettingsSource::Managed;
    let keeps = |file: &SettingsFile| managed(file) && file.values.managed_rules_only.is_some();
    if files.iter().any(keeps) {
        for file in files.iter_mut().filter(|file| !managed(file)) {
            file.values.rules = RuleTexts::default();
        }
    }
}

/// Whoever wrote the repository is not the user: what they committed may tighten, not loosen.
fn drop_untrusted_mode(file: &mut SettingsFile) {
    if file.source != SettingsSource::Project {
        return;
    }
    let Some(Sourced { value, origin }) = file.values.default_mode.take_if(|mode| mode.value.loosens())
    else {
        return;
    };
    if let ModeSetting::Mode(mode) = value {
        file.problems.push(SettingsProblem {
            file: origin.file,
            line: Some(origin.line),
            column: None,
            key: Some("permissions.defaultMode".to_owned()),
            message: wording::untrusted_mode(mode),
        });
    }
}

impl SettingsValues {
    /// Fills in from a `weaker` file what stronger ones left open.
    fn lay_over(&mut self, weaker: SettingsValues) {
        let SettingsValues {
            rules: RuleTexts { allow, deny, ask },
            managed_rules_only,
            default_mode,
            bypass_disabled,
            auto_disabled,
            additional_directories,
            hooks,
        } = weaker;
        self.rules.allow.extend(allow);
        self.rules.deny.extend(deny);
        self.rules.ask.extend(ask);
        self.additional_directories.extend(additional_directories);
        self.hooks.extend(hooks);
        fill(&mut self.managed_rules_only, managed_rules_only);
        fill(&mut self.default_mode, default_mode);
        fill(&mut self.bypass_disabled, bypass_disabled);
        fill(&mut self.auto_disabled, auto_disabled);
    }
}

fn fill<T>(slot: &mut Option<T>, weaker: Option<T>) {
    if slot.is_none() {
        *slot = weaker;
    }
}
