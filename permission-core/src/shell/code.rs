//! Code that a command is given: in its arguments, or through its input.
//!
//! Place in the flow: `runs` comes here for shells, evaluators and interpreters. Code of which nothing is known may run
//! anything; a script in a file is only a file.

use super::feed::{self, Input};
use super::walk::Walker;
use super::word::Word;
use super::{Doubt, Invocation, coarse, tables};

/// Options of shells whose value is the next word.
const SHELL_VALUES: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

/// A shell: code behind `-c`, or from its input, unless it runs a file.
pub(super) fn shell(walker: &mut Walker<'_>, words: &[Word], input: &Input) {
    let is_code = |word: &Word| {
        let text = word.beginning();
        let lower = text.to_ascii_lowercase();
        let long = [
            "--command",
            "-command",
            "-encodedcommand",
            "-enc",
            "--init-command",
        ];
        let short = text.starts_with('-') && !text.starts_with("--") && lower.contains('c');
        short || long.iter().any(|option| lower.starts_with(option))
    };
    if words.iter().skip(1).any(is_code) {
        walker.doubt(Doubt::Code);
        for word in words.iter().skip(1) {
            run_word(walker, word);
            // `--command=code`
            if let Some((_, code)) = word.text().split_once('=').filter(|_| word.may_be_option()) {
                walker.maybe(code);
            }
        }
        return;
    }
    let starts = |pair: &[Word]| match pair {
        [option, file] => matches!(option.text(), "--rcfile" | "--init-file") && feed::is_input(file),
        _ => false,
    };
    if words.windows(2).any(starts) {
        run_fed(walker, &input.substituted);
    }
    let operand = first_operand(words);
    let stdin = words
        .iter()
        .skip(1)
        .any(|word| word.beginning().starts_with("-s"));
    match operand {
        Some(word) if feed::is_input(word) => {
            walker.doubt(Doubt::Code);
            let reached = walker.reaches(input);
            if reached.is_empty() && input.substituted.is_empty() {
                walker.found.anything |= word.text() != "-" && word.text() != "/dev/stdin";
            }
            run_fed(walker, &reached);
            run_fed(walker, &input.substituted);
        }
        Some(word) if !word.may_be_option() && !stdin => {}
        Some(_) | None => {
            walker.doubt(Doubt::Code);
            run_fed(walker, &walker.reaches(input));
        }
    }
}

/// The script of a shell, if it is given one.
fn first_operand(words: &[Word]) -> Option<&Word> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.beginning();
        if SHELL_VALUES.contains(&word.text()) {
            words.next();
        } else if text.len() < 2 || !text.starts_with(['-', '+']) {
            return Some(word);
        }
    }
    None
}

/// `source` and `.`: a file of commands, or what comes in.
pub(super) fn source(walker: &mut Walker<'_>, words: &[Word], input: &Input) {
    let comes_in = words.get(1).is_some_and(feed::is_input);
    if comes_in {
        shell(walker, words, input);
    }
}

/// A command that takes its own commands from its input.
pub(super) fn fed_commands(walker: &mut Walker<'_>, words: &[Word], input: &Input) {
    let name = words.first().map(Word::base_name).unwrap_or_default();
    let arguments = || words.iter().skip(1);
    let file = |word: &Word| {
        ["-f", "--f", "-s", "--makefile"]
            .iter()
            .any(|option| word.beginning().starts_with(option))
    };
    let glued = |word: &Word| {
        let text = word.text();
        file(word) && text.len() > 2 && (text.ends_with('-') || text.ends_with("/dev/stdin"))
    };
    let named = arguments().any(feed::is_input) && (name.text() == "crontab" || arguments().any(file));
    let Some(reads) = tables::reads_commands(name.text(), named || arguments().any(glued)) else {
        return;
    };
    let reached = walker.reaches(input);
    for word in reached.iter().chain(&input.substituted) {
        if reads.strictly && word.pieces == Word::unknown("").pieces {
            walker.found.anything = true;
        }
        if let Some(text) = word.literal() {
            walker.maybe(text);
        }
        if reads.strictly || walker.fed_code || word.literal().is_some() {
            walker.doubt(Doubt::Code);
        }
        other_code(walker, word);
    }
}

pub(super) fn evaluate(walker: &mut Walker<'_>, words: &[Word]) {
    for word in words.iter().skip(1) {
        run_word(walker, word);
        if let Some((_, value)) = word.text().split_once('=') {
            walker.as_reading(|walker| walker.text(value));
        }
    }
    let whole: Option<Vec<&str>> = words.iter().skip(1).map(Word::literal).collect();
    if let Some(whole) = whole.filter(|whole| whole.len() > 1) {
        walker.as_reading(|walker| walker.text(&whole.join(" ")));
    }
}

/// Code in a word: as text if it is literal, else as words of which parts are not known.
fn run_word(walker: &mut Walker<'_>, word: &Word) {
    walker.as_reading(|walker| match word.literal() {
        Some(text) => walker.text(text),
        None => {
            walker.found.seen.fragments.push(vec![word.clone()]);
            coarse::read(&word.raw, &mut walker.found);
        }
    });
}

/// Code that comes in: where nothing of it is known, it may be anything.
fn run_fed(walker: &mut Walker<'_>, input: &[Word]) {
    // A shell within the code reads the same input, which has been read then.
    let fed = std::mem::take(&mut walker.fed);
    for word in input {
        if word.pieces == Word::unknown("").pieces {
            walker.found.anything = true;
        } else {
            run_word(walker, word);
        }
    }
    walker.fed = fed;
}

pub(super) fn interpreter(walker: &mut Walker<'_>, invocation: &Invocation, input: &Input) {
    let words = &invocation.words;
    if words.len() == 1 || !input.given.is_empty() {
        walker.doubt(Doubt::Code);
    }
    if invocation.spelled > 0 || !input.given.is_empty() {
        let code = words.iter().skip(1).chain(&input.given);
        code.for_each(|word| other_code(walker, word));
    }
    // `-c code` or `-m module` brings the program; what comes in is data then.
    let brings = invocation.spelled > 0 && words.iter().skip(1).any(|word| word.beginning().starts_with('-'));
    // `deno run -`
    let operand = words
        .iter()
        .skip(1)
        .find(|word| word.text() == "-" || !word.beginning().starts_with('-') && word.text() != "run");
    if !brings && operand.is_none_or(feed::is_input) {
        for word in walker.reaches(input).iter().chain(&input.substituted) {
            walker.doubt(Doubt::Code);
            if word.pieces == Word::unknown("").pieces {
                walker.found.anything = true;
            } else {
                other_code(walker, word);
            }
        }
    }
}

/// Code that is no shell's: it is searched for commands, and may hold more than is found.
pub(super) fn other_code(walker: &mut Walker<'_>, word: &Word) {
    match word.literal() {
        Some(text) => walker.coarse(text),
        None => coarse::read(&word.raw, &mut walker.found),
    }
}
