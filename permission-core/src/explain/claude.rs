//! Claude's part: its own hooks, rules and mode.
//!
//! Place in the flow: `explain` asks it unless the guard denied. Where Claude decides otherwise, Claude is right.

use std::sync::Arc;

use super::operator::Guarded;
use super::session::{ExplainedSession, Prepared};
use super::verdict::Verdict;
use super::{Section, wording};
use crate::call::ToolCall;
use crate::decide::hooks::HookCommand;
use crate::decide::{DecidedBy, Decision, Outcome, Reason, Stage};
use crate::modes::PermissionMode;
use crate::rules::{Allowed, Hit, Part, Rule, RuleKind, RuleOrigin, RuleSet};
use crate::settings::SettingsSource;
use crate::tools::{Tool, ToolGroup};

/// What Claude finds.
pub(super) struct Own {
    hooks: Vec<Arc<HookCommand>>,
    /// A policy keeps hooks of others from running.
    kept_out: bool,
    pub(super) decision: Decision,
    /// Where a rule limits the call, the part that it is about.
    part: Option<Part>,
    /// A rule that a policy would follow, and Claude does not see that it is about the call.
    unseen: Option<(Arc<Rule>, Option<Part>)>,
    /// One version of Claude does not see a command of it.
    hidden: bool,
    mode: PermissionMode,
    auto_available: bool,
}

pub(super) fn look(session: &ExplainedSession<'_>, prepared: &Prepared, call: &ToolCall<'_>) -> Own {
    let decision = decide(&prepared.rules, call);
    let limit = match (decision.outcome, &decision.reason) {
        (Outcome::Allow | Outcome::Pass, _) => None,
        (Outcome::Ask | Outcome::Deny, _) => decision.rule(),
    };
    let asks = || match decision.reason {
        Reason::Rule if limit.is_some() => None,
        _ => prepared.rules.asks(call),
    };
    let wider = match decision.outcome {
        Outcome::Deny => None,
        Outcome::Allow | Outcome::Ask | Outcome::Pass => prepared.rules.denies(call).or_else(asks),
    };
    Own {
        hooks: session.claude_hooks(prepared, call.tool),
        kept_out: session.keeps_hooks_out(prepared),
        part: limit.and_then(|rule| call.part(rule)),
        unseen: wider.map(|Hit { rule }| (Arc::clone(&rule), call.part(&rule))),
        hidden: call.hides_behind_redirection(),
        decision,
        mode: call.mode,
        auto_available: prepared.auto_available,
    }
}

/// Where Claude's own rules and its mode lead.
fn decide(rules: &RuleSet, call: &ToolCall<'_>) -> Decision {
    let of = |outcome, reason, rules| Decision {
        outcome,
        stage: Stage::Rules,
        reason,
        by: DecidedBy::Claude,
        rules,
        updated_input: None,
    };
    let ask = |reason| of(Outcome::Ask, reason, Vec::new());
    let allow = |reason| of(Outcome::Allow, reason, Vec::new());
    if let Some(hit) = rules.claude_limits(RuleKind::Deny, call) {
        return of(Outcome::Deny, Reason::Rule, vec![hit.rule]);
    }
    if let Some(hit) = rules.claude_limits(RuleKind::Ask, call) {
        return of(Outcome::Ask, Reason::Rule, vec![hit.rule]);
    }
    if Tool::of(call.tool).for_a_person {
        return ask(Reason::Question);
    }
    if call.mode == PermissionMode::BypassPermissions {
        return allow(Reason::Bypass);
    }
    let plans = call.mode == PermissionMode::Plan && call.plan_file.is_some();
    if plans && ToolGroup::of(call.tool) == ToolGroup::Edits {
        return allow(Reason::PlanFile);
    }
    if call.changes_sensitive() {
        return ask(Reason::Sensitive);
    }
    let accepts = call.mode == PermissionMode::AcceptEdits;
    match rules.claude_allows(call, accepts) {
        Some(Allowed::ByRules(rules)) => of(Outcome::Allow, Reason::Rule, rules),
        Some(Allowed::ReadOnly) => allow(Reason::ReadOnly),
        Some(Allowed::AcceptedEdit) => allow(Reason::AcceptedEdit),
        None if Tool::of(call.tool).unasked => allow(Reason::Unasked),
        None => ask(call.doubt().map_or(Reason::NothingMatched, Reason::Unanalysable)),
    }
}

impl Own {
    pub(super) fn section(&self, guarded: &Guarded, verdict: Verdict, by: DecidedBy) -> Section {
        let mut lines = vec![(Stage::Validate, wording::NOT_LOOKED_AT.to_owned())];
        if self.hooks.is_empty() && self.kept_out {
            lines.push((Stage::Hooks, wording::KEPT_OUT.to_owned()));
        } else {
            lines.extend(wording::hooks(&self.hooks).map(|text| (Stage::Hooks, text)));
        }
        lines.extend(self.rules().into_iter().map(|text| (Stage::Rules, text)));
        if !self.decision.is_deny() {
            lines.push((Stage::Prompt, wording::prompt(verdict, by).to_owned()));
        }
        match &guarded.refusal {
            Some(refusal) => lines.push((Stage::Check, wording::deny(refusal))),
            None if verdict == Verdict::Denied => {}
            None => lines.push((Stage::Check, wording::NOT_LOOKED_AT.to_owned())),
        }
        Section {
            title: wording::CLAUDE.to_owned(),
            lines,
        }
    }

    fn rules(&self) -> Vec<String> {
        let Decision {
            outcome,
            reason,
            rules,
            ..
        } = &self.decision;
        let all = |said: fn(&Rule) -> String| rules.iter().map(|rule| said(rule)).collect();
        let mut lines: Vec<String> = match (outcome, reason) {
            (Outcome::Deny, _) => all(wording::deny_rule),
            (Outcome::Ask, Reason::Rule) => all(wording::ask_rule),
            (Outcome::Ask, _) if self.is_unsaid() => vec![wording::no_answer(&reason.to_string())],
            (Outcome::Ask, _) => vec![wording::ask(&reason.to_string())],
            (Outcome::Allow | Outcome::Pass, Reason::Rule) => all(wording::allow),
            (Outcome::Allow | Outcome::Pass, _) => vec![wording::runs(reason)],
        };
        if *outcome == Outcome::Allow && rules.iter().any(|rule| is_projects(rule)) {
            lines.push(wording::UNTRUSTED.to_owned());
        }
        lines.extend(self.part.as_ref().map(wording::part));
        if let Some((rule, part)) = &self.unseen {
            lines.push(wording::only_a_policy(rule));
            lines.extend(part.as_ref().map(wording::part));
            lines.extend(self.hidden.then(|| wording::HIDDEN.to_owned()));
        }
        lines
    }

    /// Whether nothing says what to do, so that the mode does.
    pub(super) fn is_unsaid(&self) -> bool {
        matches!(
            self.decision.reason,
            Reason::NothingMatched | Reason::Unanalysable(_)
        )
    }

    /// Whether Claude lets its classifier answer. In `plan` it does, too, where there is one.
    pub(super) fn is_classified(&self) -> bool {
        let classifies = match self.mode {
            PermissionMode::Auto => true,
            PermissionMode::Plan => self.auto_available,
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::BypassPermissions
            | PermissionMode::DontAsk => false,
        };
        classifies && (self.is_unsaid() || self.decision.reason == Reason::Sensitive)
    }

    /// Whether the mode asks nobody.
    pub(super) fn is_silent(&self) -> bool {
        self.mode == PermissionMode::DontAsk
    }
}

fn is_projects(rule: &Rule) -> bool {
    matches!(rule.origin(), RuleOrigin::File(origin) if origin.source == SettingsSource::Project)
}
