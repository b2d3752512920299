//! What Claude itself runs without a question: by its allow rules, or because it only reads.
//!
//! Place in the flow: `explain` asks once no deny or ask rule is about the call. Must not be asked for a policy.

use std::sync::Arc;

use super::{
    super::{
        decide::{Allowed, Needs},
        grammar::{Content, Meaning},
    },
    FED, certain, is_legible, is_skill, is_whole, name, unasked,
};
use crate::{
    rules::{Call, Rule, RuleKind, RuleSet},
    shell::{Analysis, Commands, Doubt, Invocation, Word, is_edit, operands},
    tools::ToolGroup,
};

impl RuleSet {
    /// Why Claude itself needs no question about what it does not protect. A rule for `Edit` as a whole is about no other tool that edits.
    pub(crate) fn claude_allows(&self, call: &Call<'_>, edits_accepted: bool) -> Option<Allowed> {
        let named = |rule: &Rule| !is_whole(rule) || rule.meaning.tool.names(call.tool);
        let rules = self.iter().filter(|rule| named(rule)).cloned().collect();
        let rules = Self { rules };
        match call.analysis() {
            Some(analysis) => rules
                .allows_tool(call)
                .or_else(|| rules.claude_allows_commands(call, analysis, edits_accepted)),
            None if ToolGroup::of(call.tool) == ToolGroup::Skill => rules.claude_allows_skill(call),
            None => rules
                .allows(call, edits_accepted)
                .or_else(|| needs_no_rule(call, edits_accepted)),
        }
    }

    fn claude_allows_skill(&self, call: &Call<'_>) -> Option<Allowed> {
        let by_name = || {
            let rule = self.of(RuleKind::Allow).find(|rule| {
                let Meaning { tool, content, .. } = &rule.meaning;
                tool.names(call.tool) && matches!(content, Content::Name(name) if is_skill(name, call))
            })?;
            Some(Allowed::ByRules(vec![Arc::clone(rule)]))
        };
        self.allows_tool(call).or_else(by_name)
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

/// What needs no rule inside the workspace, beside what Claude protects there.
fn needs_no_rule(call: &Call<'_>, edits_accepted: bool) -> Option<Allowed> {
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
