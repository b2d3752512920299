//! Builtins that expand text which the shell itself has left alone: names with an index, lists of words.
//!
//! Place in the flow: `runs` shows every command. `test -v 'a[$(id)]'` runs `id` although it is quoted. Must look into
//! literal words only; the others have been looked into already.

use super::Doubt;
use super::walk::Walker;
use super::word::{Piece, Word};

/// Builtins that expand their arguments once more.
const EXPANDERS: &[&str] = &[
    "test",
    "[",
    "printf",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "read",
    "let",
    "compgen",
    "complete",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "bind",
    "shift",
    "setopt",
    "print",
    "integer",
    "float",
];

/// Builtins one of whose arguments is code: behind these options.
const CODE_OPTIONS: &[(&str, &[&str])] = &[
    ("mapfile", &["-C"]),
    ("readarray", &["-C"]),
    ("complete", &["-C", "-W"]),
    ("compgen", &["-C", "-W"]),
    ("bind", &["-x"]),
    ("fc", &["-e"]),
];

/// Looks for code that the builtin expands or runs.
pub(super) fn look_into(walker: &mut Walker<'_>, name: &str, words: &[Word]) {
    if EXPANDERS.contains(&name) {
        for word in words.iter().skip(1) {
            expand(walker, word.text());
            assigned(walker, word.text());
        }
    }
    if let Some((_, options)) = CODE_OPTIONS.iter().find(|(builtin, _)| *builtin == name) {
        for (option, value) in words.iter().zip(words.iter().skip(1)) {
            if options.contains(&option.text()) {
                walker.doubt(Doubt::Code);
                walker.maybe(value.text());
                walker.coarse(value.text());
            }
        }
    }
    // From now on another name stands for the command.
    if name == "hash"
        && words
            .iter()
            .skip(1)
            .any(|word| word.beginning().starts_with("-p"))
    {
        walker.doubt(Doubt::Definition);
        for word in words.iter().skip(1) {
            let path = word.text().strip_prefix("-p").unwrap_or(word.text());
            let arguments = Word {
                pieces: vec![Piece::Anything],
                ..Word::plain(path)
            };
            walker
                .found
                .seen
                .fragments
                .push(vec![Word::plain(path).base_name(), arguments]);
        }
    }
}

/// A quoted text that is expanded all the same.
pub(super) fn expand(walker: &mut Walker<'_>, text: &str) {
    if text.contains("$(") || text.contains('`') {
        walker.expand(text);
    }
}

/// `export NAME=code`
fn assigned(walker: &mut Walker<'_>, text: &str) {
    if let Some((name, value)) = text.split_once('=') {
        assignment(walker, name, value, true);
    }
}

/// Endings of the names of variables that hold commands.
const COMMAND_VARIABLES: &[&str] = &[
    "COMMAND",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "SSH",
    "ASKPASS",
    "LESSOPEN",
    "LESSCLOSE",
    "BROWSER",
    "SHELL",
    "ENV",
    "WRAPPER",
    "RUNNER",
    "DIFF",
    "CMD",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT",
    "RSH",
    "OPEN",
    "FORMATTER",
    "MANROFFOPT",
    "LINKER",
    "CC",
    "CXX",
    "LD",
    "AR",
    "HELPER",
    "PREPROCESS",
    "FLAGS",
    "OPTS",
    "OPTIONS",
    "TERMINAL",
    "PROXY",
    "HOOK",
    "TRAP",
    "VALUE_0",
    "VALUE_1",
    "VALUE_2",
    "PARAMETERS",
];

/// The value of a variable: code for whoever runs the variable, or expands it.
pub(super) fn assignment(walker: &mut Walker<'_>, name: &str, value: &str, passed_on: bool) {
    let names_command = COMMAND_VARIABLES
        .iter()
        .any(|ending| name.trim_end_matches('+').ends_with(ending));
    let expands = value.contains("$(") || value.contains('`');
    let code = value.contains(|c: char| c.is_whitespace() || ";&|".contains(c));
    if names_command || expands || (passed_on && code) {
        walker.maybe(value);
    }
    if names_command {
        walker.coarse(value);
        if code && !value.starts_with('-') {
            walker.doubt(Doubt::Code);
        }
    }
}
