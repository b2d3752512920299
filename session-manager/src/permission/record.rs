//! What is written down about every decision on a tool call: for the log, and for the operator's audit.
//!
//! Place in the flow: the session's guard makes one for each answer to Claude's hook callbacks and questions. Where it goes
//! is the business of whoever starts the manager.

use std::path::PathBuf;
use std::{fmt, io};

use permission_core::PermissionMode;
use permission_core::decide::{Decision, Outcome};
use permission_core::rules::{Rule, RuleOrigin};
use serde::Serialize;

use super::call::SeenCall;

/// Takes records of decisions.
pub trait Audit: Send + Sync + fmt::Debug {
    /// Writes one down. Called on the way of a tool call: it must not wait for long.
    ///
    /// # Errors
    /// When it could not be written; the tool call is then denied.
    fn record(&self, decision: &DecisionRecord) -> io::Result<()>;
}

/// The session that decisions are about.
#[derive(Clone, Debug)]
pub(crate) struct Whose {
    pub(crate) connection: String,
    /// The client's id of it.
    pub(crate) session: String,
    pub(crate) cwd: PathBuf,
}

/// One decision, in the fields of an audit line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecisionRecord {
    /// When, in UTC, as RFC 3339 has it.
    pub time: String,
    /// The client's connection: where it comes from, and its number among those of this agent.
    pub connection: String,
    /// The client's id of the session.
    pub session: String,
    /// The session's folder.
    pub cwd: PathBuf,
    /// The tool.
    pub tool: String,
    /// Claude's id of the tool call.
    pub tool_use_id: String,
    /// The subagent that calls; absent for the session itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The mode that the call was looked at in.
    pub mode: PermissionMode,
    /// The stage that decided: `validation`, `hooks`, `rules`, `prompt` or `check`.
    pub stage: String,
    /// What was decided.
    pub outcome: RecordedOutcome,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RecordedRule>,
    /// Why, in words; absent where there is nothing to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long the decision took, in milliseconds: hooks and the user's thinking included.
    pub ms: u64,
}

/// What was decided about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedOutcome {
    /// Nothing: Claude's own rules and questions decide.
    Pass,
    /// It runs.
    Allow,
    /// The user is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// A rule in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedRule {
    /// `allow`, `deny` or `ask`.
    pub kind: String,
    /// As it was written.
    pub text: String,
    /// The file it stands in; absent for the rules that come with every policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl DecisionRecord {
    pub(super) fn of(whose: &Whose, call: &SeenCall, decision: &Decision) -> Self {
        let outcome = match decision.outcome {
            Outcome::Pass => RecordedOutcome::Pass,
            Outcome::Allow => RecordedOutcome::Allow,
            Outcome::Ask => RecordedOutcome::Ask,
            Outcome::Deny => RecordedOutcome::Deny,
        };
        Self {
            time: jiff::Timestamp::now().to_string(),
            connection: whose.connection.clone(),
            session: whose.session.clone(),
            cwd: whose.cwd.clone(),
            tool: call.tool.clone(),
            tool_use_id: call.tool_use_id.clone(),
            agent: call.agent.as_ref().map(|agent| agent.as_str().to_owned()),
            mode: call.mode,
            stage: decision.stage.to_string(),
            outcome,
            rule: decision.rule().map(|rule| RecordedRule::of(rule)),
            reason: decision.why(),
            ms: u64::try_from(call.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl RecordedRule {
    pub(super) fn of(rule: &Rule) -> Self {
        let place = match rule.origin() {
            RuleOrigin::File(origin) => Some((origin.file.to_path_buf(), origin.line)),
            RuleOrigin::Arguments | RuleOrigin::Session => None,
        };
        let (file, line) = place.unzip();
        Self {
            kind: rule.kind().to_string(),
            text: rule.text().to_owned(),
            file,
            line,
        }
    }
}
