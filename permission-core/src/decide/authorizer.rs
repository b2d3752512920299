//! One call before the guard: the plan guard, and the stages of the operator's policy.
//!
//! Place in the flow: the host calls [`Guard::examine`] for every hook callback, runs the hooks that it is told to, and
//! sends the answer. What becomes of a call is reported back, so that denials in a row are counted. Fails closed.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;

use super::{
    DENIAL_THRESHOLD, DenialTracking,
    decision::{GuardAnswer, Opinion},
    hooks::{HookCommand, HookEvent, HookRun, PreToolUse},
    sentences,
};
use crate::{
    modes::PermissionMode,
    pipeline::{AskReason, Stage, plan},
    policy::{Confined, Policy, Protected},
    rules::{Allowed, Call, Rule, RuleSet, Workspace},
    tools::ToolGroup,
};

/// What guards a session.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    policy: Option<Arc<Policy>>,
    protected: Protected,
    denials: DenialTracking,
}

/// A call, with what the session is like when it comes.
#[derive(Clone, Copy)]
pub struct GuardCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// The session's mode.
    pub mode: PermissionMode,
    /// Its directories, those of the policy included.
    pub workspace: Workspace<'a>,
    /// The file that may be written in `plan`, absolute.
    pub plan_file: Option<&'a str>,
    /// The subagent that calls; `None` for the session itself.
    pub agent: Option<&'a str>,
    /// The tool's server says that it only reads.
    pub read_only_hint: bool,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardStep {
    /// Run this hook of the policy's, with [`Examination::input`], and report its end.
    Hook(Arc<HookCommand>),
    /// Send this answer.
    Answer(GuardAnswer),
}

/// A call whose hooks are running.
#[derive(Debug)]
pub struct Examination {
    hooks: VecDeque<Arc<HookCommand>>,
    /// The input that hooks changed.
    changed: Option<Value>,
    hook_asks: Option<String>,
}

impl Examination {
    /// The input that hooks left, if they changed it.
    pub fn input(&self) -> Option<&Value> {
        self.changed.as_ref()
    }
}

impl Guard {
    /// A guard with an operator's policy, or with none.
    pub fn new(policy: Option<Arc<Policy>>) -> Self {
        Self {
            protected: Protected::default(),
            policy,
            denials: DenialTracking::default(),
        }
    }

    /// Begins with a call.
    pub fn examine(&mut self, call: &GuardCall<'_>) -> (Examination, GuardStep) {
        self.fit(call);
        let hooks = self
            .policy
            .as_ref()
            .map(|policy| policy.hooks.matching(HookEvent::PreToolUse, call.tool));
        let mut examination = Examination {
            hooks: hooks.unwrap_or_default().into(),
            changed: None,
            hook_asks: None,
        };
        let seen = Call::new(call.tool, call.input, call.workspace);
        let step = match self.invalid(&seen, call) {
            Some(answer) => GuardStep::Answer(self.counted(call, answer)),
            None => self.next(&mut examination, &seen, call),
        };
        (examination, step)
    }

    /// Goes on after a hook.
    pub fn hook_ended(
        &mut self,
        examination: &mut Examination,
        call: &GuardCall<'_>,
        run: &HookRun,
    ) -> GuardStep {
        let Some(hook) = examination.hooks.pop_front() else {
            let answer = GuardAnswer::failed(sentences::OUT_OF_ORDER);
            return GuardStep::Answer(self.counted(call, answer));
        };
        let unusable = HookRun::Failed("it cannot be run as it is configured".to_owned());
        let run = if hook.command.is_some() { run } else { &unusable };
        match PreToolUse::read(run) {
            PreToolUse::Approve => {}
            PreToolUse::Deny { reason } => {
                let answer = deny(Stage::Hooks, sentences::hook(&reason), None);
                return GuardStep::Answer(self.counted(call, answer));
            }
            PreToolUse::Change { input, ask } => {
                examination.hook_asks = examination.hook_asks.take().or(ask);
                if let Some(input) = input {
                    let changed = GuardCall {
                        input: &input,
                        ..*call
                    };
                    let seen = Call::new(changed.tool, changed.input, changed.workspace);
                    if let Some(answer) = self.invalid(&seen, &changed) {
                        return GuardStep::Answer(self.counted(call, answer));
                    }
                    examination.changed = Some(input);
                }
            }
        }
        let changed = examination.changed.clone();
        let now = GuardCall {
            input: changed.as_ref().unwrap_or(call.input),
            ..*call
        };
        let seen = Call::new(now.tool, now.input, now.workspace);
        self.next(examination, &seen, &now)
    }

    /// Before the client is asked: the denial of a policy that lets nobody be asked.
    pub fn refuses_to_ask(&mut self, call: &GuardCall<'_>) -> Option<GuardAnswer> {
        let headless = self.policy.as_ref().is_some_and(|policy| policy.headless);
        headless.then(|| {
            let reason = sentences::unasked(&AskReason::NothingMatched.to_string());
            self.counted(call, deny(Stage::Prompt, reason, None))
        })
    }

    /// Before an allow leaves, with the input as it will run: the denial of what no user can allow.
    pub fn refuses(&mut self, call: &GuardCall<'_>) -> Option<GuardAnswer> {
        self.fit(call);
        let seen = Call::new(call.tool, call.input, call.workspace);
        let answer = self
            .invalid(&seen, call)
            .or_else(|| self.limited(&seen, call))
            .or_else(|| self.plan(&seen, call).filter(GuardAnswer::is_deny))?;
        let answer = GuardAnswer {
            stage: Stage::Check,
            ..answer
        };
        Some(self.counted(call, answer))
    }

    /// What became of a call that the guard had not denied: it ran, or Claude or the user denied it.
    pub fn note(&mut self, agent: Option<&str>, allowed: bool) {
        self.denials.note(agent, allowed);
    }

    /// The next hook, or the answer. `call` has the input that hooks left.
    fn next(&mut self, examination: &mut Examination, seen: &Call<'_>, call: &GuardCall<'_>) -> GuardStep {
        if let Some(hook) = examination.hooks.front() {
            return GuardStep::Hook(Arc::clone(hook));
        }
        let hook_asks = examination.hook_asks.take();
        let answer = self.rules(seen, call, hook_asks, examination.changed.clone());
        GuardStep::Answer(self.counted(call, answer))
    }

    fn fit(&mut self, call: &GuardCall<'_>) {
        if let Some(policy) = &self.policy {
            self.protected.fit(policy, &call.workspace);
        }
    }

    /// The first stage: shape, and what is certainly out of reach.
    fn invalid(&self, seen: &Call<'_>, call: &GuardCall<'_>) -> Option<GuardAnswer> {
        if !call.input.is_object() {
            return Some(deny(Stage::Validate, sentences::NO_OBJECT.to_owned(), None));
        }
        if !self.policy.as_ref().is_some_and(|policy| policy.confine) {
            return None;
        }
        match Confined::of(seen) {
            Confined::Outside(_) if is_plan_file(seen, call) => None,
            Confined::Outside(path) => Some(deny(Stage::Validate, sentences::outside(&path), None)),
            Confined::Inside | Confined::Unknown => None,
        }
    }

    /// Deny rules of the policy, and those that come with it.
    fn limited(&self, seen: &Call<'_>, call: &GuardCall<'_>) -> Option<GuardAnswer> {
        let policy = self.policy.as_ref()?;
        if let Some(hit) = policy.rules.denies(seen) {
            return Some(deny(Stage::Rules, sentences::rule(&hit.rule), Some(hit.rule)));
        }
        let hit = self
            .protected
            .denies(seen)
            .filter(|_| !is_plan_file(seen, call))?;
        Some(deny(Stage::Rules, sentences::protected(&hit.rule), None))
    }

    /// The plan guard: for everybody.
    fn plan(&self, seen: &Call<'_>, call: &GuardCall<'_>) -> Option<GuardAnswer> {
        let free = call.mode != PermissionMode::Plan
            || seen.only_reads()
            || call.read_only_hint
            || plan::is_exempt(seen, call.plan_file);
        if free {
            return None;
        }
        let certain = if seen.certainly_writes() {
            Some(sentences::PLAN_CHANGE)
        } else if seen.tool.starts_with("mcp__") {
            Some(sentences::PLAN_TOOL)
        } else {
            None
        };
        match certain {
            Some(reason) => Some(deny(Stage::Rules, reason.to_owned(), None)),
            None if self.policy.is_some() => {
                Some(deny(Stage::Rules, sentences::PLAN_COMMAND.to_owned(), None))
            }
            None => Some(self.ask(sentences::PLAN_COMMAND.to_owned(), None, None)),
        }
    }

    fn rules(
        &self,
        seen: &Call<'_>,
        call: &GuardCall<'_>,
        hook_asks: Option<String>,
        changed: Option<Value>,
    ) -> GuardAnswer {
        if let Some(answer) = self.limited(seen, call).or_else(|| self.plan(seen, call)) {
            return answer;
        }
        let nothing = |changed| GuardAnswer {
            opinion: Opinion::None {
                updated_input: changed,
            },
            stage: Stage::Rules,
            rule: None,
        };
        let Some(policy) = &self.policy else {
            let allowed = || RuleSet::default().settles(seen, false);
            return match self.tired(seen, call, DENIAL_THRESHOLD, allowed) {
                Some(reason) => self.ask(reason.to_string(), None, changed),
                None => nothing(changed),
            };
        };
        let asks = policy.rules.asks(seen).map(|hit| AskReason::Rule(hit.rule));
        let allowed = policy.rules.settles(seen, false);
        let tired = || self.tired(seen, call, policy.denial_threshold, || allowed.clone());
        let reason = asks.or(hook_asks.map(AskReason::Hook)).or_else(tired);
        if let Some(reason) = reason {
            let rule = match &reason {
                AskReason::Rule(rule) => Some(Arc::clone(rule)),
                AskReason::Hook(_)
                | AskReason::Denials(_)
                | AskReason::NothingMatched
                | AskReason::Unanalysable(_) => None,
            };
            return self.ask(sentences::ask(&reason), rule, changed);
        }
        if policy.confine && Confined::of(seen) == Confined::Unknown {
            return self.ask(sentences::UNKNOWN_FILES.to_owned(), None, changed);
        }
        if self.protected.may_touch(seen) && !is_plan_file(seen, call) {
            return self.ask(sentences::MAY_TOUCH.to_owned(), None, changed);
        }
        match allowed {
            Some(Allowed::ByRules(rules)) if policy.auto_allow => GuardAnswer {
                opinion: Opinion::Allow {
                    updated_input: changed,
                },
                stage: Stage::Rules,
                rule: rules.first().cloned(),
            },
            Some(Allowed::ByRules(rules)) => GuardAnswer {
                rule: rules.first().cloned(),
                ..nothing(changed)
            },
            Some(Allowed::ReadOnly | Allowed::AcceptedEdit) | None => nothing(changed),
        }
    }

    /// After denials in a row, whatever is allowed is a question, unless it does no more than read in the workspace, look
    /// something up or plan.
    fn tired(
        &self,
        seen: &Call<'_>,
        call: &GuardCall<'_>,
        threshold: u32,
        allowed: impl FnOnce() -> Option<Allowed>,
    ) -> Option<AskReason> {
        let reached = self.denials.reached(call.agent, threshold);
        let looks_up = ToolGroup::of(seen.tool) == ToolGroup::Other && seen.only_reads();
        let plan_file = call.plan_file.filter(|_| call.mode == PermissionMode::Plan);
        let harmless = || {
            seen.reads_inside()
                || looks_up
                || plan::is_exempt(seen, plan_file)
                || allowed() == Some(Allowed::ReadOnly)
        };
        let tired = reached && !harmless();
        tired.then(|| AskReason::Denials(self.denials.consecutive(call.agent)))
    }

    /// A question to the client, or the denial of a policy that lets nobody be asked.
    fn ask(&self, reason: String, rule: Option<Arc<Rule>>, updated_input: Option<Value>) -> GuardAnswer {
        if self.policy.as_ref().is_some_and(|policy| policy.headless) {
            return deny(Stage::Prompt, sentences::unasked(&reason), rule);
        }
        GuardAnswer {
            opinion: Opinion::Ask {
                reason,
                updated_input,
            },
            stage: Stage::Rules,
            rule,
        }
    }

    fn counted(&mut self, call: &GuardCall<'_>, answer: GuardAnswer) -> GuardAnswer {
        if answer.is_deny() && answer.stage != Stage::Validate {
            self.denials.note(call.agent, false);
        }
        answer
    }
}

fn is_plan_file(seen: &Call<'_>, call: &GuardCall<'_>) -> bool {
    call.mode == PermissionMode::Plan
        && ToolGroup::of(seen.tool) == ToolGroup::Edits
        && plan::is_exempt(seen, call.plan_file)
}

fn deny(stage: Stage, reason: String, rule: Option<Arc<Rule>>) -> GuardAnswer {
    GuardAnswer {
        opinion: Opinion::Deny { reason },
        stage,
        rule,
    }
}
