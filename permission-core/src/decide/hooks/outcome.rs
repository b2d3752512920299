//! What a hook's end means: approve, deny, change the input, or ask.
//!
//! Place in the flow: a host's runner reports a [`HookRun`]; the machine goes by [`PreToolUse`] and [`PostToolUse`].
//! Whatever is not understood denies before a tool runs, and is only noted after it.

use serde_json::{Map, Value};

use super::{HookEvent, wording};

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

/// What a hook before a tool says.
#[derive(Clone, Debug, PartialEq)]
pub enum PreToolUse {
    /// On to the next hook or stage.
    Approve,
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
    pub fn read(run: &HookRun) -> Self {
        match run {
            HookRun::TimedOut => Self::Approve,
            HookRun::Overflowed => Self::deny(wording::HOOK_OVERFLOWED),
            HookRun::Failed(why) => Self::deny(wording::hook_failed(why)),
            HookRun::Exited { code: 0, stdout, .. } => Self::output(stdout),
            HookRun::Exited {
                code: 2,
                stdout,
                stderr,
            } => Self::deny(printed(stdout, stderr).unwrap_or_else(|| wording::HOOK_DENIED.into())),
            HookRun::Exited { code, stdout, stderr } => {
                Self::deny(wording::hook_exit(*code, printed(stdout, stderr).as_deref()))
            }
        }
    }

    fn deny(reason: impl Into<String>) -> Self {
        Self::Deny {
            reason: reason.into(),
        }
    }

    fn output(stdout: &[u8]) -> Self {
        let bytes = trimmed(stdout);
        if bytes.is_empty() {
            return Self::Approve;
        }
        if let Some(why) = denial(bytes) {
            return Self::deny(reason(why).unwrap_or_else(|| wording::HOOK_DENIED.into()));
        }
        if bytes.starts_with(b"{") || bytes.starts_with(b"[") {
            return match serde_json::from_slice(bytes) {
                Ok(Value::Object(said)) => Self::object(&said).unwrap_or_else(|denial| denial),
                Ok(_) | Err(_) => Self::deny(wording::HOOK_BAD_JSON),
            };
        }
        Self::deny(wording::hook_said(&String::from_utf8_lossy(bytes)))
    }

    /// What an object says; the error is a denial.
    fn object(said: &Map<String, Value>) -> Result<Self, Self> {
        let nothing = Map::new();
        let specific = match said.get("hookSpecificOutput") {
            None => &nothing,
            Some(Value::Object(specific)) => specific,
            Some(_) => return Err(Self::deny(wording::HOOK_BAD_OUTPUT)),
        };
        Self::readable(said, specific)?;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let deny = |reason: Option<String>| Self::deny(reason.unwrap_or_else(|| wording::HOOK_DENIED.into()));
        let bad_decision = || Self::deny(wording::HOOK_BAD_DECISION);
        match said.get("continue") {
            None | Some(Value::Null | Value::Bool(true)) => {}
            Some(_) => return Err(deny(text(said.get("stopReason")))),
        }
        match said.get("decision").map(Value::as_str) {
            None | Some(Some("approve" | "allow")) => {}
            Some(Some("block" | "deny")) => return Err(deny(text(said.get("reason")))),
            Some(_) => return Err(bad_decision()),
        }
        // Some write it where the other fields are.
        let once = |name: &str| one_of(said.get(name), specific.get(name));
        let decision = once("permissionDecision").map_err(|()| bad_decision())?;
        let why = text(once("permissionDecisionReason").unwrap_or(None));
        let ask = match decision.map(Value::as_str) {
            None | Some(Some("allow")) => None,
            Some(Some("ask")) => Some(why.unwrap_or_else(|| wording::HOOK_ASKED.into())),
            Some(Some("deny")) => return Err(deny(why)),
            Some(_) => return Err(bad_decision()),
        };
        let bad_input = || Self::deny(wording::HOOK_BAD_INPUT);
        let input = once("updatedInput").map_err(|()| bad_input())?;
        if input.is_some_and(|input| !input.is_object()) {
            return Err(bad_input());
        }
        Ok(match (input.cloned(), ask) {
            (None, None) => Self::Approve,
            (input, ask) => Self::Change { input, ask },
        })
    }

    /// Denies where something is said that would go unheard: it may have been meant to stop the call.
    fn readable(said: &Map<String, Value>, specific: &Map<String, Value>) -> Result<(), Self> {
        let unknown = |object: &Map<String, Value>, known: &[&str]| {
            object.keys().find(|key| !known.contains(&key.as_str())).cloned()
        };
        if let Some(key) = unknown(said, &FIELDS).or_else(|| unknown(specific, &SPECIFIC_FIELDS)) {
            return Err(Self::deny(wording::hook_unknown_field(&key)));
        }
        let event = specific.get("hookEventName");
        if event.is_some_and(|event| event != HookEvent::PreToolUse.name()) {
            return Err(Self::deny(wording::HOOK_BAD_OUTPUT));
        }
        let has = |name: &str| said.contains_key(name) || specific.contains_key(name);
        let undecided = REASONS
            .iter()
            .find(|(reason, decision)| has(reason) && !has(decision));
        match undecided {
            Some((reason, decision)) => Err(Self::deny(wording::hook_undecided(reason, decision))),
            None => Ok(()),
        }
    }
}

/// The fields of a hook's output that are read. Two of them only show.
const FIELDS: [&str; 10] = [
    "continue",
    "stopReason",
    "decision",
    "reason",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "hookSpecificOutput",
    "suppressOutput",
    "systemMessage",
];
/// Those of its `hookSpecificOutput`.
const SPECIFIC_FIELDS: [&str; 4] = [
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
];
/// Each reason with the decision that it is for.
const REASONS: [(&str, &str); 3] = [
    ("stopReason", "continue"),
    ("reason", "decision"),
    ("permissionDecisionReason", "permissionDecision"),
];

/// The value that stands in one of two places, or in both alike.
fn one_of<'a>(one: Option<&'a Value>, other: Option<&'a Value>) -> Result<Option<&'a Value>, ()> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Err(()),
        (one, other) => Ok(one.or(other)),
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
            feedback: Some(reason(bytes).unwrap_or_else(|| wording::HOOK_FEEDBACK.into())),
            note: None,
        };
        match run {
            HookRun::TimedOut => note(wording::HOOK_TIMED_OUT.to_owned()),
            HookRun::Overflowed => note(wording::HOOK_OVERFLOWED.to_owned()),
            HookRun::Failed(why) => note(wording::hook_failed(why)),
            HookRun::Exited {
                code: 2,
                stdout,
                stderr,
            } => feedback(printed(stdout, stderr).unwrap_or_default().as_bytes()),
            HookRun::Exited { code: 0, stdout, .. } => {
                let bytes = trimmed(stdout);
                if let Some(why) = denial(bytes) {
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
            HookRun::Exited { code, stdout, stderr } => {
                note(wording::hook_exit(*code, printed(stdout, stderr).as_deref()))
            }
        }
    }
}

/// Without a byte order mark and blanks around.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii()
}

/// What stands behind `DENY:`.
fn denial(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(b"DENY:")
}

/// The reason that a hook which failed has printed: to standard error, or else to standard output.
fn printed(stdout: &[u8], stderr: &[u8]) -> Option<String> {
    let stdout = trimmed(stdout);
    reason(stderr).or_else(|| reason(denial(stdout).unwrap_or(stdout)))
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

    #[test]
    fn case_80_every_end_of_a_hook_has_its_outcome() {
        let denies = |run: &HookRun, expected: &str| match PreToolUse::read(run) {
            PreToolUse::Deny { reason } => assert_eq!(reason, expected),
            other => panic!("{run:?}: {other:?}"),
        };
        assert_eq!(PreToolUse::read(&exited(0, b" \n", "")), PreToolUse::Approve);
        denies(&exited(0, b"DENY: no", ""), "no");
        denies(&exited(0, b"\xef\xbb\xbf \n DENY:no", ""), "no");
        denies(&exited(0, b"DENY:", ""), wording::HOOK_DENIED);
        denies(&exited(0, b"DENY: \xff", ""), "\u{fffd}");
        denies(&exited(2, b"{\"updatedInput\":{}}", "why"), "why");
        denies(&exited(2, b"DENY: why", ""), "why");
        denies(&exited(1, b"", ""), "a hook ended with exit code 1");
        denies(
            &HookRun::Failed("no such file".into()),
            &wording::hook_failed("no such file"),
        );
        denies(&HookRun::Overflowed, wording::HOOK_OVERFLOWED);
        denies(&exited(0, b"{bad", ""), wording::HOOK_BAD_JSON);
        denies(&exited(0, b"[1]", ""), wording::HOOK_BAD_JSON);
        denies(&exited(0, b"{\"a\":\"\xff\"}", ""), wording::HOOK_BAD_JSON);
        denies(&exited(0, br#"{"updatedInput":5}"#, ""), wording::HOOK_BAD_INPUT);
        assert_eq!(PreToolUse::read(&HookRun::TimedOut), PreToolUse::Approve);
        let changed = PreToolUse::Change {
            input: Some(json!({ "a": 1 })),
            ask: None,
        };
        assert_eq!(
            PreToolUse::read(&exited(0, br#"{"updatedInput":{"a":1}}"#, "")),
            changed
        );
    }

    #[test]
    fn the_fields_of_claude_code_count() {
        let say = |said: Value| PreToolUse::read(&exited(0, said.to_string().as_bytes(), ""));
        let specific = |decision: &str| json!({ "hookSpecificOutput": { "permissionDecision": decision, "permissionDecisionReason": "r" } });
        let deny = |reason: &str| PreToolUse::Deny {
            reason: reason.into(),
        };
        assert_eq!(say(specific("deny")), deny("r"));
        assert_eq!(say(specific("allow")), PreToolUse::Approve);
        assert_eq!(say(specific("whatever")), deny(wording::HOOK_BAD_DECISION));
        assert_eq!(say(json!({ "decision": "block", "reason": "b" })), deny("b"));
        assert_eq!(say(json!({ "continue": false, "stopReason": "s" })), deny("s"));
        assert_eq!(say(json!({ "decision": "deny", "reason": "b" })), deny("b"));
        assert_eq!(say(json!({ "decision": "no" })), deny(wording::HOOK_BAD_DECISION));
        assert_eq!(say(json!({ "decision": "approve" })), PreToolUse::Approve);
        assert_eq!(
            say(json!({ "permissionDecision": "deny" })),
            deny(wording::HOOK_DENIED)
        );
        assert_eq!(say(json!({ "continue": "false", "stopReason": "s" })), deny("s"));
        let ask = PreToolUse::Change {
            input: None,
            ask: Some("r".into()),
        };
        assert_eq!(say(specific("ask")), ask);
        let both =
            json!({ "updatedInput": { "a": 1 }, "hookSpecificOutput": { "updatedInput": { "a": 2 } } });
        assert_eq!(say(both), deny(wording::HOOK_BAD_INPUT));
        let first_wins =
            json!({ "continue": false, "hookSpecificOutput": { "permissionDecision": "allow" } });
        assert!(matches!(say(first_wins), PreToolUse::Deny { .. }));
    }

    #[test]
    fn an_answer_that_is_none_denies() {
        let denied = [
            "deny: x",
            "ok",
            "false",
            r#""DENY: x""#,
            r#"{"other": 1}"#,
            r#"{"decision": "Block"}"#,
            r#"{"decision": null}"#,
            r#"{"reason": "not today"}"#,
            r#"{"stopReason": "not today"}"#,
            r#"{"permissionDecision": "defer"}"#,
            r#"{"permissionDecisionReason": "not today"}"#,
            r#"{"hookSpecificOutput": "deny"}"#,
            r#"{"hookSpecificOutput": null}"#,
            r#"{"hookSpecificOutput": {"decision": "deny"}}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}"#,
            r#"{"permissionDecision": "deny", "hookSpecificOutput": {"permissionDecision": "allow"}}"#,
            r#"{"permission": "deny"}"#,
        ];
        for said in denied {
            let said_so = PreToolUse::read(&exited(0, said.as_bytes(), ""));
            assert!(matches!(said_so, PreToolUse::Deny { .. }), "{said}: {said_so:?}");
        }
        let goes_on = [
            "{}",
            r#"{"continue": true, "suppressOutput": true, "systemMessage": "m"}"#,
            r#"{"decision": "approve", "reason": "r"}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}"#,
        ];
        for said in goes_on {
            let said_so = PreToolUse::read(&exited(0, said.as_bytes(), ""));
            assert_eq!(said_so, PreToolUse::Approve, "{said}");
        }
    }

    #[test]
    fn a_hook_that_fails_is_denied_with_the_reason_that_it_printed() {
        let rows: [(&HookRun, &str); 4] = [
            (
                &exited(1, b"", "not today\n"),
                "a hook ended with exit code 1: not today",
            ),
            (
                &exited(1, b"not today", ""),
                "a hook ended with exit code 1: not today",
            ),
            (
                &exited(127, b"DENY: no", ""),
                "a hook ended with exit code 127: no",
            ),
            (
                &exited(3, b"out", "error"),
                "a hook ended with exit code 3: error",
            ),
        ];
        for (run, expected) in rows {
            let reason = expected.to_owned();
            assert_eq!(PreToolUse::read(run), PreToolUse::Deny { reason }, "{run:?}");
            assert_eq!(PostToolUse::read(run).note.as_deref(), Some(expected), "{run:?}");
        }
        let long = PreToolUse::read(&exited(1, b"", &"x".repeat(5_000)));
        let PreToolUse::Deny { reason } = long else {
            panic!("{long:?}")
        };
        assert!(reason.chars().count() < 2_100 && reason.ends_with('…'));
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
