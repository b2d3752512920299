//! Every sentence of the pipeline that a model, a user or a log reads.
//!
//! Place in the flow: decisions take their words from here.

use super::decision::{AskReason, Reason};
use crate::{
    decide::Stage,
    rules::{Rule, RuleKind},
};

/// Why something was decided.
pub(super) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::UnknownTool => "there is no tool of this name".to_owned(),
        Reason::InvalidInput(message) => format!("the input is not valid: {message}"),
        Reason::Hook(reason) => reason.clone(),
        Reason::Plan => "the session is in plan mode, where nothing may be changed".to_owned(),
        Reason::Rule => "a rule says so".to_owned(),
        Reason::ReadOnly => "it only reads, inside the working directories".to_owned(),
        Reason::AcceptedEdit => "edits inside the working directories are accepted in this mode".to_owned(),
        Reason::Bypass => "this mode asks nothing".to_owned(),
        Reason::User(message) => message.clone(),
        Reason::NoPrompt(why) => format!("{}, and no prompt is available", ask_reason(why)),
        Reason::Check(message) => message.clone(),
    }
}

/// Why somebody has to be asked.
pub(super) fn ask_reason(reason: &AskReason) -> String {
    match reason {
        AskReason::Rule(rule) if rule.kind() == RuleKind::Deny => {
            format!("it may come across what the rule {rule} is about, which it does not name")
        }
        AskReason::Rule(rule) => format!("the rule {rule} wants the user to be asked"),
        AskReason::Hook(reason) => reason.clone(),
        AskReason::Denials(count) => {
            format!("{count} calls in a row were denied, so the user is to be asked")
        }
        AskReason::NothingMatched => "no rule allows it".to_owned(),
        AskReason::Unanalysable(why) => format!("no rule can allow the command, because {why}"),
    }
}

/// A denial for the model.
pub(super) fn denied(stage: Stage, reason: &Reason, rule: Option<&Rule>) -> String {
    match rule {
        Some(rule) => format!("Denied by the rule {rule}."),
        None => format!(
            "Denied ({}): {}.",
            stage,
            self::reason(reason).trim_end_matches('.')
        ),
    }
}

pub(super) const USER_ALLOWED: &str = "the user allowed it";
pub(super) const USER_DENIED: &str = "the user denied it";
pub(super) const NO_OBJECT: &str = "it is not an object";
pub(super) const HOOK_NOT_RUN: &str = "a hook is configured that cannot be run";
pub(super) const OUT_OF_ORDER: &str = "an answer came that nobody waited for";
