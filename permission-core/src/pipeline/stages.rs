//! The stages in their order: validation, hooks, mode and rules, prompt, check.
//!
//! Place in the flow: [`Pipeline`] holds what outlives a call (context, denials) and moves an
//! [`Evaluation`] from step to step. Everything that is not clearly an allow denies.

use std::sync::Arc;

use super::{
    context::PermissionContext,
    decision::{AskReason, Decision, Reason},
    evaluation::{Allowance, Evaluation, Question, State, Step, ToolCall, UserAnswer},
    hooks::{HookRun, PreToolUse},
    plan,
    tool::Tool,
    words,
};
use crate::{
    decide::{DenialTracking, Stage},
    modes::PermissionMode,
    paths::PathResolver,
    rules::{Allowed, Hit},
};

/// What decides about the calls of a session.
#[derive(Clone, Debug)]
pub struct Pipeline {
    context: Arc<PermissionContext>,
    denials: DenialTracking,
}

impl Pipeline {
    /// A pipeline in its first turn.
    pub fn new(context: PermissionContext) -> Self {
        Self {
            context: Arc::new(context),
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

    /// Begins with a call. A tool that is `None` is unknown.
    pub fn start(
        &mut self,
        call: ToolCall,
        tool: Option<Arc<dyn Tool>>,
        paths: &dyn PathResolver,
    ) -> (Evaluation, Step) {
        let mut evaluation = Evaluation::new(Arc::clone(&self.context), call, tool);
        let step = match evaluation.invalid() {
            None => self.next_hook(&mut evaluation, paths),
            Some(denied) => self.done(&evaluation, denied),
        };
        (evaluation, step)
    }

    /// Begins with a call about which hooks have said this already; hooks of the context would come after them.
    pub fn start_after_hooks(
        &mut self,
        call: ToolCall,
        tool: Option<Arc<dyn Tool>>,
        said: PreToolUse,
        paths: &dyn PathResolver,
    ) -> (Evaluation, Step) {
        let mut evaluation = Evaluation::new(Arc::clone(&self.context), call, tool);
        let step = match evaluation.invalid() {
            None => self.heard(&mut evaluation, said, paths),
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
        self.heard(evaluation, PreToolUse::read(run), paths)
    }

    /// Goes by what a hook says.
    fn heard(&mut self, evaluation: &mut Evaluation, said: PreToolUse, paths: &dyn PathResolver) -> Step {
        match said {
            PreToolUse::Approve => {}
            PreToolUse::Deny { reason } => return self.deny(evaluation, Stage::Hooks, Reason::Hook(reason)),
            PreToolUse::Change { input, ask } => {
                evaluation.hook_asks = evaluation.hook_asks.take().or(ask);
                if let Some(input) = input {
                    evaluation.call.input = input;
                    if let Some(denied) = evaluation.invalid() {
                        return self.done(evaluation, denied);
                    }
                }
            }
        }
        self.next_hook(evaluation, paths)
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
        let updated_input = match answer {
            UserAnswer::Deny { message } => {
                let message = if message.trim().is_empty() {
                    words::USER_DENIED.to_owned()
                } else {
                    message
                };
                return self.deny(evaluation, Stage::Prompt, Reason::User(message));
            }
            UserAnswer::Allow { updated_input } => updated_input,
        };
        if let Some(input) = updated_input {
            evaluation.call.input = input;
            if let Some(denied) = evaluation.invalid() {
                return self.done(evaluation, denied);
            }
        }
        // The input may be another one, and a path may lead elsewhere by now.
        if let Some(denied) = self.limited(evaluation, paths) {
            return self.done(evaluation, denied);
        }
        let by = Allowance {
            stage: Stage::Prompt,
            reason: Reason::User(words::USER_ALLOWED.to_owned()),
            rules: Vec::new(),
        };
        self.check(evaluation, by)
    }

    fn next_hook(&mut self, evaluation: &mut Evaluation, paths: &dyn PathResolver) -> Step {
        match &evaluation.state {
            State::Hooks(queue) => match queue.front() {
                Some(hook) => Step::Hook(Arc::clone(hook)),
                None => self.rules(evaluation, paths),
            },
            State::Asking | State::Ended => self.misused(evaluation),
        }
    }

    fn rules(&mut self, evaluation: &mut Evaluation, paths: &dyn PathResolver) -> Step {
        if let Some(denied) = self.limited(evaluation, paths) {
            return self.done(evaluation, denied);
        }
        let mode = evaluation.context.effective_mode();
        let asks = evaluation.with_call(paths, |call| evaluation.context.rules.asks(call));
        let hook = evaluation.hook_asks.take().map(AskReason::Hook);
        if let Some(reason) = asks.map(|hit| AskReason::Rule(hit.rule)).or(hook) {
            return self.prompt(evaluation, reason);
        }
        if mode == PermissionMode::BypassPermissions {
            return self.check(evaluation, needless(Reason::Bypass));
        }
        let agent = evaluation.call.agent.as_deref();
        if self.denials.reached(agent, evaluation.context.denial_threshold) {
            let count = self.denials.consecutive(agent);
            return self.prompt(evaluation, AskReason::Denials(count));
        }
        if let Some(allowance) = self.allowance(evaluation, paths) {
            return self.check(evaluation, allowance);
        }
        let doubt = evaluation.with_call(paths, |call| call.doubt());
        let reason = doubt.map_or(AskReason::NothingMatched, AskReason::Unanalysable);
        self.prompt(evaluation, reason)
    }

    /// The denial of a deny rule or of `plan`.
    fn limited(&self, evaluation: &mut Evaluation, paths: &dyn PathResolver) -> Option<Decision> {
        let hit = evaluation.with_call(paths, |call| evaluation.context.rules.denies(call));
        if let Some(Hit { rule }) = hit {
            return Some(evaluation.denied(Stage::Rules, Reason::Rule, Some(rule)));
        }
        let plan = evaluation.context.effective_mode() == PermissionMode::Plan;
        let may_run = !plan
            || evaluation.with_call(paths, |call| {
                call.only_reads() || plan::is_exempt(call, evaluation.context.plan_file.as_deref())
            });
        (!may_run).then(|| evaluation.denied(Stage::Rules, Reason::Plan, None))
    }

    /// Why rules or the mode allow the call without a question.
    fn allowance(&self, evaluation: &Evaluation, paths: &dyn PathResolver) -> Option<Allowance> {
        let context = &evaluation.context;
        let accepts = context.effective_mode() == PermissionMode::AcceptEdits;
        evaluation.with_call(paths, |call| match context.rules.settles(call, accepts) {
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

    fn check(&mut self, evaluation: &mut Evaluation, by: Allowance) -> Step {
        let checked = match &evaluation.tool {
            Some(tool) => tool.check_permissions(&evaluation.call.input),
            None => return self.misused(evaluation),
        };
        match checked {
            Ok(()) => {
                let decision = evaluation.allowed(by);
                self.done(evaluation, decision)
            }
            Err(message) => self.deny(evaluation, Stage::Check, Reason::Check(message)),
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
