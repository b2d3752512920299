//! Commands that provably only read.
//!
//! Place in the flow: the plan guard lets them pass, and rules allow them without being asked where the files are in
//! the workspace. Must not know a command of which some option writes or runs, unless that option is refused here.

use super::word::Word;
use super::{Invocation, escapes, sed};

/// Whatever their arguments are.
const PLAIN: &[&str] = &[
    "ls",
    "cat",
    "echo",
    "pwd",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "wc",
    "which",
    "diff",
    "stat",
    "du",
    "true",
    "false",
    ":",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "cut",
    "tr",
    "nl",
    "tac",
    "rev",
    "comm",
    "cmp",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "test",
    "[",
    "seq",
    "type",
    "printf",
    "column",
    "fold",
    "paste",
    "expand",
    "strings",
    "od",
    "hexdump",
];

/// Only with literal arguments, none of which is a way out.
const CAREFUL: &[&str] = &["find", "sort", "rg", "tree", "file", "fd"];

/// Subcommands of git that only show, with what follows them.
const GIT_SHOWS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "rev-parse",
    "ls-files",
    "ls-tree",
    "cat-file",
    "describe",
    "shortlog",
    "rev-list",
    "name-rev",
    "merge-base",
    "for-each-ref",
    "count-objects",
    "grep",
    "--version",
];

/// Whether the command only reads.
pub(crate) fn is_read_only(invocation: &Invocation) -> bool {
    let Some((first, arguments)) = invocation.words.split_first() else {
        return invocation.assignments.is_empty();
    };
    let Some(name) = first.literal() else {
        return false;
    };
    let safe = invocation
        .assignments
        .iter()
        .all(|assignment| is_harmless(&assignment.name));
    if !safe || invocation.spelled > 0 || escapes::spelled(invocation) > 0 {
        return false;
    }
    let literal = arguments.iter().all(|word| word.literal().is_some());
    match name {
        "printf" => !arguments.iter().any(|word| word.may_be_option()),
        "test" | "[" => !arguments
            .iter()
            .any(|word| word.raw.contains(['[', '$']) && word.raw.len() > 1),
        "cd" => literal && arguments.len() == 1 && !arguments.iter().any(Word::may_be_option),
        "git" => literal && git(arguments),
        "sed" => literal && sed_reads(arguments),
        "command" => matches!(arguments.first().map(Word::text), Some("-v" | "-V")),
        "env" | "printenv" => arguments.is_empty(),
        name if PLAIN.contains(&name) => true,
        name if CAREFUL.contains(&name) => literal,
        _ => false,
    }
}

/// Variables that change nothing but words and colours.
pub(crate) fn is_harmless(name: &str) -> bool {
    let known = [
        "NODE_ENV",
        "LANG",
        "LANGUAGE",
        "TERM",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CI",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TZ",
        "COLUMNS",
        "LINES",
    ];
    known.contains(&name) || name.starts_with("LC_")
}

fn git(arguments: &[Word]) -> bool {
    let mut words = arguments
        .iter()
        .map(Word::text)
        .skip_while(|word| matches!(*word, "--no-pager" | "-P"));
    let Some(subcommand) = words.next() else {
        return true;
    };
    let rest: Vec<&str> = words.collect();
    let only = |known: &[&str]| rest.iter().all(|word| known.contains(word));
    match subcommand {
        "grep" => !rest.iter().any(|word| word.starts_with("-O")),
        "branch" => only(&[
            "-a",
            "-r",
            "-v",
            "-vv",
            "--all",
            "--remotes",
            "--list",
            "--show-current",
            "--verbose",
        ]),
        "tag" => only(&["-l", "--list", "-n"]),
        "remote" => only(&["-v", "--verbose"]) || rest.first() == Some(&"get-url"),
        "stash" => matches!(rest.first(), Some(&("list" | "show"))),
        "reflog" => rest.is_empty() || rest.first() == Some(&"show"),
        "worktree" => rest.first() == Some(&"list"),
        "config" => {
            matches!(rest.first(), Some(&("--get" | "--get-all" | "--list" | "-l"))) && rest.len() <= 2
        }
        subcommand => GIT_SHOWS.contains(&subcommand),
    }
}

/// `sed -n 'script' files`, nothing else.
fn sed_reads(arguments: &[Word]) -> bool {
    let mut words = arguments
        .iter()
        .map(Word::text)
        .skip_while(|word| matches!(*word, "-n" | "-E" | "-r"));
    words.next().is_some_and(sed::is_plain_script) && words.all(|file| !file.starts_with('-'))
}
