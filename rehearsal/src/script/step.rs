//! The steps of a turn: what a script can make Claude do, one serde type per kind of step.
//!
//! Place in the flow: `script::Script` holds turns of these; `engine` plays them. This file says what can be
//! written and with which defaults. It must not know how a step becomes frames.

use std::num::NonZeroU32;
use std::sync::Arc;

use permission_core::PermissionMode;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::shorthand::string_or_struct;
use super::tool::ToolStep;

/// One thing Claude does in a turn. Written as an object with a single key, or as a plain string where the step
/// has nothing to say (`"hang"`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Streams a text block.
    #[cfg_attr(test, schemars(with = "super::schema::OrText<Stream>"))]
    #[serde(deserialize_with = "string_or_struct")]
    Text(Stream),
    /// Streams a thinking block.
    #[cfg_attr(test, schemars(with = "super::schema::OrText<Stream>"))]
    #[serde(deserialize_with = "string_or_struct")]
    Thinking(Stream),
    /// Calls a tool; boxed because it is far larger than every other step.
    Tool(Box<ToolStep>),
    /// Pauses the turn.
    DelayMs(u64),
    /// Plays steps several times.
    Repeat(Repeat),
    /// Waits until the host does something.
    WaitFor(HostEvent),
    /// Announces a change of the permission mode, as if Claude had made it.
    #[cfg_attr(test, schemars(with = "super::schema::Mode"))]
    Mode(PermissionMode),
    /// Ends the turn the way the CLI does when a request to the model fails.
    #[cfg_attr(test, schemars(with = "super::schema::OrKind"))]
    #[serde(deserialize_with = "string_or_struct")]
    Error(Failure),
    /// Writes this object as a line of its own, untouched.
    Raw(Map<String, Value>),
    /// Writes a line to stderr.
    Stderr(String),
    /// Writes a line that is not JSON (or whatever else the text is).
    Garbage(String),
    /// Writes text without ending the line.
    HalfLine(String),
    /// Writes a result that belongs to the turn before this one.
    LateResult(LateResult),
    /// Writes a result that belongs to a background task.
    #[cfg_attr(test, schemars(with = "super::schema::OrText<ForeignResult>"))]
    #[serde(deserialize_with = "string_or_struct")]
    ForeignResult(ForeignResult),
    /// Ends the turn without a result: the session just becomes idle.
    NoResult,
    /// From here on nothing is written and nothing is answered, neither interrupts nor the end of stdin.
    Hang,
    /// The turn never goes on and never ends, but control requests are still acknowledged.
    Stall,
    /// Ends the process.
    Exit(ExitStep),
}

/// A block that is streamed in pieces.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The text.
    pub text: String,
    /// How the text is cut into deltas.
    #[serde(default)]
    pub chunk: Chunk,
    /// How often the whole text is streamed, within the one block.
    #[serde(default = "once")]
    pub repeat: NonZeroU32,
    /// The pause before each delta; the session's `delta_delay_ms` when absent.
    pub delay_ms: Option<u64>,
}

impl From<String> for Stream {
    fn from(text: String) -> Self {
        Self {
            text,
            chunk: Chunk::default(),
            repeat: once(),
            delay_ms: None,
        }
    }
}

/// How a text is cut into deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Chunk {
    /// After every run of white space.
    #[default]
    Words,
    /// Not at all: the text is one delta.
    Whole,
    /// After so many characters.
    Chars(NonZeroU32),
}

/// Steps that are played several times.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// How often.
    pub times: NonZeroU32,
    /// What; never empty, so that a repeat always gets somewhere.
    #[cfg_attr(test, schemars(length(min = 1)))]
    #[serde(deserialize_with = "some_steps")]
    pub steps: Arc<[Step]>,
}

/// What the script can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostEvent {
    /// An `interrupt` request. What it does to the turn is the turn's `on_interrupt`.
    Interrupt,
    /// A further user message (which is queued).
    Message,
    /// The end of stdin.
    EndOfInput,
}

/// A turn that fails in one of the ways the CLI knows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Which way.
    pub kind: FailureKind,
    /// The text of the error, instead of the CLI's.
    pub text: Option<String>,
    /// How many retries are announced first.
    #[serde(default)]
    pub retries: u32,
}

/// The ways in which a turn can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the CLI's own and say it")]
pub enum FailureKind {
    NotLoggedIn,
    AuthenticationFailed,
    BillingError,
    RateLimit,
    Overloaded,
    Unknown,
    InvalidRequest,
    PromptTooLong,
    ModelNotFound,
    ServerError,
    MaxOutputTokens,
    Refusal,
    MaxTurns,
    MaxBudget,
}

impl FailureKind {
    /// Whether the CLI stops by itself, instead of being told to by the API.
    pub(crate) fn is_limit(self) -> bool {
        matches!(self, Self::MaxTurns | Self::MaxBudget)
    }
}

/// A result that comes a turn too late.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LateResult {
    /// Its text, if it is a success.
    pub text: String,
    /// Whether it tells of an interrupted turn.
    pub interrupted: bool,
}

/// A result of a background task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForeignResult {
    /// Its text.
    pub text: String,
}

impl From<String> for ForeignResult {
    fn from(text: String) -> Self {
        Self { text }
    }
}

/// The end of the process.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExitStep {
    /// The exit code.
    pub code: u8,
    /// What is written to stderr before it ends.
    #[serde(default)]
    pub stderr: String,
}

/// What can go wrong before Claude answers anything.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StartStep {
    /// As in a turn.
    DelayMs(u64),
    /// As in a turn.
    Raw(Map<String, Value>),
    /// As in a turn.
    Stderr(String),
    /// As in a turn.
    Garbage(String),
    /// As in a turn.
    HalfLine(String),
    /// As in a turn.
    Hang,
    /// As in a turn.
    Exit(ExitStep),
}

impl From<StartStep> for Step {
    fn from(step: StartStep) -> Self {
        match step {
            StartStep::DelayMs(delay) => Self::DelayMs(delay),
            StartStep::Raw(frame) => Self::Raw(frame),
            StartStep::Stderr(text) => Self::Stderr(text),
            StartStep::Garbage(text) => Self::Garbage(text),
            StartStep::HalfLine(text) => Self::HalfLine(text),
            StartStep::Hang => Self::Hang,
            StartStep::Exit(exit) => Self::Exit(exit),
        }
    }
}

/// Reads steps into a slice that every session shares.
pub(crate) fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[Step]>, D::Error> {
    Vec::deserialize(deserializer).map(Arc::from)
}

fn some_steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[Step]>, D::Error> {
    let steps = shared(deserializer)?;
    if steps.is_empty() {
        return Err(D::Error::custom("`steps` of a repeat must not be empty"));
    }
    Ok(steps)
}

fn once() -> NonZeroU32 {
    NonZeroU32::MIN
}
