//! A tool call of the message that is being played, and how far it is.
//!
//! Place in the flow: `calls` holds those of a message and routes to them; `steps` moves a call along, `callbacks` and
//! `by_rules` where there are hooks and where the machine decides, `reply` with what the host answers.

pub(crate) mod by_rules;
pub(crate) mod by_script;
pub(crate) mod callbacks;
pub(crate) mod calls;
pub(crate) mod hooks;
pub(crate) mod outcome;
pub(crate) mod question;
pub(crate) mod reply;
pub(crate) mod steps;
pub(crate) mod subagent;

use claude_sdk_bridge::messages::control::CanUseTool;
use claude_sdk_bridge::messages::{ControlId, PermissionDenial, ToolUseId};
use serde_json::{Map, Value};

use self::hooks::{CallFacts, Callbacks, Verdict};
use self::outcome::Outcome;
use crate::engine::turn::Wait;
use crate::frames::text;
use crate::script::ToolStep;

/// A tool call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: ToolUseId,
    pub(crate) step: Box<ToolStep>,
    /// The call that started the subagent whose call this is.
    pub(crate) parent: Option<ToolUseId>,
    /// The input as it is now; the step has it as the model wrote it.
    pub(crate) input: Map<String, Value>,
    /// Whether the call's own frame has been written.
    pub(crate) written: bool,
    /// Whether the result of the turn names it among the denials.
    denied: bool,
    pub(crate) state: CallState,
    /// Callbacks of the host's that are waited for.
    pub(crate) callbacks: Option<Callbacks>,
    /// What hooks said before the call.
    pub(crate) verdict: Verdict,
    /// The question as it was asked.
    pub(crate) question: Option<Box<CanUseTool>>,
    pub(crate) outcome: Option<Outcome>,
}

/// How far a call is.
#[derive(Debug)]
pub(crate) enum CallState {
    Planned,
    /// Hooks are heard before it.
    InHooks,
    Asked(ControlId),
    Accepted(Acceptance),
    Running(Acceptance),
    /// It has run, and hooks are heard after it.
    Ran(Acceptance),
    Refused(Refusal),
    /// Was to be asked about, or has been, when an interrupt came.
    Withdrawn,
    Done,
}

/// Why, and with which input, a call may run.
#[derive(Debug, Clone)]
pub(crate) struct Acceptance {
    pub(crate) input: Map<String, Value>,
    pub(crate) source: &'static str,
    pub(crate) reason_type: Option<&'static str>,
}

/// Why a call may not run.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) text: String,
    /// Who has decided; nobody where a hook was too late.
    pub(crate) source: Option<&'static str>,
    pub(crate) reason_type: Option<&'static str>,
}

impl Call {
    pub(crate) fn new(id: ToolUseId, step: Box<ToolStep>) -> Self {
        Self {
            id,
            input: step.input.clone(),
            verdict: Verdict::of_script(&step.hook),
            step,
            parent: None,
            written: false,
            denied: false,
            state: CallState::Planned,
            callbacks: None,
            question: None,
            outcome: None,
        }
    }

    /// A call of a subagent; it gets its id when it is made.
    pub(crate) fn of_subagent(step: Box<ToolStep>, parent: ToolUseId) -> Self {
        Self {
            parent: Some(parent),
            ..Self::new(ToolUseId::default(), step)
        }
    }

    /// The input as the model would write it.
    pub(crate) fn input_text(&self) -> String {
        Value::Object(self.step.input.clone()).to_string()
    }

    /// The name of the subagent whose call this is.
    pub(crate) fn agent(&self) -> Option<String> {
        self.parent.as_ref().map(|parent| text::agent(parent.as_str()))
    }

    /// Whether the machine decides about it.
    fn is_decided_by_rules(&self) -> bool {
        self.step.decide && self.step.denied.is_none()
    }

    /// What is waited for before it can go on, if anything.
    pub(crate) fn wait(&self) -> Option<Wait> {
        let waits = self.callbacks.is_some() || matches!(self.state, CallState::Asked(_));
        let deadline = self.callbacks.as_ref().and_then(Callbacks::deadline);
        waits.then(|| deadline.map_or(Wait::Answer, Wait::AnswerUntil))
    }

    /// The call does not run.
    fn refuse(&mut self, refusal: Refusal) {
        // Where a hook was too late, nobody has decided.
        self.denied |= refusal.source.is_some();
        self.state = CallState::Refused(refusal);
    }

    pub(crate) fn facts<'a>(&'a self, agent: Option<&'a str>, response: Option<&'a Value>) -> CallFacts<'a> {
        CallFacts {
            tool: &self.step.name,
            input: &self.input,
            id: &self.id,
            agent,
            response,
        }
    }

    fn denial(&self) -> PermissionDenial {
        PermissionDenial {
            tool_name: self.step.name.as_str().into(),
            tool_use_id: self.id.clone().into(),
            tool_input: Value::Object(self.step.input.clone()).into(),
            ..PermissionDenial::default()
        }
    }
}

impl Acceptance {
    /// The call needs nobody's permission.
    pub(crate) fn unasked(input: Map<String, Value>) -> Self {
        Self {
            input,
            source: "config",
            reason_type: Some("mode"),
        }
    }
}

impl Refusal {
    pub(crate) fn of_config(text: String, reason_type: &'static str) -> Self {
        Self {
            text,
            source: Some("config"),
            reason_type: Some(reason_type),
        }
    }

    pub(crate) fn of_hook(text: String) -> Self {
        Self {
            text,
            source: Some("hook"),
            reason_type: Some("hook"),
        }
    }

    /// The host's hooks have denied the call, or have not spoken in time.
    pub(crate) fn of_verdict(verdict: &Verdict, tool: &str, reason: &str) -> Self {
        match &verdict.deny_text {
            Some(text) => Self {
                text: text.clone(),
                source: None,
                reason_type: None,
            },
            None => Self::of_hook(text::hook_denied(tool, reason)),
        }
    }

    pub(crate) fn failed(reason: &str) -> Self {
        Self::of_config(text::request_failed(reason), "other")
    }
}
