//! From the steps of a script to the operations of a turn.
//!
//! Place in the flow: `Turn::advance` asks for the next ones when it has none left. Nothing happens here.

use std::time::Duration;

use super::{Ending, Op, Turn};
use crate::engine::core::Core;
use crate::engine::message::BlockPlan;
use crate::script::{Step, ToolStep};

impl Turn {
    /// Turns the next step into operations.
    pub(super) fn plan(&mut self, core: &mut Core) {
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
                if self.messages.is_open() {
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
        if !self.messages.is_open() {
            if !self.messages.requested {
                self.ops.push_back(Op::Request);
            }
            self.ops.push_back(Op::MessageStart);
        }
        self.ops.extend([Op::BlockStart(plan), Op::Deltas, Op::BlockEnd]);
    }

    fn plan_tool(&mut self, tool: Box<ToolStep>, core: &mut Core) {
        let call = self.calls.add(tool, core);
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
        if !self.messages.is_open() && self.messages.requested {
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
        if self.messages.is_open() {
            self.ops
                .extend([Op::MessageDelta(stop_reason), Op::MessageStop, Op::MessageDone]);
        }
    }
}
