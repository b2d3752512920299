//! Real calls: the pipeline decides, step by step, with the host's hooks, the settings' hooks, rules and the host's answer.
//!
//! Place in the flow: `tool` begins a real call here; `hooked` and `reply` bring what a step waited for; `tool` runs what
//! may run, as work. What the decision means on the wire stands in `verdict`, the question in `question`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use claude_sdk_bridge::messages::Field;
use claude_sdk_bridge::messages::control::{AllowReply, CanUseTool};
use permission_core::PermissionUpdate;
use permission_core::pipeline::hooks::{HookCommand, HookEvent, HookFacts, HookRun, hook_payload};
use permission_core::pipeline::{AskReason, Evaluation, Question, Step, ToolCall, UserAnswer};
use serde_json::{Map, Value};

use super::call::{Call, CallState, Refusal};
use super::core::Core;
use super::ground::{Ground, Job, Work};
use super::play::Play;
use super::snapshot::is_of_host;
use super::{question, reply, toolbox};
use crate::frames::text;

/// A real call that is being decided.
pub(crate) struct Trial {
    pub(super) ground: Arc<dyn Ground>,
    pub(super) evaluation: Evaluation,
    /// How the host's answer is called in the result, and what it changes.
    pub(super) answer: Option<(&'static str, Vec<PermissionUpdate>)>,
    /// What the host's refusal says.
    pub(super) refusal: Option<Refusal>,
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial")
            .field("call", self.evaluation.call())
            .finish_non_exhaustive()
    }
}

impl Play {
    /// Begins with a real call.
    pub(super) fn try_call(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let ground = match core.open_ground() {
            Ok(ground) => ground,
            Err(why) => {
                call.state = CallState::Refused(Refusal::of_config(text::no_sandbox(&why), "other"));
                return;
            }
        };
        let tool_call = ToolCall {
            name: call.step.name.clone(),
            input: Value::Object(call.input.clone()),
            tool_use_id: call.id.as_str().to_owned(),
            agent: call.agent(),
        };
        let there = core.setup.has_tool(&call.step.name);
        let tool = ground.tool(&call.step.name).filter(|_| there);
        let (evaluation, step) = core.pipeline(&*ground).start(tool_call, tool, &*ground);
        call.state = CallState::Tried;
        call.trial = Some(Box::new(Trial {
            ground,
            evaluation,
            answer: None,
            refusal: None,
        }));
        self.proceed(number, step, core);
    }

    /// Goes on after the host's own hooks.
    pub(super) fn host_hooks_heard(&mut self, number: usize, core: &mut Core) {
        let Some(call) = self.calls.get(number) else {
            return;
        };
        let mut verdict = call.verdict.clone();
        if toolbox::needs_person(&call.step.name) {
            verdict.ask.get_or_insert_default();
        }
        self.hook_ended(number, &verdict.run(), core);
    }

    /// Goes on after a hook.
    pub(super) fn hook_ended(&mut self, number: usize, run: &HookRun, core: &mut Core) {
        let Some(trial) = self.trial(number) else { return };
        let ground = Arc::clone(&trial.ground);
        let step = core
            .pipeline(&*ground)
            .hook_ended(&mut trial.evaluation, run, &*ground);
        self.proceed(number, step, core);
    }

    /// Takes the host's answer to the question about a real call.
    pub(super) fn real_answer(
        &mut self,
        number: usize,
        verdict: Result<AllowReply, Refusal>,
        core: &mut Core,
    ) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let asked = call.question.as_deref().map(|question| &question.input);
        let verdict = verdict.and_then(|reply| {
            let source = reply::source(&reply);
            let updates = reply.updated_permissions.known();
            let updates: Vec<PermissionUpdate> = updates
                .filter_map(|update| PermissionUpdate::try_from(update).ok())
                .collect();
            match reply.updated_input {
                Field::Known(input) if Some(&input) == asked => Ok((source, updates, None)),
                Field::Known(input) => Ok((source, updates, Some(Value::Object(input)))),
                Field::Absent | Field::Null => Ok((source, updates, None)),
                Field::Raw(_) => Err(Refusal::failed(text::MALFORMED_ANSWER)),
            }
        });
        let Some(trial) = &mut call.trial else { return };
        let answer = match verdict {
            Ok((source, updates, updated_input)) => {
                trial.answer = Some((source, updates));
                UserAnswer::Allow { updated_input }
            }
            Err(refusal) => {
                let message = refusal.text.clone();
                trial.refusal = Some(refusal);
                UserAnswer::Deny { message }
            }
        };
        call.state = CallState::Tried;
        self.user_answered(number, answer, core);
    }

    fn user_answered(&mut self, number: usize, answer: UserAnswer, core: &mut Core) {
        let Some(trial) = self.trial(number) else { return };
        let ground = Arc::clone(&trial.ground);
        let step = core
            .pipeline(&*ground)
            .answered(&mut trial.evaluation, answer, &*ground);
        self.proceed(number, step, core);
    }

    /// Does what the pipeline wants next. Each arm leads to the end of the call or to something that is waited for; what
    /// is answered at once comes back here.
    fn proceed(&mut self, number: usize, step: Step, core: &mut Core) {
        match step {
            Step::Hook(hook) if is_of_host(&hook) => {
                self.take_input(number);
                if !self.hear_hooks(number, core) {
                    self.host_hooks_heard(number, core);
                }
            }
            Step::Hook(hook) => {
                let Some(call) = self.calls.get_mut(number) else {
                    return;
                };
                let Some(trial) = &call.trial else { return };
                let payload = trial.evaluation.payload(&core.hook_facts(&*trial.ground));
                call.work = Some(core.begin_work(&trial.ground, Job::Hook { hook, payload }));
            }
            Step::Ask(question) => self.ask_for_real(number, &question, core),
            Step::Done(decision) => self.decided(number, *decision, core),
        }
    }

    fn ask_for_real(&mut self, number: usize, asked: &Question, core: &mut Core) {
        self.take_input(number);
        let Some(call) = self.calls.get(number) else {
            return;
        };
        let settled = matches!(
            asked.reason,
            AskReason::NothingMatched | AskReason::Unanalysable(_)
        );
        if settled && call.verdict.allow {
            let answer = UserAnswer::Allow { updated_input: None };
            self.user_answered(number, answer, core);
            return;
        }
        let request: CanUseTool = question::real(call, asked, core);
        self.put_question(number, request, core);
    }

    /// Takes over the input as hooks have left it.
    fn take_input(&mut self, number: usize) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(trial) = &call.trial else { return };
        if let Value::Object(input) = &trial.evaluation.call().input {
            call.input.clone_from(input);
        }
    }

    fn trial(&mut self, number: usize) -> Option<&mut Trial> {
        self.calls.get_mut(number)?.trial.as_deref_mut()
    }
}

impl Core {
    /// Begins with a tool that may run; `None` where nothing outside is needed.
    pub(super) fn run_real(&mut self, name: &str, input: &Map<String, Value>) -> Option<u64> {
        let ground = self.authority.ground().map(Arc::clone)?;
        let job = Job::Tool {
            name: name.to_owned(),
            input: input.clone(),
        };
        toolbox::runs_outside(name).then(|| self.begin_work(&ground, job))
    }

    /// Begins with a hook after a tool.
    pub(super) fn run_after(&mut self, call: &Call, hook: Arc<HookCommand>) -> Option<u64> {
        let ground = self.authority.ground().map(Arc::clone)?;
        let payload = hook_payload(
            &self.hook_facts(&*ground),
            &call.step.name,
            &Value::Object(call.input.clone()),
            call.id.as_str(),
            call.outcome.as_ref().map(|outcome| &outcome.structured),
        );
        Some(self.begin_work(&ground, Job::Hook { hook, payload }))
    }

    /// The settings' hooks after a tool.
    pub(super) fn hooks_after(&self, tool: &str) -> VecDeque<Arc<HookCommand>> {
        let context = self.authority.pipeline.context();
        context.hooks.matching(HookEvent::PostToolUse, tool).into()
    }

    /// Nobody waits for the work that is done any more.
    pub(super) fn stop_work(&mut self) {
        self.work = None;
    }

    fn begin_work(&mut self, ground: &Arc<dyn Ground>, job: Job) -> u64 {
        self.works += 1;
        self.work = Some(Work {
            number: self.works,
            ground: Arc::clone(ground),
            job,
        });
        self.works
    }

    fn hook_facts(&self, ground: &dyn Ground) -> HookFacts {
        let session = self.out.session_id.as_str();
        HookFacts {
            session_id: session.to_owned(),
            transcript_path: text::transcript(session),
            cwd: ground.places().project.clone(),
            mode: self.mode,
        }
    }
}
