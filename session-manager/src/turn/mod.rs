//! The turn machine: which prompt Claude works on, which ones wait, and when each is answered.
//!
//! Place in the flow: the session actor turns everything that happens (a client's request, a frame of Claude, a timer)
//! into an [`Event`] and performs the [`Effect`]s that come back. The machine is pure: no clock, no process, no wire
//! types, so every interleaving can be tested without waiting. Every event of Claude carries the [`Generation`] of the
//! process it came from, and what comes from an old one is dropped here.

mod machine;
#[cfg(test)]
mod tests;

pub(crate) use machine::TurnMachine;

/// How many prompts may wait behind the running one before further ones are refused.
pub(crate) const MAX_QUEUED_PROMPTS: usize = 256;

/// One `session/prompt` request. Its text form is the uuid that Claude's frames name the prompt by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PromptId(pub(crate) uuid::Uuid);

impl PromptId {
    /// A fresh id; Claude silently drops a message whose uuid it has seen before.
    pub(crate) fn new() -> Self {
        Self(uuid::Uuid::new_v4())
    }

    /// The prompt that a frame of Claude names, if the text is one of our ids.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        uuid::Uuid::try_parse(text).ok().map(Self)
    }
}

impl std::fmt::Display for PromptId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.hyphenated().fmt(out)
    }
}

/// The how-manieth Claude process of a session, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generation(pub(crate) u64);

/// What a result frame says about the prompts it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Attribution {
    /// It names the prompts by their uuids; one that is none of ours counts for nothing.
    Prompts(Vec<PromptId>),
    /// It belongs to background work (its origin is not a human), whatever runs in the foreground.
    Background,
    /// It names nobody: an older CLI. It is taken for the running prompt's once that has begun.
    Unnamed,
}

/// How Claude says that a turn ended, as far as it matters to what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// By itself, well or badly.
    Completed,
    /// Because it was told to.
    Interrupted,
    /// For want of a login, so that only another process can do better.
    SignedOut,
}

/// Everything that can happen to a session's turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// The client sent a prompt.
    Prompt(PromptId),
    /// Claude was told something more in the running turn, under this id.
    Steer(PromptId),
    /// The client cancelled the session's work (`session/cancel`).
    Cancel,
    /// The client withdrew one prompt (`$/cancel_request`).
    CancelPrompt(PromptId),
    /// A process was started for this session outside the machine (at `session/new`).
    Adopted(Generation),
    /// The process that [`Effect::Launch`] asked for is ready.
    Launched(Generation),
    /// The process that [`Effect::Launch`] asked for did not come up.
    LaunchFailed(Generation),
    /// Claude took up a prompt; `None` when the frame does not say which.
    Started(Generation, Option<PromptId>),
    /// Claude's answer to an interrupt names the queued prompts it threw away.
    Dequeued(Generation, Vec<PromptId>),
    /// Whether the process can do what the session wants of the next prompt's; else it is replaced before it.
    Suits(bool),
    /// Claude finished a turn.
    Result {
        generation: Generation,
        attribution: Attribution,
        end: TurnEnd,
    },
    /// The user approved a plan that is to be carried out by a fresh process; Claude was told to end its turn.
    HandOff,
    /// Claude says whether agents are at work in the background.
    Agents(Generation, bool),
    /// Claude says that it has nothing left to do, in the background neither but for commands.
    Idle(Generation),
    /// The process is gone.
    Ended(Generation),
    /// An interrupted turn has not ended in time.
    EscalationDue,
    /// The session ends.
    Close,
}

/// What the actor has to do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Start a process.
    Launch(Generation),
    /// Start a process that knows nothing of the conversation, for the plan that is handed over.
    LaunchFresh(Generation),
    /// Give up the process that is being started.
    AbortLaunch,
    /// Send this prompt to Claude.
    Send(PromptId),
    /// Ask Claude to stop the running turn and to forget what it has queued.
    Interrupt,
    /// Start the clock of [`Event::EscalationDue`].
    ArmEscalation,
    /// Stop that clock.
    DisarmEscalation,
    /// Withdraw every open question to the client and deny it towards Claude.
    WithdrawAsks,
    /// End the process by force; [`Event::Ended`] follows.
    Kill,
    /// End the idle process in good order; [`Event::Ended`] follows.
    Retire,
    /// End the process for good, `turn_running` or not. Nothing follows.
    Shutdown { turn_running: bool },
    /// Keep what the result says: this prompt is answered with it later.
    Hold(PromptId),
    /// Answer this prompt.
    Answer(PromptId, Outcome),
}

/// How a prompt ends. What else there is to say (the result, the exit status, the launch error) is in the event that the
/// actor is handling when the machine says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Claude's result answers it, perhaps one that was kept.
    Finished,
    /// The client cancelled it.
    Cancelled,
    /// Claude went idle without a result.
    NoResult,
    /// The process ended before a result.
    Died,
    /// No process could be started.
    LaunchFailed,
    /// Too many prompts wait already.
    QueueFull,
    /// The session is closed.
    Closed,
}
