//! SandboxNetworkAccess: Claude's rule for the very host at hand.
//!
//! Place in the flow: called by `offered`. Must not offer any other rule: not for another host, not for the session.

use super::PermissionOption;
use super::common::{Offer, once_and};
use crate::dialog::label::{BeyondRules, Part, Scope, Vocabulary};
use crate::safe_text;
use crate::tools::SANDBOX_NETWORK;
use crate::updates::{PermissionRule, PermissionUpdate};

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let host = offer
        .ask
        .call
        .text("host")
        .map(safe_text::trim)
        .filter(|host| !host.is_empty());
    let rule = |rule: &PermissionRule| {
        let content = safe_text::trim(rule.rule_content.as_deref()?);
        let same = rule.tool_name == SANDBOX_NETWORK && Some(content) == host;
        if same { Part::host(content) } else { None }
    };
    let vocabulary = Vocabulary {
        rule: &rule,
        scopes: &[Scope::Local],
        beyond_rules: BeyondRules::Nothing,
    };
    once_and(if is_one_rule(offer) {
        offer.suggestion(&vocabulary)
    } else {
        Vec::new()
    })
}

fn is_one_rule(offer: &Offer<'_>) -> bool {
    match offer.suggested() {
        Some([PermissionUpdate::AddRules { rules, .. }]) => rules.len() == 1,
        Some(_) | None => false,
    }
}
