//! MCP tools, Computer Use among them: Claude's rules for the very tool at hand.
//!
//! Place in the flow: called by `offered`. Must not make a rule of its own, nor offer one for a whole server.

use super::PermissionOption;
use super::common::{Offer, once_and};
use crate::dialog::label::{BeyondRules, Part, Scope, Vocabulary};
use crate::updates::PermissionRule;

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let rule = |rule: &PermissionRule| {
        let same = rule.tool_name == offer.ask.call.tool && rule.rule_content.is_none();
        if same { Part::tool(&rule.tool_name) } else { None }
    };
    let vocabulary = Vocabulary {
        rule: &rule,
        scopes: &[Scope::Local, Scope::Session],
        beyond_rules: BeyondRules::Nothing,
    };
    once_and(offer.suggestion(&vocabulary))
}
