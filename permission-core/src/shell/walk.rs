//! Walks over the grammar's tree and collects what runs.
//!
//! Place in the flow: `analyse` runs it over a cut text; words go through `scan`, each command through `runs`. What is
//! not a plain list of plain commands is walked all the same, but leaves a doubt. Must visit every part of the tree.

use std::collections::BTreeSet;

use brush_parser::ast::{
    Assignment as AssignmentNode, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, Pipeline, ProcessSubstitutionKind,
    Program, RedirectList, SeparatorOperator, SimpleCommand, Word as WordNode,
};

use super::cut::Cut;
use super::directories::Directories;
use super::feed::{self, Input};
use super::scan::{Scanned, Scanner};
use super::word::Word;
use super::{Assignment, Doubt, Invocation, Unanalysable, builtins, coarse, grammar, runs};

/// So many times the grammar may be asked, for one text.
const BUDGET: usize = 200;
/// Substitutions and texts of code may nest this deep.
const MAX_DEPTH: usize = 8;
/// More commands than this are not followed one by one.
const MAX_INVOCATIONS: usize = 400;

/// Collects what a text runs.
pub(super) struct Walker<'a> {
    pub(super) cut: &'a Cut,
    pub(super) found: Unanalysable,
    pub(super) marks: BTreeSet<usize>,
    /// The text that the tree at hand comes from.
    pub(super) source: Vec<char>,
    pub(super) budget: usize,
    depth: usize,
    /// Whether what is found certainly runs.
    pub(super) certain: bool,
    /// Whether the grammar shows it as commands.
    pub(super) stands: bool,
    pub(super) directories: Directories,
    /// Whether the command at hand is part of a pipe.
    piped: bool,
    /// How many control structures and groups it stands in.
    nesting: usize,
    /// What a pipe or an outer redirection feeds to the command at hand.
    pub(super) fed: Vec<Word>,
    /// Whether whatever comes in is to be taken for code by whoever may.
    pub(super) fed_code: bool,
    /// What the last command prints.
    pub(super) prints: Vec<Word>,
}

/// A command while its parts are gathered.
#[derive(Default)]
struct Parts {
    assignments: Vec<Assignment>,
    words: Vec<Word>,
    /// How many words stand before the first redirection.
    redirected_at: Option<usize>,
    /// Where the last word ended, in characters.
    end: Option<usize>,
    input: Input,
    /// What of the assignments is literal.
    values: Vec<(String, String)>,
}

impl<'a> Walker<'a> {
    /// What the text runs when that is fed to it, and the marks that stood where they belong.
    pub(super) fn run(cut: &'a Cut, fed: &[Word]) -> (Unanalysable, BTreeSet<usize>) {
        let mut walker = Self {
            cut,
            found: Unanalysable::default(),
            marks: BTreeSet::new(),
            source: Vec::new(),
            budget: BUDGET,
            depth: 0,
            certain: true,
            stands: true,
            directories: Directories::default(),
            piped: false,
            nesting: 0,
            fed: fed.to_vec(),
            fed_code: !fed.is_empty(),
            prints: Vec::new(),
        };
        walker.text(&cut.text);
        walker.directories.check(&mut walker.found);
        (walker.found, walker.marks)
    }

    pub(super) fn doubt(&mut self, doubt: Doubt) {
        self.found.doubts.push(doubt);
    }

    /// A text that is run, or that may be.
    pub(super) fn text(&mut self, text: &str) {
        let allowed = self.depth < MAX_DEPTH && self.budget > 0;
        self.budget = self.budget.saturating_sub(1);
        let program = if allowed {
            grammar::read(text)
        } else {
            Err(Doubt::TooDeep)
        };
        match program {
            Ok(program) => {
                let outer = std::mem::replace(&mut self.source, text.chars().collect());
                self.depth += 1;
                self.program(&program);
                self.depth -= 1;
                self.source = outer;
            }
            Err(doubt) => {
                self.doubt(doubt);
                self.coarse(text);
            }
        }
    }

    /// A text that is code to somebody, perhaps: for limits only.
    pub(super) fn maybe(&mut self, text: &str) {
        let doubts = self.found.doubts.len();
        let prints = std::mem::take(&mut self.prints);
        self.as_reading(|walker| walker.text(text));
        self.prints = prints;
        self.found.doubts.truncate(doubts);
    }

    /// What is found meanwhile is another reading of an argument, for limits only.
    pub(super) fn as_reading(&mut self, read: impl FnOnce(&mut Self)) {
        let certain = std::mem::replace(&mut self.certain, false);
        let stands = std::mem::replace(&mut self.stands, false);
        read(self);
        (self.certain, self.stands) = (certain, stands);
    }

    /// A text in which the substitutions run.
    pub(super) fn expand(&mut self, text: &str) {
        let scanned = Scanner::new(self.cut, &mut self.budget).here_document(text);
        self.take(scanned, text);
    }

    /// A text that may be run by something else than a shell, or that nothing could read.
    pub(super) fn coarse(&mut self, text: &str) {
        coarse::read(&self.cut.restored(text), &mut self.found);
    }

    fn program(&mut self, program: &Program) {
        program.complete_commands.iter().for_each(|list| self.list(list));
    }

    pub(super) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            for (_, pipeline) in &item.0 {
                self.pipeline(pipeline);
            }
            if matches!(item.1, SeparatorOperator::Async) {
                self.doubt(Doubt::Background);
            }
        }
        let mut pipelines = list.0.iter().flat_map(|item| &item.0);
        if pipelines.nth(1).is_some() {
            self.prints = feed::unknown();
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let outer = self.fed.clone();
        for (at, command) in pipeline.seq.iter().enumerate() {
            if at > 0 {
                self.fed = std::mem::replace(&mut self.prints, feed::unknown());
            }
            if self.found.seen.invocations.len() > MAX_INVOCATIONS {
                self.doubt(Doubt::TooMany);
                let text: String = self.source.iter().collect();
                self.coarse(&text);
                break;
            }
            self.piped = pipeline.seq.len() > 1;
            self.command(command);
        }
        if pipeline.seq.len() > 1 && self.nesting > 0 {
            self.doubt(Doubt::Joined);
        }
        self.fed = outer;
    }

    pub(super) fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => self.redirected(compound, redirects.as_ref()),
            Command::Function(function) => {
                self.doubt(Doubt::Definition);
                self.scan(&function.fname);
                self.fed_by_others(|walker| {
                    walker.redirected(&function.body.0, function.body.1.as_ref());
                });
                self.prints = feed::unknown();
            }
            Command::ExtendedTest(test, redirects) => {
                self.doubt(Doubt::Branch);
                self.test(&test.expr);
                self.redirect_list(redirects.as_ref());
                self.prints = feed::unknown();
            }
        }
    }

    /// Who knows what is fed to that, and when.
    pub(super) fn fed_by_others(&mut self, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.fed, feed::unknown());
        walk(self);
        self.fed = outer;
    }

    fn redirected(&mut self, compound: &CompoundCommand, redirects: Option<&RedirectList>) {
        let input = self.redirect_list(redirects);
        let piped = self.fed.len();
        self.fed.extend(input);
        self.nesting += 1;
        self.compound(compound);
        self.nesting -= 1;
        if redirects.is_some() {
            self.doubt(Doubt::Joined);
        }
        self.fed.truncate(piped);
        if !matches!(
            compound,
            CompoundCommand::BraceGroup(_) | CompoundCommand::Subshell(_)
        ) {
            self.prints = feed::unknown();
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let mut parts = Parts::default();
        let piped = self.piped;
        let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
        prefix.for_each(|item| self.item(item, true, &mut parts));
        if let Some(name) = &command.word_or_name {
            self.argument(name, &mut parts);
        }
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
        suffix.for_each(|item| self.item(item, false, &mut parts));
        let passed_on = !parts.words.is_empty();
        for (name, value) in &parts.values {
            builtins::assignment(self, name, value, passed_on);
        }
        let prints = feed::printed(&parts.words, &self.reaches(&parts.input));
        let between = |at: &usize| *at < parts.words.len() && parts.assignments.is_empty() && !piped;
        let invocation = Invocation {
            redirected_at: parts.redirected_at.filter(between),
            assignments: parts.assignments,
            words: parts.words,
            spelled: 0,
            certain: self.certain,
            stands: self.stands,
        };
        runs::follow(self, invocation, &parts.input);
        self.prints = prints;
    }

    fn item(&mut self, item: &Item, before_name: bool, parts: &mut Parts) {
        match item {
            Item::IoRedirect(redirect) => {
                parts.redirected_at.get_or_insert(parts.words.len());
                self.redirect(redirect, &mut parts.input.given);
            }
            Item::Word(word) => self.argument(word, parts),
            Item::AssignmentWord(assignment, word) if before_name => {
                self.assignment(assignment);
                let name = word.value.split_inclusive('=').next().unwrap_or_default();
                let whole = self.capture(word, name);
                if let Some((name, value)) = whole.text().split_once('=') {
                    parts.values.push((name.to_owned(), value.to_owned()));
                }
                let (AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _)) =
                    &assignment.name;
                parts.assignments.push(Assignment {
                    name: name.clone(),
                    word: whole,
                });
            }
            Item::AssignmentWord(assignment, word) => {
                self.assignment(assignment);
                self.argument(word, parts);
            }
            Item::ProcessSubstitution(kind, subshell) => {
                self.doubt(Doubt::Substitution);
                match kind {
                    ProcessSubstitutionKind::Read => self.list(&subshell.list),
                    ProcessSubstitutionKind::Write => {
                        self.fed_by_others(|walker| walker.list(&subshell.list))
                    }
                }
                parts.input.substituted.append(&mut self.prints);
                parts.words.push(Word::unknown(feed::SUBSTITUTED));
            }
        }
    }

    fn assignment(&mut self, assignment: &AssignmentNode) {
        let indexed = matches!(assignment.name, AssignmentName::ArrayElementName(..));
        match &assignment.value {
            AssignmentValue::Scalar(_) if !indexed => {}
            AssignmentValue::Scalar(_) | AssignmentValue::Array(_) => self.doubt(Doubt::Array),
        }
    }

    fn argument(&mut self, node: &WordNode, parts: &mut Parts) {
        let mut word = self.scan(node);
        let span = node.loc.as_ref().map(|loc| (loc.start.index, loc.end.index));
        let gap: Option<String> = parts
            .end
            .zip(span)
            .and_then(|(end, (start, _))| Some(self.source.get(end..start)?.iter().collect()));
        let blank = |gap: &String| !gap.is_empty() && gap.chars().all(|c| c == ' ' || c == '\t');
        word.gap = gap.filter(blank).unwrap_or_else(|| " ".to_owned());
        parts.end = span.map(|(_, end)| end);
        parts.words.push(word);
    }

    pub(super) fn scan(&mut self, node: &WordNode) -> Word {
        self.scan_text(&node.value)
    }

    /// A word that is, behind a name, perhaps nothing but the output of one command, which a variable gets.
    pub(super) fn capture(&mut self, node: &WordNode, name: &str) -> Word {
        let raw = node.value.as_str();
        let value = raw.strip_prefix(name).unwrap_or_default();
        let mut scanned = Scanner::new(self.cut, &mut self.budget).word(raw);
        let plain = |inner: &str| !inner.replace("||", "").contains([';', '|', '\n']);
        let whole = |inner: &str| value == format!("$({inner})") || value == format!("`{inner}`");
        let captured = match scanned.inner.as_slice() {
            [inner] if whole(inner) && plain(inner) => scanned.inner.pop(),
            _ => None,
        };
        if captured.is_some() {
            scanned.doubts = vec![Doubt::Captured];
        }
        let word = self.take(scanned, raw);
        captured.iter().for_each(|inner| self.text(inner));
        word
    }

    pub(super) fn scan_text(&mut self, raw: &str) -> Word {
        let scanned = Scanner::new(self.cut, &mut self.budget).word(raw);
        self.take(scanned, raw)
    }

    pub(super) fn take(&mut self, scanned: Scanned, raw: &str) -> Word {
        self.marks.extend(scanned.marks);
        self.found.doubts.extend(scanned.doubts);
        if scanned.lost {
            self.coarse(raw);
        }
        let certain = std::mem::replace(&mut self.certain, false);
        scanned.inner.iter().for_each(|inner| self.text(inner));
        self.certain = certain;
        scanned.word
    }
}
