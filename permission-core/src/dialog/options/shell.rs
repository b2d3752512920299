//! Bash, PowerShell and what Monitor runs: Claude's bundle, where it holds nothing but command rules, reads, directories and the mode
//! that accepts edits.
//!
//! Place in the flow: called by `offered`. Must not make a rule of its own: a command says little about the next one.

use super::PermissionOption;
use super::common::{Offer, once_and};
use crate::dialog::label::{BeyondRules, Part, Scope, Vocabulary};
use crate::tools::READ;
use crate::updates::PermissionRule;

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let rule = |rule: &PermissionRule| part(rule, offer);
    let vocabulary = Vocabulary {
        rule: &rule,
        scopes: &[Scope::Local, Scope::Session],
        beyond_rules: BeyondRules::DirectoriesAndAcceptEdits,
    };
    once_and(offer.suggestion(&vocabulary))
}

/// A rule for the very shell at hand, or for reading; never for all of either.
fn part(rule: &PermissionRule, offer: &Offer<'_>) -> Option<Part> {
    let content = rule.rule_content.as_deref()?;
    match &*rule.tool_name {
        tool if tool == offer.ask.shell() => Part::command(content),
        READ if !is_bare_wildcard(content) => Part::reading(Some(content), &offer.places),
        _ => None,
    }
}

fn is_bare_wildcard(content: &str) -> bool {
    content.chars().all(|c| matches!(c, '*' | ':' | '/' | '.'))
}
