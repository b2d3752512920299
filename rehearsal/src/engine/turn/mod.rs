//! One turn while it is played: its operations, in order, and what it waits for.
//!
//! Place in the flow: `Engine` starts a `Play` for a prompt and calls `advance` until it ends. Steps of the script
//! become small operations here (`plan`), because any two of them may have an interrupt between them. How the single
//! operations look stands in `message`, `steps`, `abort` and `failure`.

pub(crate) mod abort;
pub(crate) mod cursor;
pub(crate) mod end;
pub(crate) mod failure;
pub(crate) mod literal;

use std::collections::VecDeque;
use std::time::Duration;

use claude_sdk_bridge::messages::{CommandState, MessageUuid, PermissionDenial};

use self::cursor::Cursor;
use crate::engine::call::Call;
use crate::engine::core::{Core, Prompt};
use crate::engine::message::{Block, BlockPlan, OpenMessage};
use crate::engine::state::Attribution;
use crate::frames;
use crate::script::{ExitStep, Failure, HostEvent, OnInterrupt, Step, TokenUsage, ToolStep, Turn};

/// A turn that is being played.
#[derive(Debug)]
pub(crate) struct Play {
    pub(crate) on_interrupt: OnInterrupt,
    pub(crate) usage: TokenUsage,
    pub(crate) attribution: Attribution,
    /// Prompts that came while the turn ran and were taken into it.
    folded: Vec<MessageUuid>,
    /// Prompts whose end has been told.
    settled: Vec<MessageUuid>,
    pub(crate) message: Option<OpenMessage>,
    /// The tool calls of the message, until all have a result.
    pub(crate) calls: Vec<Call>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) denials: Vec<PermissionDenial>,
    pub(crate) user_frames: u64,
    pub(crate) used: TokenUsage,
    pub(crate) text: String,
    pub(crate) started: Duration,
    messages: u64,
    requested: bool,
    stalled: bool,
    pub(crate) cursor: Cursor,
    pub(crate) ops: VecDeque<Op>,
    pub(crate) wait: Wait,
    replay: Option<Prompt>,
}

/// What a turn waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    Until(Duration),
    /// An answer about a call.
    Answer,
    /// The same, but not for ever.
    AnswerUntil(Duration),
    Host(HostEvent),
    Forever,
}

/// A small part of a turn. Nothing happens within one that the host could interfere with.
#[derive(Debug)]
pub(crate) enum Op {
    /// Takes the prompts that wait into the turn, as the CLI does after a round of tools.
    Fold,
    /// A request to the model starts.
    Request,
    MessageStart,
    BlockStart(BlockPlan),
    Deltas,
    BlockEnd,
    BlockStop(u64),
    MessageDelta(&'static str),
    MessageStop,
    /// The message, and the tools it called, are done with.
    MessageDone,
    Ask(usize),
    Settle(usize),
    Run(usize),
    After(usize),
    Result(usize),
    /// A subagent makes this call.
    Child(usize),
    Sleep(Duration),
    WaitFor(HostEvent),
    Literal(Step),
    Fail(Failure),
    Stall,
    Hang,
    Exit(ExitStep),
    End(Ending),
}

/// How a turn ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Completed,
    Failed {
        kind: crate::script::FailureKind,
        text: String,
    },
    NoResult,
}

/// How far a turn got.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There is enough output to write it first.
    Full,
    Waits(Option<Duration>),
    Ended(Ending),
    Hangs,
    Exits(ExitStep),
}

enum Flow {
    On,
    Out(Progress),
}

impl Op {
    /// What happens to a call.
    pub(crate) fn of_call(call: usize) -> [Self; 5] {
        [
            Self::Ask(call),
            Self::Settle(call),
            Self::Run(call),
            Self::After(call),
            Self::Result(call),
        ]
    }
}

impl Play {
    pub(crate) fn new(turn: Turn, prompts: &[Prompt], replay: Option<Prompt>, now: Duration) -> Self {
        let all: Vec<MessageUuid> = prompts.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
        Self {
            on_interrupt: turn.on_interrupt,
            usage: turn.usage,
            attribution: Attribution {
                main: all.last().cloned(),
                all,
            },
            folded: Vec::new(),
            settled: Vec::new(),
            message: None,
            calls: Vec::new(),
            stop_reason: None,
            denials: Vec::new(),
            user_frames: 0,
            used: TokenUsage::NONE,
            text: String::new(),
            started: now,
            messages: 0,
            requested: false,
            stalled: false,
            cursor: Cursor::new(turn.steps),
            ops: VecDeque::from([Op::Request]),
            wait: Wait::Nothing,
            replay,
        }
    }

    /// Plays on until something has to happen outside.
    pub(crate) fn advance(&mut self, core: &mut Core) -> Progress {
        loop {
            match self.wait {
                Wait::Nothing => {}
                Wait::Until(then) if then <= core.now() => self.wait = Wait::Nothing,
                Wait::Until(then) => return Progress::Waits(Some(then)),
                Wait::AnswerUntil(then) if then <= core.now() => self.expire(core),
                Wait::AnswerUntil(then) => return Progress::Waits(Some(then)),
                Wait::Answer | Wait::Host(_) | Wait::Forever => return Progress::Waits(None),
            }
            if core.out.is_full() {
                return Progress::Full;
            }
            match self.ops.pop_front() {
                Some(op) => match self.run(op, core) {
                    Flow::On => {}
                    Flow::Out(progress) => return progress,
                },
                None => self.plan(core),
            }
        }
    }

    /// Something happened that the script may have waited for.
    pub(crate) fn notice(&mut self, event: HostEvent) {
        let released = match (self.wait, event) {
            (Wait::Host(awaited), happened) if awaited == happened => true,
            // Nothing more can come; a turn that is in the middle of something still finishes.
            (Wait::Host(_), HostEvent::EndOfInput) => true,
            _ => false,
        };
        if released {
            self.wait = Wait::Nothing;
        }
    }

    /// Whether an interrupt is acknowledged and otherwise has no effect.
    pub(crate) fn shrugs_off_interrupts(&self) -> bool {
        self.stalled || self.on_interrupt == OnInterrupt::Ignore
    }

    /// Tells the end of the prompts that were taken in; the CLI does so before the result.
    pub(crate) fn settle_folded(&mut self, core: &mut Core) {
        for prompt in std::mem::take(&mut self.folded) {
            frames::lifecycle(&mut core.out, &prompt, CommandState::Completed);
            self.settled.push(prompt);
        }
    }

    /// The prompts whose end has not been told.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = &MessageUuid> {
        self.attribution
            .all
            .iter()
            .filter(|prompt| !self.settled.contains(prompt))
    }

    fn run(&mut self, op: Op, core: &mut Core) -> Flow {
        match op {
            Op::Fold => self.fold(core),
            Op::Request => self.request(core),
            Op::MessageStart => self.start_message(core),
            Op::BlockStart(plan) => self.start_block(plan, core),
            Op::Deltas => self.write_deltas(core),
            Op::BlockEnd => self.end_block(core),
            Op::BlockStop(index) => self.stop_block(index, core),
            Op::MessageDelta(reason) => self.write_message_delta(reason, core),
            Op::MessageStop => self.stop_message(core),
            Op::MessageDone => self.forget_message(),
            Op::Ask(call) => self.ask(call, core),
            Op::Settle(call) => self.settle(call),
            Op::Run(call) => self.run_tool(call, core),
            Op::After(call) => self.after_tool(call, core),
            Op::Result(call) => self.write_tool_result(call, core),
            Op::Child(call) => self.write_child(call, core),
            Op::Sleep(pause) => self.wait = Wait::Until(core.now() + pause),
            Op::WaitFor(event) => self.wait_for(event, core),
            Op::Literal(step) => literal::write(&step, core),
            Op::Fail(failure) => return Flow::Out(Progress::Ended(failure::play(&failure, core))),
            Op::Stall => {
                self.stalled = true;
                self.wait = Wait::Forever;
            }
            Op::Hang => return Flow::Out(Progress::Hangs),
            Op::Exit(exit) => return Flow::Out(Progress::Exits(exit)),
            Op::End(ending) => return Flow::Out(Progress::Ended(ending)),
        }
        Flow::On
    }

    /// Turns the next step into operations.
    fn plan(&mut self, core: &mut Core) {
        let Some(step) = self.cursor.next() else {
            self.plan_last_words();
            return;
        };
        match step {
            Step::Text(stream) => self.plan_block(BlockPlan::Text(stream)),
            Step::Thinking(stream) => self.plan_block(BlockPlan::Thinking(stream)),
            Step::Tool(tool) => self.plan_tool(tool, core),
            Step::DelayMs(ms) => self.ops.push_back(Op::Sleep(Duration::from_millis(ms))),
            Step::WaitFor(event) => self.ops.push_back(Op::WaitFor(event)),
            Step::Error(failure) => {
                if self.message.is_some() {
                    self.plan_message_end("end_turn");
                    self.ops.push_back(Op::Request);
                }
                self.ops.push_back(Op::Fail(failure));
            }
            Step::NoResult => {
                self.plan_message_end("end_turn");
                self.ops.push_back(Op::End(Ending::NoResult));
            }
            Step::Hang => self.ops.push_back(Op::Hang),
            Step::Stall => self.ops.push_back(Op::Stall),
            Step::Exit(exit) => self.ops.push_back(Op::Exit(exit)),
            Step::Mode(_)
            | Step::Raw(_)
            | Step::Stderr(_)
            | Step::Garbage(_)
            | Step::HalfLine(_)
            | Step::LateResult(_)
            | Step::ForeignResult(_) => self.ops.push_back(Op::Literal(step)),
            // The cursor plays these itself.
            Step::Repeat(_) => {}
        }
    }

    fn plan_block(&mut self, plan: BlockPlan) {
        if self.message.is_none() {
            if !self.requested {
                self.ops.push_back(Op::Request);
            }
            self.ops.push_back(Op::MessageStart);
        }
        self.ops.extend([Op::BlockStart(plan), Op::Deltas, Op::BlockEnd]);
    }

    fn plan_tool(&mut self, tool: Box<ToolStep>, core: &mut Core) {
        let id = tool
            .id
            .as_deref()
            .map_or_else(|| core.state.next_tool_id(), Into::into);
        let call = self.calls.len();
        self.calls.push(Call::new(id, tool));
        self.plan_block(BlockPlan::Tool(call));
        let goes_on = matches!(self.cursor.peek(), Some(Step::Tool(next)) if next.parallel);
        if goes_on {
            return;
        }
        self.ops.push_back(Op::MessageDelta("tool_use"));
        self.ops.push_back(Op::MessageStop);
        self.plan_calls(call + 1);
        let is_over = matches!(self.cursor.peek(), Some(Step::Error(failure)) if failure.kind.is_limit());
        if !is_over {
            self.ops.extend([Op::Fold, Op::Request]);
        }
    }

    /// Runs the calls of the message one after the other; the first one is asked about where its script says, the
    /// others when the one before them is done.
    fn plan_calls(&mut self, count: usize) {
        for call in 0..count {
            self.ops.extend(Op::of_call(call));
        }
        self.ops.push_back(Op::MessageDone);
    }

    /// The script has nothing more to say: the turn ends, with an empty message if a request is still unanswered.
    fn plan_last_words(&mut self) {
        if self.message.is_none() && self.requested {
            self.ops.extend([
                Op::MessageStart,
                Op::MessageDelta("end_turn"),
                Op::MessageStop,
                Op::MessageDone,
            ]);
        }
        self.plan_message_end("end_turn");
        self.ops.push_back(Op::End(Ending::Completed));
    }

    fn plan_message_end(&mut self, stop_reason: &'static str) {
        if self.message.is_some() {
            self.ops
                .extend([Op::MessageDelta(stop_reason), Op::MessageStop, Op::MessageDone]);
        }
    }

    fn fold(&mut self, core: &mut Core) {
        for prompt in std::mem::take(&mut core.queue) {
            core.lifecycle(&prompt, CommandState::Started);
            self.attribution.all.extend(prompt.uuid.clone());
            self.folded.extend(prompt.uuid);
        }
    }

    fn request(&mut self, core: &mut Core) {
        if core.setup.partial_messages {
            frames::requesting(&mut core.out, &self.attribution.all);
        }
        if let Some(prompt) = self.replay.take() {
            core.replay(&prompt, true);
        }
        self.requested = true;
    }

    fn start_message(&mut self, core: &mut Core) {
        self.requested = false;
        self.messages += 1;
        let prompts = (self.messages == 1).then_some(&self.attribution);
        self.message = Some(OpenMessage::start(core, self.usage, prompts, self.started));
    }

    fn start_block(&mut self, plan: BlockPlan, core: &mut Core) {
        let Some(message) = &mut self.message else { return };
        message.block = Some(Block::start(plan, message, &self.calls, core));
    }

    fn forget_message(&mut self) {
        self.message = None;
        self.calls.clear();
    }

    fn wait_for(&mut self, event: HostEvent, core: &Core) {
        let is_there = match event {
            HostEvent::Message => !core.queue.is_empty(),
            HostEvent::EndOfInput | HostEvent::Interrupt => false,
        };
        if !is_there && !core.end_of_input {
            self.wait = Wait::Host(event);
        }
    }
}
