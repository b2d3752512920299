//! What a prompt produced: the updates before its response, and the response. A test takes out what it expects;
//! whatever is left when the turn is dropped fails it.

use serde_json::{Map, Value};

/// A finished prompt.
#[derive(Debug)]
pub struct Turn {
    pub(crate) updates: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    pub(crate) outcome: Result<Value, Value>,
}

/// A tool call with all its updates applied.
#[derive(Debug)]
pub struct ToolCall {
    /// The fields, each with its last value.
    pub fields: Map<String, Value>,
    /// The statuses in the order they were reported.
    pub statuses: Vec<String>,
}

impl Turn {
    /// The stop reason; fails when the prompt was answered with an error.
    pub fn stop_reason(&self) -> &str {
        match &self.outcome {
            Ok(result) => result["stopReason"].as_str().expect("a stop reason"),
            Err(error) => panic!("the prompt failed: {error}"),
        }
    }

    /// The error; fails when the prompt was answered with a result.
    pub fn error(&self) -> &Value {
        self.outcome.as_ref().expect_err("the prompt must fail")
    }

    /// The response as it came.
    pub fn outcome(&self) -> Result<&Value, &Value> {
        self.outcome.as_ref()
    }

    /// The permission requests of the turn.
    pub fn questions(&self) -> &[Value] {
        &self.questions
    }

    /// The updates not taken yet, in order.
    pub fn updates(&self) -> &[Value] {
        &self.updates
    }

    /// The kinds of the updates not taken yet, in order, with repetitions folded.
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self
            .updates
            .iter()
            .map(|update| kind(update).to_owned())
            .collect();
        kinds.dedup();
        kinds
    }

    /// Takes the text of the answer, all chunks together.
    pub fn text(&mut self) -> String {
        chunk_texts(&self.take("agent_message_chunk"))
    }

    /// Takes the text of the thoughts, all chunks together.
    pub fn thoughts(&mut self) -> String {
        chunk_texts(&self.take("agent_thought_chunk"))
    }

    /// Takes every update of a kind.
    pub fn take(&mut self, wanted: &str) -> Vec<Value> {
        self.take_where(|update| kind(update) == wanted)
    }

    /// Takes a tool call and its updates.
    pub fn tool(&mut self, id: &str) -> ToolCall {
        let updates = self.take_where(|update| update["toolCallId"] == id);
        let mut call = ToolCall {
            fields: Map::new(),
            statuses: Vec::new(),
        };
        let announced = updates.first().map(kind);
        assert_eq!(
            announced,
            Some("tool_call"),
            "the first update of `{id}` must announce it: {updates:?}"
        );
        for (index, update) in updates.iter().enumerate() {
            assert!(
                index == 0 || kind(update) == "tool_call_update",
                "`{id}` is announced once: {updates:?}"
            );
            call.apply(update);
        }
        call
    }

    /// Takes and forgets the updates of a kind that this test is not about.
    pub fn ignore(&mut self, kind: &str) {
        self.take(kind);
    }

    /// Forgets everything that is left, for a test that is not about the content.
    pub fn ignore_rest(mut self) {
        self.updates.clear();
    }

    fn take_where(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let (taken, left) = std::mem::take(&mut self.updates).into_iter().partition(wanted);
        self.updates = left;
        taken
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(
                self.updates.is_empty(),
                "updates that the test did not expect: {:#?}",
                self.updates
            );
        }
    }
}

impl ToolCall {
    /// The last reported status.
    pub fn status(&self) -> &str {
        self.statuses.last().map_or("none", String::as_str)
    }

    /// A text field.
    pub fn str(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field, null when it was never sent.
    pub fn get(&self, field: &str) -> &Value {
        self.fields.get(field).unwrap_or(&Value::Null)
    }

    /// The text of all its content blocks.
    pub fn content_text(&self) -> String {
        let blocks = self.get("content").as_array().map_or(&[][..], Vec::as_slice);
        blocks
            .iter()
            .filter_map(|block| block["content"]["text"].as_str())
            .collect()
    }

    fn apply(&mut self, update: &Value) {
        let Some(fields) = update.as_object() else {
            return;
        };
        if kind(update) == "tool_call" {
            // What the protocol lets an agent leave out.
            self.fields.insert("kind".into(), "other".into());
            self.statuses.push("pending".into());
        }
        if let Some(status) = fields.get("status").and_then(Value::as_str) {
            self.statuses.push(status.to_owned());
        }
        self.statuses.dedup();
        self.fields.extend(fields.clone());
    }
}

fn kind(update: &Value) -> &str {
    update["sessionUpdate"].as_str().unwrap_or_default()
}

/// All chunks of one message carry its id; the text is what a client shows.
fn chunk_texts(chunks: &[Value]) -> String {
    chunks
        .iter()
        .filter_map(|chunk| chunk["content"]["text"].as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(updates: Vec<Value>) -> Turn {
        Turn {
            updates,
            questions: Vec::new(),
            outcome: Ok(json!({"stopReason": "end_turn"})),
        }
    }

    #[test]
    #[should_panic(expected = "updates that the test did not expect")]
    fn an_update_that_nobody_takes_fails() {
        drop(turn(vec![json!({"sessionUpdate": "plan", "entries": []})]));
    }

    #[test]
    #[should_panic(expected = "must announce it")]
    fn a_call_that_was_not_announced_fails() {
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"});
        turn(vec![update]).tool("t");
    }

    #[test]
    fn the_updates_of_a_call_are_applied_in_order() {
        let mut turn = turn(vec![
            json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "first"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "last", "status": "failed"}),
        ]);
        let call = turn.tool("t");
        assert_eq!((call.str("title"), call.str("kind")), ("last", "other"));
        assert_eq!(call.statuses, ["pending", "in_progress", "failed"]);
    }
}
