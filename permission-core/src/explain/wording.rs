//! Every sentence of an explanation.
//!
//! Place in the flow: the other files of `explain` take their words from here. What comes from outside is shown with
//! everything escaped that would not show.

use std::sync::Arc;

use serde_json::Value;

use super::verdict::Verdict;
use crate::decide::hooks::HookCommand;
use crate::decide::{DecidedBy, Reason};
use crate::modes::PermissionMode;
use crate::policy::Becomes;
use crate::rules::{Part, Rule, RuleKind};
use crate::safe_text::quoted;
use crate::settings::Origin;

/// The longest input or command that is shown, in characters.
const MAX_SHOWN: usize = 400;

pub(super) const PASSED: &str = "passed";
pub(super) const NO_POLICY: &str = "Guard (no operator's policy)";
pub(super) const NO_PLAN: &str = "no opinion: the session is not in plan mode";
pub(super) const NO_OPINION: &str =
    "no opinion: no deny or ask rule is about it, and no allow rule covers all of it";
pub(super) const CLAUDE: &str = "Claude's own rules";
pub(super) const NOT_LOOKED_AT: &str = "the tool's own, not looked at here";
pub(super) const KEPT_OUT: &str = "none: under a policy Claude runs no hooks but managed ones";
pub(super) const HIDDEN: &str = "Claude 2.1.318 does not see a command behind a redirection, Claude 2.1.332 does; \
                                 what must not run belongs into a policy";
pub(super) const UNTRUSTED: &str =
    "a project's allow rules count only once the user has trusted the folder in Claude";
pub(super) const MODE_ASKED_FOR: &str = "as asked for";

/// The call.
pub(super) fn call(tool: &str, input: &Value) -> String {
    format!("{} {}", shown(tool), shown(&input.to_string()))
}

/// Where, and in which mode.
pub(super) fn place(cwd: &str, mode: PermissionMode, from: &str) -> String {
    format!("in {}, mode {mode} ({from})", shown(cwd))
}

/// Where the mode comes from.
pub(super) fn mode_of_settings(origin: Option<&Origin>) -> String {
    match origin {
        Some(origin) => at(origin),
        None => "no setting says otherwise".to_owned(),
    }
}

/// A mode that stands in for another one.
pub(super) fn instead_of(mode: PermissionMode) -> String {
    format!("{mode} is not available")
}

/// A mode that this session cannot have.
pub(super) fn unavailable(mode: PermissionMode, instead: PermissionMode) -> String {
    format!("the mode {mode} is not available to this session, so it counts as {instead}")
}

/// The title of the policy's part.
pub(super) fn policy(file: Option<&str>) -> String {
    format!(
        "Operator's policy{}",
        file.map(|file| format!(" {}", shown(file))).unwrap_or_default()
    )
}

/// The hooks that would run.
pub(super) fn hooks(hooks: &[Arc<HookCommand>]) -> impl Iterator<Item = String> {
    let none = hooks.is_empty().then(|| "none".to_owned());
    none.into_iter()
        .chain(hooks.iter().map(|hook| match &hook.command {
            Some(command) => format!("would run `{}` ({})", shown(command), at(&hook.origin)),
            None => format!("would run one that is not a shell command ({})", at(&hook.origin)),
        }))
}

pub(super) fn deny(reason: &str) -> String {
    format!("deny: {reason}")
}

pub(super) fn ask(reason: &str) -> String {
    format!("ask: {reason}")
}

pub(super) fn deny_rule(rule: &Rule) -> String {
    format!("deny: the rule {rule}")
}

pub(super) fn ask_rule(rule: &Rule) -> String {
    format!("ask: the rule {rule}")
}

/// A rule that Claude does not find to be about the call.
pub(super) fn only_a_policy(rule: &Rule) -> String {
    format!(
        "the rule {rule} may be about it, but Claude does not look that far: only a policy would {}",
        match rule.kind() {
            RuleKind::Deny => "deny it, or ask",
            RuleKind::Ask | RuleKind::Allow => "ask",
        }
    )
}

/// The part of a command that decides, and why.
pub(super) fn part(part: &Part) -> String {
    match part {
        Part::Command(text) => format!("it is about the part `{}`", shown(text)),
        Part::File(text) => format!("it is about the file `{}`", shown(text)),
        Part::Perhaps(text) => format!("it is about the words `{}`, which may be a command", shown(text)),
        Part::Anything(Some(text)) => {
            format!(
                "the part `{}` may run anything, so every deny rule counts",
                shown(text)
            )
        }
        Part::Anything(None) => "the command may run anything, so every deny rule counts".to_owned(),
    }
}

pub(super) fn allow(rule: &Rule) -> String {
    format!("allow: the rule {rule}")
}

/// Nothing is about it.
pub(super) fn no_answer(reason: &str) -> String {
    format!("no answer: {reason}")
}

/// An allow rule of a policy that is not to take questions away.
pub(super) fn allow_asks_still(rule: &Rule) -> String {
    format!("no objection: the rule {rule}; without `autoAllow` it takes no question of Claude's away")
}

/// Why no allow rule was even compared.
pub(super) fn unanalysable(doubt: &str) -> String {
    format!("no allow rule can match by its content, because {doubt}")
}

/// Why it needs no question.
pub(super) fn runs(reason: &Reason) -> String {
    format!("allow: {reason}")
}

/// What becomes of the question.
pub(super) fn prompt(verdict: Verdict, by: DecidedBy) -> &'static str {
    match (verdict, by) {
        (Verdict::Runs, _) => "no question needed",
        (Verdict::Asked, _) => "the client is asked",
        (Verdict::Classified, _) => "Claude's classifier decides; where it cannot, the client is asked",
        (Verdict::Denied, DecidedBy::Policy | DecidedBy::Guard) => {
            "deny: the operator's policy lets nobody be asked"
        }
        (Verdict::Denied, DecidedBy::Claude) => "deny: in this mode nobody is asked",
    }
}

/// An example of a policy that does not come true.
pub(super) fn unmet(becomes: Becomes, found: Becomes, why: &str) -> String {
    format!("becomes `{found}`, not `{becomes}`: {why}")
}

/// The last line.
pub(super) fn result(verdict: Verdict, by: DecidedBy) -> String {
    let verdict = match verdict {
        Verdict::Runs => "it runs",
        Verdict::Asked => "the client is asked",
        Verdict::Classified => "Claude's classifier decides",
        Verdict::Denied => "it is denied",
    };
    let by = match by {
        DecidedBy::Policy => "by the operator's policy",
        DecidedBy::Guard => "by the guard of plan mode",
        DecidedBy::Claude => "by Claude's own rules",
    };
    format!("Result: {verdict}, {by}")
}

fn at(origin: &Origin) -> String {
    format!(
        "{}, line {}",
        shown(&origin.file.display().to_string()),
        origin.line
    )
}

fn shown(text: &str) -> String {
    quoted(text, MAX_SHOWN)
}
