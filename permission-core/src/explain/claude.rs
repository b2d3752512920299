//! Claude's part: its own hooks, rules and mode.
//!
//! Place in the flow: `explain` asks it unless the guard denied. Where Claude decides otherwise, Claude is right.

use std::sync::Arc;

use super::{
    Section,
    guard::Guarded,
    session::{ExplainedSession, Prepared},
    verdict::Verdict,
    words,
};
use crate::{
    decide::{DecidedBy, Reason, Stage, hooks::HookCommand},
    modes::PermissionMode,
    rules::{Allowed, Call, Hit, Part, Rule, RuleKind, RuleOrigin},
    settings::SettingsSource,
    tools::{Tool, ToolGroup},
};

/// What Claude finds.
pub(super) struct Own {
    hooks: Vec<Arc<HookCommand>>,
    /// A policy keeps hooks of others from running.
    kept_out: bool,
    /// The mode asks nobody.
    pub(super) silent: bool,
    pub(super) end: End,
    /// A rule that a policy would follow, and Claude does not see that it is about the call.
    unseen: Option<Limit>,
}

/// A deny or ask rule, and the part of the call that it is about.
pub(super) struct Limit {
    rule: Arc<Rule>,
    part: Option<Part>,
}

/// Where Claude's own rules lead.
pub(super) enum End {
    Runs(Reason, Vec<Arc<Rule>>),
    /// Claude asks nobody about it, for this reason.
    Unasked(&'static str),
    Denied(Limit),
    /// A rule wants a question.
    Asked(Limit),
    /// The tool is a question.
    Question,
    /// Claude asks before it changes this file, whatever is allowed; or the mode's classifier decides.
    Protected(Unruled),
    /// Nothing says what to do, for this reason; the mode does.
    Unsaid(Reason, Unruled),
}

/// What a mode makes of a call that no rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unruled {
    Asked,
    Classified,
}

pub(super) fn look(session: &ExplainedSession<'_>, prepared: &Prepared, call: &Call<'_>) -> Own {
    let limit = |hit: Hit| Limit {
        part: call.part(&hit.rule),
        rule: hit.rule,
    };
    let limited = |kind| prepared.rules.claude_limits(kind, call).map(limit);
    let end = limited(RuleKind::Deny)
        .map(End::Denied)
        .or_else(|| limited(RuleKind::Ask).map(End::Asked))
        .unwrap_or_else(|| unlimited(prepared, call));
    let wider = match &end {
        End::Denied(_) => None,
        End::Asked(_) => prepared.rules.denies(call),
        End::Runs(..) | End::Unasked(_) | End::Question | End::Protected(_) | End::Unsaid(..) => {
            prepared.rules.denies(call).or_else(|| prepared.rules.asks(call))
        }
    };
    Own {
        hooks: session.claude_hooks(prepared, call.tool),
        kept_out: session.keeps_hooks_out(prepared),
        silent: call.mode == PermissionMode::DontAsk,
        unseen: wider.map(limit),
        end,
    }
}

/// Where a call ends that no rule limits.
fn unlimited(prepared: &Prepared, call: &Call<'_>) -> End {
    let mode = call.mode;
    let accepts = mode == PermissionMode::AcceptEdits;
    if Tool::of(call.tool).for_a_person {
        return End::Question;
    }
    if mode == PermissionMode::BypassPermissions {
        return End::Runs(Reason::Bypass, Vec::new());
    }
    if is_plan(call) {
        return End::Unasked(words::PLAN);
    }
    if call.changes_sensitive() {
        return End::Protected(unruled(prepared));
    }
    match prepared.rules.claude_allows(call, accepts) {
        Some(Allowed::ByRules(rules)) => return End::Runs(Reason::Rule, rules),
        Some(Allowed::ReadOnly) => return End::Runs(Reason::ReadOnly, Vec::new()),
        Some(Allowed::AcceptedEdit) => return End::Runs(Reason::AcceptedEdit, Vec::new()),
        None if Tool::of(call.tool).unasked => return End::Unasked(words::UNASKED),
        None => {}
    }
    let reason = call.doubt().map_or(Reason::NothingMatched, Reason::Unanalysable);
    End::Unsaid(reason, unruled(prepared))
}

fn is_plan(call: &Call<'_>) -> bool {
    call.mode == PermissionMode::Plan
        && ToolGroup::of(call.tool) == ToolGroup::Edits
        && call.plan_file.is_some()
}

/// In `plan`, too, Claude lets its classifier answer where there is one.
fn unruled(prepared: &Prepared) -> Unruled {
    match prepared.mode {
        PermissionMode::Auto => Unruled::Classified,
        PermissionMode::Plan if prepared.auto_available => Unruled::Classified,
        PermissionMode::Plan
        | PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::BypassPermissions
        | PermissionMode::DontAsk => Unruled::Asked,
    }
}

impl Own {
    pub(super) fn section(&self, guarded: &Guarded, verdict: Verdict, by: DecidedBy) -> Section {
        let mut lines = vec![(Stage::Validate, words::NOT_LOOKED_AT.to_owned())];
        if self.hooks.is_empty() && self.kept_out {
            lines.push((Stage::Hooks, words::KEPT_OUT.to_owned()));
        } else {
            lines.extend(words::hooks(&self.hooks).map(|text| (Stage::Hooks, text)));
        }
        lines.extend(self.rules().into_iter().map(|text| (Stage::Rules, text)));
        if !matches!(self.end, End::Denied(_)) {
            lines.push((Stage::Prompt, words::prompt(verdict, by).to_owned()));
        }
        match &guarded.refusal {
            Some(refusal) => lines.push((Stage::Check, words::deny(refusal))),
            None if verdict == Verdict::Denied => {}
            None => lines.push((Stage::Check, words::NOT_LOOKED_AT.to_owned())),
        }
        Section {
            title: words::CLAUDE.to_owned(),
            lines,
        }
    }

    fn rules(&self) -> Vec<String> {
        let mut lines = match &self.end {
            End::Runs(Reason::Rule, rules) => {
                let mut lines: Vec<String> = rules.iter().map(|rule| words::allow(rule)).collect();
                if rules.iter().any(|rule| is_projects(rule)) {
                    lines.push(words::UNTRUSTED.to_owned());
                }
                lines
            }
            End::Runs(reason, _) => vec![words::runs(reason)],
            End::Unasked(why) => vec![(*why).to_owned()],
            End::Question => vec![words::QUESTION.to_owned()],
            End::Denied(limit) => limit.lines(words::deny_rule),
            End::Asked(limit) => limit.lines(words::ask_rule),
            End::Protected(_) => vec![words::PROTECTED.to_owned()],
            End::Unsaid(reason, _) => vec![words::no_answer(&reason.to_string())],
        };
        lines.extend(
            self.unseen
                .iter()
                .flat_map(|limit| limit.lines(words::only_a_policy)),
        );
        lines
    }

    /// The rule that decides, if one does; of allow rules the first.
    pub(super) fn rule(&self) -> Option<&Arc<Rule>> {
        match &self.end {
            End::Denied(limit) | End::Asked(limit) => Some(&limit.rule),
            End::Runs(_, rules) => rules.first(),
            End::Unasked(_) | End::Question | End::Protected(_) | End::Unsaid(..) => None,
        }
    }
}

impl Limit {
    fn lines(&self, said: impl Fn(&Rule) -> String) -> Vec<String> {
        let part = self.part.as_ref().map(words::part);
        [Some(said(&self.rule)), part].into_iter().flatten().collect()
    }
}

fn is_projects(rule: &Rule) -> bool {
    matches!(rule.origin(), RuleOrigin::File(origin) if origin.source == SettingsSource::Project)
}
