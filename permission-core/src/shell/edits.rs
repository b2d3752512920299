//! Commands that change files and do nothing else.
//!
//! Place in the flow: `rules` lets them pass where all edits of the workspace are accepted, and asks whose files count even
//! where a rule allows the command. Observed with Claude 2.1.318; must not know a command of which some option runs another.

use super::word::Word;
use super::{Invocation, is_harmless, is_read_only};

const EDITORS: [&str; 7] = ["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

/// Claude asks about their files as it does about those of the others.
const OTHERS: [&str; 3] = ["tee", "jq", "awk"];

/// Whether it only changes the files that it names.
pub(crate) fn is_edit(invocation: &Invocation) -> bool {
    let harmless = |assignment: &super::Assignment| is_harmless(&assignment.name);
    let literal = invocation.words.iter().all(|word| word.literal().is_some());
    names_one_of(invocation, &EDITORS)
        && literal
        && invocation.spelled == 0
        && invocation.assignments.iter().all(harmless)
}

/// Whether a rule about the command says nothing about the files that it is given.
pub(crate) fn answers_for_its_files(invocation: &Invocation) -> bool {
    is_read_only(invocation) || names_one_of(invocation, &EDITORS) || names_one_of(invocation, &OTHERS)
}

fn names_one_of(invocation: &Invocation, names: &[&str]) -> bool {
    let name = invocation.words.first().and_then(Word::literal);
    name.is_some_and(|name| names.contains(&name))
}
