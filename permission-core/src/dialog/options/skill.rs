//! Skill: a rule for the invocation at hand, and one for the skill whatever its arguments.
//!
//! Place in the flow: called by `offered`. Must not offer a rule that a wildcard in the invocation would widen, nor
//! one that Claude does not honour.

use serde_json::Value;

use super::common::{Offer, once_and};
use super::{OptionId, PermissionOption};
use crate::dialog::ask::AskContext;
use crate::dialog::label::Part;
use crate::safe_text;
use crate::tools::SKILL;
use crate::updates::PermissionRule;

const MAX_INVOCATION: usize = 1_000;

/// A skill's name, and its arguments where there are any.
struct Invocation<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

enum Arguments<'a> {
    None,
    /// Behind the name, as older versions of Claude send them; there a rule may name them.
    WithName(&'a str),
    /// In a field of their own. Observed with Claude 2.1.318: a rule that names them is stored and never matches,
    /// so the same invocation would be asked about again.
    Apart,
}

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let Some(invocation) = Invocation::of(offer.ask) else {
        return once_and(None);
    };
    let rule = |id, content: String| offer.generated(id, PermissionRule::with_content(SKILL, content), &part);
    let name = invocation.name;
    let exact = |content: String| rule(OptionId::AllowSkillExact, content);
    let prefix = || rule(OptionId::AllowSkillPrefix, format!("{name}:*"));
    let durable = match invocation.arguments {
        Arguments::None => [exact(name.to_owned()), None],
        Arguments::WithName(arguments) => [exact(format!("{name} {arguments}")), prefix()],
        Arguments::Apart => [prefix(), None],
    };
    once_and(durable.into_iter().flatten())
}

impl<'a> Invocation<'a> {
    /// `None` where there is no skill, or the whole is too long to be a rule.
    fn of(ask: &AskContext<'a>) -> Option<Self> {
        let skill = safe_text::trim(ask.call.text("skill")?);
        let apart = match ask.call.input.get("args") {
            None | Some(Value::Null) => "",
            Some(arguments) => safe_text::trim(arguments.as_str()?),
        };
        let length = safe_text::utf16_len(safe_text::trim(&format!("{skill} {apart}")));
        if skill.is_empty() || length > MAX_INVOCATION {
            return None;
        }
        let (name, with_name) = skill.split_once(' ').unwrap_or((skill, ""));
        let arguments = match (with_name, apart) {
            ("", "") => Arguments::None,
            (with_name, "") => Arguments::WithName(with_name),
            (_, _) => Arguments::Apart,
        };
        Some(Self { name, arguments })
    }
}

fn part(rule: &PermissionRule) -> Option<Part> {
    Part::skill(rule.rule_content.as_deref()?)
}
