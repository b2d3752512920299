//! What answers have granted, or refused, for longer than their own calls: rules and directories.
//!
//! Place in the flow: whoever keeps them applies the updates of each answer that leaves. The mode is a session's own
//! business. Must not write anything down: what belongs into settings files is Claude's to keep.

use serde::{Deserialize, Serialize};

use super::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate};

/// Rules and directories beside those of the settings, each with where it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grants {
    rules: Vec<(PermissionDestination, PermissionBehavior, PermissionRule)>,
    directories: Vec<(PermissionDestination, String)>,
}

impl Grants {
    /// Applies an update.
    pub fn apply(&mut self, update: &PermissionUpdate) {
        let to = update.destination();
        match update {
            PermissionUpdate::AddRules { rules, behavior, .. } => self.add(to, *behavior, rules),
            PermissionUpdate::ReplaceRules { rules, behavior, .. } => {
                self.rules.retain(|(at, of, _)| (*at, *of) != (to, *behavior));
                self.add(to, *behavior, rules);
            }
            PermissionUpdate::RemoveRules { rules, behavior, .. } => self
                .rules
                .retain(|(at, of, rule)| (*at, *of) != (to, *behavior) || !rules.contains(rule)),
            PermissionUpdate::AddDirectories { directories, .. } => {
                for directory in directories {
                    push_new(&mut self.directories, (to, directory.clone()));
                }
            }
            PermissionUpdate::RemoveDirectories { directories, .. } => self
                .directories
                .retain(|(at, directory)| *at != to || !directories.contains(directory)),
            PermissionUpdate::SetMode { .. } => {}
        }
    }

    /// Takes over what outlasts a session: what is kept in settings files.
    pub fn add_lasting(&mut self, of: &Self) {
        let lasts = |at: PermissionDestination| match at {
            PermissionDestination::Session | PermissionDestination::CliArg => false,
            PermissionDestination::UserSettings
            | PermissionDestination::ProjectSettings
            | PermissionDestination::LocalSettings => true,
        };
        for rule in of.rules.iter().filter(|(at, ..)| lasts(*at)) {
            push_new(&mut self.rules, rule.clone());
        }
        for directory in of.directories.iter().filter(|(at, _)| lasts(*at)) {
            push_new(&mut self.directories, directory.clone());
        }
    }

    /// The rules that do this.
    pub fn rules(&self, behavior: PermissionBehavior) -> impl Iterator<Item = &PermissionRule> {
        let rules = self.rules.iter().filter(move |(_, of, _)| *of == behavior);
        rules.map(|(_, _, rule)| rule)
    }

    /// The directories, as they were named.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        self.directories.iter().map(|(_, directory)| directory.as_str())
    }

    fn add(&mut self, to: PermissionDestination, behavior: PermissionBehavior, rules: &[PermissionRule]) {
        for rule in rules {
            push_new(&mut self.rules, (to, behavior, rule.clone()));
        }
    }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{d, l, r, rules};

    #[test]
    fn an_update_changes_what_is_kept_at_its_destination_alone() {
        let mut grants = Grants::default();
        let mut apply = |update: &serde_json::Value| {
            grants.apply(&PermissionUpdate::try_from(update).unwrap());
            let rules = grants.rules(PermissionBehavior::Allow).map(ToString::to_string);
            let directories = grants.directories().map(str::to_owned);
            rules.chain(directories).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(apply(&r("Bash", "a")), "Bash(a)");
        assert_eq!(apply(&r("Bash", "a")), "Bash(a)");
        assert_eq!(apply(&l("Bash", "a")), "Bash(a) Bash(a)");
        assert_eq!(
            apply(&rules("session", "deny", &[("Read", "")])),
            "Bash(a) Bash(a)"
        );
        assert_eq!(apply(&d(&["/srv"])), "Bash(a) Bash(a) /srv");
        let change = |kind: &str, mut update: serde_json::Value| {
            update["type"] = kind.into();
            update
        };
        assert_eq!(apply(&change("replaceRules", r("Read", ""))), "Bash(a) Read /srv");
        assert_eq!(apply(&change("removeRules", l("Bash", "a"))), "Read /srv");
        assert_eq!(apply(&change("removeDirectories", d(&["/srv"]))), "Read");
    }

    #[test]
    fn what_is_kept_in_files_outlasts_a_session() {
        let mut grants = Grants::default();
        for update in [r("Read", ""), l("Bash", "a"), d(&["/srv"])] {
            grants.apply(&PermissionUpdate::try_from(&update).unwrap());
        }
        let mut next = Grants::default();
        for _ in 0..2 {
            next.add_lasting(&grants);
        }
        let rules = next.rules(PermissionBehavior::Allow).map(ToString::to_string);
        assert_eq!(rules.collect::<Vec<_>>(), ["Bash(a)"]);
        assert_eq!(next.directories().count(), 0);
    }
}
