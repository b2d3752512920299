//! What an allow changes beside the call: rules, directories and the mode, for as long as the answer says.
//!
//! Place in the flow: `real` hands over the updates of an answer once the call may run. What is for the session stays in
//! `SessionState`, what is for a settings file goes there through the ground; either way the next call sees it.

use permission_core::rules::{RuleKind, RuleOrigin, RuleSet};
use permission_core::settings::{Origin, SettingsSource};
use permission_core::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate};
use serde::{Deserialize, Serialize};

use super::core::Core;

/// What the user has decided for the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionPermissions {
    pub(super) rules: Vec<SessionRule>,
    /// Absolute.
    pub(super) directories: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionRule {
    behavior: PermissionBehavior,
    pub(super) text: String,
}

/// Where something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    Session,
    File(SettingsSource),
}

impl SessionRule {
    pub(super) fn kind(&self) -> RuleKind {
        kind(self.behavior)
    }
}

impl Core {
    /// Carries out the updates of an answer.
    pub(super) fn apply(&mut self, updates: &[PermissionUpdate]) {
        for update in updates {
            self.apply_one(update);
        }
    }

    fn apply_one(&mut self, update: &PermissionUpdate) {
        let keeper = keeper(destination(update));
        if let Keeper::File(file) = keeper
            && let Some(ground) = self.authority.ground()
            && let Err(error) = ground.change(file, update)
        {
            self.out.complain(&error);
            return;
        }
        match update {
            PermissionUpdate::AddRules { rules, behavior, .. } => self.add(rules, *behavior, keeper),
            PermissionUpdate::RemoveRules { rules, behavior, .. } => {
                let texts: Vec<String> = rules.iter().map(ToString::to_string).collect();
                self.remove(*behavior, keeper, |text| texts.iter().any(|gone| gone == text));
            }
            PermissionUpdate::ReplaceRules { rules, behavior, .. } => {
                self.remove(*behavior, keeper, |_| true);
                self.add(rules, *behavior, keeper);
            }
            PermissionUpdate::SetMode { mode, .. } => self.switch_mode(*mode),
            PermissionUpdate::AddDirectories { directories, .. } => {
                for directory in self.absolutes(directories) {
                    self.add_directory(directory, keeper);
                }
            }
            PermissionUpdate::RemoveDirectories { directories, .. } => {
                let gone = self.absolutes(directories);
                if keeper == Keeper::Session {
                    let kept = &mut self.state.permissions.directories;
                    kept.retain(|directory| !gone.contains(directory));
                }
                self.amend(|context| {
                    context
                        .additional_working_directories
                        .retain(|directory, origin| !(gone.contains(directory) && keeper.keeps(origin)));
                });
            }
        }
    }

    fn add(&mut self, rules: &[PermissionRule], behavior: PermissionBehavior, keeper: Keeper) {
        for rule in rules {
            let text = rule.to_string();
            if keeper == Keeper::Session {
                let rule = SessionRule {
                    behavior,
                    text: text.clone(),
                };
                if !self.state.permissions.rules.contains(&rule) {
                    self.state.permissions.rules.push(rule);
                }
            }
            let origin = self.origin(keeper, behavior, &text);
            self.amend(|context| {
                context.rules.add(kind(behavior), &text, origin);
            });
        }
    }

    fn remove(&mut self, behavior: PermissionBehavior, keeper: Keeper, goes: impl Fn(&str) -> bool) {
        if keeper == Keeper::Session {
            let kept = &mut self.state.permissions.rules;
            kept.retain(|rule| rule.behavior != behavior || !goes(&rule.text));
        }
        self.amend(|context| {
            let rules = std::mem::take(&mut context.rules);
            let mut left = RuleSet::default();
            for rule in rules.iter() {
                let gone = rule.kind() == kind(behavior) && keeper.keeps(rule.origin()) && goes(rule.text());
                if !gone {
                    left.add(rule.kind(), rule.text(), rule.origin().clone());
                }
            }
            context.rules = left;
        });
    }

    fn add_directory(&mut self, directory: String, keeper: Keeper) {
        if keeper == Keeper::Session && !self.state.permissions.directories.contains(&directory) {
            self.state.permissions.directories.push(directory.clone());
        }
        let origin = match keeper {
            Keeper::Session => RuleOrigin::Session,
            Keeper::File(source) => RuleOrigin::File(self.place(source, 1)),
        };
        self.amend(|context| {
            context.additional_working_directories.insert(directory, origin);
        });
    }

    fn absolutes(&self, directories: &[String]) -> Vec<String> {
        let Some(ground) = self.authority.ground() else {
            return directories.to_vec();
        };
        let places = ground.places();
        let directories = directories.iter();
        directories.map(|directory| places.absolute(directory)).collect()
    }

    /// Where a rule stands now.
    fn origin(&self, keeper: Keeper, behavior: PermissionBehavior, text: &str) -> RuleOrigin {
        let Keeper::File(source) = keeper else {
            return RuleOrigin::Session;
        };
        let files = self.authority.ground().map(|ground| ground.settings());
        let file = files.into_iter().flatten().find(|file| file.source == source);
        let rules = file.map(|file| file.values.rules).unwrap_or_default();
        let list = match behavior {
            PermissionBehavior::Allow => rules.allow,
            PermissionBehavior::Deny => rules.deny,
            PermissionBehavior::Ask => rules.ask,
        };
        let written = list.into_iter().find(|rule| rule.value == text);
        RuleOrigin::File(written.map_or_else(|| self.place(source, 1), |rule| rule.origin))
    }

    fn place(&self, source: SettingsSource, line: u32) -> Origin {
        let files = self.authority.ground().map(|ground| ground.settings());
        let file = files.into_iter().flatten().find(|file| file.source == source);
        let file = file.map_or_else(|| std::path::Path::new("settings").into(), |file| file.file);
        Origin { source, file, line }
    }
}

impl Keeper {
    fn keeps(self, origin: &RuleOrigin) -> bool {
        match self {
            Self::Session => *origin == RuleOrigin::Session,
            Self::File(source) => matches!(origin, RuleOrigin::File(place) if place.source == source),
        }
    }
}

/// A rule of settings as updates spell it.
pub(super) fn rule_of(text: &str) -> PermissionRule {
    let content = text
        .split_once('(')
        .and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
    let Some((tool, content)) = content else {
        return PermissionRule::whole_tool(text);
    };
    let mut plain = String::new();
    let mut letters = content.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => letters.next().unwrap_or(letter),
            letter => letter,
        });
    }
    PermissionRule::with_content(tool, plain)
}

fn kind(behavior: PermissionBehavior) -> RuleKind {
    match behavior {
        PermissionBehavior::Allow => RuleKind::Allow,
        PermissionBehavior::Deny => RuleKind::Deny,
        PermissionBehavior::Ask => RuleKind::Ask,
    }
}

fn keeper(destination: PermissionDestination) -> Keeper {
    match destination {
        PermissionDestination::Session | PermissionDestination::CliArg => Keeper::Session,
        PermissionDestination::UserSettings => Keeper::File(SettingsSource::User),
        PermissionDestination::ProjectSettings => Keeper::File(SettingsSource::Project),
        PermissionDestination::LocalSettings => Keeper::File(SettingsSource::Local),
    }
}

fn destination(update: &PermissionUpdate) -> PermissionDestination {
    match update {
        PermissionUpdate::AddRules { destination, .. }
        | PermissionUpdate::ReplaceRules { destination, .. }
        | PermissionUpdate::RemoveRules { destination, .. }
        | PermissionUpdate::SetMode { destination, .. }
        | PermissionUpdate::AddDirectories { destination, .. }
        | PermissionUpdate::RemoveDirectories { destination, .. } => *destination,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_spelled_back_and_forth() {
        for text in [
            "Bash",
            "Bash(npm test *)",
            r"Bash(echo \(a\) \\n)",
            "Read(//etc/**)",
        ] {
            assert_eq!(rule_of(text).to_string(), text);
        }
        assert_eq!(rule_of(r"Bash(a \(b\))").rule_content.as_deref(), Some("a (b)"));
    }
}
