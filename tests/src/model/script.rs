//! What the scripted model says: a queue of [`Step`]s, one for each request of Claude's main loop.
//!
//! A test builds steps and hands them to the [`ModelServer`](super::ModelServer), which plays them. Nothing here
//! knows about HTTP or the SSE wire.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a test waits for something the scripted model does.
const PATIENCE: Duration = Duration::from_secs(240);

/// The answer to one request of Claude's main loop.
#[derive(Clone, Debug)]
pub enum Step {
    /// A message, streamed part by part.
    Reply(Reply),
    /// An HTTP error.
    Fail(Failure),
}

/// A message of the model.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) parts: Vec<Part>,
    pub(super) stop_reason: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// One part of a streamed message, in stream order.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(Vec<String>),
    Thinking(Vec<String>),
    Tool {
        id: String,
        name: String,
        input: Value,
        /// How long the model thinks before each piece of the input; without it, the input comes in two halves at once.
        pace: Option<Duration>,
    },
    Gate(Gate),
    /// An SSE `error` event in the middle of the message.
    Break,
    /// Silence until the client goes away.
    Hang,
}

/// An HTTP error of the model's API.
#[derive(Clone, Debug)]
pub struct Failure {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) headers: Vec<(String, String)>,
}

/// An empty message, to be filled with the methods of [`Reply`].
pub fn reply() -> Reply {
    Reply {
        parts: Vec::new(),
        stop_reason: None,
        input_tokens: 100,
        output_tokens: 10,
    }
}

/// A message of one text block, streamed a word at a time.
pub fn text(text: &str) -> Reply {
    reply().text(text)
}

/// A message that calls one tool.
pub fn tool(id: &str, name: &str, input: Value) -> Reply {
    reply().tool(id, name, input)
}

/// An HTTP error with the API's usual body.
pub fn fail(status: u16, kind: &str, message: &str) -> Step {
    Step::Fail(Failure {
        status,
        kind: kind.into(),
        message: message.into(),
        headers: Vec::new(),
    })
}

impl Reply {
    /// Adds a text block, streamed a word at a time.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.part(Part::Text(text.split_inclusive(' ').map(Into::into).collect()))
    }

    /// Adds a thinking block, streamed a word at a time.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.part(Part::Thinking(
            text.split_inclusive(' ').map(Into::into).collect(),
        ))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn tool(self, id: &str, name: &str, input: Value) -> Self {
        self.part(Part::Tool {
            id: id.into(),
            name: name.into(),
            input,
            pace: None,
        })
    }

    /// Adds a tool call whose input is written in small pieces, each after this time.
    #[must_use]
    pub fn slow_tool(self, id: &str, name: &str, input: Value, pace: Duration) -> Self {
        self.part(Part::Tool {
            id: id.into(),
            name: name.into(),
            input,
            pace: Some(pace),
        })
    }

    /// Pauses the stream until the test opens the gate.
    #[must_use]
    pub fn gate(self, gate: &Gate) -> Self {
        self.part(Part::Gate(gate.clone()))
    }

    /// Breaks the stream with an SSE `error` event.
    #[must_use]
    pub fn then_breaks(self) -> Self {
        self.part(Part::Break)
    }

    /// Says nothing more until the client goes away.
    #[must_use]
    pub fn then_hangs(self) -> Self {
        self.part(Part::Hang)
    }

    /// Ends with this stop reason instead of `end_turn` or `tool_use`.
    #[must_use]
    pub fn stops_with(mut self, reason: &str) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Reports this usage.
    #[must_use]
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.input_tokens = input_tokens;
        self.output_tokens = output_tokens;
        self
    }

    pub(super) fn stop_reason(&self) -> &str {
        let calls_a_tool = self.parts.iter().any(|part| matches!(part, Part::Tool { .. }));
        self.stop_reason
            .as_deref()
            .unwrap_or(if calls_a_tool { "tool_use" } else { "end_turn" })
    }

    fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Step::Reply(reply)
    }
}

impl Failure {
    pub(super) fn body(&self) -> Value {
        json!({"type": "error", "error": {"type": self.kind, "message": self.message}})
    }
}

/// A point in a stream at which the model waits for the test.
#[derive(Clone, Debug, Default)]
pub struct Gate(std::sync::Arc<GateState>);

#[derive(Debug, Default)]
struct GateState {
    reached: Mutex<bool>,
    changed: Condvar,
    open: tokio::sync::Notify,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the stream that waits here (or comes here later) go on.
    pub fn open(&self) {
        self.0.open.notify_one();
    }

    /// Waits until a stream has come to the gate.
    pub fn wait_reached(&self) {
        let reached = self.0.reached.lock().unwrap();
        let (reached, _) = self
            .0
            .changed
            .wait_timeout_while(reached, PATIENCE, |reached| !*reached)
            .unwrap();
        assert!(*reached, "the model's stream never came to the gate");
    }

    pub(super) async fn pass(&self) {
        *self.0.reached.lock().unwrap() = true;
        self.0.changed.notify_all();
        self.0.open.notified().await;
    }
}
