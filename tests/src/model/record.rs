//! One recorded request to the model, with questions that tests ask about it.

use serde_json::Value;

/// A request of Claude's main loop as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    /// The JSON body.
    pub body: Value,
    /// The `x-api-key` or `authorization` header.
    pub credential: Option<String>,
}

impl Request {
    /// The blocks of the last user message; a plain string counts as one text block.
    pub fn last_blocks(&self) -> Vec<Value> {
        let messages = self.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let last = messages.iter().rev().find(|message| message["role"] == "user");
        match last.map(|message| &message["content"]) {
            Some(Value::Array(blocks)) => blocks.clone(),
            Some(Value::String(text)) => vec![serde_json::json!({"type": "text", "text": text})],
            _ => Vec::new(),
        }
    }

    /// All text of the last user message, without the reminders that Claude Code adds itself.
    pub fn last_text(&self) -> String {
        let blocks = self.last_blocks();
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        texts
            .filter(|text| !text.trim_start().starts_with("<system-reminder>"))
            .collect()
    }

    /// The text of the result of a tool call.
    pub fn tool_result(&self, tool_use_id: &str) -> Option<String> {
        let block = self
            .last_blocks()
            .into_iter()
            .find(|block| block["tool_use_id"] == tool_use_id)?;
        Some(match &block["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        })
    }

    /// The names of the tools that the model was offered.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// Whether the text occurs anywhere in the request.
    pub fn mentions(&self, text: &str) -> bool {
        self.body.to_string().contains(text)
    }
}
