//! A settings rule as Claude itself takes it: narrower than a policy's rule, which rather finds too much.
//!
//! Place in the flow: `explain` asks what Claude would do. Everything here was seen on the real Claude; the table of
//! the end-to-end suite compares them again. What is not known to be seen by Claude is no hit. Reading order: this file
//! (deny and ask), `reading` (a command as Claude reads it), `files` (what it looks at), `sensitive`
//! (asked about always), `allows` (allow), `unasked` (no rule). Must not be asked for a policy.

mod allows;
mod files;
mod reading;
mod sensitive;
mod unasked;

use super::flaws::flaw;
use super::grammar::{Content, Meaning, whole_tool};
use super::path::PathPattern;
use super::reach::parameter_fits;
use super::value::NamePattern;
use super::{Hit, Rule, RuleKind, RuleOrigin, RuleSet, ToolCall, ToolGroup, by_kind, decide};
use crate::settings::{RuleTexts, SettingsSource, Sourced};
use crate::shell::{Analysis, Invocation, Word, behind_runner};

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
    pub(crate) fn claude_limits(&self, kind: RuleKind, call: &ToolCall<'_>) -> Option<Hit> {
        let rule = self.of(kind).find(|rule| is_about(rule, call))?;
        Some(Hit { rule: rule.clone() })
    }
}

fn is_whole(rule: &Rule) -> bool {
    whole_tool(&rule.text)
}

fn is_about(rule: &Rule, call: &ToolCall<'_>) -> bool {
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
        Content::Name(name) if ToolGroup::of(call.tool) == ToolGroup::Skill => {
            // Who is asked about a skill is asked unless it is allowed.
            rule.kind == RuleKind::Deny && tool.limits(call.tool) && is_skill(name, call)
        }
        Content::Name(name) => {
            tool.limits(call.tool) && decide::name_of(call).is_some_and(|(value, _)| name.names(value))
        }
        // A content that means nothing for its tool.
        Content::Whole | Content::Nothing => false,
    }
}

impl ToolCall<'_> {
    /// Whether Claude 2.1.318 does not see a command of it, for a redirection that stands before it.
    pub(crate) fn hides_behind_redirection(&self) -> bool {
        let seen = self
            .analysis()
            .into_iter()
            .flat_map(|analysis| &analysis.seen().invocations);
        seen.into_iter()
            .any(|invocation| invocation.redirected_at.is_some())
    }
}

fn is_skill(pattern: &NamePattern, call: &ToolCall<'_>) -> bool {
    decide::name_of(call).is_some_and(|(name, _)| pattern.is_skill(name))
}

/// The command as it is compared: with its name as it runs, and without what runs it. Words behind a redirection are
/// files to Claude 2.1.318, unless they begin with a path or with something that runs another command.
fn readings(invocation: &Invocation) -> Vec<String> {
    let mut texts = Vec::new();
    let mut words = invocation.words.as_slice();
    let mut hidden = invocation.redirected_at == Some(0);
    if let Some(before) = invocation.redirected_at.filter(|before| *before > 0) {
        words = words.get(..before).unwrap_or(words);
    }
    while let Some((first, arguments)) = words.split_first() {
        let name = first.base_name();
        let written = first.literal().filter(|_| !hidden);
        let names = [
            written,
            name.literal()
                .filter(|name| !hidden || first.literal() != Some(name)),
        ];
        hidden = false;
        let spelled = names.into_iter().flatten().filter(|_| !first.raw.contains("$'"));
        let arguments: Vec<&str> = arguments.iter().map(|word| word.raw.as_str()).collect();
        texts.extend(spelled.map(|name| [&[name], arguments.as_slice()].concat().join(" ")));
        words = behind_runner(words)
            .and_then(|at| words.get(at..))
            .unwrap_or_default();
    }
    texts
}

fn is_about_path(rule: &Rule, pattern: &PathPattern, call: &ToolCall<'_>) -> bool {
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
        ToolGroup::Command => files::looked_at(call, reads).iter().any(|file| covers(file)),
        ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => false,
    }
}

fn name(invocation: &Invocation) -> &str {
    invocation
        .words
        .first()
        .and_then(Word::literal)
        .unwrap_or_default()
}

/// The commands that run as they stand.
fn certain(analysis: &Analysis) -> impl Iterator<Item = &Invocation> + Clone {
    let seen = analysis.seen().invocations.iter();
    seen.filter(|invocation| invocation.certain)
}
