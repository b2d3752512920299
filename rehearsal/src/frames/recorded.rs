//! The frames as they were recorded from the real CLI: what of each stays the same.
//!
//! Place in the flow: every other file here puts the facts of the moment into one of these and sends it. `recorded.json` has
//! them as data; the tests hold what is sent against the recordings.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outbox::Outbox;

/// The recorded frames, and parts of frames.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    pub(super) init: Value,
    /// The answer to `initialize`.
    pub(super) initialize: Value,
    pub(super) title_changed: Value,
    pub(super) session_state: Value,
    pub(super) requesting: Value,
    pub(super) mode_changed: Value,
    pub(super) permission_denied: Value,
    pub(super) api_retry: Value,
    pub(super) thinking_tokens: Value,
    pub(super) informational: Value,
    pub(super) lifecycle: Value,
    pub(super) message_start: Value,
    pub(super) block_start: Value,
    pub(super) block_stop: Value,
    pub(super) message_delta: Value,
    /// The `message_delta` the CLI makes up for a message that was cut off.
    pub(super) abandoned_delta: Value,
    pub(super) message_stop: Value,
    pub(super) assistant: Value,
    /// A message in the CLI's own voice.
    pub(super) failed_request: Value,
    pub(super) user: Value,
    /// What one model has used, in a result.
    pub(super) model_usage: Value,
    pub(super) result: Value,
    /// The result of a session that never started.
    pub(super) startup_failure: Value,
}

pub(super) static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    // A test reads it, too.
    serde_json::from_str(include_str!("recorded.json")).unwrap_or_default()
});

impl Outbox {
    /// Sends a recorded frame with these facts, and with the ids that every frame has.
    pub(super) fn send_recorded(&mut self, recorded: &Value, facts: Value) {
        let mut frame = with(recorded, facts);
        add(&mut frame, "session_id", Some(self.session_id.as_str()));
        if frame.get("uuid").is_none() {
            add(&mut frame, "uuid", Some(self.uuid()));
        }
        self.send(&frame);
    }
}

/// A recorded value with these facts: objects are merged, all else is replaced.
pub(super) fn with(recorded: &Value, facts: Value) -> Value {
    let (Value::Object(fields), Value::Object(facts)) = (recorded, facts.clone()) else {
        return facts;
    };
    let mut fields = fields.clone();
    for (key, fact) in facts {
        let value = match fields.get(&key) {
            Some(recorded) => with(recorded, fact),
            None => fact,
        };
        fields.insert(key, value);
    }
    Value::Object(fields)
}

/// Adds a field, if there is something to say.
pub(super) fn add(frame: &mut Value, key: &str, value: Option<impl Serialize>) {
    if let (Value::Object(fields), Some(value)) = (frame, value) {
        fields.insert(key.to_owned(), serde_json::json!(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_is_there() {
        let recorded: Recorded = serde_json::from_str(include_str!("recorded.json")).unwrap();
        assert_eq!(recorded.result["type"], "result");
    }
}
