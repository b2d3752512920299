//! Claude's part: its own hooks, rules and mode, as the pipeline reads them.
//!
//! Place in the flow: `explain` asks it unless the guard denied. Where Claude decides otherwise, Claude is right.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Section,
    guard::Guarded,
    session::{ExplainedSession, Prepared},
    verdict::{DecidedBy, Verdict},
    words,
};
use crate::{
    modes::PermissionMode,
    pipeline::{
        AskReason, Decision, OpaqueTool, Outcome, Pipeline, Reason, Stage, Step, ToolCall, hooks::HookCommand,
    },
    question::FOR_A_PERSON,
    rules::{Rule, RuleOrigin, ToolGroup},
    settings::SettingsSource,
};

/// What Claude finds.
pub(super) struct Own {
    hooks: Vec<Arc<HookCommand>>,
    /// A policy keeps hooks of others from running.
    kept_out: bool,
    /// The mode asks nobody.
    pub(super) silent: bool,
    pub(super) end: End,
}

/// Where Claude's own rules lead.
pub(super) enum End {
    Runs(Decision),
    /// Claude asks nobody about it, for this reason.
    Unasked(&'static str),
    Denied(Decision),
    /// A rule or a hook wants a question.
    Asked(AskReason),
    /// The tool is a question.
    Question,
    /// Nothing says what to do, for this reason; the mode does.
    Unsaid(AskReason, Unruled),
}

/// What a mode makes of a call that no rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unruled {
    Asked,
    Classified,
}

/// Tools that Claude runs without a question unless a rule says otherwise.
const UNASKED: [&str; 13] = [
    "Agent",
    "BashOutput",
    "EnterPlanMode",
    "KillShell",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

pub(super) fn look(session: &ExplainedSession<'_>, prepared: &Prepared, tool: &str, input: &Value) -> Own {
    let mut context = prepared.context.clone();
    // What `plan` keeps from running is the guard's decision, which comes first, and what nobody is asked is said below.
    if matches!(context.mode, PermissionMode::Plan | PermissionMode::DontAsk) {
        context.mode = PermissionMode::Default;
    }
    let call = ToolCall {
        name: tool.to_owned(),
        input: input.clone(),
        tool_use_id: String::new(),
        agent: None,
    };
    let opaque = Arc::new(OpaqueTool::new(tool));
    let explanation = Pipeline::new(context).explain(call, Some(opaque), session.paths);
    let end = match explanation.end {
        Step::Done(decision) => match decision.outcome {
            Outcome::Deny { .. } => End::Denied(*decision),
            Outcome::Allow { .. } if FOR_A_PERSON.contains(&tool) => End::Question,
            Outcome::Allow { .. } => End::Runs(*decision),
        },
        Step::Ask(question) => match question.reason {
            reason @ (AskReason::Rule(_) | AskReason::Hook(_) | AskReason::Denials(_)) => End::Asked(reason),
            AskReason::NothingMatched if UNASKED.contains(&tool) => End::Unasked(words::UNASKED),
            AskReason::NothingMatched if is_plan(session, prepared, tool, input) => End::Unasked(words::PLAN),
            AskReason::NothingMatched if FOR_A_PERSON.contains(&tool) => End::Question,
            reason @ (AskReason::NothingMatched | AskReason::Unanalysable(_)) => {
                End::Unsaid(reason, unruled(prepared))
            }
        },
        // An explanation ends with a question or a decision.
        Step::Hook(_) | Step::Classify => End::Unsaid(AskReason::NothingMatched, unruled(prepared)),
    };
    Own {
        hooks: session.claude_hooks(prepared, tool),
        kept_out: session.keeps_hooks_out(prepared),
        silent: prepared.context.mode == PermissionMode::DontAsk,
        end,
    }
}

fn is_plan(session: &ExplainedSession<'_>, prepared: &Prepared, tool: &str, input: &Value) -> bool {
    prepared.context.mode == PermissionMode::Plan
        && ToolGroup::of(tool) == ToolGroup::Edits
        && session.plan_file(input).is_some()
}

/// In `plan`, too, Claude lets its classifier answer where there is one.
fn unruled(prepared: &Prepared) -> Unruled {
    match prepared.context.mode {
        PermissionMode::Auto => Unruled::Classified,
        PermissionMode::Plan if prepared.context.auto_available => Unruled::Classified,
        PermissionMode::Plan
        | PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::BypassPermissions
        | PermissionMode::DontAsk => Unruled::Asked,
    }
}

impl Own {
    pub(super) fn section(&self, guarded: &Guarded, verdict: Verdict, by: DecidedBy) -> Section {
        let mut lines = vec![(Stage::Validate, words::NOT_LOOKED_AT.to_owned())];
        if self.hooks.is_empty() && self.kept_out {
            lines.push((Stage::Hooks, words::KEPT_OUT.to_owned()));
        } else {
            lines.extend(words::hooks(&self.hooks).map(|text| (Stage::Hooks, text)));
        }
        lines.extend(self.rules().into_iter().map(|text| (Stage::Rules, text)));
        if !matches!(self.end, End::Denied(_)) {
            lines.push((Stage::Prompt, words::prompt(verdict, by).to_owned()));
        }
        match &guarded.refusal {
            Some(refusal) => lines.push((Stage::Check, words::deny(refusal))),
            None if verdict == Verdict::Denied => {}
            None => lines.push((Stage::Check, words::NOT_LOOKED_AT.to_owned())),
        }
        Section {
            title: words::CLAUDE.to_owned(),
            lines,
        }
    }

    fn rules(&self) -> Vec<String> {
        match &self.end {
            End::Runs(decision) if decision.reason == Reason::Rule => {
                let mut lines: Vec<String> = decision.rules.iter().map(|rule| words::allow(rule)).collect();
                if decision.rules.iter().any(|rule| is_projects(rule)) {
                    lines.push(words::UNTRUSTED.to_owned());
                }
                lines
            }
            End::Runs(decision) => vec![words::runs(&decision.reason)],
            End::Unasked(why) => vec![(*why).to_owned()],
            End::Question => vec![words::QUESTION.to_owned()],
            End::Denied(decision) => match decision.rule() {
                Some(rule) => vec![words::deny_rule(rule)],
                None => vec![words::deny(&decision.reason.to_string())],
            },
            End::Asked(reason) => vec![words::ask(&reason.to_string())],
            End::Unsaid(reason, _) => vec![words::no_answer(&reason.to_string())],
        }
    }
}

fn is_projects(rule: &Rule) -> bool {
    matches!(rule.origin(), RuleOrigin::File(origin) if origin.source == SettingsSource::Project)
}
