//! What a subagent does: its calls and their results, marked with the call that started it.
//!
//! Place in the flow: `call::steps` plans it when that call runs; its calls then go the way of all calls. As from the CLI's
//! foreground subagents, only calls and results come, whole and without stream events; what it says is the result of the call.

use claude_sdk_bridge::messages::ToolUseBlock;
use serde_json::{Map, Value};

use super::Call;
use crate::engine::core::Core;
use crate::engine::turn::{Op, Play};
use crate::frames::{self, MessageFacts};

impl Play {
    /// Plans the calls that a call makes in its turn; they come before everything else that is planned.
    pub(crate) fn plan_subagent(&mut self, number: usize) {
        let Some(call) = self.calls.get(number) else {
            return;
        };
        let parent = call.id.clone();
        let mut ops = Vec::new();
        for child in call.step.subagent.clone() {
            let child_number = self.calls.len();
            let step = Box::new(child);
            self.calls
                .push(Call::of_subagent(Default::default(), step, parent.clone()));
            ops.push(Op::Child(child_number));
            ops.extend(Op::of_call(child_number));
        }
        for op in ops.into_iter().rev() {
            self.ops.push_front(op);
        }
    }

    /// A subagent calls a tool.
    pub(crate) fn write_child(&mut self, number: usize, core: &mut Core) {
        let name = core.state.next_message();
        let facts = MessageFacts {
            id: format!("msg_{name}").into(),
            request_id: format!("req_{name}"),
            model: core.model.clone(),
            usage: self.usage,
            prompt: None,
            prompts: Vec::new(),
        };
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let Some(parent) = &call.parent else { return };
        call.id = match &call.step.id {
            Some(id) => id.as_str().into(),
            None => core.state.next_tool_id(),
        };
        call.written = true;
        let block = ToolUseBlock {
            id: call.id.clone(),
            name: call.step.name.clone(),
            input: Value::Object(call.step.input.clone()),
            extra: Map::new(),
        };
        frames::subagent_call(&mut core.out, &facts, block, parent);
        core.count(&facts.model, facts.usage);
    }
}
