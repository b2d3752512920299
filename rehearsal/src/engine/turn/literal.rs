//! Steps that write something and change nothing in the turn: literal lines, faults, results of other turns.
//!
//! Place in the flow: `engine::turn` and the start of the process call `write`.

use claude_sdk_bridge::messages::{ResultSubtype, TerminalReason};

use super::end;
use crate::engine::core::Core;
use crate::engine::state::Attribution;
use crate::frames::{self, text};
use crate::script::{LateResult, Step};

/// Plays a step that only writes.
pub(crate) fn write(step: &Step, core: &mut Core) {
    match step {
        Step::Mode(mode) => core.switch_mode(*mode),
        Step::Raw(frame) => core.out.send(frame),
        Step::Stderr(line) => core.out.write_stderr(line),
        Step::Garbage(line) => {
            core.out.bytes.extend_from_slice(line.as_bytes());
            core.out.bytes.push(b'\n');
        }
        Step::HalfLine(line) => core.out.bytes.extend_from_slice(line.as_bytes()),
        Step::LateResult(late) => late_result(late, core),
        Step::ForeignResult(foreign) => foreign_result(&foreign.text, core),
        Step::Text(_)
        | Step::Thinking(_)
        | Step::Tool(_)
        | Step::DelayMs(_)
        | Step::Repeat(_)
        | Step::WaitFor(_)
        | Step::Error(_)
        | Step::NoResult
        | Step::Hang
        | Step::Stall
        | Step::Exit(_) => {}
    }
}

fn late_result(late: &LateResult, core: &mut Core) {
    let mut facts = end::bare_result(core, core.state.previous.clone());
    if late.interrupted {
        facts.subtype = ResultSubtype::ErrorDuringExecution;
        facts.is_error = true;
        facts.stop_reason = None;
        facts.terminal_reason = TerminalReason::AbortedStreaming;
        facts.errors = Some(vec![text::diagnostic(None)]);
    } else {
        facts.text = Some(late.text.clone());
    }
    frames::result(&mut core.out, facts);
}

fn foreign_result(answer: &str, core: &mut Core) {
    let mut facts = end::bare_result(core, Attribution::default());
    facts.origin = Some("task-notification");
    facts.text = Some(answer.to_owned());
    frames::result(&mut core.out, facts);
}
