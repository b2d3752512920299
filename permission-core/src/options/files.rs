//! Read, Glob, Grep and Edit, Write, NotebookEdit: Claude's bundle, where it is for the session and covers the file
//! at hand.
//!
//! Place in the flow: called by `offered`. Must not offer a grant that would not stop the very question that is
//! being asked.

use super::{PermissionOption, common::Offer, common::once_and};
use crate::{
    family::{EDIT, READ},
    label::{BeyondRules, Label, Part, Scope, Vocabulary},
    paths::Subject,
    present::clean,
    updates::PermissionRule,
};

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
    options(
        offer,
        &Vocabulary {
            rule: &rule,
            scopes: &[Scope::Session],
            beyond_rules: BeyondRules::Nothing,
        },
    )
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
    options(offer, &vocabulary)
}

fn options(offer: &Offer<'_>, vocabulary: &Vocabulary<'_>) -> Vec<PermissionOption> {
    let covers_subject = |label: &Label| {
        let subject = subject(offer);
        label
            .parts
            .iter()
            .any(|part| covers(part, subject.as_ref(), offer))
    };
    once_and(offer.suggestion(vocabulary, covers_subject))
}

/// The file or directory that the tool is about to use.
fn subject(offer: &Offer<'_>) -> Option<Subject> {
    let ask = offer.ask;
    let (field, default) = match ask.tool_name {
        "NotebookEdit" => ("notebook_path", None),
        "Glob" | "Grep" => ("path", Some(ask.cwd)),
        _ => ("file_path", None),
    };
    let given = ask
        .text_input(field)
        .map(clean::trim)
        .filter(|path| !path.is_empty());
    given.or(default).map(|path| offer.places.subject(path))
}

fn covers(part: &Part, subject: Option<&Subject>, offer: &Offer<'_>) -> bool {
    match part {
        Part::ReadingAnything | Part::EditingAnything => true,
        Part::AcceptEdits => subject.is_none_or(|subject| !offer.places.is_claude_settings(subject)),
        Part::Reading(path) | Part::Editing(path) => {
            subject.is_some_and(|subject| path.rule.covers(subject, &offer.places))
        }
        Part::Directory(directory) => {
            subject.is_some_and(|subject| offer.places.directory_covers(directory, subject))
        }
        Part::CommandPrefix(_)
        | Part::Command(_)
        | Part::CommandsMatching(_)
        | Part::Thing(_)
        | Part::Skill(_)
        | Part::SkillByName(_)
        | Part::SkillPrefix(_) => false,
    }
}
