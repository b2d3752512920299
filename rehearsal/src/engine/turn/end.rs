//! The result of a turn.
//!
//! Place in the flow: `Engine` calls these when a `Turn` has ended by itself or was aborted. Lifecycle and the next
//! turn are `Engine`'s business.

use claude_sdk_bridge::messages::{ResultSubtype, TerminalReason};

use super::{Ending, Turn, failure};
use crate::engine::core::Core;
use crate::engine::state::Attribution;
use crate::frames::{self, ResultFacts, Timing, text};
use crate::script::{OnInterrupt, TokenUsage};

/// Whether a result was written, and whether it told of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reported {
    Success,
    Failure,
    Nothing,
}

/// A successful result without anything in it.
pub(crate) fn bare_result(core: &mut Core, prompts: Attribution) -> ResultFacts {
    let index = core.results;
    core.results += 1;
    ResultFacts {
        subtype: ResultSubtype::Success,
        is_error: false,
        terminal_reason: TerminalReason::Completed,
        stop_reason: Some("end_turn".to_owned()),
        text: None,
        errors: None,
        api_error: None,
        api_error_status: None,
        origin: None,
        prompt: prompts.main,
        prompts: prompts.all,
        denials: Vec::new(),
        num_turns: 1,
        usage: TokenUsage::NONE,
        totals: core.state.totals.clone(),
        since_last: std::mem::take(&mut core.since_last),
        queued: u64::try_from(core.queue.len()).unwrap_or(u64::MAX),
        index,
        duration_ms: 0,
        timing: Timing::None,
    }
}

impl Turn {
    /// Writes the result of a turn that ended by itself.
    pub(crate) fn tell_end(&mut self, ending: Ending, core: &mut Core) -> Reported {
        match ending {
            Ending::NoResult => Reported::Nothing,
            Ending::Completed => {
                let mut facts = self.facts(core);
                facts.text = Some(std::mem::take(&mut self.messages.text));
                facts.timing = Timing::Answered;
                frames::result(&mut core.out, facts);
                Reported::Success
            }
            Ending::Failed { kind, text } => {
                let mut facts = self.facts(core);
                failure::describe(kind, text, &mut facts);
                frames::result(&mut core.out, facts);
                Reported::Failure
            }
        }
    }

    /// Writes the result of a turn that was aborted.
    pub(crate) fn tell_abort(&mut self, reason: TerminalReason, core: &mut Core) -> Reported {
        if self.on_interrupt == OnInterrupt::WithholdResult {
            return Reported::Nothing;
        }
        let mut facts = self.facts(core);
        facts.terminal_reason = reason;
        // The interruption is a message of the user's, too.
        facts.num_turns += 1;
        if self.on_interrupt == OnInterrupt::Succeed {
            facts.text = Some(std::mem::take(&mut self.messages.text));
            frames::result(&mut core.out, facts);
            return Reported::Success;
        }
        facts.subtype = ResultSubtype::ErrorDuringExecution;
        facts.is_error = true;
        facts.errors = Some(vec![text::diagnostic(facts.stop_reason.as_deref())]);
        frames::result(&mut core.out, facts);
        Reported::Failure
    }

    fn facts(&mut self, core: &mut Core) -> ResultFacts {
        let duration = core.now().saturating_sub(self.started);
        ResultFacts {
            stop_reason: self.messages.stop_reason.clone(),
            denials: self.calls.take_denials(),
            num_turns: 1 + self.calls.results(),
            usage: self.messages.used,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            ..bare_result(core, self.prompts.attribution.clone())
        }
    }
}
