//! The end of the pipeline: what was decided, at which stage, by which rule, and why.
//!
//! Place in the flow: made by `evaluation`; shown to the model (a denial's message), to the log and by `policy explain`.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::words;
use crate::{decide::Stage, rules::Rule};

/// Whether the tool runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It runs, with this input.
    Allow {
        /// The input after hooks, user and check.
        input: Value,
    },
    /// It does not run.
    Deny {
        /// What the model reads.
        message: String,
    },
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No tool has this name.
    UnknownTool,
    /// The tool refuses the input.
    InvalidInput(String),
    /// A hook denied.
    Hook(String),
    /// The mode is `plan`, and the tool may change something.
    Plan,
    /// A rule matched.
    Rule,
    /// It only reads, inside the workspace.
    ReadOnly,
    /// It edits inside the workspace, and the mode accepts that.
    AcceptedEdit,
    /// The mode asks nothing.
    Bypass,
    /// The user decided.
    User(String),
    /// Somebody had to be asked for this reason, and nobody can be.
    NoPrompt(AskReason),
    /// The tool's own check refused.
    Check(String),
}

/// Why somebody has to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskReason {
    /// A rule says so.
    Rule(Arc<Rule>),
    /// A hook says so.
    Hook(String),
    /// Too many calls in a row were denied.
    Denials(u32),
    /// No rule matched.
    NothingMatched,
    /// No rule can match: the command cannot be analysed.
    Unanalysable(&'static str),
}

/// The end of the pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Whether the tool runs.
    pub outcome: Outcome,
    /// The stage that decided; of an allowed call, the one that made further questions needless.
    pub stage: Stage,
    /// Why.
    pub reason: Reason,
    /// The rules that decided, with their places.
    pub rules: Vec<Arc<Rule>>,
}

impl Decision {
    /// Whether the tool runs.
    pub fn is_allow(&self) -> bool {
        matches!(self.outcome, Outcome::Allow { .. })
    }

    /// The rule that decided, the first if there are several.
    pub fn rule(&self) -> Option<&Arc<Rule>> {
        self.rules.first()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words::reason(self))
    }
}

impl fmt::Display for AskReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words::ask_reason(self))
    }
}
