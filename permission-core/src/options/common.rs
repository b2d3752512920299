//! What all builders share: the two one-time options, and the one way to make a durable option.
//!
//! Place in the flow: every family's list is `once(durable)`; a durable option is made from its bundle, and its
//! label and effect come from that same bundle. Must not take a label from anywhere else.

use super::{OptionId, OptionKind, PermissionOption};
use crate::{
    ask::AskContext,
    effect::Effect,
    label::{self, Label, Part, Scope, Vocabulary},
    paths::Places,
    present::words,
    result::DecisionClassification,
    updates::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate, Snapshot},
};

/// What a builder works with: the question, and what may become durable.
pub(crate) struct Offer<'a> {
    pub(crate) ask: &'a AskContext<'a>,
    pub(crate) places: Places<'a>,
    suggested: Option<Snapshot>,
}

impl<'a> Offer<'a> {
    pub(crate) fn of(ask: &'a AskContext<'a>) -> Self {
        let suggested = if ask.asked_by_rule() {
            None
        } else {
            Snapshot::take(ask.suggestions)
        };
        Self {
            ask,
            places: Places::of(ask),
            suggested,
        }
    }

    /// Claude's suggestion as an option, if the vocabulary names all of it and `fits` agrees.
    pub(crate) fn suggestion(
        &self,
        vocabulary: &Vocabulary<'_>,
        fits: impl FnOnce(&Label) -> bool,
    ) -> Option<PermissionOption> {
        let updates = self.suggested.clone()?;
        let label = label::of(updates.updates(), vocabulary).filter(fits)?;
        Some(durable(OptionId::AllowWithUpdates, label, updates))
    }

    /// Claude's suggestion itself.
    pub(crate) fn suggested(&self) -> Option<&[PermissionUpdate]> {
        self.suggested.as_ref().map(Snapshot::updates)
    }

    /// A rule of our own for this project, if it can be named.
    pub(crate) fn generated(
        &self,
        id: OptionId,
        rule: PermissionRule,
        part: &dyn Fn(&PermissionRule) -> Option<Part>,
    ) -> Option<PermissionOption> {
        if self.ask.asked_by_rule() {
            return None;
        }
        let updates = Snapshot::generated(PermissionUpdate::AddRules {
            rules: vec![rule],
            behavior: PermissionBehavior::Allow,
            destination: PermissionDestination::LocalSettings,
        })?;
        let vocabulary = Vocabulary {
            rule: part,
            scopes: &[Scope::Local],
            beyond_rules: label::BeyondRules::Nothing,
        };
        Some(durable(id, label::of(updates.updates(), &vocabulary)?, updates))
    }
}

/// Allow once, the durable options, reject.
pub(crate) fn once_and(durable: impl IntoIterator<Item = PermissionOption>) -> Vec<PermissionOption> {
    let mut options = vec![allow_once(words::YES)];
    options.extend(durable);
    options.push(reject(words::NO));
    options
}

/// Allows one call.
pub(crate) fn allow_once(name: &str) -> PermissionOption {
    PermissionOption {
        id: OptionId::AllowOnce,
        name: name.to_owned(),
        kind: OptionKind::AllowOnce,
        effect: Effect::AllowOnce,
    }
}

/// Refuses one call.
pub(crate) fn reject(name: &str) -> PermissionOption {
    PermissionOption {
        id: OptionId::Reject,
        name: name.to_owned(),
        kind: OptionKind::RejectOnce,
        effect: Effect::Reject,
    }
}

fn durable(id: OptionId, label: Label, updates: Snapshot) -> PermissionOption {
    PermissionOption {
        id,
        name: label.text,
        kind: OptionKind::AllowAlways,
        effect: Effect::AllowWithUpdates {
            updates,
            classification: DecisionClassification::UserPermanent,
        },
    }
}
