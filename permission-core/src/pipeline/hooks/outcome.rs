//! What a hook's end means: approve, deny, change the input, or ask.
//!
//! Place in the flow: a host's runner reports a [`HookRun`]; the pipeline goes by [`PreToolUse`] and [`PostToolUse`].
//! Whatever is not understood denies before a tool runs, and is only noted after it.

use serde_json::Value;

use super::super::words;

/// How a hook command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookRun {
    /// It exited.
    Exited {
        /// Its exit code.
        code: i32,
        /// What it wrote to standard output.
        stdout: Vec<u8>,
        /// What it wrote to standard error.
        stderr: Vec<u8>,
    },
    /// It took longer than it may, and was killed with its process group.
    TimedOut,
    /// It wrote more than it may, and was killed.
    Overflowed,
    /// It could not be started, or a signal ended it; says why.
    Failed(String),
}

/// How outcomes are read that are nobody's clear intention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookOptions {
    /// A hook that fails otherwise than with exit code 2 is only noted.
    pub nonblocking_errors: bool,
    /// Output that is neither empty, `DENY:` nor JSON denies.
    pub strict_output: bool,
}

/// What a hook before a tool says.
#[derive(Clone, Debug, PartialEq)]
pub enum PreToolUse {
    /// On to the next hook or stage.
    Approve {
        /// Something to log.
        note: Option<String>,
    },
    /// The tool does not run.
    Deny {
        /// Why, for the model.
        reason: String,
    },
    /// On, with another input, or only after a question.
    Change {
        /// Replaces the whole input.
        input: Option<Value>,
        /// The user is to be asked, for this reason.
        ask: Option<String>,
    },
}

/// What a hook after a tool says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostToolUse {
    /// For the model.
    pub feedback: Option<String>,
    /// Something to log.
    pub note: Option<String>,
}

impl PreToolUse {
    /// Reads the end of a hook before a tool.
    pub fn read(run: &HookRun, options: HookOptions) -> Self {
        let failed = |note: String| {
            if options.nonblocking_errors {
                Self::Approve { note: Some(note) }
            } else {
                Self::deny(note)
            }
        };
        match run {
            HookRun::TimedOut => Self::Approve {
                note: Some(words::HOOK_TIMED_OUT.to_owned()),
            },
            HookRun::Overflowed => Self::deny(words::HOOK_OVERFLOWED),
            HookRun::Failed(why) => failed(words::hook_failed(why)),
            HookRun::Exited { code: 0, stdout, .. } => Self::output(stdout, options),
            HookRun::Exited { code: 2, stderr, .. } => {
                Self::deny(reason(stderr).unwrap_or_else(|| words::HOOK_DENIED.into()))
            }
            HookRun::Exited { code, .. } => failed(words::hook_exit(*code)),
        }
    }

    fn deny(reason: impl Into<String>) -> Self {
        Self::Deny {
            reason: reason.into(),
        }
    }

    fn output(stdout: &[u8], options: HookOptions) -> Self {
        let bytes = trimmed(stdout);
        if bytes.is_empty() {
            return Self::Approve { note: None };
        }
        if let Some(why) = bytes.strip_prefix(b"DENY:") {
            return Self::deny(reason(why).unwrap_or_else(|| words::HOOK_DENIED.into()));
        }
        if bytes.starts_with(b"{") || bytes.starts_with(b"[") {
            return match serde_json::from_slice(bytes) {
                Ok(Value::Object(object)) => Self::object(&Value::Object(object)),
                Ok(_) | Err(_) => Self::deny(words::HOOK_BAD_JSON),
            };
        }
        if options.strict_output {
            return Self::deny(words::HOOK_UNKNOWN_OUTPUT);
        }
        Self::Approve {
            note: Some(words::hook_said(&String::from_utf8_lossy(bytes))),
        }
    }

    fn object(said: &Value) -> Self {
        let specific = said.get("hookSpecificOutput");
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        // Some write it where the other fields are.
        let field = |name: &str| {
            specific
                .and_then(|specific| specific.get(name))
                .or_else(|| said.get(name))
        };
        let decision = field("permissionDecision");
        let why = text(field("permissionDecisionReason"));
        let deny = |reason: Option<String>| Self::deny(reason.unwrap_or_else(|| words::HOOK_DENIED.into()));
        match said.get("continue") {
            None | Some(Value::Null | Value::Bool(true)) => {}
            Some(_) => return deny(text(said.get("stopReason"))),
        }
        match said.get("decision").map(Value::as_str) {
            None | Some(Some("approve" | "allow")) => {}
            Some(Some("block" | "deny")) => return deny(text(said.get("reason"))),
            Some(_) => return Self::deny(words::HOOK_BAD_DECISION),
        }
        let ask = match decision.map(Value::as_str) {
            None | Some(Some("allow" | "defer")) => None,
            Some(Some("ask")) => Some(why.unwrap_or_else(|| words::HOOK_ASKED.into())),
            Some(Some("deny")) => return deny(why),
            Some(_) => return Self::deny(words::HOOK_BAD_DECISION),
        };
        let inputs = [
            said.get("updatedInput"),
            specific.and_then(|specific| specific.get("updatedInput")),
        ];
        let mut inputs = inputs.into_iter().flatten();
        let input = inputs.next();
        let contradicts = inputs.any(|other| Some(other) != input);
        if contradicts || input.is_some_and(|input| !input.is_object()) {
            return Self::deny(words::HOOK_BAD_INPUT);
        }
        match (input.cloned(), ask) {
            (None, None) => Self::Approve { note: None },
            (input, ask) => Self::Change { input, ask },
        }
    }
}

impl PostToolUse {
    /// Reads the end of a hook after a tool. The tool has run; nothing here changes that.
    pub fn read(run: &HookRun) -> Self {
        let note = |note: String| Self {
            feedback: None,
            note: Some(note),
        };
        let feedback = |bytes: &[u8]| Self {
            feedback: Some(reason(bytes).unwrap_or_else(|| words::HOOK_FEEDBACK.into())),
            note: None,
        };
        match run {
            HookRun::TimedOut => note(words::HOOK_TIMED_OUT.to_owned()),
            HookRun::Overflowed => note(words::HOOK_OVERFLOWED.to_owned()),
            HookRun::Failed(why) => note(words::hook_failed(why)),
            HookRun::Exited { code: 2, stderr, .. } => feedback(stderr),
            HookRun::Exited { code: 0, stdout, .. } => {
                let bytes = trimmed(stdout);
                if let Some(why) = bytes.strip_prefix(b"DENY:") {
                    return feedback(why);
                }
                let said: Value = serde_json::from_slice(bytes).unwrap_or_default();
                let blocks = said.get("decision").and_then(Value::as_str) == Some("block");
                let why = said.get("reason").and_then(Value::as_str).unwrap_or_default();
                if blocks {
                    feedback(why.as_bytes())
                } else {
                    Self::default()
                }
            }
            HookRun::Exited { code, .. } => note(words::hook_exit(*code)),
        }
    }
}

/// Without a byte order mark and blanks around.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii()
}

fn reason(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exited(code: i32, stdout: &[u8], stderr: &str) -> HookRun {
        HookRun::Exited {
            code,
            stdout: stdout.to_vec(),
            stderr: stderr.as_bytes().to_vec(),
        }
    }

    fn pre(run: &HookRun) -> PreToolUse {
        PreToolUse::read(run, HookOptions::default())
    }

    #[test]
    fn case_80_every_end_of_a_hook_has_its_outcome() {
        let denies = |run: &HookRun, expected: &str| match pre(run) {
            PreToolUse::Deny { reason } => assert_eq!(reason, expected),
            other => panic!("{run:?}: {other:?}"),
        };
        assert_eq!(pre(&exited(0, b" \n", "")), PreToolUse::Approve { note: None });
        denies(&exited(0, b"DENY: no", ""), "no");
        denies(&exited(0, b"\xef\xbb\xbf \n DENY:no", ""), "no");
        denies(&exited(0, b"DENY:", ""), words::HOOK_DENIED);
        denies(&exited(0, b"DENY: \xff", ""), "\u{fffd}");
        denies(&exited(2, b"{\"updatedInput\":{}}", "why"), "why");
        denies(&exited(1, b"", ""), &words::hook_exit(1));
        denies(
            &HookRun::Failed("no such file".into()),
            &words::hook_failed("no such file"),
        );
        denies(&HookRun::Overflowed, words::HOOK_OVERFLOWED);
        denies(&exited(0, b"{bad", ""), words::HOOK_BAD_JSON);
        denies(&exited(0, b"[1]", ""), words::HOOK_BAD_JSON);
        denies(&exited(0, b"{\"a\":\"\xff\"}", ""), words::HOOK_BAD_JSON);
        denies(&exited(0, br#"{"updatedInput":5}"#, ""), words::HOOK_BAD_INPUT);
        assert!(matches!(
            pre(&HookRun::TimedOut),
            PreToolUse::Approve { note: Some(_) }
        ));
        assert!(matches!(
            pre(&exited(0, b"deny: x", "")),
            PreToolUse::Approve { note: Some(_) }
        ));
        let changed = PreToolUse::Change {
            input: Some(json!({ "a": 1 })),
            ask: None,
        };
        assert_eq!(pre(&exited(0, br#"{"updatedInput":{"a":1}}"#, "")), changed);
    }

    #[test]
    fn the_fields_of_claude_code_count() {
        let say = |said: Value| pre(&exited(0, said.to_string().as_bytes(), ""));
        let specific = |decision: &str| json!({ "hookSpecificOutput": { "permissionDecision": decision, "permissionDecisionReason": "r" } });
        let deny = |reason: &str| PreToolUse::Deny {
            reason: reason.into(),
        };
        assert_eq!(say(specific("deny")), deny("r"));
        assert_eq!(say(specific("allow")), PreToolUse::Approve { note: None });
        assert_eq!(say(specific("whatever")), deny(words::HOOK_BAD_DECISION));
        assert_eq!(say(json!({ "decision": "block", "reason": "b" })), deny("b"));
        assert_eq!(say(json!({ "continue": false, "stopReason": "s" })), deny("s"));
        assert_eq!(say(json!({ "decision": "deny", "reason": "b" })), deny("b"));
        assert_eq!(say(json!({ "decision": "no" })), deny(words::HOOK_BAD_DECISION));
        assert_eq!(
            say(json!({ "decision": "approve" })),
            PreToolUse::Approve { note: None }
        );
        assert_eq!(
            say(json!({ "permissionDecision": "deny" })),
            deny(words::HOOK_DENIED)
        );
        assert_eq!(say(json!({ "continue": "false", "stopReason": "s" })), deny("s"));
        assert_eq!(say(json!({ "other": 1 })), PreToolUse::Approve { note: None });
        let ask = PreToolUse::Change {
            input: None,
            ask: Some("r".into()),
        };
        assert_eq!(say(specific("ask")), ask);
        let both =
            json!({ "updatedInput": { "a": 1 }, "hookSpecificOutput": { "updatedInput": { "a": 2 } } });
        assert_eq!(say(both), deny(words::HOOK_BAD_INPUT));
        let first_wins =
            json!({ "continue": false, "hookSpecificOutput": { "permissionDecision": "allow" } });
        assert!(matches!(say(first_wins), PreToolUse::Deny { .. }));
    }

    #[test]
    fn switches_loosen_errors_and_tighten_output() {
        let loose = HookOptions {
            nonblocking_errors: true,
            strict_output: true,
        };
        assert!(matches!(
            PreToolUse::read(&exited(1, b"", ""), loose),
            PreToolUse::Approve { .. }
        ));
        assert!(matches!(
            PreToolUse::read(&exited(2, b"", ""), loose),
            PreToolUse::Deny { .. }
        ));
        assert!(matches!(
            PreToolUse::read(&HookRun::Overflowed, loose),
            PreToolUse::Deny { .. }
        ));
        assert!(matches!(
            PreToolUse::read(&exited(0, b"hello", ""), loose),
            PreToolUse::Deny { .. }
        ));
    }

    #[test]
    fn after_a_tool_a_hook_gives_feedback_and_undoes_nothing() {
        let feedback = |run: &HookRun| PostToolUse::read(run).feedback;
        assert_eq!(
            feedback(&exited(0, b"DENY: tidy up", "")).as_deref(),
            Some("tidy up")
        );
        assert_eq!(feedback(&exited(2, b"", "tidy up")).as_deref(), Some("tidy up"));
        assert_eq!(
            feedback(&exited(0, br#"{"decision":"block","reason":"r"}"#, "")).as_deref(),
            Some("r")
        );
        for run in [
            exited(0, b"", ""),
            exited(0, b"{bad", ""),
            exited(1, b"", "x"),
            HookRun::TimedOut,
            HookRun::Overflowed,
        ] {
            assert_eq!(feedback(&run), None, "{run:?}");
        }
        assert!(PostToolUse::read(&HookRun::TimedOut).note.is_some());
    }
}
