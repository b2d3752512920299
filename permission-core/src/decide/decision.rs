//! The answer to the hook callback before a tool.
//!
//! Place in the flow: made by `examine`, sent by the host as it stands. `{}` has no opinion: Claude goes on as if nobody
//! had been asked.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{pipeline::Stage, rules::Rule, tools::Tool};

/// What the guard thinks of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Opinion {
    /// None: Claude's own rules and questions decide.
    None {
        /// Replaces the input, if given.
        updated_input: Option<Value>,
    },
    /// It needs no question of Claude's. Its deny rules, ask rules and safety checks still count.
    Allow {
        /// Replaces the input, if given.
        updated_input: Option<Value>,
    },
    /// The client is to be asked, in every mode.
    Ask {
        /// Why.
        reason: String,
        /// Replaces the input, if given.
        updated_input: Option<Value>,
    },
    /// It does not run, in every mode.
    Deny {
        /// Why; the model reads it.
        reason: String,
    },
}

/// An opinion with what it rests on, for the log.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardAnswer {
    /// The opinion.
    pub opinion: Opinion,
    /// The stage that made it.
    pub stage: Stage,
    /// The rule that decided, if one did.
    pub rule: Option<Arc<Rule>>,
}

impl GuardAnswer {
    /// The denial for a failure of the host's own: whatever goes wrong, the call does not run.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self {
            opinion: Opinion::Deny {
                reason: reason.into(),
            },
            stage: Stage::Hooks,
            rule: None,
        }
    }

    /// The same where Claude is not to ask for want of a mode that asks less. What is for a person to answer stays so.
    #[must_use]
    pub fn unasked(self, tool: &str) -> Self {
        let opinion = match self.opinion {
            Opinion::None { updated_input } if !Tool::of(tool).for_a_person => {
                Opinion::Allow { updated_input }
            }
            opinion => opinion,
        };
        Self { opinion, ..self }
    }

    /// Whether the call is denied.
    pub fn is_deny(&self) -> bool {
        matches!(self.opinion, Opinion::Deny { .. })
    }

    /// Why it denies or asks.
    pub fn reason(&self) -> Option<&str> {
        match &self.opinion {
            Opinion::Deny { reason } | Opinion::Ask { reason, .. } => Some(reason),
            Opinion::None { .. } | Opinion::Allow { .. } => None,
        }
    }

    /// The reply to the callback.
    pub fn to_reply(&self) -> Value {
        let (decision, reason, input) = match &self.opinion {
            Opinion::None { updated_input: None } => return json!({}),
            Opinion::None { updated_input } => (None, None, updated_input),
            Opinion::Allow { updated_input } => (Some("allow"), None, updated_input),
            Opinion::Ask {
                reason,
                updated_input,
            } => (Some("ask"), Some(reason), updated_input),
            Opinion::Deny { reason } => (Some("deny"), Some(reason), &None),
        };
        let mut output = json!({ "hookEventName": "PreToolUse" });
        let fields = [
            ("permissionDecision", decision.map(Value::from)),
            (
                "permissionDecisionReason",
                reason.map(|reason| Value::from(reason.as_str())),
            ),
            ("updatedInput", input.clone()),
        ];
        for (name, value) in fields {
            if let (Some(value), Some(output)) = (value, output.as_object_mut()) {
                output.insert(name.to_owned(), value);
            }
        }
        json!({ "hookSpecificOutput": output })
    }
}
