//! The guard's part: the plan guard, and the operator's policy.
//!
//! Place in the flow: `explain` asks it first, as Claude's hook callback does. It uses the same [`Guard`] that sessions
//! have.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Section,
    session::{ExplainedSession, Prepared},
    words,
};
use crate::{
    decide::{
        Guard, GuardAnswer, GuardCall, GuardStep, Opinion,
        hooks::{HookCommand, HookRun},
    },
    modes::PermissionMode,
    pipeline::Stage,
    rules::{Call, Part, RuleKind},
};

/// What the guard finds.
pub(super) struct Guarded {
    pub(super) hooks: Vec<Arc<HookCommand>>,
    pub(super) answer: GuardAnswer,
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

pub(super) fn look(
    session: &ExplainedSession<'_>,
    prepared: &Prepared,
    tool: &str,
    input: &Value,
) -> Guarded {
    let mut guard = Guard::new(session.policy.cloned());
    let workspace = prepared
        .context
        .workspace(&prepared.guarded_directories, session.paths);
    let call = GuardCall {
        tool,
        input,
        mode: prepared.context.mode,
        workspace,
        plan_file: session.plan_file(input),
        agent: None,
        read_only_hint: false,
    };
    let approved = HookRun::Exited {
        code: 0,
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    let mut hooks = Vec::new();
    let (mut examination, mut step) = guard.examine(&call);
    let answer = loop {
        match step {
            GuardStep::Hook(hook) => {
                hooks.push(hook);
                step = guard.hook_ended(&mut examination, &call, &approved);
            }
            GuardStep::Answer(answer) => break answer,
        }
    };
    let call_of_rules = Call::new(tool, input, workspace);
    let part = answer.rule.as_ref().filter(|rule| rule.kind() != RuleKind::Allow);
    Guarded {
        part: part.and_then(|rule| call_of_rules.part(rule)),
        hooks,
        lets_nobody_be_asked: guard.refuses_to_ask(&call).is_some(),
        refusal: guard.refuses(&call).and_then(|refusal| match refusal.opinion {
            Opinion::Deny { reason } => Some(reason),
            Opinion::None { .. } | Opinion::Allow { .. } | Opinion::Ask { .. } => None,
        }),
        answer,
        doubt: call_of_rules.doubt(),
        plan: prepared.context.mode == PermissionMode::Plan,
    }
}

impl Guarded {
    pub(super) fn section(&self, session: &ExplainedSession<'_>) -> Section {
        let Some(policy) = session.policy else {
            let title = words::NO_POLICY.to_owned();
            let text = if self.plan {
                self.opinion(false)
            } else {
                words::NO_PLAN.to_owned()
            };
            return Section {
                title,
                lines: vec![(Stage::Rules, text)],
            };
        };
        let allows = policy.rules.iter().any(|rule| rule.kind() == RuleKind::Allow);
        let title = words::policy(policy.protected.first().map(String::as_str));
        let opinion = self.opinion(policy.auto_allow);
        if self.answer.stage == Stage::Validate {
            return Section {
                title,
                lines: vec![(Stage::Validate, opinion)],
            };
        }
        let mut lines = vec![(Stage::Validate, words::PASSED.to_owned())];
        lines.extend(words::hooks(&self.hooks).map(|text| (Stage::Hooks, text)));
        // A question that nobody can be asked is one of the rules'.
        lines.push((Stage::Rules, opinion));
        lines.extend(self.part.iter().map(|part| (Stage::Rules, words::part(part))));
        let unruled = self.answer.rule.is_none() && !self.answer.is_deny();
        if let Some(doubt) = self.doubt.filter(|_| allows && unruled) {
            lines.push((Stage::Rules, words::unanalysable(doubt)));
        }
        Section { title, lines }
    }

    fn opinion(&self, auto_allow: bool) -> String {
        match (&self.answer.opinion, &self.answer.rule) {
            (Opinion::Deny { reason }, _) => words::deny(reason),
            (Opinion::Ask { reason, .. }, _) => words::ask(reason),
            (Opinion::Allow { .. }, Some(rule)) => words::allow(rule),
            (Opinion::None { .. }, Some(rule)) if !auto_allow => words::allow_asks_still(rule),
            (Opinion::Allow { .. } | Opinion::None { .. }, _) => words::NO_OPINION.to_owned(),
        }
    }
}
