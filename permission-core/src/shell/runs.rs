//! What a command runs besides itself: wrappers, runners, shells, code.
//!
//! Place in the flow: `walk` hands over every command; this file adds it and its other readings to what was found.
//! A wrapper is looked through; of a runner every word may begin the command that it runs. Must not drop a reading.

use super::{
    Doubt, Invocation, coarse, escapes, files,
    tables::{self, Kind, Runner},
    walk::Walker,
    word::Word,
};

/// So many words of a runner are looked at one by one.
const MAX_READINGS: usize = 64;

/// Adds a command with what it runs. `input` is what here-documents and here-strings feed to it.
pub(super) fn follow(walker: &mut Walker<'_>, mut invocation: Invocation, input: &[Word]) {
    let Some(first) = invocation.words.first() else {
        return add(walker, invocation);
    };
    let name = first.base_name();
    let Some(name) = name.literal() else {
        walker.doubt(Doubt::CommandName);
        return add(walker, invocation);
    };
    let bare = first.literal() == Some(name);
    match tables::kind(name) {
        Kind::Ordinary => {
            invocation.spelled = escapes::spelled(&invocation);
            if invocation.spelled > 0 {
                way_out(walker, &invocation);
            }
        }
        Kind::Interpreter => {
            invocation.spelled = escapes::spelled(&invocation);
            interpreter(walker, &invocation, input);
        }
        // It only looks a name up.
        Kind::Wrapper if looks_up(&invocation.words) => {}
        Kind::Wrapper => {
            suffixes(walker, &invocation);
            if let Some(inner) = unwrapped(walker, &invocation, bare) {
                invocation.certain = false;
                add(walker, invocation);
                return follow(walker, inner, input);
            }
        }
        Kind::Runner(runner) => {
            if let Some(at) = command_of(runner, &invocation.words) {
                invocation.spelled = at + 1;
                suffixes(walker, &invocation);
            }
        }
        Kind::AlwaysAsks => {
            walker.doubt(Doubt::Wrapper);
            suffixes(walker, &invocation);
        }
        Kind::Shell => shell(walker, &invocation.words, input),
        Kind::Evaluator => {
            walker.doubt(Doubt::Code);
            evaluate(walker, &invocation.words);
        }
    }
    add(walker, invocation);
}

fn add(walker: &mut Walker<'_>, invocation: Invocation) {
    walker.directories.note(&invocation.words);
    opens(walker, &invocation.words);
    walker.found.seen.invocations.push(invocation);
}

fn opens(walker: &mut Walker<'_>, words: &[Word]) {
    for file in files::operands(words) {
        let uses = walker.directories.locate(&file);
        walker.found.seen.files.extend(uses);
    }
}

/// Readings of a runner's arguments: a command may begin at every word, and a word may be a text of code.
fn suffixes(walker: &mut Walker<'_>, invocation: &Invocation) {
    let certain = std::mem::replace(&mut walker.certain, false);
    let arguments: Vec<Word> = invocation.words.iter().skip(1).cloned().collect();
    for at in 0..arguments.len().min(MAX_READINGS) {
        let words = arguments.get(at..).unwrap_or_default();
        let name = words.first().map(Word::base_name).unwrap_or_default();
        match tables::kind(name.text()) {
            Kind::Shell => shell(walker, words, &[]),
            Kind::Evaluator => {
                walker.doubt(Doubt::Code);
                evaluate(walker, words);
            }
            Kind::Interpreter | Kind::Ordinary | Kind::Wrapper | Kind::Runner(_) | Kind::AlwaysAsks => {}
        }
        code_in(walker, words.first());
        opens(walker, words);
    }
    if arguments.len() > MAX_READINGS {
        walker.doubt(Doubt::TooMany);
    }
    walker.found.seen.fragments.push(arguments);
    walker.certain = certain;
}

/// A word with blanks or operators in it may be code; if it is not, that is no reason to doubt the command.
fn code_in(walker: &mut Walker<'_>, word: Option<&Word>) {
    let code = word.and_then(Word::literal).unwrap_or_default();
    if code.contains(|c: char| c.is_whitespace() || ";&|`$".contains(c)) {
        let doubts = walker.found.doubts.len();
        walker.text(code);
        walker.found.doubts.truncate(doubts);
    }
}

/// The command behind a wrapper whose options are all known.
fn unwrapped(walker: &mut Walker<'_>, invocation: &Invocation, bare: bool) -> Option<Invocation> {
    let words: Vec<&str> = invocation.words.iter().map(Word::text).collect();
    let at = if bare { begins(&words) } else { None };
    let Some(at) = at else {
        walker.doubt(Doubt::Wrapper);
        return None;
    };
    let mut inner = Invocation {
        assignments: invocation.assignments.clone(),
        words: invocation.words.iter().skip(at).cloned().collect(),
        spelled: 0,
        certain: invocation.certain,
    };
    if words.first() == Some(&"xargs") {
        inner.words.push(Word::unknown("<input>"));
    }
    Some(inner)
}

/// `command -v name`
fn looks_up(words: &[Word]) -> bool {
    let [name, option, ..] = words else {
        return false;
    };
    name.literal() == Some("command") && matches!(option.literal(), Some("-v" | "-V"))
}

/// Where the command of a wrapper begins.
fn begins(words: &[&str]) -> Option<usize> {
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

/// How many words are options; `None` where one is not known.
fn options(arguments: &[&str], flags: &[&str], values: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.starts_with('-')) {
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
fn command_of(runner: &Runner, words: &[Word]) -> Option<usize> {
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
            if !runner.subcommands.contains(&word.text()) {
                return None;
            }
            subcommand = true;
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

fn shell(walker: &mut Walker<'_>, words: &[Word], input: &[Word]) {
    let is_code = |word: &Word| {
        let text = word.beginning();
        text.starts_with('-') && !text.starts_with("--") && text.contains('c')
    };
    let operands = words.iter().skip(1).filter(|word| !word.may_be_option()).count();
    let stdin = words
        .iter()
        .skip(1)
        .any(|word| word.beginning().starts_with("-s"));
    if words.iter().skip(1).any(is_code) {
        walker.doubt(Doubt::Code);
        words.iter().skip(1).for_each(|word| run_word(walker, word));
    } else if operands == 0 || stdin {
        walker.doubt(Doubt::Code);
        input.iter().for_each(|word| run_word(walker, word));
    }
}

fn evaluate(walker: &mut Walker<'_>, words: &[Word]) {
    for word in words.iter().skip(1) {
        run_word(walker, word);
        if let Some((_, value)) = word.text().split_once('=') {
            walker.text(value);
        }
    }
    let whole: Option<Vec<&str>> = words.iter().skip(1).map(Word::literal).collect();
    if let Some(whole) = whole.filter(|whole| whole.len() > 1) {
        walker.text(&whole.join(" "));
    }
}

/// Code in a word: as text if it is literal, else as words of which parts are not known.
fn run_word(walker: &mut Walker<'_>, word: &Word) {
    let certain = std::mem::replace(&mut walker.certain, false);
    match word.literal() {
        Some(text) => walker.text(text),
        None => {
            walker.found.seen.fragments.push(vec![word.clone()]);
            coarse::read(&word.raw, &mut walker.found);
        }
    }
    walker.certain = certain;
}

fn interpreter(walker: &mut Walker<'_>, invocation: &Invocation, input: &[Word]) {
    if invocation.words.len() == 1 || !input.is_empty() {
        walker.doubt(Doubt::Code);
    }
    if invocation.spelled > 0 || !input.is_empty() {
        let code = invocation.words.iter().skip(1).chain(input);
        code.for_each(|word| other_code(walker, word));
    }
}

/// Words of an ordinary command that has a way out: what follows may be a command, or code.
fn way_out(walker: &mut Walker<'_>, invocation: &Invocation) {
    suffixes(walker, invocation);
    for word in invocation.words.iter().skip(1) {
        if word
            .raw
            .contains(|c: char| c.is_whitespace() || "=(|/".contains(c))
        {
            other_code(walker, word);
        }
    }
}

/// Code that is no shell's: it is searched for commands, and may hold more than is found.
fn other_code(walker: &mut Walker<'_>, word: &Word) {
    match word.literal() {
        Some(text) => walker.coarse(text),
        None => coarse::read(&word.raw, &mut walker.found),
    }
}
