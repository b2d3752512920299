//! Skill: a rule for the invocation at hand, and one for the skill whatever its arguments.
//!
//! Place in the flow: called by `offered`. Must not offer a rule that a wildcard in the invocation would widen.

use serde_json::Value;

use super::{OptionId, PermissionOption, common::Offer, common::once_and};
use crate::{ask::AskContext, family::SKILL, label::Part, present::clean, updates::PermissionRule};

const MAX_INVOCATION: usize = 1_000;

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let Some(invocation) = invocation(offer.ask) else {
        return once_and(None);
    };
    let rule = |id, content: String| offer.generated(id, PermissionRule::with_content(SKILL, content), &part);
    let prefix = invocation
        .split_once(' ')
        .and_then(|(name, _)| rule(OptionId::AllowSkillPrefix, format!("{name}:*")));
    let exact = rule(OptionId::AllowSkillExact, invocation);
    once_and(exact.into_iter().chain(prefix))
}

/// The skill's name and arguments as one text. Older versions of Claude put both into `skill`.
fn invocation(ask: &AskContext<'_>) -> Option<String> {
    let skill = clean::trim(ask.text_input("skill")?);
    let arguments = match ask.input.get("args") {
        None | Some(Value::Null) => "",
        Some(arguments) => clean::trim(arguments.as_str()?),
    };
    let invocation = format!("{skill} {arguments}");
    let invocation = clean::trim(&invocation);
    let usable = !skill.is_empty() && clean::utf16_len(invocation) <= MAX_INVOCATION;
    usable.then(|| invocation.to_owned())
}

fn part(rule: &PermissionRule) -> Option<Part> {
    Part::skill(rule.rule_content.as_deref()?)
}
