//! Examples that a policy carries: calls, and what is to become of each.
//!
//! Place in the flow: `file` reads them; `explain` tries them with the machine that it explains with, before anything
//! starts. Must not decide anything.

use std::fmt;

use serde_json::{Value, json};

use super::wording;
use crate::settings::Origin;
use crate::settings::document::Node;

/// A call that a policy says something about.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// What is to become of it.
    pub becomes: Becomes,
    /// Where it stands.
    pub origin: Origin,
    /// Its key in the file, such as `examples[2]`.
    pub key: String,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// It runs without a question.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run.
    Deny,
}

pub(super) const KEYS: [&str; 4] = ["command", "tool", "input", "becomes"];

impl Becomes {
    const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    fn read(value: Option<Value>) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|becomes| value.as_ref().is_some_and(|value| *value == becomes.to_string()))
    }
}

impl fmt::Display for Becomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// The example that these members make; the error says what is missing.
pub(super) fn read(
    members: &[(String, Node<'_>)],
    origin: Origin,
    key: &str,
) -> Result<Example, &'static str> {
    let value = |name: &str| {
        let member = members.iter().find(|(member, _)| member == name)?;
        member.1.value()
    };
    let (tool, input) = match (value("command"), value("tool"), value("input")) {
        (Some(Value::String(command)), None, None) => ("Bash".to_owned(), json!({ "command": command })),
        (None, Some(Value::String(tool)), Some(input @ Value::Object(_))) => (tool, input),
        _ => return Err(wording::NOT_A_CALL),
    };
    Ok(Example {
        tool,
        input,
        becomes: Becomes::read(value("becomes")).ok_or(wording::NOT_AN_OUTCOME)?,
        origin,
        key: key.to_owned(),
    })
}
