//! A tool call in a script: its input, the question before it, and its result.
//!
//! Place in the flow: one kind of `script::Step`; `engine::tool` plays it. The fields of a question are the ones
//! of the protocol's `can_use_tool`, in snake case. It must not decide anything: whether a question is put in
//! the current mode is `engine::gate`'s business.

use std::sync::Arc;

use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::shorthand::string_or_struct;
use super::step::{self, Step};

/// A tool call.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "RawTool")]
pub struct ToolStep {
    /// The tool's name, e.g. `Bash` or `mcp__files__read`.
    pub name: String,
    /// The tool's input.
    pub input: Map<String, Value>,
    /// Whether the tool really runs, and the permission pipeline decides; then nothing about it is scripted.
    pub real: bool,
    /// The id of the call; counted through the session when absent.
    pub id: Option<String>,
    /// Whether the call stands in the same message as the tool call before it.
    pub parallel: bool,
    /// Whether, and how, the host is asked first.
    pub ask: Option<Box<Ask>>,
    /// Refuses the call without asking anyone, with this message.
    pub denied: Option<String>,
    /// What is played instead of the rest of the turn if the call is refused, by whomever.
    pub if_refused: Option<Arc<[Step]>>,
    /// What a subagent that the call starts calls in its turn.
    pub subagent: Vec<ChildCall>,
    /// How long the tool runs.
    pub run_ms: u64,
    /// What comes out of it.
    pub result: ToolResult,
}

/// A call of a subagent. Nobody is asked about it, unless it is real.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "RawChild")]
pub struct ChildCall {
    /// The tool's name.
    pub name: String,
    /// The tool's input.
    pub input: Map<String, Value>,
    /// Whether the tool really runs, and the permission pipeline decides.
    pub real: bool,
    /// What comes out of it.
    pub result: ToolResult,
}

impl ChildCall {
    /// The call as one of its own.
    pub(crate) fn step(&self) -> ToolStep {
        ToolStep {
            name: self.name.clone(),
            input: self.input.clone(),
            real: self.real,
            result: self.result.clone(),
            ..ToolStep::default()
        }
    }
}

/// The question before a tool call. Everything that is absent here is absent in the question.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// When the question arrives, relative to the message that holds the call.
    pub at: AskAt,
    /// Puts the question also in modes in which it would be skipped.
    pub always: bool,
    /// The input as the question shows it, if it differs from the call's.
    pub input: Option<Map<String, Value>>,
    /// The tool's name for people; the tool's name when absent.
    pub display_name: Option<String>,
    /// See the protocol's field of this name.
    pub title: Option<String>,
    /// See the protocol's field of this name; taken from the input when absent.
    pub description: Option<String>,
    /// The protocol's `permission_suggestions`.
    pub suggestions: Option<Vec<Value>>,
    /// See the protocol's field of this name.
    pub blocked_path: Option<String>,
    /// See the protocol's field of this name.
    pub decision_reason: Option<String>,
    /// See the protocol's field of this name.
    pub decision_reason_type: Option<String>,
    /// See the protocol's field of this name.
    pub requires_user_interaction: Option<bool>,
    /// Every further field of the question, literally.
    pub extra: Map<String, Value>,
}

/// When a question arrives. The CLI starts a tool while the message is still being streamed, so all of these are
/// seen in practice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskAt {
    /// Right after the call's own frame, before its block is closed.
    BlockEnd,
    /// Between `message_delta` and `message_stop`.
    #[default]
    MessageDelta,
    /// After `message_stop`.
    MessageStop,
}

/// What comes out of a tool.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolResult {
    /// The text the model sees.
    pub text: String,
    /// Content blocks the model sees instead of the text.
    pub content: Option<Vec<Value>>,
    /// The protocol's `tool_use_result`; made up from the input for the common tools when absent.
    pub structured: Option<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTool {
    name: String,
    #[serde(default)]
    input: Map<String, Value>,
    #[serde(default)]
    real: bool,
    id: Option<String>,
    #[serde(default)]
    parallel: bool,
    #[serde(default, deserialize_with = "bool_or_ask")]
    ask: Option<Box<Ask>>,
    denied: Option<String>,
    #[serde(default, deserialize_with = "steps")]
    if_refused: Option<Arc<[Step]>>,
    #[serde(default)]
    subagent: Vec<ChildCall>,
    run_ms: Option<u64>,
    #[serde(default, deserialize_with = "result")]
    result: Option<ToolResult>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChild {
    name: String,
    #[serde(default)]
    input: Map<String, Value>,
    #[serde(default)]
    real: bool,
    #[serde(default, deserialize_with = "result")]
    result: Option<ToolResult>,
}

impl TryFrom<RawTool> for ToolStep {
    type Error = String;

    fn try_from(raw: RawTool) -> Result<Self, String> {
        let scripted = [
            ("ask", raw.ask.is_some()),
            ("denied", raw.denied.is_some()),
            ("run_ms", raw.run_ms.is_some()),
            ("result", raw.result.is_some() && !reports(&raw.name)),
        ];
        only_real(raw.real, &scripted)?;
        Ok(Self {
            name: raw.name,
            input: raw.input,
            real: raw.real,
            id: raw.id,
            parallel: raw.parallel,
            ask: raw.ask,
            denied: raw.denied,
            if_refused: raw.if_refused,
            subagent: raw.subagent,
            run_ms: raw.run_ms.unwrap_or_default(),
            result: raw.result.unwrap_or_default(),
        })
    }
}

impl TryFrom<RawChild> for ChildCall {
    type Error = String;

    fn try_from(raw: RawChild) -> Result<Self, String> {
        only_real(raw.real, &[("result", raw.result.is_some())])?;
        Ok(Self {
            name: raw.name,
            input: raw.input,
            real: raw.real,
            result: raw.result.unwrap_or_default(),
        })
    }
}

/// Whether what comes out of a tool are a model's words, which have to be scripted.
fn reports(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// A call is real or scripted, not both.
fn only_real(real: bool, scripted: &[(&str, bool)]) -> Result<(), String> {
    match scripted.iter().find(|(_, given)| real && *given) {
        Some((key, _)) => Err(format!(
            "`{key}` and `real` exclude each other: what comes of a real call is not scripted; keep one of them"
        )),
        None => Ok(()),
    }
}

fn result<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ToolResult>, D::Error> {
    string_or_struct(deserializer).map(Some)
}

fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<[Step]>>, D::Error> {
    step::shared(deserializer).map(Some)
}

fn bool_or_ask<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<Ask>>, D::Error> {
    struct BoolOrAsk;
    impl<'de> Visitor<'de> for BoolOrAsk {
        type Value = Option<Box<Ask>>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("true, false or an object")
        }

        fn visit_bool<E>(self, asks: bool) -> Result<Self::Value, E> {
            Ok(asks.then(Box::default))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Ask::deserialize(MapAccessDeserializer::new(map)).map(|ask| Some(Box::new(ask)))
        }
    }
    deserializer.deserialize_any(BoolOrAsk)
}
