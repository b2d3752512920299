//! Labels: the complete effect of a durable option as one sentence, or no option.
//!
//! Place in the flow: a family says which updates it can name (`Vocabulary`), `of` turns a whole bundle into parts
//! and the parts into text. `part` has the wording of each part, `value` what may be printed verbatim. Must not
//! leave anything out: an update without a part leaves no label.

mod part;
mod value;

pub(crate) use part::Part;

use crate::modes::PermissionMode;
use crate::safe_text::utf16_len;
use crate::updates::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate};

/// The longest label.
pub(crate) const MAX_LABEL: usize = 200;

/// How long an effect lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Kept for this project.
    Local,
    /// Until the session ends.
    Session,
}

/// Which updates a tool family can name.
pub(crate) struct Vocabulary<'v> {
    /// The part of an allow rule.
    pub(crate) rule: &'v dyn Fn(&PermissionRule) -> Option<Part>,
    /// Where rules may be kept.
    pub(crate) scopes: &'v [Scope],
    /// What besides rules may be in the bundle.
    pub(crate) beyond_rules: BeyondRules,
}

/// The updates besides rules; each only for the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BeyondRules {
    Nothing,
    DirectoriesAndAcceptEdits,
}

/// The label of a bundle. `None` where some of it cannot be named, or not in 200 characters.
pub(crate) fn of(updates: &[PermissionUpdate], vocabulary: &Vocabulary<'_>) -> Option<String> {
    let mut collected = Collected::default();
    for update in updates {
        match update {
            PermissionUpdate::AddRules {
                rules,
                behavior: PermissionBehavior::Allow,
                destination,
            } => {
                let scope = Scope::of(*destination).filter(|scope| vocabulary.scopes.contains(scope))?;
                for rule in rules {
                    collected.add(scope, (vocabulary.rule)(rule)?)?;
                }
            }
            PermissionUpdate::AddDirectories {
                directories,
                destination: PermissionDestination::Session,
            } if vocabulary.beyond_rules == BeyondRules::DirectoriesAndAcceptEdits => {
                for directory in directories {
                    collected.add(Scope::Session, Part::directory(directory)?)?;
                }
            }
            PermissionUpdate::SetMode {
                mode: PermissionMode::AcceptEdits,
                destination: PermissionDestination::Session,
            } if vocabulary.beyond_rules == BeyondRules::DirectoriesAndAcceptEdits => {
                collected.add(Scope::Session, Part::AcceptEdits)?;
            }
            PermissionUpdate::AddRules { .. }
            | PermissionUpdate::ReplaceRules { .. }
            | PermissionUpdate::RemoveRules { .. }
            | PermissionUpdate::SetMode { .. }
            | PermissionUpdate::AddDirectories { .. }
            | PermissionUpdate::RemoveDirectories { .. } => return None,
        }
    }
    collected.label()
}

impl Scope {
    fn of(destination: PermissionDestination) -> Option<Self> {
        match destination {
            PermissionDestination::LocalSettings => Some(Self::Local),
            PermissionDestination::Session => Some(Self::Session),
            PermissionDestination::CliArg
            | PermissionDestination::UserSettings
            | PermissionDestination::ProjectSettings => None,
        }
    }
}

/// The distinct parts so far. Gives up as soon as their text alone is too long, so that a huge bundle costs little.
#[derive(Default)]
struct Collected {
    local: Vec<Part>,
    session: Vec<Part>,
    length: usize,
}

impl Collected {
    fn add(&mut self, scope: Scope, part: Part) -> Option<()> {
        let parts = match scope {
            Scope::Local => &mut self.local,
            Scope::Session => &mut self.session,
        };
        if !parts.contains(&part) {
            self.length += utf16_len(&part.text());
            parts.push(part);
        }
        (self.length <= MAX_LABEL).then_some(())
    }

    fn label(mut self) -> Option<String> {
        self.local.sort_by_key(Part::rank);
        self.session.sort_by_key(Part::rank);
        let text = match (listed(&self.local), listed(&self.session)) {
            (Some(local), None) => format!("Yes, and {local}"),
            (None, Some(session)) => format!("Yes, and for this session {session}"),
            (Some(local), Some(session)) => format!("Yes, and {local}; for this session also {session}"),
            (None, None) => return None,
        };
        (utf16_len(&text) <= MAX_LABEL).then_some(text)
    }
}

/// `a`, `a and b`, `a, b, and c`.
fn listed(parts: &[Part]) -> Option<String> {
    let texts: Vec<String> = parts.iter().map(Part::text).collect();
    match texts.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [first, second] => Some(format!("{first} and {second}")),
        [head @ .., last] => Some(format!("{}, and {last}", head.join(", "))),
    }
}

#[cfg(test)]
mod parse;
#[cfg(test)]
mod tests;
