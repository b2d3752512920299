//! The stages in their order: validation, hooks, mode and rules, the question, and once more a check.
//!
//! Place in the flow: a host begins with every call, runs the hooks that it is told to, and does what is decided. What
//! becomes of a call is reported back, so that denials in a row are counted. Fails closed: everything that is not clearly
//! allowed is asked about or denied.

use std::cell::LazyCell;
use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::authority::Authority;
use super::decision::{Decision, Outcome, Reason, Stage};
use super::hooks::{HookCommand, HookEvent, HookRun, PreToolUse};
use super::{DenialTracking, wording};
use crate::call::ToolCall;
use crate::modes::PermissionMode;
use crate::policy::{Confined, Protected};
use crate::rules::{Allowed, Rule};
use crate::tools::{MCP, Tool, ToolGroup};

/// What decides about the calls of a session.
#[derive(Clone, Debug, Default)]
pub struct Authorizer {
    authority: Authority,
    protected: Protected,
    denials: DenialTracking,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run this hook, with [`Evaluation::input`], and report its end.
    Hook(Arc<HookCommand>),
    /// That is what becomes of the call.
    Decided(Box<Decision>),
}

/// A call whose hooks are running.
#[derive(Debug, Default)]
pub struct Evaluation {
    hooks: VecDeque<Arc<HookCommand>>,
    /// The input that hooks changed.
    changed: Option<Value>,
    /// A hook wants a question, for this reason.
    hook_asks: Option<String>,
}

impl Evaluation {
    /// The input that hooks left, if they changed it.
    pub fn input(&self) -> Option<&Value> {
        self.changed.as_ref()
    }
}

impl Authorizer {
    /// Decides by an authority.
    pub fn new(authority: Authority) -> Self {
        Self {
            authority,
            ..Self::default()
        }
    }

    /// Goes on by another authority. Denials in a row stay counted.
    pub fn change(&mut self, authority: Authority) {
        self.authority = authority;
    }

    /// Begins with a call.
    pub fn begin(&mut self, call: &ToolCall<'_>) -> (Evaluation, Step) {
        self.fit(call);
        let policy = self.authority.policy();
        let hooks = policy.map(|policy| policy.hooks.matching(HookEvent::PreToolUse, call.tool));
        let mut evaluation = Evaluation {
            hooks: hooks.unwrap_or_default().into(),
            ..Evaluation::default()
        };
        let step = match self.invalid(call) {
            Some(denied) => self.decided(call, denied),
            None => self.next(&mut evaluation, call),
        };
        (evaluation, step)
    }

    /// Goes on after a hook.
    pub fn hook_ended(&mut self, evaluation: &mut Evaluation, call: &ToolCall<'_>, run: &HookRun) -> Step {
        let Some(hook) = evaluation.hooks.pop_front() else {
            return self.decided(call, Decision::failed(wording::OUT_OF_ORDER));
        };
        let unusable = HookRun::Failed(wording::HOOK_NOT_RUN.to_owned());
        let run = if hook.command.is_some() { run } else { &unusable };
        if let Some(denied) = self.heard(evaluation, call, PreToolUse::read(run)) {
            return self.decided(call, denied);
        }
        match evaluation.changed.clone() {
            Some(input) => self.next(evaluation, &call.with_input(&input)),
            None => self.next(evaluation, call),
        }
    }

    /// Decides about a call of which hooks have been heard elsewhere; this is what they come to.
    pub fn decide(&mut self, call: &ToolCall<'_>, said: PreToolUse) -> Decision {
        let mut evaluation = Evaluation::default();
        let denied = self.invalid(call);
        let denied = denied.or_else(|| self.heard(&mut evaluation, call, said));
        let decision = denied.unwrap_or_else(|| match &evaluation.changed {
            Some(input) => self.by_rules(&call.with_input(input), &evaluation),
            None => self.by_rules(call, &evaluation),
        });
        self.counted(call, decision)
    }

    /// Before the client is asked a question of Claude's: the denial of a policy that lets nobody be asked.
    pub fn refuses_to_ask(&mut self, call: &ToolCall<'_>) -> Option<Decision> {
        let headless = self.authority.policy().is_some_and(|policy| policy.headless);
        let reason = Reason::NoPrompt(Box::new(Reason::NothingMatched));
        headless.then(|| self.counted(call, self.deny(Stage::Prompt, reason, None)))
    }

    /// The answer of whoever was asked, with the input as it will run; `refusal` is what they said against it. What no user
    /// can allow is denied.
    pub fn answered(&mut self, call: &ToolCall<'_>, refusal: Option<String>) -> Decision {
        self.fit(call);
        let checked = || {
            let denied = self.invalid(call).or_else(|| self.limited(call));
            denied.or_else(|| self.plan(call).filter(Decision::is_deny))
        };
        let denied = if refusal.is_none() { checked() } else { None };
        let decision = match denied {
            Some(denied) => Decision {
                stage: Stage::Check,
                ..denied
            },
            None => Decision::of_user(refusal),
        };
        self.denials.note(call.agent, !decision.is_deny());
        decision
    }

    /// What became of a call that was not decided here: it ran, or somebody denied it.
    pub fn note(&mut self, agent: Option<&str>, allowed: bool) {
        self.denials.note(agent, allowed);
    }

    /// The next hook, or the decision. `call` has the input that hooks left.
    fn next(&mut self, evaluation: &mut Evaluation, call: &ToolCall<'_>) -> Step {
        match evaluation.hooks.front() {
            Some(hook) => Step::Hook(Arc::clone(hook)),
            None => self.decided(call, self.by_rules(call, evaluation)),
        }
    }

    fn decided(&mut self, call: &ToolCall<'_>, decision: Decision) -> Step {
        Step::Decided(Box::new(self.counted(call, decision)))
    }

    /// A sole authority knows what becomes of what it allows; Claude tells of the others later.
    fn counted(&mut self, call: &ToolCall<'_>, decision: Decision) -> Decision {
        let counts = match decision.outcome {
            Outcome::Deny => decision.stage != Stage::Validate,
            Outcome::Allow => matches!(self.authority, Authority::Sole(_)),
            Outcome::Pass | Outcome::Ask => false,
        };
        if counts {
            self.denials.note(call.agent, !decision.is_deny());
        }
        decision
    }

    fn fit(&mut self, call: &ToolCall<'_>) {
        if let Authority::OverClaude(Some(policy)) = &self.authority {
            self.protected.fit(policy, &call.workspace);
        }
    }

    /// The first stage: shape, and what is certainly out of reach.
    fn invalid(&self, call: &ToolCall<'_>) -> Option<Decision> {
        let denied = |reason| Some(self.deny(Stage::Validate, reason, None));
        if !call.input.is_object() {
            return denied(Reason::NoObject);
        }
        if !self.authority.policy().is_some_and(|policy| policy.confine) {
            return None;
        }
        match Confined::of(call) {
            Confined::Outside(_) if call.writes_plan() => None,
            Confined::Outside(path) => denied(Reason::Outside(path)),
            Confined::Inside | Confined::Unknown => None,
        }
    }

    /// What a hook comes to: its denial, or that of the input that it leaves.
    fn heard(&self, evaluation: &mut Evaluation, call: &ToolCall<'_>, said: PreToolUse) -> Option<Decision> {
        match said {
            PreToolUse::Approve => None,
            PreToolUse::Deny { reason } => Some(self.deny(Stage::Hooks, Reason::Hook(reason), None)),
            PreToolUse::Change { input, ask } => {
                evaluation.hook_asks = evaluation.hook_asks.take().or(ask);
                let input = input?;
                let denied = self.invalid(&call.with_input(&input));
                evaluation.changed = Some(input);
                denied
            }
        }
    }

    /// The third stage, and whether there is a question.
    fn by_rules(&self, call: &ToolCall<'_>, evaluation: &Evaluation) -> Decision {
        let denied = self.limited(call).or_else(|| self.plan(call));
        let decision = denied.unwrap_or_else(|| {
            let edits_accepted =
                matches!(self.authority, Authority::Sole(_)) && call.mode == PermissionMode::AcceptEdits;
            let allowed = LazyCell::new(|| self.authority.rules().settles(call, edits_accepted));
            let asked = self.asked(call, evaluation.hook_asks.as_ref(), || allowed.as_ref());
            asked.unwrap_or_else(|| self.unasked(call, || allowed.clone()))
        });
        let updated_input = evaluation.changed.clone().filter(|_| !decision.is_deny());
        Decision {
            updated_input,
            ..decision
        }
    }

    /// Deny rules, and what comes with every policy.
    fn limited(&self, call: &ToolCall<'_>) -> Option<Decision> {
        if let Some(hit) = self.authority.rules().denies(call) {
            return Some(self.deny(Stage::Rules, Reason::Rule, Some(hit.rule)));
        }
        self.authority.policy()?;
        let hit = self.protected.denies(call).filter(|_| !call.writes_plan())?;
        let rule = hit.rule.text().to_owned();
        Some(self.deny(Stage::Rules, Reason::Protected(rule), None))
    }

    /// In `plan` nothing is changed, whoever decides.
    fn plan(&self, call: &ToolCall<'_>) -> Option<Decision> {
        let free = call.mode != PermissionMode::Plan
            || call.only_reads()
            || call.read_only_hint
            || call.is_planning();
        if free {
            return None;
        }
        let reason = if call.certainly_writes() {
            Reason::PlanChange
        } else if call.tool.starts_with(MCP) {
            Reason::PlanServer
        } else if matches!(self.authority, Authority::OverClaude(None)) {
            return Some(self.ask(call, Reason::PlanMayChange, None));
        } else {
            Reason::PlanMayChange
        };
        Some(self.deny(Stage::Rules, reason, None))
    }

    /// Why there is a question whatever allows the call.
    fn asked<'a>(
        &self,
        call: &ToolCall<'_>,
        hook: Option<&String>,
        allowed: impl FnOnce() -> Option<&'a Allowed>,
    ) -> Option<Decision> {
        let ask = |reason| Some(self.ask(call, reason, None));
        if let Some(hit) = self.authority.rules().asks(call) {
            return Some(self.ask(call, Reason::Rule, Some(hit.rule)));
        }
        if let Some(why) = hook {
            return ask(Reason::Hook(why.clone()));
        }
        if let Authority::Sole(_) = self.authority {
            if Tool::of(call.tool).for_a_person {
                return ask(Reason::Question);
            }
            if call.mode == PermissionMode::BypassPermissions {
                return None;
            }
        }
        if self.is_tired(call, allowed) {
            return ask(Reason::Denials(self.denials.consecutive(call.agent)));
        }
        let policy = self.authority.policy()?;
        if policy.confine && Confined::of(call) == Confined::Unknown {
            return ask(Reason::UnknownFiles);
        }
        let may_touch = self.protected.may_touch(call) && !call.writes_plan();
        may_touch.then(|| self.ask(call, Reason::MayTouchProtected, None))
    }

    /// What becomes of a call that nobody wants a question about.
    fn unasked(&self, call: &ToolCall<'_>, allowed: impl FnOnce() -> Option<Allowed>) -> Decision {
        let (sole, takes_questions) = match &self.authority {
            Authority::OverClaude(None) => return self.plain(Outcome::Pass, Reason::NothingMatched),
            Authority::Sole(_) if call.mode == PermissionMode::BypassPermissions => {
                return self.plain(Outcome::Allow, Reason::Bypass);
            }
            Authority::Sole(_) => (true, true),
            Authority::OverClaude(Some(policy)) => (false, policy.auto_allow),
        };
        let outcome = |allows| if allows { Outcome::Allow } else { Outcome::Pass };
        match allowed() {
            Some(Allowed::ByRules(rules)) => Decision {
                rules,
                ..self.plain(outcome(takes_questions), Reason::Rule)
            },
            Some(Allowed::ReadOnly) => self.plain(outcome(sole), Reason::ReadOnly),
            Some(Allowed::AcceptedEdit) => self.plain(outcome(sole), Reason::AcceptedEdit),
            None => {
                let doubt = call.doubt();
                let reason = doubt.map_or(Reason::NothingMatched, Reason::Unanalysable);
                if sole {
                    self.ask(call, reason, None)
                } else {
                    self.plain(Outcome::Pass, reason)
                }
            }
        }
    }

    /// After denials in a row, whatever is allowed is a question, unless it does no more than read in the workspace, look
    /// something up or plan.
    fn is_tired<'a>(&self, call: &ToolCall<'_>, allowed: impl FnOnce() -> Option<&'a Allowed>) -> bool {
        let looks_up = || ToolGroup::of(call.tool) == ToolGroup::Other && call.only_reads();
        let harmless = || {
            call.reads_inside() || looks_up() || call.is_planning() || allowed() == Some(&Allowed::ReadOnly)
        };
        self.denials
            .reached(call.agent, self.authority.denial_threshold())
            && !harmless()
    }

    /// A question, or the denial where nobody is asked.
    fn ask(&self, call: &ToolCall<'_>, reason: Reason, rule: Option<Arc<Rule>>) -> Decision {
        if self.authority.asks_nobody(call.mode) {
            return self.deny(Stage::Prompt, Reason::NoPrompt(Box::new(reason)), rule);
        }
        Decision {
            rules: rule.into_iter().collect(),
            ..self.plain(Outcome::Ask, reason)
        }
    }

    fn deny(&self, stage: Stage, reason: Reason, rule: Option<Arc<Rule>>) -> Decision {
        Decision {
            stage,
            rules: rule.into_iter().collect(),
            ..self.plain(Outcome::Deny, reason)
        }
    }

    fn plain(&self, outcome: Outcome, reason: Reason) -> Decision {
        Decision {
            outcome,
            stage: Stage::Rules,
            reason,
            by: self.authority.name(),
            rules: Vec::new(),
            updated_input: None,
        }
    }
}
