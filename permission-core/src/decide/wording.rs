//! Every sentence about a decision that the model, a user or an operator reads.
//!
//! Place in the flow: decisions take their words from here.

use super::decision::{DecidedBy, Decision, Outcome, Reason, Stage};
use crate::rules::RuleKind;
use crate::safe_text::visible;

const HEADLESS: &str = "the operator's policy lets nobody be asked";
const NO_PROMPT: &str = "no prompt is available";
pub(super) const OUT_OF_ORDER: &str = "the end of a hook came that nobody waited for";
pub(super) const HOOK_NOT_RUN: &str = "it cannot be run as it is configured";

pub(super) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Validate => "validation",
        Stage::Hooks => "hooks",
        Stage::Rules => "rules",
        Stage::Prompt => "prompt",
        Stage::Check => "check",
    }
}

/// Why something was decided, whoever decided it.
pub(super) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::NoObject => "the tool's input is not an object",
        Reason::Outside(path) => {
            return format!(
                "the operator's policy confines the session to its working directories, and `{}` is outside",
                visible(path)
            );
        }
        Reason::Hook(text) | Reason::User(text) | Reason::Failed(text) => text,
        Reason::Rule => "a rule says so",
        Reason::Protected(rule) => {
            return format!(
                "the operator's policy protects its own settings and Claude's (`{}`)",
                visible(rule)
            );
        }
        Reason::PlanChange => "the session is in plan mode, where no file but the plan may be changed",
        Reason::PlanMayChange => "the session is in plan mode, and this may do more than read",
        Reason::PlanServer => {
            "the session is in plan mode, and the server of this tool does not say that it only reads"
        }
        Reason::Question => "the call is itself a question to the user",
        Reason::Denials(count) => {
            return format!("{count} calls in a row were denied, so the user is to be asked");
        }
        Reason::UnknownFiles => {
            "the operator's policy confines the session to its working directories, and it cannot be told which files \
             this opens"
        }
        Reason::MayTouchProtected => {
            "the operator's policy protects its own settings and Claude's, and this may change some of them"
        }
        Reason::ReadOnly => "it only reads, inside the working directories",
        Reason::AcceptedEdit => "edits inside the working directories are accepted in this mode",
        Reason::Bypass => "this mode asks nothing",
        Reason::PlanFile => "the plan is written to this file",
        Reason::Unasked => "Claude asks nobody about this tool",
        Reason::Sensitive => {
            "Claude protects this file and asks before it is changed, whatever rules or the mode allow"
        }
        Reason::NothingMatched => "no rule allows it",
        Reason::Unanalysable(why) => return format!("no rule can allow the command, because {why}"),
        Reason::NoPrompt(why) => return format!("{}, and {NO_PROMPT}", self::reason(why)),
    }
    .to_owned()
}

/// Why a decision denies or asks, for whoever is told.
pub(super) fn why(decision: &Decision) -> String {
    let asks = decision.outcome == Outcome::Ask;
    let told = match &decision.reason {
        Reason::NoPrompt(why) => {
            let nobody = match decision.by {
                DecidedBy::Policy | DecidedBy::Guard => HEADLESS,
                DecidedBy::Claude => NO_PROMPT,
            };
            format!("{}, and {nobody}", because(decision, why, true))
        }
        reason => because(decision, reason, asks),
    };
    match (decision.by, decision.outcome, &decision.reason) {
        (DecidedBy::Claude, Outcome::Deny, Reason::Rule) => told,
        (DecidedBy::Claude, Outcome::Deny, _) => {
            format!("Denied ({}): {}.", decision.stage, told.trim_end_matches('.'))
        }
        _ => told,
    }
}

/// The reason with the rule and the name of whoever decides, as a denial or as a question.
fn because(decision: &Decision, why: &Reason, asks: bool) -> String {
    let policy = decision.by == DecidedBy::Policy;
    let rule = decision.rule();
    let text = match (why, rule) {
        (Reason::Rule, Some(rule)) if !asks => {
            return if policy {
                format!("the operator's policy denies it by the rule {rule}")
            } else {
                format!("Denied by the rule {rule}.")
            };
        }
        (Reason::Hook(text), _) if !asks && policy => {
            return format!("a hook of the operator's policy denies it: {text}");
        }
        (Reason::Rule, Some(rule)) if rule.kind() == RuleKind::Deny => {
            format!("it may come across what the rule {rule} is about, which it does not name")
        }
        (Reason::Rule, Some(rule)) => format!("the rule {rule} wants the user to be asked"),
        (Reason::Hook(_) | Reason::Denials(_), _) => reason(why),
        _ => return reason(why),
    };
    if policy {
        format!("the operator's policy: {text}")
    } else {
        text
    }
}
