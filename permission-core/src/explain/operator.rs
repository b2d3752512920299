//! The guard's part: the plan guard, and the operator's policy.
//!
//! Place in the flow: `explain` asks it first, as Claude's hook callback does. It is the machine that sessions have; what is
//! noted down on the way is which hooks it would have run.

use std::sync::Arc;

use super::session::ExplainedSession;
use super::{Section, wording};
use crate::call::ToolCall;
use crate::decide::hooks::{HookCommand, HookRun};
use crate::decide::{Authority, Authorizer, Decision, Outcome, Stage, Step};
use crate::modes::PermissionMode;
use crate::rules::{Part, RuleKind};

/// What the guard finds.
pub(super) struct Guarded {
    pub(super) hooks: Vec<Arc<HookCommand>>,
    pub(super) decision: Decision,
    /// It denies instead of asking the client.
    pub(super) lets_nobody_be_asked: bool,
    /// What it says once more, before an allow leaves.
    pub(super) refusal: Option<String>,
    /// The part of the command that the rule which decides is about.
    part: Option<Part>,
    /// Why no allow rule can match the command.
    doubt: Option<&'static str>,
    plan: bool,
}

pub(super) fn look(session: &ExplainedSession<'_>, call: &ToolCall<'_>) -> Guarded {
    let mut authorizer = Authorizer::new(Authority::OverClaude(session.policy.cloned()));
    let approved = HookRun::Exited {
        code: 0,
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    let mut hooks = Vec::new();
    let (mut evaluation, mut step) = authorizer.begin(call);
    let decision = loop {
        match step {
            Step::Hook(hook) => {
                hooks.push(hook);
                step = authorizer.hook_ended(&mut evaluation, call, &approved);
            }
            Step::Decided(decision) => break *decision,
        }
    };
    let limit = decision.rule().filter(|rule| rule.kind() != RuleKind::Allow);
    Guarded {
        part: limit.and_then(|rule| call.part(rule)),
        hooks,
        lets_nobody_be_asked: authorizer.refuses_to_ask(call).is_some(),
        refusal: authorizer.answered(call, None).why(),
        decision,
        doubt: call.doubt(),
        plan: call.mode == PermissionMode::Plan,
    }
}

impl Guarded {
    pub(super) fn section(&self, session: &ExplainedSession<'_>) -> Section {
        let Some(policy) = session.policy else {
            let title = wording::NO_POLICY.to_owned();
            let text = if self.plan {
                self.opinion(false)
            } else {
                wording::NO_PLAN.to_owned()
            };
            return Section {
                title,
                lines: vec![(Stage::Rules, text)],
            };
        };
        let allows = policy.rules.iter().any(|rule| rule.kind() == RuleKind::Allow);
        let title = wording::policy(policy.protected.first().map(String::as_str));
        let opinion = self.opinion(policy.auto_allow);
        if self.decision.stage == Stage::Validate {
            return Section {
                title,
                lines: vec![(Stage::Validate, opinion)],
            };
        }
        let mut lines = vec![(Stage::Validate, wording::PASSED.to_owned())];
        lines.extend(wording::hooks(&self.hooks).map(|text| (Stage::Hooks, text)));
        // A question that nobody can be asked is one of the rules'.
        lines.push((Stage::Rules, opinion));
        lines.extend(self.part.iter().map(|part| (Stage::Rules, wording::part(part))));
        let unruled = self.decision.rules.is_empty() && !self.decision.is_deny();
        if let Some(doubt) = self.doubt.filter(|_| allows && unruled) {
            lines.push((Stage::Rules, wording::unanalysable(doubt)));
        }
        Section { title, lines }
    }

    fn opinion(&self, auto_allow: bool) -> String {
        let why = || self.decision.why().unwrap_or_default();
        match (self.decision.outcome, self.decision.rule()) {
            (Outcome::Deny, _) => wording::deny(&why()),
            (Outcome::Ask, _) => wording::ask(&why()),
            (Outcome::Allow, Some(rule)) => wording::allow(rule),
            (Outcome::Pass, Some(rule)) if !auto_allow => wording::allow_asks_still(rule),
            (Outcome::Allow | Outcome::Pass, _) => wording::NO_OPINION.to_owned(),
        }
    }
}
