//! How far a deny or ask rule reaches: whether a call names what the rule is about, may come across it, or leaves it alone.
//!
//! Place in the flow: `decide` asks for each limiting rule. What nobody can tell counts as a possibility, never as a no.

use std::cell::OnceCell;

use super::command::CommandPattern;
use super::decide::name_of;
use super::grammar::{Content, Meaning};
use super::path::PathPattern;
use super::{ToolCall, ToolGroup};
use crate::call::Command;
use crate::paths::Subject;
use crate::shell::{Access, Analysis, Commands, FileUse, Invocation, Word, is_read_only, operands};

/// How a deny or ask rule may be about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// It is not.
    No,
    /// Only in a shell whose `*` stands for names that begin with a dot, too.
    WithDots,
    /// The call does not name what the rule is about, and may come across it.
    Perhaps,
    /// It takes the whole directory that holds it.
    Below,
    /// It names it.
    Named,
}

impl Reach {
    fn named(named: bool) -> Self {
        if named { Self::Named } else { Self::No }
    }
}

/// How a rule may be about a call.
pub(super) fn reach(meaning: &Meaning, call: &ToolCall<'_>) -> Reach {
    match &meaning.content {
        Content::Path(pattern) if !parameter_fits(meaning, call) => {
            may_touch(meaning.tool.group(), pattern, call)
        }
        Content::Path(_)
        | Content::Whole
        | Content::Nothing
        | Content::Command(_)
        | Content::Host(_)
        | Content::Name(_) => Reach::named(may_limit(meaning, call)),
    }
}

pub(super) fn parameter_fits(meaning: &Meaning, call: &ToolCall<'_>) -> bool {
    let parameter = meaning.parameter.as_ref();
    meaning.tool.limits(call.tool) && parameter.is_some_and(|parameter| parameter.fits(call.input))
}

/// Whether a deny or ask rule that is about no path may be about the call.
fn may_limit(meaning: &Meaning, call: &ToolCall<'_>) -> bool {
    let named = meaning.tool.limits(call.tool);
    if parameter_fits(meaning, call) {
        return true;
    }
    match &meaning.content {
        Content::Whole => named,
        Content::Nothing => false,
        Content::Command(pattern) => named && call.command().is_none_or(|command| may_run(command, pattern)),
        Content::Host(host) => named && call.url().and_then(|url| host.fits(&url)).unwrap_or(true),
        Content::Name(name) => named && name_of(call).is_none_or(|(value, _)| name.names(value)),
        Content::Path(_) => false,
    }
}

fn may_run(command: &Command, pattern: &CommandPattern) -> bool {
    let anything = matches!(&command.analysis, Analysis::Unanalysable(unanalysable) if unanalysable.anything);
    let seen = command.analysis.seen();
    anything
        || pattern.may_mean_text(&command.text)
        || seen
            .invocations
            .iter()
            .any(|invocation| pattern.may_mean(&invocation.words))
        || seen
            .fragments
            .iter()
            .any(|fragment| (0..fragment.len()).any(|at| may_begin(fragment, at, seen, pattern)))
}

/// Whether a command may begin at this argument. One of which not even the last name is known hardly does, unless there are
/// only options before it; behind a subcommand of git it never does.
fn may_begin(fragment: &[Word], at: usize, seen: &Commands, pattern: &CommandPattern) -> bool {
    let (before, words) = fragment.split_at_checked(at).unwrap_or_default();
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let option = |word: &Word| word.beginning().starts_with('-');
    let only_options = before
        .iter()
        .enumerate()
        .all(|(at, word)| option(word) || at > 0 && before.get(at - 1).is_some_and(option));
    let of_git = || {
        seen.invocations
            .iter()
            .any(|invocation| is_argument_of_git(first, invocation))
    };
    if first.literal().is_some() || only_options && !of_git() {
        return pattern.may_mean(words);
    }
    let name = first.base_name();
    let named: Vec<Word> = std::iter::once(&name).chain(rest).cloned().collect();
    name.literal().is_some() && pattern.may_mean(&named)
}

fn is_argument_of_git(word: &Word, invocation: &Invocation) -> bool {
    let is_git = invocation
        .words
        .first()
        .is_some_and(|name| name.base_name().text() == "git");
    let subcommand = first_argument(invocation).filter(|subcommand| subcommand.literal().is_some());
    let mut behind = invocation
        .words
        .iter()
        .skip_while(|word| Some(*word) != subcommand)
        .skip(1);
    is_git && subcommand.is_some() && behind.any(|argument| argument.glyphs().eq(word.glyphs()))
}

/// The first argument that is neither an option nor, behind a single letter, an option's value.
fn first_argument(invocation: &Invocation) -> Option<&Word> {
    let mut words = invocation.words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.beginning();
        if !text.starts_with('-') {
            return Some(word);
        }
        // Whether the letter takes a value is not known; a word that is not literal counts as the argument.
        if text.len() == 2 && words.clone().next().is_some_and(|next| next.literal().is_some()) {
            words.next();
        }
    }
    None
}

/// Whether the call may read (or edit) what a rule about reading (or editing) covers. Who may not read a file may not
/// edit it either.
fn may_touch(group: ToolGroup, pattern: &PathPattern, call: &ToolCall<'_>) -> Reach {
    let reads = group == ToolGroup::Reads;
    let places = call.places();
    match ToolGroup::of(call.tool) {
        ToolGroup::Reads if !reads => Reach::No,
        ToolGroup::Reads | ToolGroup::Edits => {
            let subject = call.subject();
            Reach::named(subject.is_none_or(|subject| pattern.may_cover(&subject, &places)))
        }
        ToolGroup::Command => {
            let Some(command) = call.command() else {
                return Reach::Named;
            };
            let Some(uses) = opened(command, reads) else {
                return Reach::Named;
            };
            // To whom reads a whole directory, it is all one what else happens to it.
            let as_read = |file: &FileUse| FileUse {
                access: Access::ReadTree,
                ..file.clone()
            };
            let reaches = uses.iter().map(|file| match file.access {
                Access::WriteTree if reads => pattern.reach(&as_read(file), &places),
                Access::Read | Access::ReadTree | Access::Write | Access::WriteTree => {
                    pattern.reach(file, &places)
                }
            });
            let dots = || command.text.to_lowercase().contains("glob");
            let known = match reaches.max().unwrap_or(Reach::No) {
                Reach::WithDots if dots() => Reach::Perhaps,
                Reach::WithDots => Reach::No,
                known => known,
            };
            let unknown = || {
                let given = command
                    .files
                    .given_to_unknown
                    .get_or_init(|| unknown_files(&command.analysis));
                given
                    .iter()
                    .any(|file| pattern.reach(file, &places) == Reach::Named)
            };
            match known {
                Reach::No if unknown() => Reach::Perhaps,
                known => known,
            }
        }
        ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => Reach::No,
    }
}

impl ToolCall<'_> {
    /// Whether the call certainly changes nothing but files whose every name fits.
    pub(crate) fn writes_only(&self, fits: impl Fn(&str) -> bool) -> bool {
        let all = |subject: &Subject| subject.is_known() && subject.forms().all(&fits);
        match ToolGroup::of(self.tool) {
            ToolGroup::Edits => self.subject().is_some_and(|subject| all(&subject)),
            ToolGroup::Command => {
                let uses = self.command().and_then(|command| opened(command, false));
                uses.is_some_and(|uses| {
                    let literal =
                        |file: &FileUse| file.path.literal().map(|text| self.places().subject(text));
                    !uses.is_empty()
                        && uses
                            .iter()
                            .all(|file| literal(file).is_some_and(|subject| all(&subject)))
                })
            }
            ToolGroup::Reads | ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                false
            }
        }
    }
}

/// What commands that nobody knows are given and may be files. They may do with them what they like.
pub(super) fn unknown_files(analysis: &Analysis) -> Vec<FileUse> {
    let invocations = analysis.seen().invocations.iter();
    let unknown = invocations.filter(|invocation| {
        let name = invocation.words.first().map(Word::base_name);
        let opens_nothing = name.is_some_and(|name| OPENS_NOTHING.contains(&name.text()));
        !opens_nothing && !is_read_only(invocation) && operands(&invocation.words).is_empty()
    });
    let read = |invocation: &Invocation| {
        let arguments = invocation.words.iter().skip(1).cloned();
        let words: Vec<Word> = std::iter::once(Word::plain("cat")).chain(arguments).collect();
        operands(&words)
    };
    unknown
        .flat_map(read)
        .filter(|file| file.path.literal().is_some())
        .take(MAX_USES)
        .collect()
}

/// They keep or print what they are given.
const OPENS_NOTHING: [&str; 8] = [
    "alias", "declare", "echo", "export", "local", "printf", "readonly", "typeset",
];

/// More files than this are not compared one by one.
const MAX_USES: usize = 500;

/// The files of one command. They are the same for every rule, so they are looked for once.
#[derive(Default)]
pub(crate) struct Files {
    opened: OnceCell<Option<Vec<FileUse>>>,
    written: OnceCell<Option<Vec<FileUse>>>,
    given_to_unknown: OnceCell<Vec<FileUse>>,
}

/// The files that a command may open: all, or those that it writes. `None` where that cannot be told.
pub(super) fn opened(command: &Command, reads: bool) -> Option<&[FileUse]> {
    let known = if reads {
        &command.files.opened
    } else {
        &command.files.written
    };
    known.get_or_init(|| find_opened(command, reads)).as_deref()
}

fn find_opened(command: &Command, reads: bool) -> Option<Vec<FileUse>> {
    let concerned = |file: &FileUse| reads || file.access.writes();
    let seen = command.analysis.seen();
    let anything = matches!(&command.analysis, Analysis::Unanalysable(found) if found.anything);
    let mut uses: Vec<FileUse> = Vec::new();
    let mut add = |file: FileUse| {
        if concerned(&file) && !uses.contains(&file) {
            uses.push(file);
        }
        uses.len() <= MAX_USES
    };
    let direct = seen.redirections.iter().chain(&seen.files).cloned().all(&mut add);
    let fragments = seen.fragments.iter().all(|fragment| {
        let suffixes = (0..fragment.len()).map(|at| fragment.get(at..).unwrap_or_default());
        suffixes.flat_map(operands).all(&mut add)
    });
    (direct && fragments && !anything).then_some(uses)
}
