//! The prompts that a turn answers, and what has been told of them.
//!
//! Place in the flow: `engine::turn` takes waiting prompts in after a round of tools, as the CLI does; `Engine` tells the end of
//! the others.

use claude_sdk_bridge::messages::{CommandState, MessageUuid};

use crate::engine::core::{Core, Prompt};
use crate::engine::state::Attribution;
use crate::frames;

/// The prompts of a turn.
#[derive(Debug)]
pub(crate) struct Prompts {
    pub(crate) attribution: Attribution,
    /// To be echoed with the first request to the model.
    replay: Option<Prompt>,
    /// Those that came while the turn ran and were taken into it.
    folded: Vec<MessageUuid>,
    /// Those whose end has been told.
    settled: Vec<MessageUuid>,
}

impl Prompts {
    pub(crate) fn new(prompts: &[Prompt], replay: Prompt) -> Self {
        let all: Vec<MessageUuid> = prompts.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
        let main = all.last().cloned();
        Self {
            attribution: Attribution { main, all },
            replay: Some(replay),
            folded: Vec::new(),
            settled: Vec::new(),
        }
    }

    /// Takes the prompts that wait into the turn.
    pub(super) fn fold(&mut self, core: &mut Core) {
        for prompt in std::mem::take(&mut core.queue) {
            core.lifecycle(&prompt, CommandState::Started);
            self.attribution.all.extend(prompt.uuid.clone());
            self.folded.extend(prompt.uuid);
        }
    }

    /// A request to the model starts.
    pub(super) fn request(&mut self, core: &mut Core) {
        if core.setup.options.partial_messages {
            frames::requesting(&mut core.out, &self.attribution.all);
        }
        if let Some(prompt) = self.replay.take() {
            core.replay(&prompt, true);
        }
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
        let settled = |prompt: &&MessageUuid| self.settled.contains(prompt);
        self.attribution.all.iter().filter(move |prompt| !settled(prompt))
    }
}
