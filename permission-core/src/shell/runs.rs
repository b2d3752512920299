//! What a command runs besides itself: wrappers, runners, shells, code.
//!
//! Place in the flow: `walk` hands over every command; this file adds it and its other readings to what was found.
//! A wrapper is looked through; of a runner every word may begin the command that it runs. Must not drop a reading.

use super::feed::Input;
use super::tables::{self, Kind};
use super::walk::Walker;
use super::word::{Piece, Word};
use super::{Doubt, Invocation, builtins, code, escapes, files, wrappers};

/// So many words of a runner are looked at one by one.
const MAX_READINGS: usize = 64;

/// Adds a command with what it runs, and what is fed to it.
pub(super) fn follow(walker: &mut Walker<'_>, invocation: Invocation, input: &Input) {
    let before = walker.directories.enter(&invocation.words);
    let text = (!walker.found.anything).then(|| invocation.written());
    follow_there(walker, invocation, input);
    if walker.found.anything && walker.found.whatever.is_none() {
        walker.found.whatever = text;
    }
    walker.directories.leave(before);
}

fn follow_there(walker: &mut Walker<'_>, mut invocation: Invocation, input: &Input) {
    if let Some(inner) = without_descriptors(&invocation) {
        walker.doubt(Doubt::CommandName);
        invocation.certain = false;
        add(walker, invocation);
        return follow(walker, inner, input);
    }
    let Some(first) = invocation.words.first() else {
        return add(walker, invocation);
    };
    let name = first.base_name();
    let Some(name) = name.literal() else {
        walker.doubt(Doubt::CommandName);
        return add(walker, invocation);
    };
    let bare = first.literal() == Some(name);
    builtins::look_into(walker, name, &invocation.words);
    code::fed_commands(walker, &invocation.words, input);
    match tables::kind(name) {
        Kind::Ordinary => {
            invocation.spelled = escapes::spelled(&invocation);
            if invocation.spelled > 0 {
                way_out(walker, &invocation, input);
            }
        }
        Kind::Interpreter => {
            invocation.spelled = escapes::spelled(&invocation);
            code::interpreter(walker, &invocation, input);
        }
        // It only looks a name up.
        Kind::Wrapper if wrappers::looks_up(&invocation.words) => {}
        Kind::Wrapper => {
            suffixes(walker, &invocation, input);
            if let Some(inner) = unwrapped(walker, &invocation, bare) {
                invocation.certain = false;
                add(walker, invocation);
                return follow(walker, inner, input);
            }
        }
        Kind::Runner(runner) => {
            if let Some(at) = wrappers::command_of(runner, &invocation.words) {
                invocation.spelled = at + 1;
                suffixes(walker, &invocation, input);
            }
        }
        Kind::AlwaysAsks => {
            walker.doubt(Doubt::Wrapper);
            suffixes(walker, &invocation, input);
        }
        Kind::Shell => code::shell(walker, &invocation.words, input),
        Kind::Source => code::source(walker, &invocation.words, input),
        Kind::Evaluator => {
            walker.doubt(Doubt::Code);
            code::evaluate(walker, &invocation.words);
        }
    }
    add(walker, invocation);
}

/// `{fd}>f command`: the grammar takes the name of the descriptor for a word.
fn without_descriptors(invocation: &Invocation) -> Option<Invocation> {
    let names_descriptor = |word: &Word| {
        let name = word.raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}'));
        name.is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let mut inner = invocation.clone();
    inner.words.retain(|word| !names_descriptor(word));
    let first = invocation.words.first().is_some_and(names_descriptor);
    first.then_some(inner)
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
fn suffixes(walker: &mut Walker<'_>, invocation: &Invocation, input: &Input) {
    walker.as_reading(|walker| read_suffixes(walker, invocation, input));
}

fn read_suffixes(walker: &mut Walker<'_>, invocation: &Invocation, input: &Input) {
    let arguments = arguments(invocation);
    for at in 0..arguments.len().min(MAX_READINGS) {
        let words = arguments.get(at..).unwrap_or_default();
        let name = words.first().map(Word::base_name).unwrap_or_default();
        match tables::kind(name.text()) {
            Kind::Shell => code::shell(walker, words, input),
            Kind::Source => code::source(walker, words, input),
            Kind::Evaluator => {
                walker.doubt(Doubt::Code);
                code::evaluate(walker, words);
            }
            Kind::Interpreter => {
                let mut inner = Invocation {
                    words: words.to_vec(),
                    ..Invocation::default()
                };
                inner.spelled = escapes::spelled(&inner);
                quietly(walker, |walker| code::interpreter(walker, &inner, input));
            }
            Kind::Ordinary | Kind::Wrapper | Kind::Runner(_) | Kind::AlwaysAsks => {}
        }
        builtins::look_into(walker, name.text(), words);
        code::fed_commands(walker, words, input);
        code_in(walker, words.first());
        opens(walker, words);
    }
    if arguments.len() > MAX_READINGS {
        walker.doubt(Doubt::TooMany);
    }
    walker.found.seen.fragments.push(arguments);
}

/// The arguments of a runner. `xargs` adds its input to them, or puts it where an option says.
fn arguments(invocation: &Invocation) -> Vec<Word> {
    let mut arguments: Vec<Word> = invocation.words.iter().skip(1).cloned().collect();
    let name = invocation.words.first().map(Word::base_name).unwrap_or_default();
    if name.text() != "xargs" || arguments.is_empty() {
        return arguments;
    }
    let mark = arguments.iter().enumerate().find_map(|(at, word)| {
        let options = ["-I", "--replace=", "-i"];
        let mark = options
            .iter()
            .find_map(|option| word.text().strip_prefix(option))?;
        let next = arguments.get(at + 1).map(Word::text).unwrap_or_default();
        Some(if mark.is_empty() { next } else { mark }.to_owned())
    });
    let runs = |word: &Word| {
        !matches!(
            tables::kind(word.base_name().text()),
            Kind::Ordinary | Kind::Interpreter
        )
    };
    // Of an ordinary command, it is only an argument.
    if !arguments.iter().any(runs) {
        return arguments;
    }
    if let Some(mark) = mark.filter(|mark| !mark.is_empty()) {
        for word in &mut arguments {
            if let Some((before, after)) = word.literal().and_then(|text| text.split_once(mark.as_str())) {
                let pieces = [
                    Piece::Text(before.to_owned()),
                    Piece::Anything,
                    Piece::Text(after.to_owned()),
                ];
                let empty = |piece: &Piece| matches!(piece, Piece::Text(text) if text.is_empty());
                word.pieces = pieces.into_iter().filter(|piece| !empty(piece)).collect();
            }
        }
    }
    arguments.push(Word::unknown("<input>"));
    arguments
}

/// What a reading doubts is no reason to doubt the command.
fn quietly(walker: &mut Walker<'_>, read: impl FnOnce(&mut Walker<'_>)) {
    let doubts = walker.found.doubts.len();
    read(walker);
    walker.found.doubts.truncate(doubts);
}

/// A word with blanks or operators in it may be code; if it is not, that is no reason to doubt the command.
fn code_in(walker: &mut Walker<'_>, word: Option<&Word>) {
    let code = word.and_then(Word::literal).unwrap_or_default();
    if code.contains(|c: char| c.is_whitespace() || ";&|`$".contains(c)) {
        walker.maybe(code);
        // `-Scode`, and `Option command` of ssh.
        if code.starts_with('-') && !code.starts_with("--") {
            walker.maybe(code.get(2..).unwrap_or_default());
        }
        if let Some((option, rest)) = code.split_once(char::is_whitespace)
            && option.ends_with("Command")
        {
            walker.maybe(rest);
        }
        // `NAME=code`, `--option=code`
        if let Some((name, value)) = code.split_once('=')
            && !name.contains(char::is_whitespace)
        {
            walker.maybe(value);
        }
    }
}

/// The command behind a wrapper whose options are all known.
fn unwrapped(walker: &mut Walker<'_>, invocation: &Invocation, bare: bool) -> Option<Invocation> {
    let words: Vec<&str> = invocation.words.iter().map(Word::text).collect();
    let at = if bare { wrappers::begins(&words) } else { None };
    let Some(at) = at else {
        walker.doubt(Doubt::Wrapper);
        return None;
    };
    let mut inner = Invocation {
        assignments: invocation.assignments.clone(),
        words: invocation.words.iter().skip(at).cloned().collect(),
        spelled: 0,
        certain: invocation.certain,
        stands: invocation.stands,
        redirected_at: invocation.redirected_at.map(|before| before.saturating_sub(at)),
    };
    if words.first() == Some(&"xargs") {
        inner.words.push(Word::unknown("<input>"));
    }
    Some(inner)
}

/// Words of an ordinary command that has a way out: what follows may be a command, or code.
fn way_out(walker: &mut Walker<'_>, invocation: &Invocation, input: &Input) {
    suffixes(walker, invocation, input);
    for word in invocation.words.iter().skip(1) {
        if word
            .raw
            .contains(|c: char| c.is_whitespace() || "=(|/!:".contains(c))
        {
            code::other_code(walker, word);
        }
        // `-x'command'`
        let glued = word.text().strip_prefix('-').and_then(|rest| rest.get(1..));
        if let Some(glued) = glued.filter(|glued| !glued.is_empty() && !glued.starts_with('-')) {
            walker.coarse(glued);
        }
    }
}
