//! What a subagent does: its calls and their results, marked with the call that started it.
//!
//! Place in the flow: `engine::tool` plays it when that call runs. As from the CLI's foreground subagents, only calls and
//! results come, whole and without stream events; what it says is the result of the call.

use claude_sdk_bridge::messages::ToolUseBlock;
use serde_json::{Map, Value};

use super::core::Core;
use super::outcome;
use super::tool::Call;
use crate::frames::{self, MessageFacts};
use crate::script::{ChildCall, TokenUsage};

pub(super) fn play(parent: &Call, usage: TokenUsage, core: &mut Core) {
    for child in &parent.step.subagent {
        play_call(parent, child, usage, core);
    }
}

fn play_call(parent: &Call, child: &ChildCall, usage: TokenUsage, core: &mut Core) {
    let name = core.state.next_message();
    let facts = MessageFacts {
        id: format!("msg_{name}").into(),
        request_id: format!("req_{name}"),
        model: core.model.clone(),
        usage,
        prompt: None,
        prompts: Vec::new(),
    };
    let id = core.state.next_tool_id();
    let call = ToolUseBlock {
        id: id.clone(),
        name: child.name.clone(),
        input: Value::Object(child.input.clone()),
        extra: Map::new(),
    };
    frames::subagent_call(&mut core.out, &facts, call, &parent.id);
    core.count(&facts.model, usage);
    let outcome = outcome::of(&child.name, &child.result, &child.input, core);
    frames::subagent_result(&mut core.out, outcome.block(id), &parent.id);
}
