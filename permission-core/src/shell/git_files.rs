//! The files that git is given, by subcommand.
//!
//! Place in the flow: `files` asks. What git keeps in its own directory is not looked at.

use super::arguments::{Argument, Role};
use super::word::Word;
use super::{Access, FileUse};

/// Subcommands that show files or change them in the working tree.
pub(super) fn accesses(arguments: &[Word]) -> Option<&'static [Access]> {
    let named = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.text()));
    if named(&["apply", "checkout", "clean", "mv", "restore", "rm"]) {
        return Some(&[Access::Read, Access::WriteTree]);
    }
    named(&["archive", "blame", "cat-file", "diff", "grep", "log", "show"]).then_some(&[Access::Read])
}

/// What a subcommand opens besides the paths that it lists.
pub(super) fn operands(read: &[Argument]) -> Vec<FileUse> {
    let mut rest = read.iter().skip_while(|argument| argument.role != Role::Operand);
    let subcommand = rest
        .next()
        .map(|argument| argument.word.text())
        .unwrap_or_default();
    let rest: Vec<&Argument> = rest.collect();
    let mut operands = rest
        .iter()
        .filter(|argument| argument.role == Role::Operand)
        .map(|argument| &argument.word);
    match subcommand {
        "archive" | "format-patch" | "bundle" => {
            let mut uses = values(&rest, 'o', &[Access::Write]);
            if operands
                .next()
                .is_some_and(|word| subcommand == "bundle" && word.text() == "create")
            {
                uses.extend(operands.next().map(|file| used(file, Access::Write)));
            }
            uses
        }
        "config" => values(&rest, 'f', &[Access::Read, Access::Write]),
        "init" | "clone" => {
            let source = if subcommand == "clone" {
                operands.next()
            } else {
                None
            };
            let directory = operands.next().cloned().or_else(|| source.map(named_after));
            directory.iter().map(filled).collect()
        }
        "worktree" | "submodule" => {
            let adds = operands.next().is_some_and(|word| word.text() == "add");
            if adds {
                operands.map(filled).collect()
            } else {
                Vec::new()
            }
        }
        "grep" => {
            let untracked = rest.iter().any(|argument| {
                matches!(
                    argument.word.text(),
                    "--no-index" | "--untracked" | "--no-exclude-standard"
                )
            });
            let tree = used(&Word::plain("."), Access::ReadTree);
            untracked.then_some(tree).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn used(path: &Word, access: Access) -> FileUse {
    FileUse {
        path: path.clone(),
        access,
    }
}

/// A directory that is filled; the working directory is only where it is.
fn filled(directory: &Word) -> FileUse {
    let access = if directory.literal() == Some(".") {
        Access::Write
    } else {
        Access::WriteTree
    };
    used(directory, access)
}

/// The directory that a clone makes for itself.
fn named_after(source: &Word) -> Word {
    let name = source.text().trim_end_matches('/').trim_end_matches(".git");
    if name.is_empty() {
        return source.clone();
    }
    Word::plain(name.rsplit(['/', ':']).next().unwrap_or(name))
}

/// The values of an option: `-o f` or `-of`.
fn values(rest: &[&Argument], letter: char, accesses: &[Access]) -> Vec<FileUse> {
    let mut uses = Vec::new();
    for (at, argument) in rest.iter().enumerate() {
        let text = argument.word.text();
        let long = text.strip_prefix("--file").filter(|_| letter == 'f');
        let long = long.and_then(|rest| rest.is_empty().then_some("").or(rest.strip_prefix('=')));
        let short = text.strip_prefix('-').and_then(|text| text.strip_prefix(letter));
        let glued = long.or(short);
        let value = match glued {
            Some("") => rest.get(at + 1).map(|next| next.word.clone()),
            Some(glued) => Some(Word::plain(glued)),
            None => None,
        };
        let paths = value.iter();
        uses.extend(paths.flat_map(|path| accesses.iter().map(move |access| used(path, *access))));
    }
    uses
}
