//! What rules say about a call: deny over ask over allow, over all sources at once.
//!
//! Place in the flow: the pipeline's third stage and the guard. A deny or an ask needs one part of the call that the
//! rule may be about; an allow needs every part. Must not let an unanalysable command meet an allow rule's content.

use std::sync::Arc;

use super::{
    Call, Rule, RuleKind, RuleSet, ToolGroup,
    call::Command,
    grammar::{Content, Meaning},
    path::PathPattern,
};
use crate::paths::Subject;
use crate::shell::{Analysis, FileUse, Invocation, Word, is_read_only, operands};

/// A rule that decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The rule.
    pub rule: Arc<Rule>,
}

/// Why a call needs no question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// These rules, one or more for each part of the call.
    ByRules(Vec<Arc<Rule>>),
    /// All of it provably only reads, inside the workspace.
    ReadOnly,
}

impl RuleSet {
    /// The first deny rule that may be about the call.
    pub fn denies(&self, call: &Call<'_>) -> Option<Hit> {
        self.hit(RuleKind::Deny, call, Reach::Below)
    }

    /// The first deny rule about something that the call names itself.
    pub(crate) fn denies_by_name(&self, call: &Call<'_>) -> Option<Hit> {
        self.hit(RuleKind::Deny, call, Reach::Named)
    }

    /// The first ask rule that may be about the call; else the first deny rule about something that the call does not
    /// name and comes across perhaps, such as a file below a directory that it searches.
    pub fn asks(&self, call: &Call<'_>) -> Option<Hit> {
        let perhaps = || self.hit(RuleKind::Deny, call, Reach::Perhaps);
        self.hit(RuleKind::Ask, call, Reach::Perhaps).or_else(perhaps)
    }

    /// Why the call is allowed, if it is. With `edits_accepted`, edits inside the workspace need no rule.
    pub fn allows(&self, call: &Call<'_>, edits_accepted: bool) -> Option<Allowed> {
        let tool = self.of(RuleKind::Allow).find(|rule| {
            let Meaning { tool, content, .. } = &rule.meaning;
            *content == Content::Whole && tool.names(call.tool)
        });
        if let Some(rule) = tool {
            return Some(Allowed::ByRules(vec![Arc::clone(rule)]));
        }
        match ToolGroup::of(call.tool) {
            ToolGroup::Command => self.allows_command(call, edits_accepted),
            ToolGroup::Reads => self.allows_file(call, ToolGroup::Reads),
            ToolGroup::Edits => self.allows_file(call, ToolGroup::Edits),
            ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                let rule = self
                    .of(RuleKind::Allow)
                    .find(|rule| allows_value(&rule.meaning, call))?;
                Some(Allowed::ByRules(vec![Arc::clone(rule)]))
            }
        }
    }

    fn hit(&self, kind: RuleKind, call: &Call<'_>, least: Reach) -> Option<Hit> {
        let rule = self.of(kind).find(|rule| reach(&rule.meaning, call) >= least)?;
        Some(Hit {
            rule: Arc::clone(rule),
        })
    }

    fn allows_file(&self, call: &Call<'_>, group: ToolGroup) -> Option<Allowed> {
        let subject = call.subject()?;
        let places = call.places();
        let rule = self.of(RuleKind::Allow).find(|rule| {
            path_of(&rule.meaning, group).is_some_and(|pattern| pattern.covers(&subject, &places))
        })?;
        Some(Allowed::ByRules(vec![Arc::clone(rule)]))
    }

    fn allows_command(&self, call: &Call<'_>, edits_accepted: bool) -> Option<Allowed> {
        let Some(Analysis::Commands(commands)) = call.analysis() else {
            return None;
        };
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        let mut add = |rule: Option<&Arc<Rule>>| {
            rules.extend(
                rule.filter(|rule| !rules.contains(rule))
                    .cloned()
                    .into_iter()
                    .collect::<Vec<_>>(),
            );
        };
        let certain: Vec<&Invocation> = commands
            .invocations
            .iter()
            .filter(|invocation| invocation.certain)
            .collect();
        if certain.is_empty() {
            return None;
        }
        for invocation in certain {
            if invocation.words.is_empty() && is_read_only(invocation) {
                continue;
            }
            let by_rule = self.of(RuleKind::Allow).find(|rule| {
                let Meaning { tool, content, .. } = &rule.meaning;
                tool.names(call.tool)
                    && matches!(content, Content::Command(pattern) if pattern.allows(invocation))
            });
            if by_rule.is_none() && !reads_inside(call, invocation) {
                return None;
            }
            add(by_rule);
        }
        for file in &commands.redirections {
            let accepted = if file.access.writes() {
                edits_accepted && call.accepts_word(&file.path)
            } else {
                call.is_word_inside(&file.path)
            };
            let by_rule = self.allows_use(call, file);
            if by_rule.is_none() && !accepted {
                return None;
            }
            add(by_rule);
        }
        Some(if rules.is_empty() {
            Allowed::ReadOnly
        } else {
            Allowed::ByRules(rules)
        })
    }

    fn allows_use(&self, call: &Call<'_>, file: &FileUse) -> Option<&Arc<Rule>> {
        let quoted_home = file.path.text().starts_with('~') && !file.path.home;
        let path = file
            .path
            .literal()
            .filter(|path| !path.is_empty() && !quoted_home)?;
        let (subject, places) = (call.places().subject(path), call.places());
        let group = if file.access.writes() {
            ToolGroup::Edits
        } else {
            ToolGroup::Reads
        };
        self.of(RuleKind::Allow).find(|rule| {
            path_of(&rule.meaning, group).is_some_and(|pattern| pattern.covers(&subject, &places))
        })
    }
}

/// A command that only reads, and only inside the workspace.
fn reads_inside(call: &Call<'_>, invocation: &Invocation) -> bool {
    is_read_only(invocation)
        && operands(&invocation.words)
            .iter()
            .all(|file| call.is_word_inside(&file.path))
}

/// The path that a rule of the group is about.
fn path_of(meaning: &Meaning, group: ToolGroup) -> Option<&PathPattern> {
    match &meaning.content {
        Content::Path(pattern) if meaning.tool.group() == group => Some(pattern),
        Content::Path(_)
        | Content::Whole
        | Content::Command(_)
        | Content::Host(_)
        | Content::Name(_)
        | Content::Nothing => None,
    }
}

fn allows_value(meaning: &Meaning, call: &Call<'_>) -> bool {
    if !meaning.tool.names(call.tool) {
        return false;
    }
    match &meaning.content {
        Content::Host(host) => call.text("url").and_then(|url| host.fits(url)).unwrap_or(false),
        Content::Name(name) => name_of(call).is_some_and(|(value, arguments)| name.fits(value, arguments)),
        Content::Whole | Content::Command(_) | Content::Path(_) | Content::Nothing => false,
    }
}

/// The name that a rule about skills or agents is compared with, and the arguments.
fn name_of<'a>(call: &Call<'a>) -> Option<(&'a str, &'a str)> {
    match ToolGroup::of(call.tool) {
        ToolGroup::Skill => {
            let name = call.text("skill").or_else(|| call.text("command"))?.trim();
            let (name, inline) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
            Some((name, call.text("args").unwrap_or(inline)))
        }
        ToolGroup::Agent => Some((call.text("subagent_type")?, "")),
        ToolGroup::Command | ToolGroup::Reads | ToolGroup::Edits | ToolGroup::Fetch | ToolGroup::Other => {
            None
        }
    }
}

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

fn reach(meaning: &Meaning, call: &Call<'_>) -> Reach {
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

fn parameter_fits(meaning: &Meaning, call: &Call<'_>) -> bool {
    let parameter = meaning.parameter.as_ref();
    meaning.tool.limits(call.tool) && parameter.is_some_and(|parameter| parameter.fits(call.input))
}

/// Whether a deny or ask rule that is about no path may be about the call.
fn may_limit(meaning: &Meaning, call: &Call<'_>) -> bool {
    let named = meaning.tool.limits(call.tool);
    if parameter_fits(meaning, call) {
        return true;
    }
    match &meaning.content {
        Content::Whole => named,
        Content::Nothing => false,
        Content::Command(pattern) => {
            named
                && call
                    .command
                    .as_ref()
                    .is_none_or(|command| may_run(command, pattern))
        }
        Content::Host(host) => named && call.text("url").and_then(|url| host.fits(url)).unwrap_or(true),
        Content::Name(name) => named && name_of(call).is_none_or(|(value, _)| name.names(value)),
        Content::Path(_) => false,
    }
}

fn may_run(command: &Command, pattern: &super::command::CommandPattern) -> bool {
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
            .any(|fragment| (0..fragment.len()).any(|at| may_begin(fragment, at, pattern)))
}

/// Whether a command may begin at this argument. One of which not even the last name is known hardly does, unless there
/// are only options before it.
fn may_begin(fragment: &[Word], at: usize, pattern: &super::command::CommandPattern) -> bool {
    let (before, words) = fragment.split_at_checked(at).unwrap_or_default();
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let option = |word: &Word| word.beginning().starts_with('-');
    let only_options = before
        .iter()
        .enumerate()
        .all(|(at, word)| option(word) || at > 0 && before.get(at - 1).is_some_and(option));
    if first.literal().is_some() || only_options {
        return pattern.may_mean(words);
    }
    let name = first.base_name();
    let named: Vec<Word> = std::iter::once(&name).chain(rest).cloned().collect();
    name.literal().is_some() && pattern.may_mean(&named)
}

/// Whether the call may read (or edit) what a rule about reading (or editing) covers. Who may not read a file may not
/// edit it either.
fn may_touch(group: ToolGroup, pattern: &PathPattern, call: &Call<'_>) -> Reach {
    let reads = group == ToolGroup::Reads;
    let places = call.places();
    match ToolGroup::of(call.tool) {
        ToolGroup::Reads if !reads => Reach::No,
        ToolGroup::Reads | ToolGroup::Edits => {
            let subject = call.subject();
            Reach::named(subject.is_none_or(|subject| pattern.may_cover(&subject, &places)))
        }
        ToolGroup::Command => {
            let Some(uses) = call.command.as_ref().and_then(|command| opened(command, reads)) else {
                return Reach::Named;
            };
            let reaches = uses.iter().map(|file| pattern.reach(file, &places));
            let dots = call
                .command
                .as_ref()
                .is_some_and(|command| command.text.to_lowercase().contains("glob"));
            let known = match reaches.max().unwrap_or(Reach::No) {
                Reach::WithDots if dots => Reach::Perhaps,
                Reach::WithDots => Reach::No,
                known => known,
            };
            let unknown = || {
                let mut words = call.analysis().into_iter().flat_map(unknown_files);
                words.any(|file| pattern.reach(&file, &places) == Reach::Named)
            };
            match known {
                Reach::No if unknown() => Reach::Perhaps,
                known => known,
            }
        }
        ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => Reach::No,
    }
}

impl Call<'_> {
    /// Whether the call certainly changes nothing but files whose every name fits.
    pub(crate) fn writes_only(&self, fits: impl Fn(&str) -> bool) -> bool {
        let all = |subject: &Subject| subject.is_known() && subject.forms().all(&fits);
        match ToolGroup::of(self.tool) {
            ToolGroup::Edits => self.subject().is_some_and(|subject| all(&subject)),
            ToolGroup::Command => {
                let uses = self.command.as_ref().and_then(|command| opened(command, false));
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
fn unknown_files(analysis: &Analysis) -> Vec<FileUse> {
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

/// The files that a command may open: all, or those that it writes. `None` where that cannot be told.
fn opened(command: &Command, reads: bool) -> Option<Vec<FileUse>> {
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
