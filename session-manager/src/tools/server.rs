//! Tools that the API runs by itself (web search, code execution, MCP connectors): their calls and results are
//! blocks of Claude's own messages. Here they take the shape of ordinary calls and results.

use claude_sdk_bridge::messages::{Content, FromWire, ToolResultBlock};
use serde_json::Value;

use super::{ToolCallRef, input, wording};

/// The call in a block of kind `server_tool_use`, `mcp_tool_use` or alike.
pub(crate) fn server_call<'a>(block: &'a Value, parent: Option<&'a str>) -> Option<ToolCallRef<'a>> {
    static NOTHING: Value = Value::Null;
    if !input::text(block, "type")?.ends_with("tool_use") {
        return None;
    }
    let input = block.get("input").unwrap_or(&NOTHING);
    Some(ToolCallRef {
        id: input::text(block, "id")?,
        name: input::text(block, "name")?,
        input,
        parent,
    })
}

/// The result in a block of kind `web_search_tool_result`, `code_execution_tool_result` or alike.
pub(crate) fn server_result(block: &Value) -> Option<ToolResultBlock> {
    if !input::text(block, "type")?.ends_with("_tool_result") {
        return None;
    }
    let id = input::text(block, "tool_use_id")?;
    let (content, failed) = content(block.get("content").unwrap_or(&Value::Null));
    let is_error = failed || input::flag(block, "is_error");
    Some(ToolResultBlock {
        tool_use_id: id.into(),
        content: content.into(),
        is_error: is_error.into(),
        ..ToolResultBlock::default()
    })
}

fn content(content: &Value) -> (Content, bool) {
    if let Some(code) = input::text(content, "error_code") {
        return (Content::Text(wording::server_error(code)), true);
    }
    if let Some(url) = input::text(content, "url") {
        return (Content::Text(wording::fetched(url)), false);
    }
    let output: Vec<_> = ["stdout", "stderr"]
        .iter()
        .filter_map(|key| input::text(content, key))
        .collect();
    if !output.is_empty() {
        let failed = content
            .get("return_code")
            .and_then(Value::as_i64)
            .is_some_and(|code| code != 0);
        return (Content::Text(wording::server_output(&output.join("\n"))), failed);
    }
    (Content::from_wire(content.clone()).unwrap_or_default(), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(block: Value, text: &str, failed: bool) {
        let result = server_result(&block).unwrap();
        assert_eq!(result.tool_use_id.as_str(), "srv_1");
        assert_eq!(result.content.get().unwrap().text(), text);
        assert_eq!(result.is_error.is_true(), failed, "{block}");
    }

    #[test]
    fn results_of_the_apis_own_tools_read_like_others() {
        let result =
            |kind: &str, content: Value| json!({"type": kind, "tool_use_id": "srv_1", "content": content});
        check(
            result(
                "web_search_tool_result",
                json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}),
            ),
            "Error: max_uses_exceeded",
            true,
        );
        check(
            result(
                "web_fetch_tool_result",
                json!({"type": "web_fetch_result", "url": "https://x"}),
            ),
            "Fetched: https://x",
            false,
        );
        check(
            result(
                "code_execution_tool_result",
                json!({"stdout": "4\n", "stderr": "warn", "return_code": 0}),
            ),
            "Output: 4\n\nwarn",
            false,
        );
        check(
            result(
                "code_execution_tool_result",
                json!({"stdout": "4", "return_code": 1}),
            ),
            "Output: 4",
            true,
        );
        check(
            result("mcp_tool_result", json!([{"type": "text", "text": "hi"}])),
            "hi",
            false,
        );
        check(
            json!({"type": "mcp_tool_result", "tool_use_id": "srv_1", "is_error": true}),
            "",
            true,
        );
        assert!(server_result(&json!({"type": "text", "text": "x"})).is_none());
        assert!(server_result(&json!({"type": "x_tool_result"})).is_none());
        let call =
            json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}});
        assert_eq!(server_call(&call, None).map(|call| call.name), Some("web_search"));
        assert!(server_call(&json!({"type": "server_tool_use", "id": 3}), None).is_none());
    }
}
