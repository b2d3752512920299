//! What is decided about a call: the outcome, the stage that made it, why, and the rules that it rests on.
//!
//! Place in the flow: made by `authorizer`; shown to the model (why it does not run), to the log and by `policy explain`, and
//! sent to Claude as the reply to its callback.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::wording;
use crate::rules::Rule;
use crate::tools::Tool;

/// The five stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The shape of the input, and what is out of reach for certain.
    Validate,
    /// Hooks before the tool.
    Hooks,
    /// Mode and rules.
    Rules,
    /// The user.
    Prompt,
    /// Once more, before the tool runs.
    Check,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is decided: Claude's own rules and questions do.
    Pass,
    /// It runs. Over Claude: it needs no question of Claude's, whose deny rules, ask rules and safety checks still count.
    Allow,
    /// Somebody is asked, in every mode.
    Ask,
    /// It does not run, in every mode.
    Deny,
}

/// Whose decision it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// The operator's policy.
    Policy,
    /// The guard that every session has, above all in `plan`.
    Guard,
    /// Claude's own settings or mode.
    Claude,
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The input is no object.
    NoObject,
    /// This file is outside the working directories, to which a policy confines the session.
    Outside(String),
    /// A hook says so, in these words.
    Hook(String),
    /// A rule says so, the first of the decision's.
    Rule,
    /// It is among the settings that could widen a policy, by this rule of every policy.
    Protected(String),
    /// The mode is `plan`, and the call changes a file.
    PlanChange,
    /// The mode is `plan`, and the call may change something.
    PlanMayChange,
    /// The mode is `plan`, and the tool's server does not say that it only reads.
    PlanServer,
    /// The tool is itself a question to a person.
    Question,
    /// So many calls in a row were denied.
    Denials(u32),
    /// Under a policy that confines the session, nobody can tell which files it opens.
    UnknownFiles,
    /// It may change what a policy protects.
    MayTouchProtected,
    /// It only reads, inside the workspace.
    ReadOnly,
    /// It edits inside the workspace, and the mode accepts that.
    AcceptedEdit,
    /// The mode asks nothing.
    Bypass,
    /// The plan is written to this file.
    PlanFile,
    /// Claude asks nobody about this tool.
    Unasked,
    /// Claude asks before such a file is changed, whatever rules or the mode allow.
    Sensitive,
    /// No rule matched.
    NothingMatched,
    /// No rule can match: the command cannot be analysed.
    Unanalysable(&'static str),
    /// Somebody had to be asked for this reason, and nobody can be.
    NoPrompt(Box<Self>),
    /// The user decided; says what they said, if they denied it.
    User(String),
    /// Something went wrong, which denies.
    Failed(String),
}

/// What is decided about a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What becomes of it.
    pub outcome: Outcome,
    /// The stage that decided.
    pub stage: Stage,
    /// Why.
    pub reason: Reason,
    /// Whose decision it is.
    pub by: DecidedBy,
    /// The rules that decided, with their places.
    pub rules: Vec<Arc<Rule>>,
    /// Replaces the input, where hooks changed it.
    pub updated_input: Option<Value>,
}

impl Decision {
    /// The denial for a failure of the host's own: whatever goes wrong, the call does not run.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Deny,
            stage: Stage::Hooks,
            reason: Reason::Failed(reason.into()),
            by: DecidedBy::Guard,
            rules: Vec::new(),
            updated_input: None,
        }
    }

    /// The user's answer; `refusal` is what they said against it.
    pub fn of_user(refusal: Option<String>) -> Self {
        Self {
            outcome: if refusal.is_some() {
                Outcome::Deny
            } else {
                Outcome::Allow
            },
            stage: Stage::Prompt,
            reason: Reason::User(refusal.unwrap_or_default()),
            by: DecidedBy::Guard,
            rules: Vec::new(),
            updated_input: None,
        }
    }

    /// The same where Claude is not to ask for want of a mode that asks less. What is for a person to answer stays so.
    #[must_use]
    pub fn unasked(self, tool: &str) -> Self {
        match self.outcome {
            Outcome::Pass if !Tool::of(tool).for_a_person => Self {
                outcome: Outcome::Allow,
                ..self
            },
            Outcome::Pass | Outcome::Allow | Outcome::Ask | Outcome::Deny => self,
        }
    }

    /// Whether the call is denied.
    pub fn is_deny(&self) -> bool {
        self.outcome == Outcome::Deny
    }

    /// The rule that decided, the first if there are several.
    pub fn rule(&self) -> Option<&Arc<Rule>> {
        self.rules.first()
    }

    /// Why it denies or asks.
    pub fn why(&self) -> Option<String> {
        match self.outcome {
            Outcome::Deny | Outcome::Ask => Some(wording::why(self)),
            Outcome::Pass | Outcome::Allow => None,
        }
    }

    /// The reply to Claude's callback at this event. `{}` has no opinion: Claude goes on as if nobody had been asked.
    pub fn to_reply(&self, event: &str) -> Value {
        let decision = match self.outcome {
            Outcome::Pass if self.updated_input.is_none() => return json!({}),
            Outcome::Pass => None,
            Outcome::Allow => Some("allow"),
            Outcome::Ask => Some("ask"),
            Outcome::Deny => Some("deny"),
        };
        let mut output = json!({ "hookEventName": event });
        let input = self.updated_input.as_ref().filter(|_| !self.is_deny());
        let fields = [
            ("permissionDecision", decision.map(Value::from)),
            ("permissionDecisionReason", self.why().map(Value::from)),
            ("updatedInput", input.cloned()),
        ];
        for (name, value) in fields {
            if let (Some(value), Some(output)) = (value, output.as_object_mut()) {
                output.insert(name.to_owned(), value);
            }
        }
        json!({ "hookSpecificOutput": output })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(wording::stage(*self))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wording::reason(self))
    }
}
