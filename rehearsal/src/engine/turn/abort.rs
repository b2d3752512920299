//! What an interrupt does to a turn: the frames the CLI writes for whatever was in the middle of something.
//!
//! Place in the flow: `Engine` calls `abort` after an `interrupt` request, a denial that interrupts, or SIGINT. The
//! result is written by `end`.

use claude_sdk_bridge::messages::TerminalReason;

use super::{Op, Turn};
use crate::engine::core::Core;
use crate::frames::{self, text};

impl Turn {
    /// Ends whatever is going on; says how the CLI calls that.
    pub(crate) fn abort(&mut self, core: &mut Core) -> TerminalReason {
        self.calls.withdraw_callbacks(core);
        self.finish_spoken_message(core);
        let cut_off = self.messages.cut_off(core);
        let (reason, said) = if self.calls.reject(core) {
            (TerminalReason::AbortedTools, text::INTERRUPTED_TOOL)
        } else {
            // A message that was never finished has no reason to have stopped.
            self.messages.stop_reason = None;
            (TerminalReason::AbortedStreaming, text::INTERRUPTED)
        };
        frames::interrupted(&mut core.out, said);
        self.messages.abandon(cut_off, core);
        reason
    }

    /// Writes the end of a message that was complete but for its last frames; the rest of the turn is dropped.
    fn finish_spoken_message(&mut self, core: &mut Core) {
        let ops = std::mem::take(&mut self.ops);
        if self.messages.is_in_block() {
            return;
        }
        for op in ops {
            match op {
                Op::BlockStop(index) => self.messages.stop_block(index, core),
                Op::MessageDelta("tool_use") => {
                    // The question that would follow is not asked any more.
                    self.calls.withdraw_planned();
                    self.messages.delta("tool_use", core);
                }
                Op::MessageStop => self.messages.stop(core),
                _ => return,
            }
        }
    }
}
