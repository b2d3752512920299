//! The messages that the model writes: their blocks, streamed delta by delta.
//!
//! Place in the flow: operations of `engine::turn`. The order within a block is the CLI's: start, deltas, the
//! consolidated `assistant` frame, stop. Without partial messages only the `assistant` frame is left of it.

pub(crate) mod chunks;

use std::time::Duration;

use claude_sdk_bridge::messages::{ContentBlock, TextBlock, ThinkingBlock, ToolUseBlock};
use serde_json::{Map, Value};

use self::chunks::Chunks;
use crate::engine::call::calls::Calls;
use crate::engine::call::{Call, question};
use crate::engine::core::Core;
use crate::engine::state::Attribution;
use crate::frames::{self, DeltaKind, MessageFacts};
use crate::script::{Stream, TokenUsage};

const SIGNATURE: &str = "cmVoZWFyc2Fs";

/// The messages that the model writes in a turn.
#[derive(Debug)]
pub(crate) struct Messages {
    /// What each request to the model costs.
    pub(crate) usage: TokenUsage,
    /// What all of them have cost.
    pub(crate) used: TokenUsage,
    pub(crate) stop_reason: Option<String>,
    /// The last text.
    pub(crate) text: String,
    /// Whether a request to the model has not been answered yet.
    pub(crate) requested: bool,
    written: u64,
    open: Option<OpenMessage>,
}

/// A message that is not finished.
#[derive(Debug)]
struct OpenMessage {
    facts: MessageFacts,
    block: Option<Block>,
    next_index: u64,
    /// Whether `message_stop` has been written, while its tools still run.
    stopped: bool,
}

/// How far the deltas of a block are.
pub(crate) struct Streamed {
    /// Whether more are left.
    pub(crate) more: bool,
    /// The pause before what comes next.
    pub(crate) pause: Option<Duration>,
}

/// A block that has been written but for its last frame.
pub(crate) struct Written {
    pub(crate) index: u64,
    /// The number of its call, if it is one.
    pub(crate) call: Option<usize>,
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
struct Block {
    index: u64,
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

impl Block {
    fn start(plan: BlockPlan, message: &mut OpenMessage, calls: &Calls, core: &mut Core) -> Self {
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
        if core.setup.options.partial_messages {
            block
                .chunks
                .prepare(&core.out, delta, index, message.facts.id.as_str());
            frames::block_start(&mut core.out, &message.facts, index, &block.begun(calls));
            if matches!(block.kind, BlockKind::Thinking) {
                frames::thinking_tokens(&mut core.out, block.chunks.estimated_tokens());
            }
        }
        block
    }

    /// The block as its start shows it: empty.
    fn begun(&self, calls: &Calls) -> ContentBlock {
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
    fn cut_off(&self) -> Option<ContentBlock> {
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

impl Messages {
    pub(crate) fn new(usage: TokenUsage) -> Self {
        Self {
            usage,
            used: TokenUsage::NONE,
            stop_reason: None,
            text: String::new(),
            requested: false,
            written: 0,
            open: None,
        }
    }

    /// Whether a message is not finished.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a block is not finished.
    pub(crate) fn is_in_block(&self) -> bool {
        self.open.as_ref().is_some_and(|message| message.block.is_some())
    }

    /// Starts a message; the first one of a turn names the prompts that it answers.
    pub(crate) fn start(&mut self, prompts: &Attribution, turn_started: Duration, core: &mut Core) {
        self.requested = false;
        self.written += 1;
        let mut facts = MessageFacts::new(core.state.next_message(), core.model.clone(), self.usage);
        if self.written == 1 {
            facts.prompt = prompts.main.clone();
            facts.prompts.clone_from(&prompts.all);
        }
        if core.setup.options.partial_messages {
            let ttft = core.now().saturating_sub(turn_started);
            let ttft_ms = u64::try_from(ttft.as_millis()).unwrap_or_default();
            frames::message_start(&mut core.out, &facts, ttft_ms);
        }
        self.open = Some(OpenMessage {
            facts,
            block: None,
            next_index: 0,
            stopped: false,
        });
    }

    pub(crate) fn start_block(&mut self, plan: BlockPlan, calls: &Calls, core: &mut Core) {
        if let Some(message) = &mut self.open {
            message.block = Some(Block::start(plan, message, calls, core));
        }
    }

    pub(crate) fn stream(&mut self, core: &mut Core) -> Option<Streamed> {
        let block = self.open.as_mut()?.block.as_mut()?;
        Some(Streamed {
            more: block.chunks.write(&mut core.out, &mut block.written),
            pause: block.chunks.pause(),
        })
    }

    /// Writes the block as a whole.
    pub(crate) fn end_block(&mut self, calls: &Calls, core: &mut Core) -> Option<Written> {
        let message = self.open.as_mut()?;
        let block = message.block.take()?;
        let index = block.index;
        let mut written = Written { index, call: None };
        let content = match block.kind {
            BlockKind::Text => {
                self.text.clone_from(&block.written);
                ContentBlock::Text(TextBlock {
                    text: block.written,
                    ..TextBlock::default()
                })
            }
            BlockKind::Thinking => {
                if core.setup.options.partial_messages {
                    let id = message.facts.id.as_str();
                    let template = frames::DeltaTemplate::new(&core.out, DeltaKind::Signature, index, id);
                    template.write(&mut core.out, SIGNATURE);
                }
                ContentBlock::Thinking(ThinkingBlock {
                    thinking: block.written,
                    signature: SIGNATURE.into(),
                    ..ThinkingBlock::default()
                })
            }
            BlockKind::Tool(number) => {
                written.call = Some(number);
                let call = calls.get(number);
                let input = call.map(|call| question::written_input(call, core));
                tool_use(call, input.unwrap_or_default())
            }
        };
        frames::assistant(&mut core.out, &message.facts, content, false);
        Some(written)
    }

    pub(crate) fn stop_block(&mut self, index: u64, core: &mut Core) {
        if let Some(message) = self.streamed(core) {
            frames::block_stop(&mut core.out, &message.facts, index);
        }
    }

    /// Writes why the message ends, and counts what it has cost.
    pub(crate) fn delta(&mut self, stop_reason: &'static str, core: &mut Core) {
        let Some(message) = &self.open else { return };
        if core.setup.options.partial_messages {
            frames::message_delta(&mut core.out, &message.facts, stop_reason);
        }
        self.stop_reason = Some(stop_reason.to_owned());
        self.used.add(message.facts.usage);
        core.count(&message.facts.model, message.facts.usage);
    }

    pub(crate) fn stop(&mut self, core: &mut Core) {
        if let Some(message) = &mut self.open {
            message.stopped = true;
        }
        if let Some(message) = self.streamed(core) {
            frames::message_stop(&mut core.out, &message.facts);
        }
    }

    /// The message is done with.
    pub(crate) fn finish(&mut self) {
        self.open = None;
    }

    /// Writes what there is of an open block; gives its index, and from which block on nothing will follow.
    pub(crate) fn cut_off(&mut self, core: &mut Core) -> Option<(u64, u64)> {
        let message = self.open.as_mut()?;
        let block = message.block.take()?;
        let mut from = block.index;
        if let Some(content) = block.cut_off() {
            frames::assistant(&mut core.out, &message.facts, content, true);
            from += 1;
        }
        Some((block.index, from))
    }

    /// Closes the message's stream after an interrupt, if the host was following it.
    pub(crate) fn abandon(&mut self, cut_off: Option<(u64, u64)>, core: &mut Core) {
        let Some(message) = self.open.take() else { return };
        if message.stopped || !core.setup.options.partial_messages {
            return;
        }
        let from = match cut_off {
            Some((index, from)) => {
                frames::block_stop(&mut core.out, &message.facts, index);
                from
            }
            None => message.next_index,
        };
        frames::abandoned_delta(&mut core.out, &message.facts);
        frames::aborted_stop(&mut core.out, &message.facts, from);
    }

    /// The open message, if the host is following it.
    fn streamed(&self, core: &Core) -> Option<&OpenMessage> {
        self.open.as_ref().filter(|_| core.setup.options.partial_messages)
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
