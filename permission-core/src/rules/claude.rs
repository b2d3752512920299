//! A settings rule as Claude itself takes it: narrower than a policy's rule, which rather finds too much.
//!
//! Place in the flow: `explain` asks what Claude would do. Everything here was seen on the real Claude; the table of
//! the end-to-end suite compares them again. What is not known to be seen by Claude is no hit. Must not be asked for a
//! policy.

use super::{
    Call, Hit, Rule, RuleKind, RuleOrigin, RuleSet, ToolGroup, by_kind, decide,
    flaws::flaw,
    grammar::{Content, Meaning, whole_tool},
    path::PathPattern,
    reach::parameter_fits,
    unasked,
};
use crate::{
    rules::decide::{Allowed, Needs},
    settings::{RuleTexts, SettingsSource, Sourced},
    shell::{Analysis, Commands, Doubt, Invocation, Piece, Word, behind_runner, is_edit, operands},
};

/// Commands whose files Claude compares with rules about reading.
const READERS: [&str; 42] = [
    "awk",
    "base64",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cp",
    "cut",
    "diff",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "gawk",
    "grep",
    "head",
    "hexdump",
    "jq",
    "ls",
    "mawk",
    "md5sum",
    "mv",
    "nl",
    "od",
    "paste",
    "pr",
    "rev",
    "rg",
    "sed",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "uniq",
    "wc",
];
/// Commands whose files Claude compares with rules about editing.
const WRITERS: [&str; 7] = ["cp", "mkdir", "mv", "rmdir", "sed", "tee", "touch"];

/// Stands for what `xargs` adds to a command.
const FED: &str = "<input>";

impl RuleSet {
    /// The rules of settings that Claude takes as they read; [`judged`](super::judged) tells of the others.
    pub fn of_claude(texts: &RuleTexts) -> Self {
        let mut set = Self::default();
        for (kind, Sourced { value, origin }) in by_kind(texts) {
            if flaw(kind, value).is_none() {
                set.add(kind, value, RuleOrigin::File(origin.clone()));
            }
        }
        set
    }

    /// The first deny or ask rule that Claude itself finds to be about the call.
    pub(crate) fn claude_limits(&self, kind: RuleKind, call: &Call<'_>) -> Option<Hit> {
        let rule = self.of(kind).find(|rule| is_about(rule, call))?;
        Some(Hit { rule: rule.clone() })
    }

    /// Why Claude itself needs no question. A rule for `Edit` as a whole is about no other tool that edits.
    pub(crate) fn claude_allows(&self, call: &Call<'_>, edits_accepted: bool) -> Option<Allowed> {
        let named = |rule: &Rule| !is_whole(rule) || rule.meaning.tool.names(call.tool);
        let rules = self.iter().filter(|rule| named(rule)).cloned().collect();
        let rules = Self { rules };
        match call.analysis() {
            Some(analysis) => rules
                .allows_tool(call)
                .or_else(|| rules.claude_allows_commands(call, analysis, edits_accepted)),
            None => rules
                .allows(call, edits_accepted)
                .or_else(|| decide::needs_no_rule(call, edits_accepted)),
        }
    }

    /// What a command does with code that it is fed is its own matter to Claude; what is allowed by a rule is asked about
    /// after a change of directory.
    fn claude_allows_commands(
        &self,
        call: &Call<'_>,
        analysis: &Analysis,
        edits_accepted: bool,
    ) -> Option<Allowed> {
        if !is_legible(analysis, &[Doubt::Branch, Doubt::Code, Doubt::Wrapper]) {
            return None;
        }
        // `[[ … ]]` alone runs nothing.
        let tests = matches!(analysis, Analysis::Unanalysable(found) if found.doubts == [Doubt::Branch]);
        if tests
            && analysis.seen() == &Commands::default()
            && !call.text("command").unwrap_or_default().contains('$')
        {
            return Some(Allowed::ReadOnly);
        }
        let mut all = certain(analysis);
        let moves = all.any(|invocation| name(invocation) == "cd");
        let text = call.text("command").unwrap_or_default();
        let timed = text.split_whitespace().next() == Some("time");
        let wrapped =
            matches!(analysis, Analysis::Unanalysable(found) if found.doubts.contains(&Doubt::Wrapper));
        let needs = |invocation: &Invocation| needs(call, analysis, invocation, edits_accepted);
        let allowed = self.allows_commands(call, analysis.seen(), edits_accepted, &needs);
        allowed.filter(|allowed| match allowed {
            Allowed::ReadOnly => !timed,
            Allowed::ByRules(_) | Allowed::AcceptedEdit => !moves && !wrapped,
        })
    }
}

/// What Claude wants allowed about a command. Behind most wrappers it takes a command for one that it does not know.
fn needs(call: &Call<'_>, analysis: &Analysis, invocation: &Invocation, edits_accepted: bool) -> Needs {
    let runs = |wrapper: &Invocation| {
        let known = ["nice", "nohup", "stdbuf", "time", "timeout"].contains(&name(wrapper));
        known && !wrapper.certain && wrapper.words.ends_with(&invocation.words)
    };
    let fed = invocation.words.iter().any(|word| word.raw == FED);
    let wrapped = analysis.seen().invocations.iter().any(runs) || fed && !unasked::is_fed(name(invocation));
    let written: Vec<Word> = invocation
        .words
        .iter()
        .filter(|word| word.raw != FED)
        .cloned()
        .collect();
    let written = Invocation {
        words: written,
        ..invocation.clone()
    };
    if wrapped || !unasked::is_unasked(&written) {
        let edits = edits_accepted && is_edit(invocation);
        return if edits { Needs::Files } else { Needs::Rule };
    }
    let files = unasked::looked_at(&written.words);
    match files.iter().all(|file| call.is_word_inside(file)) {
        true => Needs::Nothing,
        false if operands(&written.words).is_empty() => Needs::Rule,
        false => Needs::Files,
    }
}

fn is_whole(rule: &Rule) -> bool {
    whole_tool(&rule.text)
}

fn is_about(rule: &Rule, call: &Call<'_>) -> bool {
    let Meaning { tool, content, .. } = &rule.meaning;
    if parameter_fits(&rule.meaning, call) {
        return true;
    }
    if is_whole(rule) {
        // Who may not read may not edit either.
        let edits = rule.kind == RuleKind::Deny && ToolGroup::of(call.tool) == ToolGroup::Edits;
        return tool.limits(call.tool) || edits && tool.is("Read");
    }
    match content {
        Content::Command(pattern) => {
            tool.limits(call.tool)
                && call.command().is_some_and(|command| {
                    let seen = command.analysis.seen().invocations.iter();
                    let mut readings = seen.filter(|invocation| invocation.stands).flat_map(readings);
                    pattern.is_written(&command.text) || readings.any(|text| pattern.is_written(&text))
                })
        }
        Content::Path(pattern) => is_about_path(rule, pattern, call),
        Content::Host(host) => {
            tool.limits(call.tool) && call.text("url").and_then(|url| host.fits(url)).unwrap_or(false)
        }
        Content::Name(name) => {
            tool.limits(call.tool) && decide::name_of(call).is_some_and(|(value, _)| name.names(value))
        }
        // A content that means nothing for its tool.
        Content::Whole | Content::Nothing => false,
    }
}

/// The command as it is compared: with its name as it runs, and without what runs it.
fn readings(invocation: &Invocation) -> Vec<String> {
    let mut texts = Vec::new();
    let mut words = invocation.words.as_slice();
    while let Some((first, arguments)) = words.split_first() {
        let name = first.base_name();
        let names = [first.literal(), name.literal()];
        let spelled = names.into_iter().flatten().filter(|_| !first.raw.contains("$'"));
        let arguments: Vec<&str> = arguments.iter().map(|word| word.raw.as_str()).collect();
        texts.extend(spelled.map(|name| [&[name], arguments.as_slice()].concat().join(" ")));
        words = behind_runner(words)
            .and_then(|at| words.get(at..))
            .unwrap_or_default();
    }
    texts
}

fn is_about_path(rule: &Rule, pattern: &PathPattern, call: &Call<'_>) -> bool {
    let reads = rule.meaning.tool.group() == ToolGroup::Reads;
    let mut workspace = call.workspace;
    // `/x` of the user's settings begins where they lie.
    if let RuleOrigin::File(origin) = &rule.origin
        && origin.source == SettingsSource::User
        && let Some(directory) = origin.file.parent().and_then(|directory| directory.to_str())
    {
        workspace.project_root = directory;
    }
    let places = workspace.places();
    let covers = |text: &str| pattern.may_cover(&places.subject(text), &places);
    match ToolGroup::of(call.tool) {
        ToolGroup::Reads => {
            reads
                && call
                    .subject()
                    .is_some_and(|file| pattern.may_cover(&file, &places))
        }
        ToolGroup::Edits => {
            let concerned = !reads || rule.kind == RuleKind::Deny;
            concerned
                && call
                    .subject()
                    .is_some_and(|file| pattern.may_cover(&file, &places))
        }
        ToolGroup::Command => files(call, reads).iter().any(|file| covers(file)),
        ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => false,
    }
}

/// The files of a command that Claude looks at. It looks at none where some part can only be known to the shell.
fn files(call: &Call<'_>, reads: bool) -> Vec<String> {
    let Some(analysis) = call
        .analysis()
        .filter(|analysis| is_legible(analysis, &[Doubt::Background, Doubt::Branch, Doubt::Subshell]))
    else {
        return Vec::new();
    };
    let seen = analysis.seen();
    let known = if reads {
        READERS.as_slice()
    } else {
        WRITERS.as_slice()
    };
    let mut current = String::new();
    let mut named_files = Vec::new();
    for invocation in certain(analysis) {
        let words = behind_env(&invocation.words);
        let name = words.first().map(Word::text).unwrap_or_default();
        let fed = words.iter().any(|word| word.raw == FED);
        let compares = || name == "git" && words.iter().any(|word| matches!(word.text(), "diff" | "grep"));
        let mut files = if (known.contains(&name) || reads && compares()) && !fed {
            operands(words)
        } else {
            Vec::new()
        };
        match name {
            // Its target is written.
            "cp" if reads => {
                files.retain(|file| {
                    invocation
                        .words
                        .last()
                        .is_none_or(|last| last.raw != file.path.raw)
                });
            }
            "find" => files.truncate(1),
            "sed" if !reads => files.retain(|file| file.access.writes()),
            _ => {}
        }
        let places = files.iter().filter_map(|file| named(&file.path));
        named_files.extend(places.map(|file| from(&current, &file)));
        if let (true, Some(directory)) = (name == "cd", invocation.words.get(1)) {
            current = from(&current, directory.text());
        }
    }
    let redirections = seen
        .redirections
        .iter()
        .filter(|file| matches!(analysis, Analysis::Commands(_)) && file.access.writes() != reads);
    named_files.extend(redirections.filter_map(|file| named(&file.path)));
    named_files
}

/// The command that `env` runs.
fn behind_env(words: &[Word]) -> &[Word] {
    let mut words = words;
    while words.first().and_then(Word::literal) == Some("env") {
        words = behind_runner(words)
            .and_then(|at| words.get(at..))
            .unwrap_or_default();
    }
    words
}

/// The path as it is from the first directory, where commands have changed to another one.
fn from(current: &str, path: &str) -> String {
    if current.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{current}/{path}")
}

fn name(invocation: &Invocation) -> &str {
    invocation
        .words
        .first()
        .and_then(Word::literal)
        .unwrap_or_default()
}

/// The file that a word names, or the directory of the files that a pattern stands for.
fn named(word: &Word) -> Option<String> {
    if let Some(text) = word.literal() {
        return Some(text.to_owned());
    }
    let (directory, _) = word.beginning().rsplit_once('/')?;
    Some(format!("{directory}/"))
}

/// The commands that run as they stand.
fn certain(analysis: &Analysis) -> impl Iterator<Item = &Invocation> + Clone {
    let seen = analysis.seen().invocations.iter();
    seen.filter(|invocation| invocation.certain)
}

/// Whether Claude can tell every word of every command.
fn is_legible(analysis: &Analysis, doubts: &[Doubt]) -> bool {
    let plain = match analysis {
        Analysis::Commands(_) => true,
        Analysis::Unanalysable(found) => found.doubts.iter().all(|doubt| doubts.contains(doubt)),
    };
    let mut all = certain(analysis);
    let known = |word: &Word| {
        !word.pieces.contains(&Piece::Anything) && !word.raw.contains("$'") && !is_braced(&word.raw)
    };
    // What `xargs` adds is not written.
    let written = |word: &&Word| word.raw != FED;
    plain && all.all(|invocation| invocation.words.iter().filter(written).all(known))
}

/// `{a,b}`, which is several words.
fn is_braced(raw: &str) -> bool {
    let inside = raw.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    inside.is_some_and(|(inside, _)| inside.contains(',') || inside.contains(".."))
}
