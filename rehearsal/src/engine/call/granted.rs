//! What answers of the host's have changed for longer than a call: rules and directories, as long as the session.
//!
//! Place in the flow: `reply` applies the updates of an answer; `by_rules` adds what has been granted to the settings. Where an
//! update would be kept for longer than the session is remembered only so that it can be taken back.

use permission_core::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate};
use serde::{Deserialize, Serialize};

/// What has been granted, or denied, for the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Granted {
    pub(crate) rules: Vec<GrantedRule>,
    pub(crate) directories: Vec<(PermissionDestination, String)>,
}

/// A rule of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrantedRule {
    destination: PermissionDestination,
    pub(crate) behavior: PermissionBehavior,
    pub(crate) rule: PermissionRule,
}

impl Granted {
    /// Applies an update. The mode is the session's business.
    pub(crate) fn apply(&mut self, update: &PermissionUpdate) {
        match update {
            PermissionUpdate::AddRules {
                rules,
                behavior,
                destination,
            } => self.add(rules, *behavior, *destination),
            PermissionUpdate::ReplaceRules {
                rules,
                behavior,
                destination,
            } => {
                self.rules
                    .retain(|rule| (rule.behavior, rule.destination) != (*behavior, *destination));
                self.add(rules, *behavior, *destination);
            }
            PermissionUpdate::RemoveRules {
                rules,
                behavior,
                destination,
            } => self.rules.retain(|rule| {
                (rule.behavior, rule.destination) != (*behavior, *destination) || !rules.contains(&rule.rule)
            }),
            PermissionUpdate::SetMode { .. } => {}
            PermissionUpdate::AddDirectories {
                directories,
                destination,
            } => {
                for directory in directories {
                    push_new(&mut self.directories, (*destination, directory.clone()));
                }
            }
            PermissionUpdate::RemoveDirectories {
                directories,
                destination,
            } => self
                .directories
                .retain(|(kept_in, directory)| kept_in != destination || !directories.contains(directory)),
        }
    }

    fn add(
        &mut self,
        rules: &[PermissionRule],
        behavior: PermissionBehavior,
        destination: PermissionDestination,
    ) {
        for rule in rules {
            let rule = GrantedRule {
                destination,
                behavior,
                rule: rule.clone(),
            };
            push_new(&mut self.rules, rule);
        }
    }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
