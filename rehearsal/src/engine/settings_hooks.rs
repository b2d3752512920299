//! What the end of a settings file's hook means, as Claude takes it.
//!
//! Place in the flow: `hooked` brings the end of a hook here and goes on with what it says. Such a hook stops a call with
//! exit code 2, or in the words of a callback's answer; what fails or says anything else is passed over. The other reading,
//! an operator's policy's, is `permission_core`'s and not meant here.

use permission_core::pipeline::hooks::HookRun;
use serde_json::Value;

use super::host_hooks::{Moment, Verdict, is_valid};

impl Verdict {
    /// What a hook has said by its end.
    pub(super) fn of_command(moment: Moment, run: &HookRun) -> Self {
        let mut verdict = Self::default();
        match run {
            HookRun::Exited { code: 0, stdout, .. } => {
                let said = serde_json::from_slice::<Value>(stdout).ok();
                if let Some(said) = said.filter(|said| is_output(moment, said)) {
                    verdict.take(moment, &said);
                }
            }
            HookRun::Exited { code: 2, stderr, .. } => {
                let reason = String::from_utf8_lossy(stderr).trim().to_owned();
                match moment {
                    Moment::Before => verdict.deny = Some(reason),
                    Moment::After | Moment::AfterFailure => verdict.feedback.push(reason),
                }
            }
            HookRun::Exited { .. } | HookRun::TimedOut | HookRun::Overflowed | HookRun::Failed(_) => {}
        }
        verdict
    }
}

/// A command has to name its event, and one wrong field makes all of its output count for nothing.
fn is_output(moment: Moment, said: &Value) -> bool {
    let decides = |decision: &Value| matches!(decision.as_str(), Some("approve" | "block"));
    let names =
        |specific: &Value| specific.get("hookEventName").and_then(Value::as_str) == Some(moment.event());
    is_valid(said)
        && said.get("decision").is_none_or(decides)
        && said.get("hookSpecificOutput").is_none_or(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exited(code: i32, stdout: &str, stderr: &str) -> HookRun {
        HookRun::Exited {
            code,
            stdout: stdout.into(),
            stderr: stderr.into(),
        }
    }

    #[test]
    fn only_exit_code_2_and_claudes_own_words_count() {
        let before = |run: &HookRun| Verdict::of_command(Moment::Before, run);
        let passed_over = [
            exited(0, "", ""),
            exited(0, "DENY: no", ""),
            exited(0, r#"{"updatedInput": {"command": "ls"}}"#, ""),
            exited(0, r#"{"decision": "deny"}"#, ""),
            exited(0, r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#, ""),
            exited(0, "{bad", ""),
            exited(0, "[1]", ""),
            exited(1, "", "no"),
            exited(127, "", "not found"),
            HookRun::TimedOut,
            HookRun::Overflowed,
            HookRun::Failed("signal `9`".to_owned()),
        ];
        for run in passed_over {
            assert_eq!(before(&run), Verdict::default(), "{run:?}");
        }
        let specific = |decision: &str| {
            let specific = json!({ "hookEventName": "PreToolUse", "permissionDecision": decision,
                "permissionDecisionReason": "so", "updatedInput": { "command": "ls" } });
            before(&exited(
                0,
                &json!({ "hookSpecificOutput": specific }).to_string(),
                "",
            ))
        };
        assert_eq!(before(&exited(2, "", "so\n")).deny.as_deref(), Some("so"));
        assert_eq!(
            before(&exited(0, r#"{"decision": "block", "reason": "so"}"#, ""))
                .deny
                .as_deref(),
            Some("so")
        );
        assert_eq!(specific("deny").deny.as_deref(), Some("so"));
        assert_eq!(specific("ask").ask.as_deref(), Some("so"));
        assert!(specific("allow").allow && specific("allow").input.is_some());
    }

    #[test]
    fn after_a_tool_a_hook_speaks_to_the_model_with_exit_code_2_and_when_it_blocks() {
        let after = |run: &HookRun| Verdict::of_command(Moment::After, run).feedback;
        assert_eq!(after(&exited(2, "", "tidy up")), ["tidy up"]);
        assert_eq!(
            after(&exited(0, r#"{"decision": "block", "reason": "tidy up"}"#, "")),
            ["tidy up"]
        );
        for run in [exited(0, "DENY: tidy up", ""), exited(1, "", "tidy up")] {
            assert_eq!(after(&run), Vec::<String>::new(), "{run:?}");
        }
    }
}
