//! The result of an analysis: invocations and the files that they open.
//!
//! Place in the flow: filled by `walk` and `runs`, read by `rules` and `limits`. Must not interpret.

use super::word::Word;

/// What a text runs and opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    pub(crate) invocations: Vec<Invocation>,
    /// Runs of words in which a command may begin at each of them: for deny and ask.
    pub(crate) fragments: Vec<Vec<Word>>,
    /// Files that redirections open.
    pub(crate) redirections: Vec<FileUse>,
    /// Files that known commands are given.
    pub(crate) files: Vec<FileUse>,
    /// The shell looks for expansions in a here-document.
    pub(crate) expands_document: bool,
}

/// One command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) assignments: Vec<Assignment>,
    /// The name and the arguments; empty where there are only assignments or redirections.
    pub(crate) words: Vec<Word>,
    /// So many of the words decide what else runs: a rule that allows it must spell them out.
    pub(crate) spelled: usize,
    /// It runs as it stands here, so it needs an allow. Otherwise it is another reading, for deny and ask.
    pub(crate) certain: bool,
    /// The grammar shows it as a command, be it in a substitution. Otherwise it was found in an argument or in code.
    pub(crate) stands: bool,
    /// A redirection stands between its words, before any pipe, behind so many of them.
    pub(crate) redirected_at: Option<usize>,
}

/// `NAME=value` before a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// All of it.
    pub(crate) word: Word,
}

/// A file that is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileUse {
    pub(crate) path: Word,
    pub(crate) access: Access,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// All that is below it, too.
    ReadTree,
    Write,
    /// All that is below it, too.
    WriteTree,
}

impl Access {
    pub(crate) fn writes(self) -> bool {
        match self {
            Self::Read | Self::ReadTree => false,
            Self::Write | Self::WriteTree => true,
        }
    }

    pub(crate) fn is_tree(self) -> bool {
        match self {
            Self::Read | Self::Write => false,
            Self::ReadTree | Self::WriteTree => true,
        }
    }
}

impl Invocation {
    /// The text as it was written, from its name on.
    pub(crate) fn written(&self) -> String {
        joined(&self.words)
    }

    /// The beginning of `written` that a rule must spell out.
    pub(crate) fn must_spell(&self) -> String {
        joined(self.words.get(..self.spelled).unwrap_or(&self.words))
    }
}

fn joined(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push_str(&word.gap);
        }
        text.push_str(&word.raw);
    }
    text
}
