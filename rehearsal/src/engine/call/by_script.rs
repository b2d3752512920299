//! Whether a tool call is asked about, runs without a word, or is refused without a word.
//!
//! Place in the flow: `call::steps` checks here before it asks about a call: the script says what would be asked, the
//! session's mode and hooks what that means. Where the script leaves that to rules, `by_rules` is asked instead.

use permission_core::{PermissionMode, edits_files, is_for_a_person};

use super::hooks::Verdict;
use crate::engine::core::Core;
use crate::frames::text;
use crate::script::ToolStep;

/// What becomes of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    Pass,
    Ask,
    Refuse {
        reason_type: &'static str,
        message: String,
    },
}

/// Decides about a call in the session's present mode.
pub(crate) fn check(step: &ToolStep, verdict: &Verdict, core: &Core) -> Permission {
    after_hooks(step, verdict, core.mode, core.setup.asks())
}

/// Whether the host has taken the tool out of the session.
pub(crate) fn is_gone(step: &ToolStep, core: &Core) -> bool {
    let setup = &core.setup;
    let left_out = |tools: &[String]| step.decide && !tools.contains(&step.name);
    setup.options.disallowed_tools.contains(&step.name) || setup.tools().is_some_and(left_out)
}

/// What is decided after the host's hooks: they can make a question in every mode, and spare one that no rule wants.
fn after_hooks(
    step: &ToolStep,
    verdict: &Verdict,
    mode: PermissionMode,
    host_takes_questions: bool,
) -> Permission {
    let permission = by_mode(step, mode, host_takes_questions);
    if matches!(
        permission,
        Permission::Refuse {
            reason_type: "rule",
            ..
        }
    ) {
        return permission;
    }
    let ask = step.ask.as_ref();
    let reason = ask.and_then(|ask| ask.decision_reason_type.as_deref());
    let needed = matches!(reason, Some("rule" | "safetyCheck")) || is_for_a_person(&step.name);
    match permission {
        _ if verdict.ask.is_some() => asked(mode, host_takes_questions),
        Permission::Ask if verdict.allow && !needed => Permission::Pass,
        permission => permission,
    }
}

fn asked(mode: PermissionMode, host_takes_questions: bool) -> Permission {
    let refuse = |reason_type: &'static str, message: &str| Permission::Refuse {
        reason_type,
        message: message.to_owned(),
    };
    if mode == PermissionMode::DontAsk {
        refuse("mode", text::DONT_ASK)
    } else if host_takes_questions {
        Permission::Ask
    } else {
        refuse("asyncAgent", text::NOBODY_TO_ASK)
    }
}

fn by_mode(step: &ToolStep, mode: PermissionMode, host_takes_questions: bool) -> Permission {
    if let Some(message) = &step.denied {
        return Permission::Refuse {
            reason_type: "rule",
            message: message.clone(),
        };
    }
    let Some(ask) = &step.ask else {
        return Permission::Pass;
    };
    match mode {
        PermissionMode::BypassPermissions if !ask.always && !is_for_a_person(&step.name) => Permission::Pass,
        // A question with a reason of its own (outside the working directory, a safety check) stays one.
        PermissionMode::AcceptEdits | PermissionMode::Auto
            if !ask.always && edits_files(&step.name) && ask.decision_reason_type.is_none() =>
        {
            Permission::Pass
        }
        PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::Plan
        | PermissionMode::Auto
        | PermissionMode::DontAsk
        | PermissionMode::BypassPermissions => asked(mode, host_takes_questions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, mode: PermissionMode, expected: &str) {
        let step: ToolStep = serde_json::from_str(tool).unwrap();
        let name = |permission: Permission| match permission {
            Permission::Pass => "pass".to_owned(),
            Permission::Ask => "ask".to_owned(),
            Permission::Refuse { reason_type, .. } => reason_type.to_owned(),
        };
        assert_eq!(name(by_mode(&step, mode, true)), expected, "{tool} in {mode}");
        let unasked = if expected == "ask" { "asyncAgent" } else { expected };
        assert_eq!(
            name(by_mode(&step, mode, false)),
            unasked,
            "{tool} in {mode} without anyone to ask"
        );
    }

    #[test]
    fn the_mode_says_what_becomes_of_a_question() {
        use PermissionMode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
        let bash = r#"{"name":"Bash","ask":true}"#;
        let edit = r#"{"name":"Edit","ask":true}"#;
        check(r#"{"name":"Bash"}"#, Default, "pass");
        check(r#"{"name":"Bash","ask":false}"#, DontAsk, "pass");
        check(
            r#"{"name":"Bash","denied":"no","ask":true}"#,
            BypassPermissions,
            "rule",
        );
        for mode in [Default, AcceptEdits, Plan, Auto] {
            check(bash, mode, "ask");
        }
        check(bash, BypassPermissions, "pass");
        check(bash, DontAsk, "mode");
        check(edit, Default, "ask");
        check(edit, AcceptEdits, "pass");
        check(edit, Auto, "pass");
        check(edit, Plan, "ask");
        check(r#"{"name":"Edit","ask":{"always":true}}"#, AcceptEdits, "ask");
        check(
            r#"{"name":"Edit","ask":{"decision_reason_type":"workingDir"}}"#,
            AcceptEdits,
            "ask",
        );
        check(
            r#"{"name":"Bash","ask":{"always":true}}"#,
            BypassPermissions,
            "ask",
        );
        check(r#"{"name":"ExitPlanMode","ask":true}"#, BypassPermissions, "ask");
    }

    #[test]
    fn hooks_of_the_host_make_questions_and_spare_them() {
        use PermissionMode::{BypassPermissions, Default, DontAsk};
        let ask = Verdict {
            ask: Some("why".to_owned()),
            ..Verdict::default()
        };
        let allow = Verdict {
            allow: true,
            ..Verdict::default()
        };
        let check = |tool: &str, verdict: &Verdict, mode| {
            after_hooks(&serde_json::from_str(tool).unwrap(), verdict, mode, true)
        };
        let plain = r#"{"name":"Bash"}"#;
        let asks = r#"{"name":"Bash","ask":true}"#;
        let by_rule = r#"{"name":"Bash","ask":{"always":true,"decision_reason_type":"rule"}}"#;
        let denied = r#"{"name":"Bash","denied":"no"}"#;
        assert_eq!(check(plain, &ask, BypassPermissions), Permission::Ask);
        assert!(matches!(
            check(plain, &ask, DontAsk),
            Permission::Refuse {
                reason_type: "mode",
                ..
            }
        ));
        assert_eq!(check(asks, &allow, Default), Permission::Pass);
        assert_eq!(check(by_rule, &allow, Default), Permission::Ask);
        for verdict in [ask, allow] {
            assert!(matches!(
                check(denied, &verdict, Default),
                Permission::Refuse {
                    reason_type: "rule",
                    ..
                }
            ));
        }
    }
}
