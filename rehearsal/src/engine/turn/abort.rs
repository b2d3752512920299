//! What an interrupt does to a turn: the frames the CLI writes for whatever was in the middle of something.
//!
//! Place in the flow: `Engine` calls `abort` after an `interrupt` request, a denial that interrupts, or SIGINT. The
//! result is written by `end`.

use claude_sdk_bridge::messages::{SessionState, TerminalReason, ToolResultMeta};

use super::Op;
use super::Play;
use crate::engine::call::CallState;
use crate::engine::call::outcome::Outcome;
use crate::engine::core::Core;
use crate::frames::{self, text};

impl Play {
    /// Ends whatever is going on; says how the CLI calls that.
    pub(crate) fn abort(&mut self, core: &mut Core) -> TerminalReason {
        self.withdraw_hooks(core);
        self.finish_spoken_message(core);
        let from_block = self.cut_off_block(core);
        let reason = if self.reject_calls(core) {
            TerminalReason::AbortedTools
        } else {
            // A message that was never finished has no reason to have stopped.
            self.stop_reason = None;
            TerminalReason::AbortedStreaming
        };
        let said = if reason == TerminalReason::AbortedTools {
            text::INTERRUPTED_TOOL
        } else {
            text::INTERRUPTED
        };
        frames::interrupted(&mut core.out, said);
        self.user_frames += 1;
        self.close_message(from_block, core);
        reason
    }

    /// Takes back open questions; the session runs again until the turn has ended.
    pub(crate) fn withdraw(&mut self, core: &mut Core) -> bool {
        self.withdraw_questions(core)
    }

    /// Writes the end of a message that was complete but for its last frames; the rest of the turn is dropped.
    fn finish_spoken_message(&mut self, core: &mut Core) {
        let ops = std::mem::take(&mut self.ops);
        if self
            .message
            .as_ref()
            .is_some_and(|message| message.block.is_some())
        {
            return;
        }
        for op in ops {
            match op {
                Op::BlockStop(index) => self.stop_block(index, core),
                Op::MessageDelta("tool_use") => {
                    // The question that would follow is not asked any more.
                    for call in &mut self.calls {
                        if matches!(call.state, CallState::Planned) {
                            call.state = CallState::Withdrawn;
                        }
                    }
                    self.write_message_delta("tool_use", core);
                }
                Op::MessageStop => self.stop_message(core),
                _ => return,
            }
        }
    }

    /// Writes what there is of an open block; says from which block on nothing will follow.
    fn cut_off_block(&mut self, core: &mut Core) -> Option<(u64, u64)> {
        let message = self.message.as_mut()?;
        let block = message.block.take()?;
        let mut from = block.index;
        if let Some(content) = block.cut_off() {
            frames::assistant(&mut core.out, &message.facts, content, true);
            from += 1;
        }
        Some((block.index, from))
    }

    /// Gives every call that has none a result; says whether there was one.
    fn reject_calls(&mut self, core: &mut Core) -> bool {
        let mut rejected = false;
        for call in &mut self.calls {
            let text = match std::mem::replace(&mut call.state, CallState::Done) {
                CallState::Done => continue,
                _ if !call.written => continue,
                _ if call.parent.is_some() => continue,
                CallState::Running(_) | CallState::Ran(_) => {
                    format!("{}{}", text::REJECTED, text::STOPPED_WHILE_RUNNING)
                }
                CallState::Planned
                | CallState::Tried
                | CallState::Asked(_)
                | CallState::Accepted(_)
                | CallState::Refused(_)
                | CallState::Withdrawn => text::REJECTED.to_owned(),
            };
            let outcome = Outcome::rejected(&text);
            let meta = ToolResultMeta {
                id: call.id.clone(),
                non_execution_kind: claude_sdk_bridge::messages::NonExecutionKind::UserRejected.into(),
                ..ToolResultMeta::default()
            };
            frames::tool_result(
                &mut core.out,
                outcome.block(call.id.clone()),
                outcome.structured,
                Some(meta),
            );
            self.user_frames += 1;
            rejected = true;
        }
        rejected
    }

    /// Closes the message's stream, if the host was following it.
    fn close_message(&mut self, cut_off: Option<(u64, u64)>, core: &mut Core) {
        let Some(message) = self.message.take() else {
            return;
        };
        if message.stopped || !core.setup.partial_messages {
            return;
        }
        let from = match cut_off {
            Some((index, from)) => {
                frames::block_stop(&mut core.out, &message.facts, index);
                from
            }
            None => message.next_index(),
        };
        frames::abandoned_delta(&mut core.out, &message.facts);
        frames::aborted_stop(&mut core.out, &message.facts, from);
    }
}

/// The session runs again after its questions were withdrawn.
pub(crate) fn tell_running(withdrawn: bool, core: &mut Core) {
    if withdrawn {
        core.tell(SessionState::Running);
    }
}
