//! What a user reads about policies: why one cannot be used, and what one holds.

use std::io;
use std::path::Path;

use permission_core::decide::hooks::HookEvent;
use permission_core::policy::{Policy, PolicyMistake};
use permission_core::rules::RuleKind;

pub(super) const MISSING: &str = "does not exist; write one, or correct the path";
pub(super) const NOT_TEXT: &str = "has a path that is not UTF-8, so it could not be protected; move it";
pub(super) const CWD_NOT_TEXT: &str = "`--cwd` is not UTF-8; use another directory";

/// A policy that keeps everything from starting.
pub(super) fn unusable(file: &Path, why: &str) -> String {
    format!("the policy `{}` {why}\nnothing was started", file.display())
}

/// All mistakes, a line each.
pub(super) fn mistakes(mistakes: &[PolicyMistake]) -> String {
    let count = match mistakes.len() {
        1 => "has a mistake".to_owned(),
        more => format!("has {more} mistakes"),
    };
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    format!("{count}:\n{}", lines.join("\n"))
}

/// A record that cannot be kept.
pub(super) fn audit_unopenable(file: &Path, error: &io::Error) -> String {
    format!(
        "`--audit`: cannot append to `{}`: {error}; decisions would go unrecorded, so nothing was started",
        file.display()
    )
}

/// A file that is no policy, for `policy check`.
pub(super) fn not_usable(file: &Path, why: &str) -> String {
    format!("`{}`: {why}", file.display())
}

/// Not a place for a session.
pub(super) fn no_directory(path: &Path) -> String {
    format!(
        "`--cwd`: `{}` is not a directory; name one that exists",
        path.display()
    )
}

/// Not a call that could be explained.
pub(super) fn not_a_call(why: &str) -> String {
    format!("error: {why}")
}

/// A tool's name in another spelling.
pub(super) fn misspelled_tool(tool: &str, meant: &str) -> String {
    format!(
        "`--tool`: there is no tool `{}`; did you mean `{meant}`?",
        tool.escape_debug()
    )
}

/// The input lacks what the call is about.
pub(super) fn no_parameter(tool: &str, parameter: &str) -> String {
    format!("`--input`: `{tool}` takes `{parameter}`, a string; add it")
}

/// Something in a file that does not count as written.
pub(super) fn warning(text: &str) -> String {
    format!("warning: {text}")
}

/// What a policy without mistakes holds.
pub(super) fn summary(file: &Path, policy: &Policy) -> String {
    let rules = |kind| policy.rules.iter().filter(|rule| rule.kind() == kind).count();
    let counts = [
        (rules(RuleKind::Deny), "deny rule"),
        (rules(RuleKind::Ask), "ask rule"),
        (rules(RuleKind::Allow), "allow rule"),
        (policy.hooks.count(HookEvent::PreToolUse), "hook before a tool"),
        (policy.hooks.count(HookEvent::PostToolUse), "hook after a tool"),
        (policy.additional_directories.len(), "further directory"),
        (policy.examples.len(), "example"),
    ];
    let switches = [
        (policy.headless, "headless"),
        (policy.confine, "confine"),
        (policy.auto_allow, "autoAllow"),
        (policy.client_mcp_servers, "clientMcpServers"),
        (policy.bypass_disabled, "no bypassPermissions"),
    ];
    let counts = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun));
    let mode = policy.default_mode.map(|mode| format!("starts in {mode}"));
    let switches = switches.into_iter().filter(|(on, _)| *on);
    let threshold = match policy.denial_threshold {
        0 => "no denial threshold".to_owned(),
        threshold => format!("denial threshold {threshold}"),
    };
    let parts: Vec<String> = counts
        .chain(mode)
        .chain(switches.map(|(_, name)| name.to_owned()))
        .chain([threshold])
        .collect();
    format!("{}: ok: {}", file.display(), parts.join(", "))
}

fn counted(count: usize, noun: &str) -> String {
    match (count, noun.split_once(' '), noun.strip_suffix('y')) {
        (1, _, _) => format!("1 {noun}"),
        (_, Some(("hook", rest)), _) => format!("{count} hooks {rest}"),
        (_, _, Some(stem)) => format!("{count} {stem}ies"),
        (_, _, None) => format!("{count} {noun}s"),
    }
}
