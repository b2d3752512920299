//! One tool call on its way through the stages, as a state machine.
//!
//! Place in the flow: `Pipeline` feeds it; each step says what the host has to do next (run a hook, ask the user) or
//! how it ended. Must not skip a stage, and must deny where it is used out of order.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;

use super::{
    context::PermissionContext,
    decision::{AskReason, Decision, Outcome, Reason},
    hooks::{HookCommand, HookEvent, HookFacts, hook_payload},
    tool::Tool,
    words,
};
use crate::{
    decide::Stage,
    paths::PathResolver,
    rules::{Call, Rule},
};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its input, an object.
    pub input: Value,
    /// The id of the tool use.
    pub tool_use_id: String,
    /// The subagent that calls it; `None` for the session itself.
    pub agent: Option<String>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run this hook and report its end. One without a command cannot be run: report that it failed.
    Hook(Arc<HookCommand>),
    /// Ask the user.
    Ask(Question),
    /// The end.
    Done(Box<Decision>),
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// The input as it is now.
    pub input: Value,
    /// Why there is a question.
    pub reason: AskReason,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum UserAnswer {
    /// This call may run.
    Allow {
        /// Replaces the input, if given.
        updated_input: Option<Value>,
    },
    /// It may not.
    Deny {
        /// What the user says; may be empty.
        message: String,
    },
}

/// A call that is being decided.
pub struct Evaluation {
    pub(super) context: Arc<PermissionContext>,
    pub(super) call: ToolCall,
    pub(super) tool: Option<Arc<dyn Tool>>,
    pub(super) state: State,
    /// A hook that wants a question, and why.
    pub(super) hook_asks: Option<String>,
}

/// What is being waited for.
pub(super) enum State {
    Hooks(VecDeque<Arc<HookCommand>>),
    Asking,
    Ended,
}

/// Why a call needs no further question.
pub(super) struct Allowance {
    pub(super) stage: Stage,
    pub(super) reason: Reason,
    pub(super) rules: Vec<Arc<Rule>>,
}

impl Evaluation {
    pub(super) fn new(context: Arc<PermissionContext>, call: ToolCall, tool: Option<Arc<dyn Tool>>) -> Self {
        let hooks = context.hooks.matching(HookEvent::PreToolUse, &call.name);
        Self {
            context,
            call,
            tool,
            state: State::Hooks(hooks.into()),
            hook_asks: None,
        }
    }

    /// The call, with the input as it is now.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The context that the call is decided in.
    pub fn context(&self) -> &Arc<PermissionContext> {
        &self.context
    }

    /// What a hook before the tool reads.
    pub fn payload(&self, facts: &HookFacts) -> Value {
        hook_payload(
            facts,
            &self.call.name,
            &self.call.input,
            &self.call.tool_use_id,
            None,
        )
    }

    /// Looks at the call with the input as it is now.
    pub(super) fn with_call<T>(&self, paths: &dyn PathResolver, look: impl FnOnce(&Call<'_>) -> T) -> T {
        let directories = self.context.directories();
        let workspace = self.context.workspace(&directories, paths);
        look(&Call::new(&self.call.name, &self.call.input, workspace))
    }

    /// The denial of the first stage; asked again for every changed input.
    pub(super) fn invalid(&mut self) -> Option<Decision> {
        let Some(tool) = &self.tool else {
            return Some(self.denied(Stage::Validate, Reason::UnknownTool, None));
        };
        let refused = if self.call.input.is_object() {
            tool.validate_input(&self.call.input).err()?
        } else {
            words::NO_OBJECT.to_owned()
        };
        Some(self.denied(Stage::Validate, Reason::InvalidInput(refused), None))
    }

    /// Ends the call with a denial.
    pub(super) fn denied(&mut self, stage: Stage, reason: Reason, rule: Option<Arc<Rule>>) -> Decision {
        let message = words::denied(stage, &reason, rule.as_deref());
        self.state = State::Ended;
        Decision {
            outcome: Outcome::Deny { message },
            stage,
            reason,
            rules: rule.into_iter().collect(),
        }
    }

    /// Ends the call: all stages agree.
    pub(super) fn allowed(&mut self, by: Allowance) -> Decision {
        self.state = State::Ended;
        Decision {
            outcome: Outcome::Allow {
                input: self.call.input.clone(),
            },
            stage: by.stage,
            reason: by.reason,
            rules: by.rules,
        }
    }
}
