//! Arguments with which an ordinary command runs or writes something else.
//!
//! Place in the flow: `runs` asks how many words a rule must spell out; `readonly` wants none. Long options count in
//! every shortened form. Must count what it cannot read.

use super::commands::Invocation;
use super::word::{Piece, Word};
use super::{sed, tables, ways};

/// So many words, from the first, a rule must spell out: up to the last one with a way out, and its value.
pub(super) fn spelled(invocation: &Invocation) -> usize {
    let Some(name) = invocation.words.first().map(Word::base_name) else {
        return 0;
    };
    let name = name.text();
    let table = ways::escapes(name);
    let script = match name {
        "sed" | "gsed" => sed_scripts(&invocation.words),
        "awk" | "gawk" | "mawk" | "nawk" => awk_programs(&invocation.words),
        _ => None,
    };
    let globals = if name == "git" {
        git_globals(&invocation.words)
    } else {
        0
    };
    let last = own_arguments(name, &invocation.words).rposition(|word| {
        let unknown = word.pieces.first() == Some(&Piece::Anything);
        table
            .is_some_and(|table| unknown || is_way_out(word, table) || begins(word, table, &invocation.words))
    });
    // `rposition` counts behind the name; the way out's value is the next word.
    let end = last.map_or(0, |at| at + 3);
    end.max(globals)
        .max(script.unwrap_or(0))
        .min(invocation.words.len())
}

/// The arguments that are the command's: behind the script that an interpreter runs, they are the script's.
fn own_arguments<'a>(name: &str, words: &'a [Word]) -> std::iter::Take<std::slice::Iter<'a, Word>> {
    let arguments = words.get(1..).unwrap_or_default();
    let script = arguments.first().and_then(Word::literal);
    let is_script = script.is_some_and(|script| !script.is_empty() && !script.starts_with('-'));
    let count = if is_script && tables::runs_scripts(name) {
        1
    } else {
        arguments.len()
    };
    arguments.iter().take(count)
}

/// `git -c name=value …`: the options before the subcommand.
fn git_globals(words: &[Word]) -> usize {
    let harmless = ["--no-pager", "--version", "--help", "-P"];
    let options = words
        .iter()
        .skip(1)
        .take_while(|word| word.may_be_option())
        .collect::<Vec<_>>();
    if options.iter().all(|option| harmless.contains(&option.text())) {
        return 0;
    }
    // The option's value, and the subcommand.
    options.len() + 3
}

fn is_way_out(word: &Word, table: &ways::Escape) -> bool {
    let text = word.beginning();
    if table.words.contains(&word.text()) {
        return true;
    }
    if text.starts_with("--") {
        let name = text.split('=').next().unwrap_or(text);
        return name.len() > 2 && table.long.iter().any(|long| long.starts_with(name));
    }
    let Some(cluster) = text.strip_prefix('-') else {
        return false;
    };
    cluster.contains(|c| table.short.contains(c))
}

/// A word that says by its beginning what it does.
fn begins(word: &Word, table: &ways::Escape, words: &[Word]) -> bool {
    let text = word.beginning().to_ascii_lowercase();
    let behind =
        |subcommand: &str| subcommand.is_empty() || words.iter().any(|word| word.text() == subcommand);
    table.begins.iter().any(|(subcommand, beginning)| {
        text.starts_with(&beginning.to_ascii_lowercase()) && behind(subcommand)
    })
}

/// The words up to the last script of sed that does more than transform, or that is not known.
fn sed_scripts(words: &[Word]) -> Option<usize> {
    let (mut scripts, mut operands) = (Vec::new(), Vec::new());
    let mut options = true;
    let mut arguments = words.iter().enumerate().skip(1);
    while let Some((at, word)) = arguments.next() {
        let text = word.beginning();
        if options && text == "--" {
            options = false;
        } else if options && text.starts_with("--") {
            // Any other long option may be a shortened one, or carry a script.
            let harmless = [
                "--quiet",
                "--silent",
                "--regexp-extended",
                "--in-place",
                "--null-data",
            ];
            scripts.push((at, harmless.contains(&text)));
        } else if options && text.len() > 1 && text.starts_with('-') {
            let cluster = text.trim_start_matches('-');
            let glued = cluster
                .split_once('e')
                .filter(|(before, _)| !before.contains('i'));
            match glued {
                Some((_, "")) => {
                    let script = arguments.next();
                    scripts.extend(script.map(|(at, word)| (at, is_plain(word))));
                }
                Some((_, script)) => {
                    scripts.push((at, word.literal().is_some() && sed::is_plain_script(script)))
                }
                None => {
                    let file = cluster.split('i').next().unwrap_or_default().contains('f');
                    scripts.push((at, !file && word.literal().is_some()));
                }
            }
        } else {
            operands.push((at, is_plain(word)));
        }
    }
    let given = scripts
        .iter()
        .any(|(at, _)| words.get(*at).is_some_and(|word| !word.may_be_option()));
    let glued = words
        .iter()
        .any(|word| word.beginning().starts_with("-e") && word.beginning().len() > 2);
    if !given && !glued {
        scripts.extend(operands.first());
    }
    let last = scripts
        .into_iter()
        .filter(|(_, plain)| !plain)
        .map(|(at, _)| at)
        .max();
    last.map(|at| at + 1)
}

fn is_plain(word: &Word) -> bool {
    word.literal().is_some_and(sed::is_plain_script)
}

/// The words up to the last one that may be a program of awk with ways out.
fn awk_programs(words: &[Word]) -> Option<usize> {
    let last = words.iter().rposition(|word| {
        let file = ["-f", "-i", "-l", "-E", "--"]
            .iter()
            .any(|option| word.beginning().starts_with(option));
        file || word
            .literal()
            .is_none_or(|program| !sed::is_plain_program(program))
    });
    last.map(|at| at + 1)
}
