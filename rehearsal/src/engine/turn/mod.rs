//! One turn while it is played: its operations, in order, and what it waits for.
//!
//! Place in the flow: `Engine` starts a `Turn` for a prompt and calls `advance` until it ends. Steps of the script
//! become small operations (`plan`), because any two of them may have an interrupt between them. It routes these to its
//! parts, which have their own fields: prompts, messages, calls.

pub(crate) mod abort;
pub(crate) mod cursor;
pub(crate) mod end;
pub(crate) mod failure;
pub(crate) mod literal;
mod plan;
pub(crate) mod prompts;

use std::collections::VecDeque;
use std::time::Duration;

use claude_sdk_bridge::messages::control::ControlResponse;

use self::cursor::Cursor;
use self::prompts::Prompts;
use crate::engine::call::Call;
use crate::engine::call::calls::Calls;
use crate::engine::call::reply::Answered;
use crate::engine::core::Core;
use crate::engine::message::{BlockPlan, Messages};
use crate::script::{self, AskAt, ExitStep, Failure, FailureKind, HostEvent, OnInterrupt, Step};

/// A turn that is being played.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) on_interrupt: OnInterrupt,
    pub(crate) prompts: Prompts,
    pub(crate) messages: Messages,
    pub(crate) calls: Calls,
    started: Duration,
    stalled: bool,
    cursor: Cursor,
    ops: VecDeque<Op>,
    wait: Wait,
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
    Begin(usize),
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
    Failed { kind: FailureKind, text: String },
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
            Self::Begin(call),
            Self::Settle(call),
            Self::Run(call),
            Self::After(call),
            Self::Result(call),
        ]
    }
}

impl Turn {
    pub(crate) fn new(script: script::Turn, prompts: Prompts, now: Duration) -> Self {
        Self {
            on_interrupt: script.on_interrupt,
            prompts,
            messages: Messages::new(script.usage),
            calls: Calls::default(),
            started: now,
            stalled: false,
            cursor: Cursor::new(script.steps),
            ops: VecDeque::from([Op::Request]),
            wait: Wait::Nothing,
        }
    }

    /// Plays on until something has to happen outside.
    pub(crate) fn advance(&mut self, core: &mut Core) -> Progress {
        loop {
            match self.wait {
                Wait::Nothing => {}
                Wait::Until(then) if then <= core.now() => self.wait = Wait::Nothing,
                Wait::Until(then) => return Progress::Waits(Some(then)),
                Wait::AnswerUntil(then) if then <= core.now() => {
                    self.calls.expire(core);
                    self.wait = Wait::Nothing;
                }
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

    /// Takes the host's answer to a question or a callback.
    pub(crate) fn answer(&mut self, response: ControlResponse, core: &mut Core) -> Answered {
        let answered = self.calls.answer(response, core);
        self.look_again();
        answered
    }

    /// The host can no longer answer: what is open fails, and the turn goes on.
    pub(crate) fn end_of_input(&mut self, core: &mut Core) {
        self.calls.close(core);
        self.look_again();
        self.notice(HostEvent::EndOfInput);
    }

    /// Whether an interrupt is acknowledged and otherwise has no effect.
    pub(crate) fn ignores_interrupts(&self) -> bool {
        self.stalled || self.on_interrupt == OnInterrupt::Ignore
    }

    /// What was waited for may have come.
    fn look_again(&mut self) {
        if matches!(self.wait, Wait::Answer | Wait::AnswerUntil(_)) {
            self.wait = Wait::Nothing;
        }
    }

    fn run(&mut self, op: Op, core: &mut Core) -> Flow {
        match op {
            Op::Fold => self.prompts.fold(core),
            Op::Request => {
                self.prompts.request(core);
                self.messages.requested = true;
            }
            Op::MessageStart => self.messages.start(&self.prompts.attribution, self.started, core),
            Op::BlockStart(plan) => self.messages.start_block(plan, &self.calls, core),
            Op::Deltas => self.stream(core),
            Op::BlockEnd => self.end_block(core),
            Op::BlockStop(index) => self.messages.stop_block(index, core),
            Op::MessageDelta(reason) => self.end_message(reason, core),
            Op::MessageStop => self.messages.stop(core),
            Op::MessageDone => {
                self.messages.finish();
                self.calls.clear();
            }
            Op::Begin(call) => self.begin(call, core),
            Op::Settle(call) => {
                self.wait_for_call(call, op);
            }
            Op::Run(call) => self.run_call(call, core),
            Op::After(call) => self.after_call(call, core),
            Op::Result(call) => {
                if let Some(steps) = self.calls.write_result(call, core) {
                    self.cursor = Cursor::new(steps);
                }
            }
            Op::Child(call) => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.write_as_subagents(self.messages.usage, core);
                }
            }
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

    fn stream(&mut self, core: &mut Core) {
        let Some(streamed) = self.messages.stream(core) else {
            return;
        };
        if streamed.more {
            self.ops.push_front(Op::Deltas);
        }
        if let Some(pause) = streamed.pause {
            self.wait = Wait::Until(core.now() + pause);
        }
    }

    fn end_block(&mut self, core: &mut Core) {
        let Some(written) = self.messages.end_block(&self.calls, core) else {
            return;
        };
        self.ops.push_front(Op::BlockStop(written.index));
        let Some(number) = written.call else { return };
        if let Some(call) = self.calls.get_mut(number) {
            call.written = true;
        }
        if number == 0 && self.calls.asked_at(core) == AskAt::BlockEnd {
            self.begin(number, core);
        }
    }

    fn end_message(&mut self, reason: &'static str, core: &mut Core) {
        self.messages.delta(reason, core);
        if reason == "tool_use" && self.calls.asked_at(core) == AskAt::MessageDelta {
            self.begin(0, core);
        }
    }

    fn begin(&mut self, number: usize, core: &mut Core) {
        if let Some(call) = self.calls.get_mut(number) {
            call.begin(core);
        }
    }

    /// Waits for what a call waits for, before it goes on from this operation; says whether there is anything.
    fn wait_for_call(&mut self, number: usize, again: Op) -> bool {
        let Some(wait) = self.calls.get(number).and_then(Call::wait) else {
            return false;
        };
        self.wait = wait;
        self.ops.push_front(again);
        true
    }

    fn run_call(&mut self, number: usize, core: &mut Core) {
        let call = self.calls.get_mut(number);
        let Some(time) = call.and_then(|call| call.run(core)) else {
            return;
        };
        if !time.is_zero() {
            self.ops.push_front(Op::Sleep(time));
        }
        // They come before everything else that is planned.
        for child in self.calls.add_subagent(number).rev() {
            for op in Op::of_call(child).into_iter().rev() {
                self.ops.push_front(op);
            }
            self.ops.push_front(Op::Child(child));
        }
    }

    /// Waits for the hooks after a call, which are called the first time.
    fn after_call(&mut self, number: usize, core: &mut Core) {
        if let Some(call) = self.calls.get_mut(number) {
            call.after(core);
        }
        self.wait_for_call(number, Op::After(number));
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
