//! Which files commands are given, and where relative paths start.
//!
//! Place in the flow: `runs` asks for every command; rules about Read and Edit, and `confine`, look at the result. Only
//! commands that are known for opening files are looked at, but of those every argument that may be a path.

use super::{Access, FileUse, word::Word};

const READERS: &[&str] = &[
    "awk",
    "base64",
    "bat",
    "bzcat",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "gawk",
    "head",
    "hexdump",
    "jq",
    "less",
    "mawk",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "pr",
    "rev",
    "sed",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sort",
    "source",
    ".",
    "strings",
    "sum",
    "tac",
    "tail",
    "tr",
    "uniq",
    "view",
    "wc",
    "xxd",
    "yq",
    "zcat",
    "zless",
    "iconv",
    "cksum",
    "b2sum",
    "stat",
    "ls",
    "du",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "test",
    "[",
    "cd",
    "pushd",
];

const TREE_READERS: &[&str] = &["ag", "fd", "find", "grep", "rg", "tree", "zgrep"];

const WRITERS: &[&str] = &[
    "ed", "ex", "mkdir", "mkfifo", "mknod", "patch", "tee", "touch", "truncate", "unzip", "split", "csplit",
];

/// What they do to a directory happens to all that is in it.
const TREE_WRITERS: &[&str] = &[
    "chgrp", "chmod", "chown", "mv", "rm", "rmdir", "setfacl", "shred", "unlink",
];

/// They read some of their files and write others.
const CARRIERS: &[&str] = &[
    "bunzip2", "bzip2", "cp", "cpio", "curl", "dd", "emacs", "gunzip", "gzip", "install", "ln", "nano", "nc",
    "nvim", "openssl", "rsync", "scp", "tar", "vi", "vim", "wget", "xz", "zip",
];

/// Those of them that take whole directories, with an option or by their nature.
const TREE_CARRIERS: &[&str] = &["cp", "cpio", "gzip", "rsync", "scp", "tar", "zip"];

/// Their first operand is a pattern or a program.
const SEARCHERS: &[&str] = &[
    "ag", "awk", "egrep", "fgrep", "gawk", "grep", "gsed", "jq", "mawk", "rg", "sed", "yq", "zgrep",
];

/// The files that a command is given.
pub(crate) fn operands(words: &[Word]) -> Vec<FileUse> {
    let Some((name, arguments)) = words.split_first() else {
        return Vec::new();
    };
    let name = name.base_name();
    let Some(accesses) = accesses(name.text(), arguments) else {
        return Vec::new();
    };
    let mut uses: Vec<FileUse> = Vec::new();
    let pattern = pattern_at(name.text(), arguments);
    let words = arguments
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != pattern);
    for path in words.flat_map(|(_, word)| paths(word)) {
        uses.extend(accesses.iter().map(|&access| FileUse {
            path: path.clone(),
            access,
        }));
    }
    // Without a path, a reader of trees reads the working directory.
    let operand = |(at, word): (usize, &Word)| Some(at) != pattern && !word.beginning().starts_with('-');
    let searches = TREE_READERS.contains(&name.text()) && accesses.contains(&Access::ReadTree);
    let bare = SEARCHERS.contains(&name.text()) && pattern.is_none();
    if searches && (bare || !arguments.iter().enumerate().any(operand)) {
        uses.push(FileUse {
            path: Word::plain("."),
            access: Access::ReadTree,
        });
    }
    uses
}

/// Where the pattern or program is of a command whose first operand is one, unless an option brings it.
fn pattern_at(name: &str, arguments: &[Word]) -> Option<usize> {
    let brings = |word: &Word| {
        let text = word.beginning();
        let long = ["--e", "--f", "--re"]
            .iter()
            .any(|option| text.starts_with(option));
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains(['e', 'f']);
        long || short || text.is_empty() && !word.raw.starts_with('"')
    };
    // Of git, it is the subcommand.
    if name != "git" && (!SEARCHERS.contains(&name) || arguments.iter().any(brings)) {
        return None;
    }
    arguments
        .iter()
        .position(|word| !word.beginning().starts_with('-'))
}

fn accesses(name: &str, arguments: &[Word]) -> Option<&'static [Access]> {
    let in_place = || arguments.iter().any(|word| is_in_place(word.beginning()));
    if matches!(name, "sed" | "perl" | "ruby" | "sort" | "uniq" | "awk" | "gawk") && in_place()
        || name == "uniq"
    {
        return Some(&[Access::Read, Access::Write]);
    }
    if name == "git" {
        return git(arguments);
    }
    if TREE_READERS.contains(&name) {
        let writes = arguments
            .iter()
            .any(|word| matches!(word.text(), "-delete" | "-exec" | "-execdir" | "-ok" | "-fls"));
        let writes = writes
            || arguments
                .iter()
                .any(|word| word.beginning().starts_with("-fprint"));
        return Some(match (writes, recursive(name, arguments)) {
            (true, _) => &[Access::ReadTree, Access::WriteTree],
            (false, true) => &[Access::ReadTree],
            (false, false) => &[Access::Read],
        });
    }
    if CARRIERS.contains(&name) {
        let tree = TREE_CARRIERS.contains(&name) && takes_directories(name, arguments);
        return Some(if tree {
            &[Access::ReadTree, Access::Write]
        } else {
            &[Access::Read, Access::Write]
        });
    }
    if TREE_WRITERS.contains(&name) {
        let deep = name == "mv" || arguments.iter().any(|word| is_recursive(word.beginning()));
        return Some(if deep {
            &[Access::WriteTree]
        } else {
            &[Access::Write]
        });
    }
    if WRITERS.contains(&name) {
        return Some(&[Access::Write]);
    }
    if READERS.contains(&name) {
        let tree = name == "diff" && recursive(name, arguments);
        return Some(if tree {
            &[Access::ReadTree]
        } else {
            &[Access::Read]
        });
    }
    None
}

/// `find`, `rg` and their kin are; `grep` and `diff` are with an option.
fn recursive(name: &str, arguments: &[Word]) -> bool {
    match name {
        "grep" | "zgrep" | "diff" => arguments.iter().any(|word| {
            let text = word.beginning();
            let long = ["--recursive", "--dereference-recursive", "--directories=recurse"];
            let long = text.len() > 2 && long.iter().any(|option| option.starts_with(text));
            let short = !text.starts_with("--") && text.starts_with('-') && text.contains(['r', 'R']);
            long || short || text.starts_with("-d")
        }),
        "find" => arguments
            .iter()
            .any(|word| matches!(word.text(), "-exec" | "-execdir" | "-ok" | "-okdir")),
        "tree" => false,
        _ => true,
    }
}

/// Whether a command that carries files may carry a directory: not `cp` without an option, nor `tar` that unpacks.
fn takes_directories(name: &str, arguments: &[Word]) -> bool {
    let Some(first) = arguments.first() else {
        return false;
    };
    match name {
        "tar" => {
            let letters = first.beginning();
            let unpacks = !letters.starts_with("--") && letters.contains(['x', 't']);
            !unpacks || first.literal().is_none()
        }
        "cp" | "gzip" | "scp" => arguments.iter().any(|word| {
            let text = word.beginning();
            let short =
                !text.starts_with("--") && text.starts_with('-') && text.contains(['r', 'R', 'a', 'd']);
            short
                || text.starts_with("--r")
                || text.starts_with("--a")
                || word.may_be_option() && word.literal().is_none()
        }),
        _ => true,
    }
}

/// Subcommands that show files or change them in the working tree.
fn git(arguments: &[Word]) -> Option<&'static [Access]> {
    let named = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.text()));
    if named(&["apply", "checkout", "clean", "mv", "restore", "rm"]) {
        return Some(&[Access::Read, Access::WriteTree]);
    }
    named(&["archive", "blame", "cat-file", "diff", "grep", "log", "show"]).then_some(&[Access::Read])
}

fn is_recursive(option: &str) -> bool {
    let short = option.starts_with('-') && !option.starts_with("--") && option.contains(['r', 'R', 'd']);
    short || option.len() > 2 && "--recursive".starts_with(option)
}

fn is_in_place(option: &str) -> bool {
    let short = option.starts_with('-') && !option.starts_with("--") && option.contains(['i', 'o']);
    short || option.starts_with("--in") || option.starts_with("--o")
}

/// What in a word may be a path: all of it, or what stands behind an option's name.
fn paths(word: &Word) -> Vec<Word> {
    let Some(text) = word.literal() else {
        return vec![word.clone()];
    };
    let mut found = Vec::new();
    let option = text.starts_with('-') && text.len() > 1;
    if !option {
        found.push(word.clone());
    }
    // `of=f`, `--file=f`
    let value = text.split_once('=').map(|(_, value)| value);
    found.extend(value.map(Word::plain));
    // `@f`, `name=@f;type=t`, `name=<f`
    for text in std::iter::once(text).chain(value) {
        let file = text.strip_prefix(['@', '<']);
        let file = file.map(|file| file.split(';').next().unwrap_or_default());
        found.extend(file.map(Word::plain));
    }
    // `HEAD:f`
    found.extend(text.split_once(':').map(|(_, path)| Word::plain(path)));
    // `-ff`, `-tdir`
    if option && !text.starts_with("--") {
        found.extend(
            text.get(2..)
                .filter(|rest| rest.contains(['/', '.']))
                .map(Word::plain),
        );
    }
    found.retain(|path| !path.text().is_empty());
    found
}

/// What every process may open without touching a file.
pub(super) fn is_standard_device(path: &str) -> bool {
    let descriptor = path.strip_prefix("/dev/fd/");
    let devices = [
        "/dev/null",
        "/dev/zero",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/stderr",
    ];
    devices.contains(&path)
        || descriptor.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}
