//! What a shell text runs and which files it opens, as far as that can be told without running it.
//!
//! Place in the flow: [`analyse`] takes the command of a Bash call; `rules` compares what it finds, the plan guard asks
//! `readonly`. Reading order: `cut` and `limits` before the `grammar`, `scan` for words, `walk` over the tree, `runs`
//! for commands that run others (`tables` names them), `coarse` for texts that no grammar reads. A text that cannot be
//! analysed never gets an allow; what it may run is still there for deny and ask. Must not run anything.

mod ansi;
mod arguments;
mod builtins;
mod coarse;
mod code;
mod commands;
mod compound;
mod cut;
mod directories;
mod edits;
mod escapes;
mod feed;
mod file_tables;
mod files;
mod git_files;
mod grammar;
mod limits;
mod option_tables;
mod readonly;
mod redirect;
mod runs;
mod scan;
mod scripts;
mod sed;
mod tables;
mod walk;
mod ways;
mod word;
mod wrappers;

pub(crate) use commands::{Access, Assignment, Commands, FileUse, Invocation};
pub(crate) use edits::{answers_for_its_files, is_edit};
pub(crate) use files::{is_writer, operands};
pub(crate) use readonly::{is_harmless, is_read_only};
pub(crate) use word::{Piece, Word};
pub(crate) use wrappers::behind_runner;

use cut::Cut;

/// Why a text cannot be analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Doubt {
    TooLong,
    TooDeep,
    TooMany,
    ControlCharacter,
    HereDocument,
    Unparsable,
    Substitution,
    Expansion,
    Arithmetic,
    /// `if`, `while` and `until`, `[[ … ]]`.
    Branch,
    Subshell,
    /// `for … in …`
    Loop,
    /// A pipe inside a control structure or a group, or a redirection of one.
    Joined,
    /// The output of a command, which a variable gets.
    Captured,
    ControlStructure,
    Definition,
    Array,
    CommandName,
    Code,
    Wrapper,
    Device,
    ChangedDirectory,
    Background,
}

/// What a text runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Analysis {
    /// These commands and nothing else.
    Commands(Commands),
    /// Nobody knows.
    Unanalysable(Unanalysable),
}

/// A text that may run more than was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unanalysable {
    /// Why; never empty.
    pub(crate) doubts: Vec<Doubt>,
    /// What was found all the same.
    pub(crate) seen: Commands,
    /// It may run anything at all.
    pub(crate) anything: bool,
    /// The command that may, where it is one.
    pub(crate) whatever: Option<String>,
}

impl Analysis {
    /// All commands that were found.
    pub(crate) fn seen(&self) -> &Commands {
        match self {
            Self::Commands(commands) => commands,
            Self::Unanalysable(unanalysable) => &unanalysable.seen,
        }
    }

    /// The reason not to trust it.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Commands(_) => None,
            Self::Unanalysable(unanalysable) => {
                Some(unanalysable.doubts.first().copied().unwrap_or(Doubt::Unparsable))
            }
        }
    }
}

/// Analyses the text of a shell command.
pub(crate) fn analyse(text: &str) -> Analysis {
    analyse_fed(text, &[])
}

/// The same where anything may come in through its input: what is run then is not known.
pub(crate) fn analyse_fed_anything(text: &str) -> Analysis {
    analyse_fed(text, &feed::unknown())
}

fn analyse_fed(text: &str, fed: &[Word]) -> Analysis {
    let found = if text.contains(limits::is_control) {
        let mut found = Unanalysable::default();
        coarse::read(text, &mut found);
        found.doubts.push(Doubt::ControlCharacter);
        found
    } else {
        walk_over(text, fed)
    };
    if found.doubts.is_empty() && !found.anything {
        Analysis::Commands(found.seen)
    } else {
        Analysis::Unanalysable(found)
    }
}

/// Whether it is a name and its arguments, to whatever shell.
pub(crate) fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/' | ':'))
}

/// A text in a language that no grammar here reads.
pub(crate) fn unreadable(text: &str) -> Analysis {
    let mut found = Unanalysable {
        doubts: vec![Doubt::Unparsable],
        ..Unanalysable::default()
    };
    coarse::read(text, &mut found);
    Analysis::Unanalysable(found)
}

fn walk_over(text: &str, fed: &[Word]) -> Unanalysable {
    let cut = Cut::of(text);
    if cut.len() > 0 {
        let (found, marks) = walk::Walker::run(&cut, fed);
        if marks.len() == cut.len() {
            return found;
        }
    }
    walk::Walker::run(&Cut::nothing(text), fed).0
}

#[cfg(test)]
mod tests;
