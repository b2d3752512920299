//! Control requests that only report something, and the ones that are acknowledged and have no effect here.
//!
//! Place in the flow: `engine::answers` asks here last. What the rehearsal does not know is refused in the CLI's words.

use claude_sdk_bridge::messages::control::ControlRequest;
use serde_json::{Value, json};

use crate::engine::core::Core;
use crate::frames::text;
use crate::script::TokenUsage;

const CONTEXT_TOKENS: u64 = 1_000_000;

/// The answer to a request without an effect.
pub(crate) fn report(request: &ControlRequest, core: &Core) -> Result<Option<Value>, String> {
    Ok(match request {
        ControlRequest::GetSettings(_) => Some(json!({
            "effective": {},
            "sources": [],
            "applied": { "model": core.model, "effort": null, "advisor": null, "ultracode": false },
        })),
        ControlRequest::GetContextUsage(_) => Some(context_usage(core)),
        ControlRequest::GetPlan(_) => Some(match core.plan() {
            Some(plan) => json!({ "exists": true, "content": plan.content, "path": plan.path }),
            None => json!({ "exists": false }),
        }),
        ControlRequest::McpStatus(_) => Some(mcp_status(core)),
        ControlRequest::ApplyFlagSettings(_) => None,
        // The protocol has more, and hosts of other versions know others still.
        other => return Err(text::unsupported_subtype(other.kind().unwrap_or("undefined"))),
    })
}

fn mcp_status(core: &Core) -> Value {
    let servers = core.mcp_servers.iter();
    let servers: Vec<Value> = servers
        .map(|name| {
            json!({ "name": name, "status": "connected", "transport": "stdio", "scope": "dynamic", "source": "dynamic", "tools": [] })
        })
        .collect();
    json!({ "mcpServers": servers })
}

fn context_usage(core: &Core) -> Value {
    let mut used = TokenUsage::NONE;
    core.state.totals.values().for_each(|usage| used.add(*usage));
    let tokens = (used.input_tokens + used.output_tokens).min(CONTEXT_TOKENS);
    json!({
        "categories": [
            { "id": "messages", "name": "Messages", "tokens": tokens, "color": "inactive", "kind": "used" },
            { "id": "free_space", "name": "Free space", "tokens": CONTEXT_TOKENS - tokens, "color": "inactive", "kind": "free" },
        ],
        "totalTokens": tokens,
        "maxTokens": CONTEXT_TOKENS,
        "rawMaxTokens": CONTEXT_TOKENS,
        "percentage": tokens * 100 / CONTEXT_TOKENS,
        "gridRows": [],
        "model": core.model,
        "memoryFiles": [],
        "mcpTools": [],
        "agents": [],
        "skills": [],
    })
}
