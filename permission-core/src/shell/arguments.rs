//! Arguments of a command: which are options, which are values of options, and what those are about.
//!
//! Place in the flow: `files` asks. Must not take an argument for a value that is none: then it would be no path.

use super::option_tables::{self, GOES_LONG, READ_LONG, WRITE_LONG};
use super::word::{Piece, Word};

/// What an argument is to its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// No option, and no value of one that is known.
    Operand,
    /// An option that is not known.
    Option,
    /// A value that is no path.
    Plain,
    /// A file that is read.
    Read,
    /// A file that is written.
    Write,
    /// A directory that the command goes to.
    Goes,
}

/// An argument, or the part of one that is a value.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) word: Word,
    pub(super) role: Role,
    /// The option, as far as it is known: `--file`, or letters up to the one with a value.
    pub(super) option: String,
}

/// The arguments of the command in order; a value that is a word of its own stands behind its option.
pub(super) fn read(name: &str, arguments: &[Word]) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    let mut options = true;
    let mut operands = 0;
    while let Some(word) = words.next() {
        let text = word.beginning();
        if options && word.literal() == Some("--") {
            options = false;
            continue;
        }
        if !options || !text.starts_with('-') || text.len() < 2 {
            operands += 1;
            found.push(argument(word.clone(), Role::Operand, ""));
            continue;
        }
        let (option, role, value) = if name == "git" {
            git_option(word, operands == 0)
        } else if text.starts_with("--") {
            long(name, word)
        } else {
            short(name, word)
        };
        match (role, value) {
            (Role::Operand | Role::Option, _) => found.push(argument(word.clone(), Role::Option, &option)),
            (role, Some(value)) => found.push(argument(value, role, &option)),
            (role, None) => {
                found.push(argument(Word::plain(""), Role::Plain, &option));
                found.extend(words.next().map(|value| argument(value.clone(), role, "")));
            }
        }
    }
    found
}

fn argument(word: Word, role: Role, option: &str) -> Argument {
    Argument {
        word,
        role,
        option: option.to_owned(),
    }
}

/// `--name=value` or `--name value`.
fn long(name: &str, word: &Word) -> (String, Role, Option<Word>) {
    let text = word.beginning();
    let option = text.split('=').next().unwrap_or(text);
    let plain = option_tables::options_of(name).map_or(&[][..], |options| options.plain_long);
    let role = if plain.contains(&option) {
        Role::Plain
    } else if WRITE_LONG.contains(&option) || option.len() > 4 && "--output".starts_with(option) {
        Role::Write
    } else if READ_LONG.contains(&option) {
        Role::Read
    } else if GOES_LONG.contains(&option) || option == "--prefix" && matches!(name, "npm" | "pnpm") {
        Role::Goes
    } else {
        Role::Option
    };
    let value = text
        .contains('=')
        .then(|| after(word, option.chars().count() + 1));
    // A value that is no path is seldom a word of its own, and a path must not be passed over.
    if role == Role::Plain && value.is_none() && option.starts_with("--col") {
        return (option.to_owned(), Role::Option, None);
    }
    (option.to_owned(), role, value)
}

/// Letters, up to one that takes a value.
fn short(name: &str, word: &Word) -> (String, Role, Option<Word>) {
    let text = word.beginning();
    let Some(options) = option_tables::options_of(name) else {
        return (text.to_owned(), Role::Option, None);
    };
    let cluster = text
        .chars()
        .skip(1)
        .take(option_tables::cluster(name))
        .enumerate();
    for (at, letter) in cluster {
        let roles = [
            (options.plain, Role::Plain),
            (options.reads, Role::Read),
            (options.writes, Role::Write),
            (options.goes, Role::Goes),
        ];
        if let Some((_, role)) = roles.into_iter().find(|(letters, _)| letters.contains(letter)) {
            let option: String = text.chars().take(at + 2).collect();
            let value = after(word, at + 2);
            let glued = value.literal() != Some("");
            return (option, role, glued.then_some(value));
        }
    }
    (text.to_owned(), Role::Option, None)
}

/// Git's own options stand before the subcommand.
fn git_option(word: &Word, before: bool) -> (String, Role, Option<Word>) {
    match word.literal() {
        Some("-C") if before => ("-C".to_owned(), Role::Goes, None),
        Some("-c" | "--namespace") if before => ("-c".to_owned(), Role::Plain, None),
        Some("--git-dir" | "--work-tree") if before => ("--git-dir".to_owned(), Role::Goes, None),
        _ if word.beginning().starts_with("--") => long("git", word),
        _ => (word.beginning().to_owned(), Role::Option, None),
    }
}

/// The word without so many characters, all of which are literal.
fn after(word: &Word, count: usize) -> Word {
    let mut rest = word.clone();
    if let Some(Piece::Text(text)) = rest.pieces.first_mut() {
        *text = text.chars().skip(count).collect();
        if text.is_empty() && rest.pieces.len() > 1 {
            rest.pieces.remove(0);
        }
    }
    rest.home = false;
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_with_its_option() {
        type Row<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, Role)]);
        let rows: &[Row<'_>] = &[
            (
                "cut",
                &["-d/", "-f1", "a"],
                &[("/", Role::Plain), ("1", Role::Plain), ("a", Role::Operand)],
            ),
            (
                "awk",
                &["-F", ",", "p", "f"],
                &[
                    ("", Role::Plain),
                    (",", Role::Plain),
                    ("p", Role::Operand),
                    ("f", Role::Operand),
                ],
            ),
            (
                "cp",
                &["-vt.claude", "x"],
                &[(".claude", Role::Write), ("x", Role::Operand)],
            ),
            ("x", &["--output=f"], &[("f", Role::Write)]),
            ("x", &["--outp", "f"], &[("", Role::Plain), ("f", Role::Write)]),
            ("x", &["-o", "f"], &[("-o", Role::Option), ("f", Role::Operand)]),
            (
                "grep",
                &["--exclude-dir=.git", "--", "-e"],
                &[(".git", Role::Plain), ("-e", Role::Operand)],
            ),
            (
                "git",
                &["-C", "d", "log", "-C", "x"],
                &[
                    ("", Role::Plain),
                    ("d", Role::Goes),
                    ("log", Role::Operand),
                    ("-C", Role::Option),
                    ("x", Role::Operand),
                ],
            ),
        ];
        for (name, words, expected) in rows {
            let words: Vec<Word> = words.iter().map(|word| Word::plain(word)).collect();
            let found = read(name, &words);
            let found: Vec<(&str, Role)> = found
                .iter()
                .map(|argument| (argument.word.text(), argument.role))
                .collect();
            assert_eq!(found, *expected, "{name} {words:?}");
        }
    }
}
