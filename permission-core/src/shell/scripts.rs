//! Files that scripts of sed and programs of awk open by themselves.
//!
//! Place in the flow: `files` asks. A plain script opens none; of another one, all that may be a name counts.

use super::arguments::{Argument, Role};
use super::word::Word;
use super::{Access, FileUse, sed};

/// The files that the script or program of the command names.
pub(super) fn files(name: &str, read: &[Argument]) -> Vec<FileUse> {
    let mut texts = read.iter().enumerate().filter_map(|(at, argument)| {
        let before = at.checked_sub(1).and_then(|at| read.get(at));
        let option =
            |argument: &Argument| argument.option.ends_with('e') || argument.option == "--expression";
        let value = argument.role == Role::Plain && (option(argument) || before.is_some_and(option));
        let first = read.iter().position(|argument| argument.role == Role::Operand) == Some(at);
        (first || value).then(|| argument.word.text())
    });
    match name {
        "sed" | "gsed" => texts.flat_map(of_sed).collect(),
        "awk" | "gawk" | "mawk" | "nawk" => {
            let program = texts.next().unwrap_or_default();
            let mut uses = of_awk(program);
            // `print > f` with `f=name` among the arguments.
            if !sed::is_plain_program(program) {
                let values = read
                    .iter()
                    .filter_map(|argument| argument.word.text().split_once('='));
                uses.extend(values.flat_map(|(_, value)| both(value)));
            }
            uses
        }
        _ => Vec::new(),
    }
}

fn both(path: &str) -> [FileUse; 2] {
    [Access::Read, Access::Write].map(|access| FileUse {
        path: Word::plain(path),
        access,
    })
}

/// `r f`, `w f`, `s/a/b/w f`: the name goes on to the end of the line.
fn of_sed(script: &str) -> Vec<FileUse> {
    if sed::is_plain_script(script) {
        return Vec::new();
    }
    let mut uses = Vec::new();
    for line in script.lines() {
        let mut before = ';';
        for (at, c) in line.char_indices() {
            let access = match c {
                'r' | 'R' => Some(Access::Read),
                'w' | 'W' => Some(Access::Write),
                _ => None,
            };
            let begins = !before.is_alphabetic() || "gpiIMe".contains(before);
            let name = line.get(at + 1..).unwrap_or_default().trim();
            if let Some(access) = access.filter(|_| begins && !name.is_empty()) {
                let path = Word::plain(name);
                uses.push(FileUse { path, access });
            }
            before = c;
        }
    }
    uses
}

/// `print > "f"`, `getline < "f"`.
fn of_awk(program: &str) -> Vec<FileUse> {
    let mut uses = Vec::new();
    for part in program.split(['<', '>']).skip(1) {
        let name = part
            .trim_start()
            .strip_prefix('"')
            .and_then(|rest| rest.split('"').next());
        uses.extend(name.into_iter().flat_map(both));
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_scripts_are_seen_and_patterns_are_not() {
        let rows: &[(&str, &[&str])] = &[
            ("r .env", &[".env"]),
            ("1r.env", &[".env"]),
            ("$!r .env", &[".env"]),
            ("/x/r .env", &[".env"]),
            ("s/a/b/w f", &["f"]),
            ("s/a/b/gw f", &["f"]),
            ("p\nw f", &["f"]),
            ("s/r/w/g", &[]),
            ("/w x/p", &[]),
        ];
        for (script, expected) in rows {
            let uses = of_sed(script);
            let found: Vec<&str> = uses.iter().map(|file| file.path.text()).collect();
            assert_eq!(found, *expected, "{script}");
        }
    }
}
