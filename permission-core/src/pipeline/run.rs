//! Drives a call through the stages with a host's hooks, classifier and user.
//!
//! Place in the flow: hosts that have nothing else to do meanwhile use this; others take the steps themselves. Needs no
//! runtime: whoever awaits it decides where it runs.

use std::{future::Future, sync::Arc};

use super::{
    decision::Decision,
    evaluation::{Evaluation, Question, Step, ToolCall, UserAnswer, Verdict},
    hooks::{HookCommand, HookRun},
    stages::Pipeline,
    tool::Tool,
};
use crate::paths::PathResolver;

/// Runs hook commands.
pub trait HookRunner {
    /// Runs one hook for the call to its end, or to its limit.
    fn run(&self, hook: &HookCommand, evaluation: &Evaluation) -> impl Future<Output = HookRun> + Send;
}

/// Asks the user, and a classifier if there is one.
pub trait Prompter {
    /// Asks the user.
    fn ask(&self, question: &Question, evaluation: &Evaluation) -> impl Future<Output = UserAnswer> + Send;

    /// Asks the classifier; `None` where there is none, or it fails.
    fn classify(&self, evaluation: &Evaluation) -> impl Future<Output = Option<Verdict>> + Send {
        let _ = evaluation;
        std::future::ready(None)
    }
}

/// What a host brings.
#[derive(Clone, Copy)]
pub struct Host<'a, H, P> {
    /// Its hooks.
    pub hooks: &'a H,
    /// Its user.
    pub prompter: &'a P,
    /// Its file system.
    pub paths: &'a dyn PathResolver,
}

impl Pipeline {
    /// Decides about a call.
    pub async fn decide<H: HookRunner, P: Prompter>(
        &mut self,
        call: ToolCall,
        tool: Option<Arc<dyn Tool>>,
        host: Host<'_, H, P>,
    ) -> Decision {
        let (mut evaluation, mut step) = self.start(call, tool, host.paths);
        loop {
            step = match step {
                Step::Hook(hook) => {
                    let run = host.hooks.run(&hook, &evaluation).await;
                    self.hook_ended(&mut evaluation, &run, host.paths)
                }
                Step::Classify => {
                    let verdict = host.prompter.classify(&evaluation).await;
                    self.classified(&mut evaluation, verdict, host.paths)
                }
                Step::Ask(question) => {
                    let answer = host.prompter.ask(&question, &evaluation).await;
                    self.answered(&mut evaluation, answer, host.paths)
                }
                Step::Done(decision) => return *decision,
            };
        }
    }
}
