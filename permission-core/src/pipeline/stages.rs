//! The stages in their order: validation, hooks, mode and rules, prompt, check.
//!
//! Place in the flow: [`Pipeline`] holds what outlives a call (context, the session's rules, denials) and moves an
//! [`Evaluation`] from step to step. Everything that is not clearly an allow denies.

use std::sync::Arc;

use super::{
    context::{PermissionContext, SessionRules},
    decision::{AskReason, Decision, Reason, Stage},
    denials::DenialTracking,
    evaluation::{Allowance, Evaluation, Question, State, Step, ToolCall, UserAnswer, Verdict},
    hooks::{HookRun, PreToolUse},
    plan,
    tool::{Check, Tool, ToolInput},
    words,
};
use crate::{
    modes::PermissionMode,
    paths::PathResolver,
    rules::{Allowed, Hit, RuleKind, RuleProblem, RuleSet},
};

/// What decides about the calls of a session.
#[derive(Clone, Debug)]
pub struct Pipeline {
    context: Arc<PermissionContext>,
    session: SessionRules,
    denials: DenialTracking,
}

impl Pipeline {
    /// A pipeline in its first turn.
    pub fn new(context: PermissionContext) -> Self {
        Self {
            context: Arc::new(context),
            session: SessionRules::default(),
            denials: DenialTracking::default(),
        }
    }

    /// Begins a turn with a new snapshot. Calls that are being decided keep theirs.
    pub fn begin_turn(&mut self, context: PermissionContext) {
        self.context = Arc::new(context);
    }

    /// The snapshot of the turn.
    pub fn context(&self) -> &Arc<PermissionContext> {
        &self.context
    }

    /// The denials in a row.
    pub fn denials(&self) -> &DenialTracking {
        &self.denials
    }

    /// Adds a rule for the session: a limit counts at once, an allow rule from the next call on.
    pub fn add_rule(&mut self, kind: RuleKind, text: &str) -> Option<RuleProblem> {
        self.session.add(kind, text)
    }

    /// Begins with a call. A tool that is `None` is unknown.
    pub fn start(
        &mut self,
        call: ToolCall,
        tool: Option<Arc<dyn Tool>>,
        paths: &dyn PathResolver,
    ) -> (Evaluation, Step) {
        let mut evaluation = Evaluation::new(Arc::clone(&self.context), call, tool, self.session.mark());
        let step = match evaluation.invalid(paths) {
            None => self.next_hook(&mut evaluation, paths),
            Some(denied) => self.done(&evaluation, denied),
        };
        (evaluation, step)
    }

    /// Goes on after a hook.
    pub fn hook_ended(
        &mut self,
        evaluation: &mut Evaluation,
        run: &HookRun,
        paths: &dyn PathResolver,
    ) -> Step {
        let State::Hooks(queue) = &mut evaluation.state else {
            return self.misused(evaluation);
        };
        let Some(hook) = queue.pop_front() else {
            return self.misused(evaluation);
        };
        let unusable = HookRun::Failed(words::HOOK_NOT_RUN.to_owned());
        let run = if hook.command.is_some() { run } else { &unusable };
        match PreToolUse::read(run, evaluation.context.options.hooks) {
            PreToolUse::Approve { note } => {
                evaluation.note(Stage::Hooks, note.unwrap_or_else(|| words::PASSED.to_owned()));
            }
            PreToolUse::Deny { reason } => return self.deny(evaluation, Stage::Hooks, Reason::Hook(reason)),
            PreToolUse::Change { input, ask } => {
                if let Some(why) = ask {
                    evaluation.note(Stage::Hooks, why.clone());
                    evaluation.hook_asks.get_or_insert(why);
                }
                if let Some(input) = input {
                    evaluation.note(Stage::Hooks, words::CHANGED);
                    evaluation.call.input = input;
                    if let Some(denied) = evaluation.invalid(paths) {
                        return self.done(evaluation, denied);
                    }
                }
            }
        }
        self.next_hook(evaluation, paths)
    }

    /// Goes on after the classifier; an error of its is `None`.
    pub fn classified(
        &mut self,
        evaluation: &mut Evaluation,
        verdict: Option<Verdict>,
        paths: &dyn PathResolver,
    ) -> Step {
        let State::Classifying(reason) = &evaluation.state else {
            return self.misused(evaluation);
        };
        let reason = reason.clone();
        match verdict {
            Some(Verdict::Deny(why)) => self.deny(evaluation, Stage::Prompt, Reason::Classifier(why)),
            Some(Verdict::Allow(why)) if evaluation.context.effective_mode() == PermissionMode::Auto => {
                evaluation.note(Stage::Prompt, why.clone());
                let by = Allowance {
                    stage: Stage::Prompt,
                    reason: Reason::Classifier(why),
                    rules: Vec::new(),
                };
                self.check(evaluation, by, paths)
            }
            Some(Verdict::Allow(_)) | None => self.prompt(evaluation, reason),
        }
    }

    /// Goes on after the user's answer.
    pub fn answered(
        &mut self,
        evaluation: &mut Evaluation,
        answer: UserAnswer,
        paths: &dyn PathResolver,
    ) -> Step {
        let State::Asking = evaluation.state else {
            return self.misused(evaluation);
        };
        let (updated_input, always) = match answer {
            UserAnswer::Deny { message } => {
                let message = if message.trim().is_empty() {
                    words::USER_DENIED.to_owned()
                } else {
                    message
                };
                return self.deny(evaluation, Stage::Prompt, Reason::User(message));
            }
            UserAnswer::Allow {
                updated_input,
                always,
            } => (updated_input, always),
        };
        evaluation.note(Stage::Prompt, words::USER_ALLOWED);
        if let Some(input) = updated_input {
            evaluation.call.input = input;
            if let Some(denied) = evaluation.invalid(paths) {
                return self.done(evaluation, denied);
            }
        }
        // The input may be another one, and limits may have come meanwhile.
        if let Some(denied) = self.limited(evaluation, paths) {
            return self.done(evaluation, denied);
        }
        for rule in always {
            self.session.add(RuleKind::Allow, &rule);
        }
        let by = Allowance {
            stage: Stage::Prompt,
            reason: Reason::User(words::USER_ALLOWED.to_owned()),
            rules: Vec::new(),
        };
        self.check(evaluation, by, paths)
    }

    fn next_hook(&mut self, evaluation: &mut Evaluation, paths: &dyn PathResolver) -> Step {
        match &evaluation.state {
            State::Hooks(queue) => match queue.front() {
                Some(hook) => Step::Hook(Arc::clone(hook)),
                None => self.rules(evaluation, paths),
            },
            State::Classifying(_) | State::Asking | State::Ended => self.misused(evaluation),
        }
    }

    fn rules(&mut self, evaluation: &mut Evaluation, paths: &dyn PathResolver) -> Step {
        if let Some(denied) = self.limited(evaluation, paths) {
            return self.done(evaluation, denied);
        }
        let mode = evaluation.context.effective_mode();
        let limits = self.session.limits();
        let asks = evaluation.with_call(paths, |call| {
            evaluation.context.rules.asks(call).or_else(|| limits.asks(call))
        });
        let hook = evaluation.hook_asks.take().map(AskReason::Hook);
        if let Some(reason) = asks.map(|hit| AskReason::Rule(hit.rule)).or(hook) {
            return self.prompt(evaluation, reason);
        }
        if mode == PermissionMode::BypassPermissions {
            return self.check(evaluation, needless(Reason::Bypass), paths);
        }
        let agent = evaluation.call.agent.as_deref();
        if self
            .denials
            .reached(agent, evaluation.context.options.denial_threshold)
        {
            let count = self.denials.consecutive(agent);
            return self.prompt(evaluation, AskReason::Denials(count));
        }
        if let Some(allowance) = self.allowance(evaluation, paths) {
            return self.check(evaluation, allowance, paths);
        }
        let doubt = evaluation.with_call(paths, |call| call.doubt());
        let reason = doubt.map_or(AskReason::NothingMatched, AskReason::Unanalysable);
        let waits = evaluation.context.await_automated_checks && evaluation.context.auto_available;
        if mode == PermissionMode::Auto || waits {
            evaluation.state = State::Classifying(reason);
            return Step::Classify;
        }
        self.prompt(evaluation, reason)
    }

    /// The denial of a deny rule or of `plan`.
    fn limited(&self, evaluation: &mut Evaluation, paths: &dyn PathResolver) -> Option<Decision> {
        let limits = self.session.limits();
        let hit = evaluation.with_call(paths, |call| {
            evaluation
                .context
                .rules
                .denies(call)
                .or_else(|| limits.denies(call))
        });
        if let Some(Hit { rule }) = hit {
            return Some(evaluation.denied(Stage::Rules, Reason::Rule, Some(rule)));
        }
        let plan = evaluation.context.effective_mode() == PermissionMode::Plan;
        let tool = evaluation.tool.clone();
        let may_run = !plan
            || evaluation.with_call(paths, |call| {
                let reads = tool.is_some_and(|tool| tool.reads_only(&ToolInput { call }));
                reads || plan::is_exempt(call, evaluation.context.plan_file.as_deref())
            });
        (!may_run).then(|| evaluation.denied(Stage::Rules, Reason::Plan, None))
    }

    /// Why rules or the mode allow the call without a question.
    fn allowance(&self, evaluation: &Evaluation, paths: &dyn PathResolver) -> Option<Allowance> {
        let context = &evaluation.context;
        let accepts = context.effective_mode() == PermissionMode::AcceptEdits;
        let mut rules: RuleSet = context.rules.clone();
        self.session
            .allows_at(evaluation.mark)
            .for_each(|set| rules.extend(set));
        evaluation.with_call(paths, |call| match rules.settles(call, accepts) {
            Some(Allowed::ByRules(rules)) => Some(Allowance {
                stage: Stage::Rules,
                reason: Reason::Rule,
                rules,
            }),
            Some(Allowed::ReadOnly) => Some(needless(Reason::ReadOnly)),
            Some(Allowed::AcceptedEdit) => Some(needless(Reason::AcceptedEdit)),
            None => None,
        })
    }

    fn prompt(&mut self, evaluation: &mut Evaluation, reason: AskReason) -> Step {
        evaluation.note(Stage::Rules, reason.to_string());
        let silent = evaluation.context.avoid_prompts || evaluation.context.mode == PermissionMode::DontAsk;
        if silent {
            return self.deny(evaluation, Stage::Prompt, Reason::NoPrompt(reason));
        }
        evaluation.state = State::Asking;
        Step::Ask(Question {
            tool: evaluation.call.name.clone(),
            input: evaluation.call.input.clone(),
            reason,
        })
    }

    fn check(&mut self, evaluation: &mut Evaluation, by: Allowance, paths: &dyn PathResolver) -> Step {
        if by.stage == Stage::Rules {
            let rules: Vec<String> = by.rules.iter().map(ToString::to_string).collect();
            evaluation.note(
                Stage::Rules,
                format!("{} {}", by.reason, rules.join(", ")).trim().to_owned(),
            );
            evaluation.note(Stage::Prompt, words::SKIPPED_PROMPT);
        }
        if by.reason == Reason::Bypass && evaluation.context.options.bypass_skips_checks {
            evaluation.note(Stage::Check, words::SKIPPED);
            let decision = evaluation.allowed(by);
            return self.done(evaluation, decision);
        }
        let Some(tool) = evaluation.tool.clone() else {
            return self.misused(evaluation);
        };
        match evaluation.with_call(paths, |call| tool.check_permissions(&ToolInput { call })) {
            Check::Allow { updated_input } => {
                if let Some(input) = updated_input.filter(|input| *input != evaluation.call.input) {
                    evaluation.call.input = input;
                    evaluation.note(Stage::Check, words::CHANGED);
                    if let Some(denied) = self.limited(evaluation, paths) {
                        return self.done(evaluation, denied);
                    }
                }
                evaluation.note(Stage::Check, words::PASSED);
                let decision = evaluation.allowed(by);
                self.done(evaluation, decision)
            }
            Check::Deny { message } => self.deny(evaluation, Stage::Check, Reason::Check(message)),
            Check::Ask { message } => {
                let message = if message.trim().is_empty() {
                    words::CHECK_ASKS.to_owned()
                } else {
                    message
                };
                self.deny(evaluation, Stage::Check, Reason::Check(message))
            }
        }
    }

    fn deny(&mut self, evaluation: &mut Evaluation, stage: Stage, reason: Reason) -> Step {
        let decision = evaluation.denied(stage, reason, None);
        self.done(evaluation, decision)
    }

    /// Reported to a call that does not wait for it.
    fn misused(&mut self, evaluation: &mut Evaluation) -> Step {
        self.deny(
            evaluation,
            Stage::Check,
            Reason::Check(words::OUT_OF_ORDER.to_owned()),
        )
    }

    fn done(&mut self, evaluation: &Evaluation, decision: Decision) -> Step {
        if decision.stage != Stage::Validate {
            self.denials
                .note(evaluation.call.agent.as_deref(), decision.is_allow());
        }
        Step::Done(Box::new(decision))
    }
}

fn needless(reason: Reason) -> Allowance {
    Allowance {
        stage: Stage::Rules,
        reason,
        rules: Vec::new(),
    }
}
