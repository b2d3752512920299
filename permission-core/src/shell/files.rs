//! Which files commands are given.
//!
//! Place in the flow: `runs` asks for every command; rules about Read and Edit, and `confine`, look at the result. Of
//! commands that are known for opening files every argument counts that may be a path, of others the options that are
//! known to name one.

use super::arguments::{self, Argument, Role};
use super::file_tables::{CARRIERS, READERS, SEARCHERS, TREE_CARRIERS, TREE_READERS, TREE_WRITERS, WRITERS};
use super::word::Word;
use super::{Access, FileUse, directories, feed, git_files, option_tables, scripts};

/// An unknown command's options are looked for among so many arguments.
const MAX_ARGUMENTS: usize = 200;

/// The files that a command is given.
pub(crate) fn operands(words: &[Word]) -> Vec<FileUse> {
    let Some((name, arguments)) = words.split_first() else {
        return Vec::new();
    };
    let base_name = name.base_name();
    let name = base_name.text();
    // What is not known opens what its long options say.
    let mut named = arguments.iter().take(MAX_ARGUMENTS);
    if !is_known(name) && !named.any(|word| word.beginning().starts_with("--")) {
        return Vec::new();
    }
    let read = arguments::read(name, arguments);
    let mut uses: Vec<FileUse> = read.iter().filter_map(valued).collect();
    if name == "git" {
        uses.extend(git_files::operands(&read));
    }
    uses.extend(carried(name, &read));
    uses.extend(scripts::files(name, &read));
    if let Some(accesses) = accesses(name, arguments) {
        uses.extend(listed(name, &read, accesses));
    }
    // What a command prints is no file.
    uses.retain(|file| {
        file.path.raw != feed::SUBSTITUTED
            && !is_standard_device(file.path.text())
            && !matches!(file.path.literal(), Some("" | "-"))
    });
    uses
}

/// Whether a command is one that changes the files it is given, and is given some.
pub(crate) fn is_writer(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let base_name = name.base_name();
    let name = base_name.text();
    let in_place = || {
        let mut options = arguments.iter().map(Word::beginning);
        options.any(|option| option.starts_with("-i") || option.starts_with("--in-place"))
    };
    let writes = TREE_WRITERS.contains(&name)
        // It lists, too.
        || WRITERS.contains(&name) && name != "unzip"
        || ["cp", "ln", "install"].contains(&name)
        || name == "sed" && in_place();
    writes && operands(words).iter().any(|file| file.access.writes())
}

fn is_known(name: &str) -> bool {
    let others = [
        "git",
        "perl",
        "ruby",
        "rsync",
        "scp",
        "pdftotext",
        "convert",
        "magick",
        "ffmpeg",
        "sqlite3",
        "nawk",
    ];
    others.contains(&name) || option_tables::options_of(name).is_some() || accesses(name, &[]).is_some()
}

/// The file that is an option's value.
fn valued(argument: &Argument) -> Option<FileUse> {
    let access = match argument.role {
        Role::Read | Role::Goes => Access::Read,
        Role::Write => Access::Write,
        Role::Plain | Role::Option | Role::Operand => return None,
    };
    Some(FileUse {
        path: argument.word.clone(),
        access,
    })
}

/// The arguments that may be paths, of a command that is known for opening files.
fn listed(name: &str, read: &[Argument], accesses: &[Access]) -> Vec<FileUse> {
    let mut uses: Vec<FileUse> = Vec::new();
    let pattern = pattern_at(name, read);
    let may_be_path = |(at, argument): &(usize, &Argument)| {
        let role = matches!(argument.role, Role::Operand | Role::Option);
        Some(*at) != pattern && role && !is_url(name, &argument.word)
    };
    let words = read.iter().enumerate().filter(may_be_path);
    for path in words.flat_map(|(_, argument)| paths(&argument.word)) {
        uses.extend(accesses.iter().map(|&access| FileUse {
            path: path.clone(),
            access,
        }));
    }
    // Without a path, a reader of trees reads the working directory.
    let operand = |(at, argument): (usize, &Argument)| Some(at) != pattern && argument.role == Role::Operand;
    let searches = TREE_READERS.contains(&name) && accesses.contains(&Access::ReadTree);
    let bare = SEARCHERS.contains(&name) && pattern.is_none() && !brings_pattern(name, read);
    if searches && (bare || !read.iter().enumerate().any(operand)) {
        uses.push(FileUse {
            path: Word::plain("."),
            access: Access::ReadTree,
        });
    }
    uses
}

/// What lands in a directory keeps its name; what is unpacked there may have any.
fn carried(name: &str, read: &[Argument]) -> Vec<FileUse> {
    let operands = || read.iter().filter(|argument| argument.role == Role::Operand);
    let used = |path: Word, access: Access| FileUse { path, access };
    match name {
        "cp" | "mv" | "ln" | "install" | "rsync" | "scp" => {
            let into = read.iter().find(|argument| argument.role == Role::Write);
            let Some(target) = into.or_else(|| operands().next_back()) else {
                return Vec::new();
            };
            let sources = operands().filter(|argument| argument.word != target.word);
            let lands = |source: &Argument| directories::below(&target.word, &source.word.base_name());
            sources.map(|source| used(lands(source), Access::Write)).collect()
        }
        "tar" | "unzip" => {
            let into = read.iter().filter(|argument| argument.role == Role::Goes);
            into.map(|argument| used(argument.word.clone(), Access::WriteTree))
                .collect()
        }
        "xxd" | "pdftotext" | "convert" | "magick" | "ffmpeg" => {
            let last = operands().skip(1).last().into_iter();
            last.map(|argument| used(argument.word.clone(), Access::Write))
                .collect()
        }
        "sqlite3" => {
            let first = operands().next().into_iter();
            let both = [Access::Read, Access::Write];
            first
                .flat_map(|argument| both.map(|access| used(argument.word.clone(), access)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// A place that is no file, for those who fetch from there.
fn is_url(name: &str, word: &Word) -> bool {
    let fetches = ["curl", "wget", "git", "http", "https", "aria2c", "xh"].contains(&name);
    let scheme = word
        .beginning()
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    let remote = ["http", "https", "ftp", "ftps", "ssh", "git", "ws", "wss"];
    fetches && scheme.is_some_and(|scheme| remote.contains(&scheme.as_str()))
}

/// Where the pattern or program is of a command whose first operand is one, unless an option brings it.
fn pattern_at(name: &str, read: &[Argument]) -> Option<usize> {
    // Of git, it is the subcommand.
    if name != "git" && (!SEARCHERS.contains(&name) || brings_pattern(name, read)) {
        return None;
    }
    read.iter().position(|argument| argument.role == Role::Operand)
}

/// Whether an option brings the pattern or program of a command, or may.
fn brings_pattern(name: &str, read: &[Argument]) -> bool {
    let letters = match name {
        "jq" => "f",
        "ag" | "yq" => "",
        "awk" | "gawk" | "mawk" => "efE",
        _ => "ef",
    };
    read.iter().any(|argument| {
        let text = argument.option.as_str();
        let long = ["--regexp", "--expression", "--file", "--from-file"];
        let long = text.starts_with("--") && text.len() > 3 && long.iter().any(|long| long.starts_with(text));
        let short =
            text.starts_with('-') && !text.starts_with("--") && text.ends_with(|c| letters.contains(c));
        let unknown = argument.role == Role::Operand
            && argument.word.may_be_option()
            && !argument.word.raw.starts_with('"');
        long || short || unknown
    })
}

fn accesses(name: &str, arguments: &[Word]) -> Option<&'static [Access]> {
    let in_place = || arguments.iter().any(|word| is_in_place(word.beginning()));
    if matches!(name, "sed" | "perl" | "ruby" | "sort" | "uniq" | "awk" | "gawk") && in_place()
        || name == "uniq"
    {
        return Some(&[Access::Read, Access::Write]);
    }
    if name == "git" {
        return git_files::accesses(arguments);
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
