//! What Claude itself runs without a question: by its allow rules, or because it only reads.
//!
//! Place in the flow: `explain` asks once no deny or ask rule is about the call. Must not be asked for a policy.

use std::sync::Arc;

use super::super::decide::{Allowed, Needs};
use super::super::grammar::{Content, Meaning};
use super::reading::Reading;
use super::{FED, certain, files, is_skill, is_whole, name, unasked};
use crate::rules::{Rule, RuleKind, RuleSet, ToolCall};
use crate::shell::{Analysis, Commands, Doubt, Invocation, Word, is_edit, operands};
use crate::tools::ToolGroup;

/// What Claude reads all the same.
const DOUBTS: [Doubt; 5] = [
    Doubt::Branch,
    Doubt::Loop,
    Doubt::Captured,
    Doubt::Code,
    Doubt::Wrapper,
];

impl RuleSet {
    /// Why Claude itself needs no question about what it does not protect. A rule for `Edit` as a whole is about no other tool that edits.
    pub(crate) fn claude_allows(&self, call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
        let named = |rule: &Rule| !is_whole(rule) || rule.meaning.tool.names(call.tool);
        let rules = self.iter().filter(|rule| named(rule)).cloned().collect();
        let rules = Self { rules };
        match call.analysis() {
            Some(_) => rules
                .allows_tool(call)
                .or_else(|| rules.claude_allows_commands(call, edits_accepted)),
            None if ToolGroup::of(call.tool) == ToolGroup::Skill => rules.claude_allows_skill(call),
            None => rules
                .allows(call, edits_accepted)
                .or_else(|| needs_no_rule(call, edits_accepted)),
        }
    }

    fn claude_allows_skill(&self, call: &ToolCall<'_>) -> Option<Allowed> {
        let by_name = || {
            let rule = self.of(RuleKind::Allow).find(|rule| {
                let Meaning { tool, content, .. } = &rule.meaning;
                tool.names(call.tool) && matches!(content, Content::Name(name) if is_skill(name, call))
            })?;
            Some(Allowed::ByRules(vec![Arc::clone(rule)]))
        };
        self.allows_tool(call).or_else(by_name)
    }

    /// What a command does with code that it is fed is its own matter to Claude.
    fn claude_allows_commands(&self, call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
        let reading = Reading::of(call)?;
        let (text, analysis) = (reading.text.as_ref(), reading.analysis.as_ref());
        if !reading.is_legible(&DOUBTS) || !certain(analysis).all(is_plain) {
            return None;
        }
        // `[[ … ]]` alone runs nothing.
        let tests = matches!(analysis, Analysis::Unanalysable(found) if found.doubts == [Doubt::Branch]);
        if tests && analysis.seen() == &Commands::default() && !text.contains('$') {
            return Some(Allowed::ReadOnly);
        }
        let seen = as_compared(analysis.seen());
        let needs = |invocation: &Invocation| needs(call, &seen, invocation, edits_accepted);
        let allowed = self.allows_commands(call, &seen, edits_accepted, &needs)?;
        let mut all = certain(analysis);
        // More than one change of directory is asked about, and what it writes after one.
        let moves = all.clone().filter(|invocation| name(invocation) == "cd").count();
        let writes = all.any(|invocation| files::WRITERS.contains(&name(invocation)));
        let mut words = text.split_whitespace();
        let timed = words.next() == Some("time");
        // `time -p touch a` is asked about under `Bash(touch *)`, `time touch a` is not.
        let by_options = timed && words.next().is_some_and(|word| word.starts_with('-'));
        let runs = match allowed {
            Allowed::ReadOnly => !timed,
            Allowed::ByRules(_) | Allowed::AcceptedEdit => {
                !by_options && !(writes && (moves > 0 || in_here(call)))
            }
        };
        (runs && moves < 2).then_some(allowed)
    }
}

/// Claude knows this directory by its variable to read in, not to write in.
fn in_here(call: &ToolCall<'_>) -> bool {
    call.text("command")
        .is_some_and(|command| command.contains("$PWD"))
}

/// Whether Claude takes every word of a command as it stands.
fn is_plain(invocation: &Invocation) -> bool {
    let known = |name| files::READERS.contains(&name) || files::WRITERS.contains(&name);
    let mut files = operands(&invocation.words).into_iter();
    let plain = files.all(|file| is_plain_path(file.path.text(), files::WRITERS.contains(&name(invocation))));
    // What stands behind a redirection is a file to Claude.
    let in_order = invocation.redirected_at.is_none();
    in_order && (plain || !known(name(invocation)))
}

/// Claude takes what is quoted in a path for what it would be without quotes.
fn is_plain_path(path: &str, written: bool) -> bool {
    let set = || path.split_once('[').is_some_and(|(_, rest)| rest.contains(']'));
    let braces = || path.split_once('{').is_some_and(|(_, rest)| rest.contains('}'));
    let pattern = || path.contains(['*', '?']) || set() || braces();
    !(path.starts_with('~') || path.contains(['$', '`']) || written && pattern())
}

/// The commands as Claude compares them with allow rules: what kind of blanks stands between words is all one, and only of
/// `find` and `awk` it wants spelled out what they run.
fn as_compared(seen: &Commands) -> Commands {
    let mut seen = seen.clone();
    for invocation in &mut seen.invocations {
        if !is_spelled(invocation) {
            invocation.spelled = 0;
        }
        for word in &mut invocation.words {
            " ".clone_into(&mut word.gap);
        }
    }
    seen
}

fn is_spelled(invocation: &Invocation) -> bool {
    let runs =
        |word: &Word| word.text().contains("system") || word.text().contains('|') || word.text() == "-f";
    match name(invocation) {
        "find" => true,
        "awk" | "gawk" | "mawk" => invocation.words.iter().any(runs),
        _ => false,
    }
}

/// What needs no rule inside the workspace, beside what Claude protects there.
fn needs_no_rule(call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
    let inside = || call.subject().is_some_and(|subject| call.is_inside(&subject));
    let allowed = match ToolGroup::of(call.tool) {
        ToolGroup::Reads => Allowed::ReadOnly,
        ToolGroup::Edits if edits_accepted => Allowed::AcceptedEdit,
        ToolGroup::Edits
        | ToolGroup::Command
        | ToolGroup::Fetch
        | ToolGroup::Skill
        | ToolGroup::Agent
        | ToolGroup::Other => return None,
    };
    inside().then_some(allowed)
}

/// What Claude wants allowed about a command. Behind most wrappers it takes a command for one that it does not know.
fn needs(call: &ToolCall<'_>, seen: &Commands, invocation: &Invocation, edits_accepted: bool) -> Needs {
    // What sets a variable, and is legible, runs.
    if invocation.words.is_empty() {
        return Needs::Nothing;
    }
    let runs = |wrapper: &Invocation| {
        let known = ["nice", "nohup", "stdbuf", "time", "timeout"].contains(&name(wrapper));
        known && !wrapper.certain && wrapper.words.ends_with(&invocation.words)
    };
    let fed = invocation.words.iter().any(|word| word.raw == FED);
    let wrapped = seen.invocations.iter().any(runs) || fed && !unasked::is_fed(name(invocation));
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
