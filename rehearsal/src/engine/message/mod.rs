//! The message that is being written: its blocks, streamed delta by delta.
//!
//! Place in the flow: operations of `engine::turn`. The order within a block is the CLI's: start, deltas, the
//! consolidated `assistant` frame, stop. Without partial messages only the `assistant` frame is left of it.

pub(crate) mod chunks;

use std::time::Duration;

use claude_sdk_bridge::messages::{ContentBlock, MessageUuid, TextBlock, ThinkingBlock, ToolUseBlock};
use serde_json::{Map, Value};

use self::chunks::Chunks;
use crate::engine::call::Call;
use crate::engine::call::question;
use crate::engine::core::Core;
use crate::engine::state::Attribution;
use crate::engine::turn::{Op, Play, Wait};
use crate::frames::{self, DeltaKind, MessageFacts};
use crate::script::{AskAt, Stream, TokenUsage};

const SIGNATURE: &str = "cmVoZWFyc2Fs";

/// A message of the model that is not finished.
#[derive(Debug)]
pub(crate) struct OpenMessage {
    pub(crate) facts: MessageFacts,
    pub(crate) block: Option<Block>,
    next_index: u64,
    /// Whether `message_stop` has been written, while its tools still run.
    pub(crate) stopped: bool,
}

/// What a block is going to be.
#[derive(Debug)]
pub(crate) enum BlockPlan {
    Text(Stream),
    Thinking(Stream),
    /// The call of this number in the message.
    Tool(usize),
}

/// A block that is being streamed.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: u64,
    kind: BlockKind,
    /// What has been streamed.
    written: String,
    chunks: Chunks,
}

#[derive(Debug)]
enum BlockKind {
    Text,
    Thinking,
    Tool(usize),
}

impl OpenMessage {
    /// The number of the block that would come next.
    pub(crate) fn next_index(&self) -> u64 {
        self.next_index
    }

    pub(crate) fn start(
        core: &mut Core,
        usage: TokenUsage,
        prompts: Option<&Attribution>,
        turn_started: Duration,
    ) -> Self {
        let name = core.state.next_message();
        let facts = MessageFacts {
            id: format!("msg_{name}").into(),
            request_id: format!("req_{name}"),
            model: core.model.clone(),
            usage,
            prompt: prompts.and_then(|prompts| prompts.main.clone()),
            prompts: prompts.map_or_else(Vec::<MessageUuid>::new, |prompts| prompts.all.clone()),
        };
        if core.setup.partial_messages {
            let ttft = core.now().saturating_sub(turn_started);
            frames::message_start(
                &mut core.out,
                &facts,
                u64::try_from(ttft.as_millis()).unwrap_or_default(),
            );
        }
        Self {
            facts,
            block: None,
            next_index: 0,
            stopped: false,
        }
    }
}

impl Block {
    pub(crate) fn start(plan: BlockPlan, message: &mut OpenMessage, calls: &[Call], core: &mut Core) -> Self {
        let index = message.next_index;
        message.next_index += 1;
        let default_delay_ms = core.selected.script.session.delta_delay_ms;
        let (kind, delta, chunks) = match plan {
            BlockPlan::Text(stream) => (
                BlockKind::Text,
                DeltaKind::Text,
                Chunks::of(stream, default_delay_ms),
            ),
            BlockPlan::Thinking(stream) => (
                BlockKind::Thinking,
                DeltaKind::Thinking,
                Chunks::of(stream, default_delay_ms),
            ),
            BlockPlan::Tool(call) => {
                let input = calls.get(call).map(Call::input_text).unwrap_or_default();
                (
                    BlockKind::Tool(call),
                    DeltaKind::InputJson,
                    Chunks::of_input(input),
                )
            }
        };
        let mut block = Self {
            index,
            kind,
            written: String::new(),
            chunks,
        };
        if core.setup.partial_messages {
            block
                .chunks
                .prepare(&core.out, delta, index, message.facts.id.as_str());
            frames::block_start(&mut core.out, &message.facts, index, block.begun(calls));
            if matches!(block.kind, BlockKind::Thinking) {
                frames::thinking_tokens(&mut core.out, block.chunks.estimated_tokens());
            }
        }
        block
    }

    /// The block as its start shows it: empty.
    fn begun(&self, calls: &[Call]) -> ContentBlock {
        match self.kind {
            BlockKind::Text => ContentBlock::text(""),
            BlockKind::Thinking => ContentBlock::Thinking(ThinkingBlock {
                signature: "".into(),
                ..ThinkingBlock::default()
            }),
            BlockKind::Tool(call) => tool_use(calls.get(call), Map::new()),
        }
    }

    /// The block as far as it has been written; nothing if there is nothing to show.
    pub(crate) fn cut_off(&self) -> Option<ContentBlock> {
        match self.kind {
            BlockKind::Text if !self.written.is_empty() => Some(ContentBlock::text(self.written.clone())),
            BlockKind::Thinking if !self.written.is_empty() => Some(ContentBlock::Thinking(ThinkingBlock {
                thinking: self.written.clone(),
                signature: "".into(),
                ..ThinkingBlock::default()
            })),
            BlockKind::Text | BlockKind::Thinking | BlockKind::Tool(_) => None,
        }
    }
}

impl Play {
    pub(crate) fn write_deltas(&mut self, core: &mut Core) {
        let Some(block) = self.message.as_mut().and_then(|message| message.block.as_mut()) else {
            return;
        };
        let more = block.chunks.write(&mut core.out, &mut block.written);
        if more {
            self.ops.push_front(Op::Deltas);
        }
        if let Some(pause) = block.chunks.pause() {
            self.wait = Wait::Until(core.now() + pause);
        }
    }

    pub(crate) fn end_block(&mut self, core: &mut Core) {
        let Some(message) = &mut self.message else { return };
        let Some(block) = message.block.take() else { return };
        let index = block.index;
        self.ops.push_front(Op::BlockStop(index));
        let content = match block.kind {
            BlockKind::Text => {
                self.text.clone_from(&block.written);
                ContentBlock::Text(TextBlock {
                    text: block.written,
                    ..TextBlock::default()
                })
            }
            BlockKind::Thinking => {
                if core.setup.partial_messages {
                    let template = frames::DeltaTemplate::new(
                        &core.out,
                        DeltaKind::Signature,
                        index,
                        message.facts.id.as_str(),
                    );
                    template.write(&mut core.out, SIGNATURE);
                }
                ContentBlock::Thinking(ThinkingBlock {
                    thinking: block.written,
                    signature: SIGNATURE.into(),
                    ..ThinkingBlock::default()
                })
            }
            BlockKind::Tool(call) => {
                let input = self
                    .calls
                    .get(call)
                    .map(|call| question::written_input(call, core));
                tool_use(self.calls.get(call), input.unwrap_or_default())
            }
        };
        frames::assistant(&mut core.out, &message.facts, content, false);
        if let BlockKind::Tool(call) = block.kind {
            self.call_written(call, core);
        }
    }

    pub(crate) fn stop_block(&mut self, index: u64, core: &mut Core) {
        if let Some(message) = &self.message
            && core.setup.partial_messages
        {
            frames::block_stop(&mut core.out, &message.facts, index);
        }
    }

    pub(crate) fn write_message_delta(&mut self, stop_reason: &'static str, core: &mut Core) {
        let Some(message) = &self.message else { return };
        if core.setup.partial_messages {
            frames::message_delta(&mut core.out, &message.facts, stop_reason);
        }
        self.stop_reason = Some(stop_reason.to_owned());
        self.used.add(message.facts.usage);
        core.count(&message.facts.model, message.facts.usage);
        if stop_reason == "tool_use" && self.asked_at(core) == AskAt::MessageDelta {
            self.ask(0, core);
        }
    }

    pub(crate) fn stop_message(&mut self, core: &mut Core) {
        let Some(message) = &mut self.message else { return };
        message.stopped = true;
        if core.setup.partial_messages {
            frames::message_stop(&mut core.out, &message.facts);
        }
    }

    /// When the first call of the message is asked about. The host's hooks are called as soon as the call is there.
    fn asked_at(&self, core: &Core) -> AskAt {
        let Some(call) = self.calls.first() else {
            return AskAt::default();
        };
        let at = call.step.ask.as_ref().map_or_else(AskAt::default, |ask| ask.at);
        if at == AskAt::MessageDelta && core.host_hooks.are_for(&call.step.name) {
            AskAt::BlockEnd
        } else {
            at
        }
    }

    fn call_written(&mut self, call: usize, core: &mut Core) {
        if let Some(written) = self.calls.get_mut(call) {
            written.written = true;
        }
        if call == 0 && self.asked_at(core) == AskAt::BlockEnd {
            self.ask(0, core);
        }
    }
}

fn tool_use(call: Option<&Call>, input: Map<String, Value>) -> ContentBlock {
    ContentBlock::ToolUse(ToolUseBlock {
        id: call.map(|call| call.id.clone()).unwrap_or_default(),
        name: call.map(|call| call.step.name.clone()).unwrap_or_default(),
        input: Value::Object(input),
        extra: Map::new(),
    })
}
