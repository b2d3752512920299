//! Commands that Claude itself runs without a rule and without a question.
//!
//! Place in the flow: `claude` asks, for `explain`. Everything here was seen on the real Claude 2.1.318; it takes some that
//! write or tell more than they should, and not some that only read. Must not be asked for a policy or the guard.

use crate::shell::{Invocation, Piece, Word, is_harmless, is_read_only, operands};

/// Whatever their arguments are, beside those that only read.
const ANY: &[&str] = &[
    "cal", "df", "expr", "fmt", "free", "groups", "id", "locale", "nproc", "numfmt", "pgrep", "pr", "sleep",
    "tsort", "uname", "unexpand", "uptime",
];

/// Only as they stand here.
const EXACT: &[&str] = &[
    "arch",
    "cd -",
    "claude --help",
    "claude -h",
    "help",
    "history",
    "ifconfig",
    "ip addr",
    "node --version",
    "node -v",
    "pwd",
    "python --version",
    "python3 --version",
    "whoami",
    "xargs",
];

/// Not even though they only read.
const ASKED: &[&str] = &[":", "cksum", "command", "env", "printenv", "sha512sum"];

/// What follows `xargs` and its options.
const FED: &[&str] = &["echo", "grep", "head", "printf", "tail", "wc"];

/// Their operands are files, though no table of files knows all of them.
const FILED: &[&str] = &["base64", "fmt", "jq", "man", "numfmt", "pr", "tsort", "unexpand"];

/// Nobody looks at what they are given.
const UNLOOKED: &[&str] = &["date", "df", "lsof", "tree"];

/// Claude expands no names of files for these.
const NO_PATTERNS: &[&str] = &[
    "[", "base64", "fd", "fdfind", "file", "find", "git", "jq", "rg", "seq", "sort", "test", "tree",
];

/// Options of a command as Claude reads them.
struct Options {
    name: &'static str,
    flags: &'static str,
    /// Letters with a value, which is a word of its own.
    valued: &'static str,
    /// Long options that it does not take.
    refused: &'static [&'static str],
    operands: fn(&str) -> bool,
}

const OPTIONS: &[Options] = &[
    options("base64", "dDi", "w", &[], any),
    options("date", "uRI", "dr", &["--set", "--file", "--iso-8601"], |word| {
        word.starts_with('+')
    }),
    options(
        "fd",
        "Hasip0IL",
        "etdEc",
        &["--exec", "--exec-batch", "--list-details"],
        any,
    ),
    options(
        "fdfind",
        "Hasip0IL",
        "etdEc",
        &["--exec", "--exec-batch", "--list-details"],
        any,
    ),
    options(
        "file",
        "bikLprs0nhv",
        "F",
        &["--magic-file", "--files-from", "--compile", "--uncompress"],
        any,
    ),
    options("help", "ds", "", &[], any),
    options("history", "", "", &[], |word| {
        word.chars().all(|c| c.is_ascii_digit())
    }),
    options("hostname", "fsiIaAd", "", &[], none),
    options("ifconfig", "", "", &[], any),
    options("lsof", "tnPi", "pu", &[], |word| !word.starts_with("+m")),
    options("man", "akfwd", "sS", &["--html", "--pager"], any),
    options("netstat", "lnrisga", "", &[], none),
    options("ps", "eAaldwHLTfjFNyc", "ptUuqsgGC", &[], |word| {
        !word.contains('e')
    }),
    options(
        "rg",
        "inlcvwoFLSHquh",
        "ABCegmtTfd",
        &[
            "--pre",
            "--hostname-bin",
            "--files",
            "--replace",
            "--sort",
            "--search-zip",
        ],
        any,
    ),
    options(
        "sort",
        "bdfghiMnRrsuVzcCm",
        "ktS",
        &[
            "--output",
            "--compress-program",
            "--random-source",
            "--temporary-directory",
        ],
        any,
    ),
    options(
        "ss",
        "tulnpaxsHw46",
        "f",
        &["--kill", "--diag", "--net"],
        |word| word != "=",
    ),
    options("tput", "", "T", &[], |word| {
        !matches!(word, "reset" | "init" | "clear")
    }),
    options("tree", "adfilpsDhH", "LIP", &[], any),
    options("uniq", "cdiuzD", "fsw", &[], none),
];

const fn options(
    name: &'static str,
    flags: &'static str,
    valued: &'static str,
    refused: &'static [&'static str],
    operands: fn(&str) -> bool,
) -> Options {
    Options {
        name,
        flags,
        valued,
        refused,
        operands,
    }
}

fn any(_: &str) -> bool {
    true
}

fn none(_: &str) -> bool {
    false
}

impl Options {
    fn take(&self, arguments: &[Word]) -> bool {
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let text = word.beginning();
            if text.starts_with("--") {
                let name = text.split('=').next().unwrap_or(text);
                if text == "--" {
                    continue;
                }
                if self.refused.contains(&name) && (name == text || name != "--iso-8601") {
                    return false;
                }
            } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                let one = letters.chars().next().filter(|_| letters.len() == 1);
                if one.is_some_and(|letter| self.valued.contains(letter)) {
                    words.next();
                } else if !letters.chars().all(|letter| self.flags.contains(letter))
                    && !self.is_glued(letters)
                {
                    return false;
                }
            } else if !(self.operands)(text) {
                return false;
            }
        }
        true
    }

    /// `-A3`
    fn is_glued(&self, letters: &str) -> bool {
        let number = letters.trim_start_matches(|letter| "ABC".contains(letter));
        self.name == "rg" && letters.len() == number.len() + 1 && number.chars().all(|c| c.is_ascii_digit())
    }
}

/// Whether Claude needs no rule for the command, as long as its files lie in the workspace.
pub(super) fn is_unasked(invocation: &Invocation) -> bool {
    let Some((first, arguments)) = invocation.words.split_first() else {
        return is_read_only(invocation);
    };
    let harmless = invocation
        .assignments
        .iter()
        .all(|assignment| is_harmless(&assignment.name));
    let Some(name) = first.literal().filter(|_| harmless) else {
        return false;
    };
    let texts: Vec<&str> = invocation.words.iter().map(Word::text).collect();
    if EXACT.contains(&texts.join(" ").as_str()) {
        return true;
    }
    let literal = arguments.iter().all(|word| word.literal().is_some());
    let dollar = arguments.iter().any(|word| word.beginning().contains('$'));
    let plain = literal || !NO_PATTERNS.contains(&name);
    if ASKED.contains(&name) || !plain || dollar && !matches!(name, "echo" | "jq" | "printf") {
        return false;
    }
    let rest = texts.get(1..).unwrap_or_default();
    match name {
        "arch" | "pwd" | "whoami" => false,
        "docker" => matches!(rest.first(), Some(&("ps" | "images" | "logs" | "inspect"))),
        "git" => git(invocation, rest),
        "ifconfig" => matches!(rest, [interface] if !interface.starts_with('-')),
        "jq" => jq(rest),
        "printf" => {
            let format = rest.strip_prefix(&["--"]).unwrap_or(rest);
            format.first().is_none_or(|format| !format.starts_with('-'))
        }
        "sed" => matches!(rest, ["-n" | "--quiet" | "--silent", script, ..] if prints_lines(script)),
        "test" => is_read_only(invocation) && !rest.contains(&"="),
        "[" => is_read_only(invocation) && !rest.iter().any(|word| compares_numbers(word)),
        "xargs" => fed(arguments),
        _ => {
            let options = OPTIONS.iter().find(|options| options.name == name);
            let only_reads = ["fd", "file", "rg", "sort", "tree"].contains(&name);
            match options {
                Some(options) => options.take(arguments) && (!only_reads || is_read_only(invocation)),
                None => name == "fdfind" || ANY.contains(&name) || is_read_only(invocation),
            }
        }
    }
}

/// What the command is given that must lie in the workspace: for a pattern, the directory of what it stands for.
pub(super) fn looked_at(words: &[Word]) -> Vec<Word> {
    let name = words.first().map(Word::text).unwrap_or_default();
    if UNLOOKED.contains(&name) {
        return Vec::new();
    }
    let mut files: Vec<Word> = operands(words).into_iter().map(|file| file.path).collect();
    if name == "find" {
        // What stands behind the first test is no directory to search, whatever it looks like.
        let tests = |word: &&Word| word.beginning().starts_with(['-', '(', '!']);
        let directories = words.iter().skip(1).take_while(|word| !tests(word));
        let compared = words.iter().zip(words.iter().skip(1));
        let compared =
            compared.filter(|(test, _)| test.text().contains("newer") || test.text() == "-samefile");
        files = directories
            .chain(compared.map(|(_, file)| file))
            .cloned()
            .collect();
    }
    if FILED.contains(&name) {
        let arguments = words.iter().skip(1);
        files.extend(
            arguments
                .filter(|word| !word.beginning().starts_with('-'))
                .cloned(),
        );
    }
    let place = |word: Word| {
        if !word.pieces.contains(&Piece::FileNames) || word.raw.contains("..") {
            return word;
        }
        let directory = word.beginning().rsplit_once('/');
        Word::plain(directory.map_or(
            ".",
            |(directory, _)| if directory.is_empty() { "/" } else { directory },
        ))
    };
    files.into_iter().map(place).collect()
}

fn git(invocation: &Invocation, rest: &[&str]) -> bool {
    let (subcommand, arguments) = rest.split_first().unwrap_or((&"", &[]));
    let among = |refused: &[&str]| arguments.iter().any(|word| refused.contains(word));
    match *subcommand {
        "" | "--no-pager" | "--version" | "-P" | "count-objects" | "ls-tree" | "name-rev" => false,
        "branch" => {
            let lists =
                |word: &&str| matches!(*word, "--list" | "-l" | "--contains" | "--merged" | "--no-merged");
            is_read_only(invocation) || arguments.first().is_some_and(lists)
        }
        "tag" => arguments.is_empty() || matches!(arguments.first(), Some(&("-l" | "--list"))),
        "config" => matches!(arguments, ["--get", _]),
        "reflog" => is_read_only(invocation) && !among(&["HEAD"]),
        "remote" => matches!(arguments, [] | ["-v" | "--verbose"]),
        "diff" => is_read_only(invocation) && !among(&["-w"]),
        "status" => !arguments
            .iter()
            .any(|word| word.starts_with("-u") && word.len() > 2),
        _ => is_read_only(invocation) && !among(&["--help"]),
    }
}

fn jq(arguments: &[&str]) -> bool {
    let options = [
        "--from-file",
        "--slurpfile",
        "--rawfile",
        "--run-tests",
        "--library-path",
    ];
    arguments.iter().all(|word| {
        let option = word.starts_with('-');
        let short = option && !word.starts_with("--") && word.contains(['f', 'L']);
        let mut names = word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let tells = |name: &str| matches!(name, "env" | "ENV" | "import" | "include" | "system");
        !short && !options.contains(word) && (option || !names.any(tells))
    })
}

/// `1,5p;7p`
fn prints_lines(script: &str) -> bool {
    script.split(';').all(|line| {
        let range = line.trim().strip_suffix('p').unwrap_or_default();
        !range.is_empty() && range.chars().all(|c| c.is_ascii_digit() || c == ',')
    })
}

fn compares_numbers(word: &str) -> bool {
    matches!(word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// `xargs`, its options as words of their own, and one of a few commands.
fn fed(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(|word| word.raw.as_str());
    while let Some(word) = words.next() {
        match word {
            "-0" => {}
            "-n" | "-I" => {
                words.next();
            }
            name => return FED.contains(&name),
        }
    }
    true
}

/// Whether Claude lets `xargs` run the command.
pub(super) fn is_fed(name: &str) -> bool {
    FED.contains(&name)
}
