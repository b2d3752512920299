//! What a subagent does: its calls and their results, marked with the call that started it.
//!
//! Place in the flow: `engine::turn` plans it when that call runs; its calls then go the way of all calls. As from the CLI's
//! foreground subagents, only calls and results come, whole and without stream events; what it says is the result of the call.

use claude_sdk_bridge::messages::ToolUseBlock;
use serde_json::{Map, Value};

use super::Call;
use crate::engine::core::Core;
use crate::frames::{self, MessageFacts};
use crate::script::TokenUsage;

impl Call {
    /// A subagent calls the tool.
    pub(crate) fn write_as_subagents(&mut self, usage: TokenUsage, core: &mut Core) {
        let Some(parent) = &self.parent else { return };
        let facts = MessageFacts::new(core.state.next_message(), core.model.clone(), usage);
        self.id = core.tool_id(&self.step);
        self.written = true;
        let block = ToolUseBlock {
            id: self.id.clone(),
            name: self.step.name.clone(),
            input: Value::Object(self.step.input.clone()),
            extra: Map::new(),
        };
        frames::subagent_call(&mut core.out, &facts, block, parent);
        core.count(&facts.model, facts.usage);
    }
}
