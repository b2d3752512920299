//! Which MCP tools only read, in the words of their servers.
//!
//! Place in the flow: in `plan`, the session's guard asks before it decides about an MCP tool. A tool that no server has
//! spoken of may do anything.

use std::collections::HashMap;

use claude_sdk_bridge::launch::mcp_tool_name;
use serde_json::Value;

/// What is known about tools, by their full names.
#[derive(Debug, Default)]
pub(super) struct Hints(HashMap<String, bool>);

impl Hints {
    /// Whether a tool only reads; `None` for one that has not been asked about.
    pub(super) fn of(&self, tool: &str) -> Option<bool> {
        self.0.get(tool).copied()
    }

    /// Reads Claude's answer to `mcp_status`.
    pub(super) fn learn(&mut self, status: &Value) {
        let list = |value: &Value, key: &str| {
            value
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        for server in list(status, "mcpServers") {
            let Some(name) = server.get("name").and_then(Value::as_str) else {
                continue;
            };
            for tool in list(&server, "tools") {
                let only_reads = tool.pointer("/annotations/readOnly") == Some(&Value::Bool(true));
                if let Some(tool) = tool.get("name").and_then(Value::as_str) {
                    // Servers whose names look alike to Claude share their tools' names.
                    let known = self.0.entry(mcp_tool_name(name, tool)).or_insert(only_reads);
                    *known &= only_reads;
                }
            }
        }
    }

    /// A tool that no server has spoken of may do anything.
    pub(super) fn settle(&mut self, tool: &str) {
        self.0.entry(tool.to_owned()).or_insert(false);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_server_says_that_its_tool_only_reads() {
        let mut hints = Hints::default();
        hints.learn(&json!({"mcpServers": [
            {"name": "my calc", "tools": [{"name": "look", "annotations": {"readOnly": true}}, {"name": "add", "annotations": {}}]},
            {"name": "odd", "tools": [{"name": "x", "annotations": {"readOnly": "yes"}}, 5]},
            {"status": "failed"},
        ]}));
        assert_eq!(hints.of("mcp__my_calc__look"), Some(true));
        assert_eq!(hints.of("mcp__my_calc__add"), Some(false));
        assert_eq!(hints.of("mcp__odd__x"), Some(false));
        assert_eq!(hints.of("mcp__other__look"), None);
        hints.settle("mcp__other__look");
        hints.settle("mcp__my_calc__look");
        assert_eq!(hints.of("mcp__other__look"), Some(false));
        assert_eq!(hints.of("mcp__my_calc__look"), Some(true));
        hints.learn(&json!("nonsense"));
    }
}
