//! What rules say about a call: deny over ask over allow, over all sources at once.
//!
//! Place in the flow: the machine's third stage. A deny or an ask needs one part of the call that the
//! rule may be about; an allow needs every part. Must not let an unanalysable command meet an allow rule's content.

use std::sync::Arc;

use super::grammar::{Content, Meaning};
use super::path::PathPattern;
use super::reach::{Reach, reach};
use super::{Rule, RuleKind, RuleSet, ToolCall, ToolGroup};
use crate::paths::{Places, Subject};
use crate::shell::{
    Analysis, Commands, FileUse, Invocation, answers_for_its_files, is_edit, is_read_only, operands,
};

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
    /// It edits inside the workspace, and the mode accepts that.
    AcceptedEdit,
}

/// What must be allowed about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The files that it is given.
    Files,
    /// The command itself.
    Rule,
}

impl RuleSet {
    /// The first deny rule that may be about the call.
    pub fn denies(&self, call: &ToolCall<'_>) -> Option<Hit> {
        self.hit(RuleKind::Deny, call, Reach::Below)
    }

    /// The first deny rule about something that the call names itself.
    pub(crate) fn denies_by_name(&self, call: &ToolCall<'_>) -> Option<Hit> {
        self.hit(RuleKind::Deny, call, Reach::Named)
    }

    /// The first ask rule that may be about the call; else the first deny rule about something that the call does not
    /// name and comes across perhaps, such as a file below a directory that it searches.
    pub fn asks(&self, call: &ToolCall<'_>) -> Option<Hit> {
        let perhaps = || self.hit(RuleKind::Deny, call, Reach::Perhaps);
        self.hit(RuleKind::Ask, call, Reach::Perhaps).or_else(perhaps)
    }

    /// Why the call is allowed, if it is. With `edits_accepted`, edits inside the workspace need no rule.
    pub fn allows(&self, call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
        if let Some(allowed) = self.allows_tool(call) {
            return Some(allowed);
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

    /// Why there is no question about the call, if there is none: rules, or what needs no rule inside the workspace.
    pub(crate) fn settles(&self, call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
        self.allows(call, edits_accepted)
            .or_else(|| needs_no_rule(call, edits_accepted))
    }

    /// The rule that allows the tool as a whole.
    pub(super) fn allows_tool(&self, call: &ToolCall<'_>) -> Option<Allowed> {
        let rule = self.of(RuleKind::Allow).find(|rule| {
            let Meaning { tool, content, .. } = &rule.meaning;
            *content == Content::Whole && tool.names(call.tool)
        })?;
        Some(Allowed::ByRules(vec![Arc::clone(rule)]))
    }

    fn hit(&self, kind: RuleKind, call: &ToolCall<'_>, least: Reach) -> Option<Hit> {
        let rule = self.of(kind).find(|rule| reach(&rule.meaning, call) >= least)?;
        Some(Hit {
            rule: Arc::clone(rule),
        })
    }

    fn allows_file(&self, call: &ToolCall<'_>, group: ToolGroup) -> Option<Allowed> {
        let subject = call.subject()?;
        let places = call.places();
        let rule = self.allows_path(group, &subject, &places)?;
        Some(Allowed::ByRules(vec![Arc::clone(rule)]))
    }

    fn allows_command(&self, call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
        match call.analysis()? {
            Analysis::Commands(commands) => {
                let needs = |invocation: &Invocation| needs(invocation, edits_accepted);
                self.allows_commands(call, commands, edits_accepted, &needs)
            }
            Analysis::Unanalysable(_) => None,
        }
    }

    /// Why these commands, which must be all that runs, need no question.
    pub(super) fn allows_commands(
        &self,
        call: &ToolCall<'_>,
        commands: &Commands,
        edits_accepted: bool,
        needs: &dyn Fn(&Invocation) -> Needs,
    ) -> Option<Allowed> {
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        let mut add = |rule: &Arc<Rule>| {
            if !rules.contains(rule) {
                rules.push(Arc::clone(rule));
            }
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
            let by_rules = self.allows_invocation(call, invocation, needs(invocation))?;
            by_rules.into_iter().for_each(&mut add);
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
            by_rule.into_iter().for_each(&mut add);
        }
        Some(if rules.is_empty() {
            Allowed::ReadOnly
        } else {
            Allowed::ByRules(rules)
        })
    }

    /// The rules that let one command run, none where it needs none. What a rule says about a command says nothing about
    /// the files that it is given.
    fn allows_invocation(
        &self,
        call: &ToolCall<'_>,
        invocation: &Invocation,
        needs: Needs,
    ) -> Option<Vec<&Arc<Rule>>> {
        let by_rule = self.of(RuleKind::Allow).find(|rule| {
            let Meaning { tool, content, .. } = &rule.meaning;
            tool.names_commands_of(call.tool)
                && matches!(content, Content::Command(pattern) if pattern.allows(invocation))
        });
        if needs == Needs::Nothing {
            return Some(by_rule.into_iter().collect());
        }
        if by_rule.is_none() && needs == Needs::Rule {
            return None;
        }
        let mut rules: Vec<&Arc<Rule>> = by_rule.into_iter().collect();
        if needs == Needs::Files || answers_for_its_files(invocation) {
            for file in operands(&invocation.words) {
                let inside = if file.access.writes() {
                    call.accepts_word(&file.path)
                } else {
                    call.is_word_inside(&file.path)
                };
                let by_rule = self.allows_use(call, &file);
                if by_rule.is_none() && !inside {
                    return None;
                }
                rules.extend(by_rule);
            }
        }
        Some(rules)
    }

    fn allows_use(&self, call: &ToolCall<'_>, file: &FileUse) -> Option<&Arc<Rule>> {
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
        self.allows_path(group, &subject, &places)
    }

    fn allows_path(&self, group: ToolGroup, subject: &Subject, places: &Places<'_>) -> Option<&Arc<Rule>> {
        self.of(RuleKind::Allow)
            .find(|rule| path_of(&rule.meaning, group).is_some_and(|pattern| pattern.covers(subject, places)))
    }
}

/// What a command needs to run without a question.
pub(super) fn needs(invocation: &Invocation, edits_accepted: bool) -> Needs {
    let reads = is_read_only(invocation);
    match (
        invocation.words.is_empty(),
        reads || edits_accepted && is_edit(invocation),
    ) {
        (true, _) if reads => Needs::Nothing,
        (_, true) => Needs::Files,
        (_, false) => Needs::Rule,
    }
}

/// What needs no rule inside the workspace.
pub(super) fn needs_no_rule(call: &ToolCall<'_>, edits_accepted: bool) -> Option<Allowed> {
    let edits = edits_accepted && call.edits_inside();
    let reads = call.reads_inside().then_some(Allowed::ReadOnly);
    reads.or(edits.then_some(Allowed::AcceptedEdit))
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

fn allows_value(meaning: &Meaning, call: &ToolCall<'_>) -> bool {
    if !meaning.tool.names(call.tool) {
        return false;
    }
    match &meaning.content {
        Content::Host(host) => call.url().and_then(|url| host.fits(&url)).unwrap_or(false),
        Content::Name(name) => {
            let inline = || {
                let apart = call
                    .text("args")
                    .is_some_and(|arguments| !arguments.trim().is_empty());
                !apart && call.text("skill").is_some_and(|skill| name.spells(skill))
            };
            name_of(call).is_some_and(|(value, arguments)| name.fits(value, arguments)) || inline()
        }
        Content::Whole | Content::Command(_) | Content::Path(_) | Content::Nothing => false,
    }
}

/// The name that a rule about skills or agents is compared with, and the arguments.
pub(super) fn name_of<'a>(call: &ToolCall<'a>) -> Option<(&'a str, &'a str)> {
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
