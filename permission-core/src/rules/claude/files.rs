//! The files that Claude itself looks at in a command.
//!
//! Place in the flow: rules about paths are compared with them. Must not be asked for a policy.

use super::reading::Reading;
use super::{FED, certain};
use crate::rules::ToolCall;
use crate::shell::{Analysis, Doubt, Word, behind_runner, operands};

/// Commands whose files Claude compares with rules about reading.
pub(super) const READERS: [&str; 42] = [
    "awk",
    "base64",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cp",
    "cut",
    "diff",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "gawk",
    "grep",
    "head",
    "hexdump",
    "jq",
    "ls",
    "mawk",
    "md5sum",
    "mv",
    "nl",
    "od",
    "paste",
    "pr",
    "rev",
    "rg",
    "sed",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "uniq",
    "wc",
];
/// Commands whose files Claude compares with rules about editing.
pub(super) const WRITERS: [&str; 8] = ["cp", "mkdir", "mv", "rm", "rmdir", "sed", "tee", "touch"];

/// What Claude reads all the same.
const DOUBTS: [Doubt; 6] = [
    Doubt::Background,
    Doubt::Branch,
    Doubt::Captured,
    Doubt::Joined,
    Doubt::Loop,
    Doubt::Subshell,
];

/// The files of a command that Claude looks at. It looks at none where some part can only be known to the shell.
pub(super) fn looked_at(call: &ToolCall<'_>, reads: bool) -> Vec<String> {
    let Some(reading) = Reading::of(call).filter(|reading| reading.is_legible(&DOUBTS)) else {
        return Vec::new();
    };
    let analysis = reading.analysis.as_ref();
    let seen = analysis.seen();
    let known = if reads {
        READERS.as_slice()
    } else {
        WRITERS.as_slice()
    };
    let mut current = String::new();
    let mut named_files = Vec::new();
    for invocation in certain(analysis) {
        let words = behind_env(&invocation.words);
        let name = words.first().map(Word::text).unwrap_or_default();
        let fed = words.iter().any(|word| word.raw == FED);
        let compares = || name == "git" && words.iter().any(|word| matches!(word.text(), "diff" | "grep"));
        let mut files = if (known.contains(&name) || reads && compares()) && !fed {
            operands(words)
        } else {
            Vec::new()
        };
        match name {
            // Its target is written.
            "cp" if reads => {
                files.retain(|file| {
                    invocation
                        .words
                        .last()
                        .is_none_or(|last| last.raw != file.path.raw)
                });
            }
            "find" => files.truncate(1),
            "sed" if !reads => files.retain(|file| file.access.writes()),
            _ => {}
        }
        let places = files.iter().filter_map(|file| named(&file.path));
        named_files.extend(places.map(|file| from(&current, &file)));
        if let (true, Some(directory)) = (name == "cd", invocation.words.get(1)) {
            current = from(&current, directory.text());
        }
    }
    let redirections = seen
        .redirections
        .iter()
        .filter(|file| matches!(analysis, Analysis::Commands(_)) && file.access.writes() != reads);
    named_files.extend(redirections.filter_map(|file| named(&file.path)));
    named_files
}

/// The command that `env` runs.
fn behind_env(words: &[Word]) -> &[Word] {
    let mut words = words;
    while words.first().and_then(Word::literal) == Some("env") {
        words = behind_runner(words)
            .and_then(|at| words.get(at..))
            .unwrap_or_default();
    }
    words
}

/// The path as it is from the first directory, where commands have changed to another one.
fn from(current: &str, path: &str) -> String {
    if current.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{current}/{path}")
}

/// The file that a word names, or the directory of the files that a pattern stands for.
fn named(word: &Word) -> Option<String> {
    if let Some(text) = word.literal() {
        return Some(text.to_owned());
    }
    let (directory, _) = word.beginning().rsplit_once('/')?;
    Some(format!("{directory}/"))
}
