//! Where the command of a wrapper or a runner begins.
//!
//! Place in the flow: `runs` asks. Must not guess past an option that it does not know: it says so instead.

use super::tables::{self, Kind, Runner};
use super::word::Word;

/// `command -v name`
pub(super) fn looks_up(words: &[Word]) -> bool {
    let [name, option, ..] = words else {
        return false;
    };
    name.literal() == Some("command") && matches!(option.literal(), Some("-v" | "-V"))
}

/// Where the command of a wrapper begins.
pub(super) fn begins(words: &[&str]) -> Option<usize> {
    let (name, arguments) = words.split_first()?;
    let number = |text: &str| text.chars().next().is_some_and(|c| c.is_ascii_digit());
    let skipped = match *name {
        "timeout" => {
            let flags = ["--preserve-status", "--foreground", "-v", "--verbose"];
            let options = options(arguments, &flags, &["-k", "-s", "--kill-after", "--signal"])?;
            arguments.get(options).filter(|text| number(text))?;
            options + 1
        }
        "nice" => match arguments.first().and_then(|option| option.strip_prefix('-')) {
            Some(digits) if !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) => 1,
            Some(_) | None => options(arguments, &[], &["-n", "--adjustment"])?,
        },
        "stdbuf" => options(
            arguments,
            &[],
            &["-i", "-o", "-e", "--input", "--output", "--error"],
        )?,
        "time" => options(arguments, &["-p"], &[])?,
        "nohup" | "xargs" | "command" | "builtin" | "noglob" => 0,
        _ => return None,
    };
    let inner = arguments.get(skipped)?;
    (!inner.starts_with('-') && !inner.is_empty()).then_some(skipped + 1)
}

/// Where the command of a runner begins that changes who runs it, when, or under which watch, but not what runs.
pub(crate) fn behind_runner(words: &[Word]) -> Option<usize> {
    const NAMES: [&str; 7] = ["doas", "env", "exec", "pkexec", "strace", "sudo", "taskset"];
    const OTHERS: [Runner; 5] = [
        tables::runner("flock", &[], 1, &["-w", "-E"]),
        tables::runner("ionice", &[], 0, &["-c", "-n"]),
        tables::runner("setsid", &[], 0, &[]),
        tables::runner("unshare", &[], 0, &[]),
        tables::runner("watch", &[], 0, &["-n"]),
    ];
    let name = words.first()?.literal()?;
    if let Some(runner) = OTHERS.iter().find(|runner| runner.name == name) {
        return command_of(runner, words);
    }
    match tables::kind(name) {
        Kind::Runner(runner) if NAMES.contains(&name) => command_of(runner, words),
        Kind::Runner(_)
        | Kind::Wrapper
        | Kind::AlwaysAsks
        | Kind::Shell
        | Kind::Source
        | Kind::Evaluator
        | Kind::Interpreter
        | Kind::Ordinary => None,
    }
}

/// How many words are options; `None` where one is not known.
fn options(arguments: &[&str], flags: &[&str], values: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.starts_with('-')) {
        if *option == "--" {
            return Some(at + 1);
        }
        if flags.contains(option) {
            at += 1;
        } else if values.contains(option) {
            at += 2;
        } else if values.iter().any(|value| is_glued(option, value)) {
            at += 1;
        } else {
            return None;
        }
    }
    Some(at)
}

/// `-n5` or `--adjustment=5`.
fn is_glued(option: &str, value: &str) -> bool {
    let rest = option.strip_prefix(value).unwrap_or_default();
    if value.starts_with("--") {
        rest.starts_with('=')
    } else {
        !rest.is_empty()
    }
}

/// Where the command of a runner begins. With options that are not known, rather later than earlier.
pub(super) fn command_of(runner: &Runner, words: &[Word]) -> Option<usize> {
    let mut operands = runner.operands;
    let mut subcommand = runner.subcommands.is_empty();
    let mut arguments = words.iter().enumerate().skip(1);
    while let Some((at, word)) = arguments.next() {
        let text = word.beginning();
        if text.starts_with('-') && text.len() > 1 {
            if runner.values.contains(&word.text()) {
                arguments.next();
            }
        } else if !subcommand {
            if runner.subcommands.contains(&word.text()) {
                subcommand = true;
            } else if !matches!(word.text(), "compose" | "container") {
                return None;
            }
        } else if text.contains('=') && word.literal().is_some() {
            // `env NAME=value command`
        } else if operands > 0 {
            operands -= 1;
        } else {
            return Some(at);
        }
    }
    (subcommand && words.len() > 1).then(|| words.len() - 1)
}
