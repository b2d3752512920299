//! The five stages that every tool call passes: validation, hooks, rules, prompt, check.
//!
//! Place in the flow: the rehearsal is its authority as Claude Code is of its own; the guard over the real CLI runs parts
//! of it. [`Pipeline`] is a state machine without input and output: a host takes its [`Step`]s, or lets
//! [`Pipeline::decide`] do so. Reading order: `context`, `tool`, `hooks`, `evaluation`, `stages`, `run`. Fails closed.

mod context;
mod decision;
mod denials;
mod evaluation;
pub mod hooks;
pub(crate) mod plan;
mod run;
mod stages;
mod tool;
mod words;

pub use context::{PermissionContext, PipelineOptions, SessionRules};
pub use decision::{AskReason, Decision, Note, Outcome, Reason, Stage};
pub use denials::{DENIAL_THRESHOLD, DenialTracking};
pub use evaluation::{Evaluation, Question, Step, ToolCall, UserAnswer, Verdict};
pub use run::{HookRunner, Host, Prompter};
pub use stages::Pipeline;
pub use tool::{Check, InvalidInput, Tool, ToolInput};

#[cfg(test)]
mod tests;
