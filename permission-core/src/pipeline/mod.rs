//! The five stages that every tool call passes: validation, hooks, rules, prompt, check.
//!
//! Place in the flow: the rehearsal is its authority as Claude Code is of its own; the guard over the real CLI runs parts
//! of it. [`Pipeline`] is a state machine without input and output: a host takes its [`Step`]s. Reading
//! order: `context`, `tool`, `hooks`, `evaluation`, `stages`. Fails closed.

mod context;
mod decision;
mod evaluation;
pub(crate) mod plan;
mod stages;
mod tool;
mod words;

pub use crate::decide::{DENIAL_THRESHOLD, Stage, hooks};
pub use context::PermissionContext;
pub use decision::{AskReason, Decision, Outcome, Reason};
pub use evaluation::{Evaluation, Question, Step, ToolCall, UserAnswer};
pub use stages::Pipeline;
pub use tool::Tool;
