//! What all builders share: the two one-time options, and the one way to make a durable option.
//!
//! Place in the flow: every family's list is `once_and(durable)`; a durable option is made from its bundle, and its
//! label and effect come from that same bundle. `bundle` says which bundle that is. Must not take a label from anywhere else.

use super::bundle::Trial;
use super::{OptionId, OptionKind, PermissionOption};
use crate::dialog::ask::AskContext;
use crate::dialog::effect::Effect;
use crate::dialog::label::{self, Part, Scope, Vocabulary};
use crate::dialog::present::wording;
use crate::dialog::result::DecisionClassification;
use crate::paths::Places;
use crate::updates::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate, Snapshot};

/// What a builder works with: the question, and what may become durable.
pub(crate) struct Offer<'a> {
    pub(crate) ask: &'a AskContext<'a>,
    pub(crate) places: Places<'a>,
    trial: Trial<'a>,
    asked_by_rule: bool,
    suggested: Option<Snapshot>,
}

impl<'a> Offer<'a> {
    pub(crate) fn of(ask: &'a AskContext<'a>) -> Self {
        let asked_by_rule = ask.asked_by_rule();
        let suggested = Snapshot::take(ask.suggestions).filter(|_| !asked_by_rule);
        Self {
            ask,
            places: ask.call.places().starting_at(ask.call.workspace.cwd),
            trial: Trial::of(ask),
            asked_by_rule,
            suggested,
        }
    }

    /// Claude's suggestion, and the part of it that is enough, if the vocabulary names all of it.
    pub(crate) fn suggestion(&self, vocabulary: &Vocabulary<'_>) -> Vec<PermissionOption> {
        let named = |updates: &Snapshot| label::of(updates.updates(), vocabulary);
        let suggested = self
            .suggested
            .as_ref()
            .filter(|suggested| named(suggested).is_some());
        let Some(effective) = suggested.and_then(|suggested| self.trial.effective(suggested)) else {
            return Vec::new();
        };
        let option = |id, updates: Snapshot| Some(durable(id, named(&updates)?, updates));
        let enough = option(OptionId::AllowWithFewerUpdates, self.trial.enough(&effective));
        let all = option(OptionId::AllowWithUpdates, effective);
        // Two ways to say the same are no choice.
        let fewer = enough.filter(|enough| all.as_ref().is_some_and(|all| all.name != enough.name));
        fewer.into_iter().chain(all).collect()
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
        let updates = Snapshot::generated(PermissionUpdate::AddRules {
            rules: vec![rule],
            behavior: PermissionBehavior::Allow,
            destination: PermissionDestination::LocalSettings,
        });
        let updates = updates.filter(|updates| !self.asked_by_rule && self.trial.settles(updates))?;
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
    let mut options = vec![allow_once(wording::YES)];
    options.extend(durable);
    options.push(reject(wording::NO));
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

fn durable(id: OptionId, name: String, updates: Snapshot) -> PermissionOption {
    PermissionOption {
        id,
        name,
        kind: OptionKind::AllowAlways,
        effect: Effect::AllowWithUpdates {
            updates,
            classification: DecisionClassification::UserPermanent,
        },
    }
}
