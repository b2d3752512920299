//! A tiny MCP server over stdio, for the agent under test to hand on to Claude.
//!
//! It has one tool, `tell`, which answers with the server's own arguments and one variable of its environment.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test program whose protocol is its standard output"
)]

use std::io::BufRead;

use serde_json::{Value, json};

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).expect("a line of JSON");
        if let (Some(id), Some(result)) = (request.get("id"), answer(&request)) {
            println!("{}", json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
    }
}

fn answer(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "probe", "version": "0"},
        })),
        "tools/list" => Some(json!({"tools": [{
            "name": "tell",
            "description": "Tells what the server was started with.",
            "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}},
        }]})),
        "tools/call" => {
            let name = request["params"]["arguments"]["what"]
                .as_str()
                .unwrap_or_default();
            let arguments: Vec<String> = std::env::args().skip(1).collect();
            let value = std::env::var(name).unwrap_or_else(|_| "unset".into());
            let text = format!("{} {name}={value}", json!(arguments));
            Some(json!({"content": [{"type": "text", "text": text}]}))
        }
        _ => Some(json!({})),
    }
}
