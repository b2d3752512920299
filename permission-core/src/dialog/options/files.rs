//! Read, Glob, Grep and Edit, Write, NotebookEdit: Claude's bundle, where it is for the session.
//!
//! Place in the flow: called by `offered`. Must not name a rule by the tool at hand: path rules are `Read` and `Edit` rules.

use super::PermissionOption;
use super::common::{Offer, once_and};
use crate::dialog::label::{BeyondRules, Part, Scope, Vocabulary};
use crate::tools::{EDIT, READ};
use crate::updates::PermissionRule;

/// Options of a tool that reads.
pub(super) fn read_options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let rule = |rule: &PermissionRule| {
        let reads = rule.tool_name == READ;
        if reads {
            Part::reading(rule.rule_content.as_deref(), &offer.places)
        } else {
            None
        }
    };
    let vocabulary = Vocabulary {
        rule: &rule,
        scopes: &[Scope::Session],
        beyond_rules: BeyondRules::Nothing,
    };
    once_and(offer.suggestion(&vocabulary))
}

/// Options of a tool that writes. Path rules for writing carry the name `Edit` whatever the tool.
pub(super) fn edit_options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let rule = |rule: &PermissionRule| {
        let edits = rule.tool_name == EDIT;
        if edits {
            Part::editing(rule.rule_content.as_deref(), &offer.places)
        } else {
            None
        }
    };
    let vocabulary = Vocabulary {
        rule: &rule,
        scopes: &[Scope::Session],
        beyond_rules: BeyondRules::DirectoriesAndAcceptEdits,
    };
    once_and(offer.suggestion(&vocabulary))
}
