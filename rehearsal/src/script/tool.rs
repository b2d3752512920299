//! A tool call in a script: its input, the question before it, and its result.
//!
//! Place in the flow: one kind of `script::Step`; `call::steps` plays it. The fields of a question are the ones
//! of the protocol's `can_use_tool`, in snake case. It must not decide anything: whether a question is put in
//! the current mode is `call::by_script`'s business, or that of the machine behind `call::by_rules`.

use std::sync::Arc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::shorthand::string_or_struct;
use super::step::{self, Step};

/// A tool call.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolStep {
    /// The tool's name, e.g. `Bash` or `mcp__files__read`.
    pub name: String,
    /// The tool's input.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// Whether rules, modes and denials decide about the call, as they do about Claude's own.
    #[serde(default)]
    pub decide: bool,
    /// What a hook of the settings says about the call.
    #[serde(default)]
    pub hook: Hook,
    /// The id of the call; counted through the session when absent.
    pub id: Option<String>,
    /// Whether the call stands in the same message as the tool call before it.
    #[serde(default)]
    pub parallel: bool,
    /// Whether, and how, the host is asked first; where `decide` says whether, only how.
    #[cfg_attr(test, schemars(with = "super::schema::OrFlag<Ask>"))]
    #[serde(default, deserialize_with = "bool_or_ask")]
    pub ask: Option<Box<Ask>>,
    /// Refuses the call without asking anyone, with this message.
    pub denied: Option<String>,
    /// What is played instead of the rest of the turn if the call is refused, by whomever.
    #[cfg_attr(test, schemars(with = "Vec<Step>"))]
    #[serde(default, deserialize_with = "steps")]
    pub if_refused: Option<Arc<[Step]>>,
    /// What a subagent that the call starts calls in its turn.
    #[serde(default)]
    pub subagent: Vec<ToolStep>,
    /// How long the tool runs.
    #[serde(default)]
    pub run_ms: u64,
    /// What comes out of it.
    #[cfg_attr(test, schemars(with = "super::schema::OrText<ToolResult>"))]
    #[serde(default, deserialize_with = "string_or_struct")]
    pub result: ToolResult,
}

/// What a hook of the settings says, before a call and after it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Hook {
    /// What it decides; nothing when absent.
    pub decision: Option<HookDecision>,
    /// Why.
    pub reason: String,
    /// The input that it puts in the place of the model's.
    pub updated_input: Option<Map<String, Value>>,
    /// What it tells the model after the tool has run.
    pub feedback: Option<String>,
}

/// What a hook decides before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookDecision {
    /// Nobody has to be asked, unless a rule wants it.
    Allow,
    /// The host is asked, in every mode.
    Ask,
    /// The call does not run.
    Deny,
}

/// The question before a tool call. Everything that is absent here is absent in the question.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
