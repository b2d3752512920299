//! The transitions of the turn machine.
//!
//! Invariants, each checked by the model test in `turn/tests.rs`: every prompt is answered exactly once; at most one is
//! with Claude at a time; the next is sent only after the one before was answered; after a cancel no path waits for
//! anything but Claude's own result, its exit, or the escalation clock.

mod agents;
mod attribution;
mod handoff;

use std::collections::VecDeque;

use agents::Agents;
use handoff::HandOff;

use super::{Attribution, Effect, Event, Generation, MAX_QUEUED_PROMPTS, Outcome, PromptId, TurnEnd};

/// A session's turns.
#[derive(Debug)]
pub(crate) struct TurnMachine {
    claude: Claude,
    running: Option<Running>,
    queue: VecDeque<Queued>,
    newest: Generation,
    /// Whether the process is good enough for the next prompt; a new one is.
    suits: bool,
    /// Whether Claude has agents at work in the background.
    agents_at_work: bool,
    /// The prompts that Claude had last, so that a late result of theirs is known for what it is.
    past: VecDeque<PromptId>,
}

/// The process behind the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claude {
    /// None is running; the next prompt starts one.
    Absent,
    /// Being started.
    Starting(Generation),
    /// Takes prompts.
    Ready(Generation),
    /// Runs, but has to be replaced before the next prompt, because it was started without a login.
    Stale(Generation),
    /// On its way out.
    Ending(Generation),
    /// The session is over.
    Closed,
}

/// A prompt that waits.
#[derive(Debug, Clone, Copy)]
struct Queued {
    id: PromptId,
    /// Whether a process has died on it already, before it took it up.
    retried: bool,
}

/// The prompt that Claude has.
#[derive(Debug)]
struct Running {
    id: PromptId,
    retried: bool,
    begun: bool,
    stop: Stop,
    hand_off: HandOff,
    /// What was said into the turn meanwhile, in order. The turn is over when Claude has dealt with the last of it.
    steered: Vec<PromptId>,
    /// Claude has given a result already, and turns to what was said into the turn.
    cut_short: bool,
    /// The last of `steered` that Claude has taken up.
    heard: Option<PromptId>,
    agents: Agents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    No,
    Interrupted,
    Killed,
}

impl TurnMachine {
    /// A session without a process.
    pub(crate) fn new() -> Self {
        Self {
            claude: Claude::Absent,
            running: None,
            queue: VecDeque::new(),
            newest: Generation(0),
            suits: true,
            agents_at_work: false,
            past: VecDeque::new(),
        }
    }

    /// Takes one event and says what to do about it.
    pub(crate) fn on(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Prompt(id) => self.enqueue(id, &mut effects),
            Event::Steer(id) => self.steer(id),
            Event::Cancel => self.cancel_all(&mut effects),
            Event::CancelPrompt(id) => self.cancel_one(id, &mut effects),
            Event::Adopted(generation) => self.adopt(generation),
            Event::Launched(generation) => {
                if self.claude == Claude::Starting(generation) {
                    self.claude = Claude::Ready(generation);
                    self.hand_off_launched(&mut effects);
                }
            }
            Event::LaunchFailed(generation) => self.launch_failed(generation, &mut effects),
            Event::Started(generation, id) => self.started(generation, id, &mut effects),
            Event::Dequeued(generation, ids) => self.dequeued(generation, &ids, &mut effects),
            Event::Result {
                generation,
                attribution,
                end,
            } => {
                self.result(generation, &attribution, end, &mut effects);
            }
            Event::Suits(suits) => self.suits = suits,
            Event::HandOff => self.hand_off(&mut effects),
            Event::Agents(generation, at_work) => self.agents(generation, at_work),
            Event::Idle(generation) => self.idle(generation, &mut effects),
            Event::Ended(generation) => self.ended(generation, &mut effects),
            Event::EscalationDue => self.escalate(&mut effects),
            Event::Close => self.close(&mut effects),
        }
        self.advance(&mut effects);
        effects
    }

    /// Whether the running turn is being ended, so that nothing more may be asked for it.
    pub(crate) fn stopping(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| running.stop != Stop::No || running.hand_off != HandOff::No)
    }

    fn enqueue(&mut self, id: PromptId, effects: &mut Vec<Effect>) {
        if self.claude == Claude::Closed {
            effects.push(Effect::Answer(id, Outcome::Closed));
        } else if self.queue.len() >= MAX_QUEUED_PROMPTS {
            effects.push(Effect::Answer(id, Outcome::QueueFull));
        } else {
            self.queue.push_back(Queued { id, retried: false });
        }
    }

    fn adopt(&mut self, generation: Generation) {
        if self.claude == Claude::Absent {
            self.newest = generation;
            self.claude = Claude::Ready(generation);
        }
    }

    fn cancel_all(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(
            self.queue
                .drain(..)
                .map(|queued| Effect::Answer(queued.id, Outcome::Cancelled)),
        );
        self.interrupt(effects);
    }

    fn cancel_one(&mut self, id: PromptId, effects: &mut Vec<Effect>) {
        if self.running.as_ref().is_some_and(|running| running.id == id) {
            self.interrupt(effects);
        } else if let Some(at) = self.queue.iter().position(|queued| queued.id == id) {
            self.queue.remove(at);
            effects.push(Effect::Answer(id, Outcome::Cancelled));
        }
    }

    /// Stops the running turn; a second cancel of the same turn changes nothing.
    fn interrupt(&mut self, effects: &mut Vec<Effect>) {
        if self.hand_off_cancelled(effects) {
            return;
        }
        if let Some(running) = self.running.as_mut().filter(|running| running.stop == Stop::No) {
            running.stop = Stop::Interrupted;
            effects.extend([Effect::Interrupt, Effect::WithdrawAsks, Effect::ArmEscalation]);
        }
    }

    fn launch_failed(&mut self, generation: Generation, effects: &mut Vec<Effect>) {
        if self.claude == Claude::Starting(generation) {
            self.claude = Claude::Absent;
            if self.running.is_some() {
                return self.finish(Outcome::LaunchFailed, effects);
            }
            effects.extend(
                self.queue
                    .pop_front()
                    .map(|queued| Effect::Answer(queued.id, Outcome::LaunchFailed)),
            );
        }
    }

    /// An interrupt that reached Claude before the prompt did has stopped nothing, so it is repeated.
    fn started(&mut self, generation: Generation, id: Option<PromptId>, effects: &mut Vec<Effect>) {
        if !self.is_current(generation) {
            return;
        }
        let Some(running) = &mut self.running else { return };
        running.heard = id.filter(|id| running.steered.contains(id)).or(running.heard);
        if id.is_some_and(|id| id != running.id) || running.begun {
            return;
        }
        running.begun = true;
        if running.stop == Stop::Interrupted {
            effects.push(Effect::Interrupt);
        }
    }

    fn dequeued(&mut self, generation: Generation, ids: &[PromptId], effects: &mut Vec<Effect>) {
        let hit = self
            .running
            .as_ref()
            .is_some_and(|running| running.stop != Stop::No && running.is_over_without(ids));
        if self.is_current(generation) && hit {
            self.finish(Outcome::Cancelled, effects);
        }
    }

    fn result(
        &mut self,
        generation: Generation,
        attribution: &Attribution,
        end: TurnEnd,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_current(generation) {
            return;
        }
        let ours = self.concerns(attribution)
            && self.running.as_ref().is_some_and(|running| match attribution {
                Attribution::Prompts(ids) if ids.iter().any(|id| running.knows(id)) => running.ends_with(ids),
                Attribution::Prompts(_) | Attribution::Background | Attribution::Unnamed => true,
            });
        if !ours {
            return self.not_the_end(attribution);
        }
        if end == TurnEnd::Interrupted && self.hand_off_turn_ended(effects) {
            return;
        }
        if end != TurnEnd::SignedOut && self.hold(effects) {
            return;
        }
        self.finish(Outcome::Finished, effects);
        if end == TurnEnd::SignedOut
            && let Claude::Ready(generation) = self.claude
        {
            self.claude = Claude::Stale(generation);
        }
    }

    fn ended(&mut self, generation: Generation, effects: &mut Vec<Effect>) {
        if !self.is_current(generation) {
            return;
        }
        self.claude = Claude::Absent;
        self.agents_at_work = false;
        effects.push(Effect::WithdrawAsks);
        if self.hand_off_process_gone(effects) {
            return;
        }
        let untouched = |running: &mut Running| {
            !running.begun
                && !running.retried
                && running.stop == Stop::No
                && running.hand_off == HandOff::No
                && running.steered.is_empty()
        };
        match self.running.take_if(untouched) {
            // The process was gone before it knew of the prompt, so the next one gets it; once, lest it dies of it.
            Some(Running { id, .. }) => self.queue.push_front(Queued { id, retried: true }),
            None => self.finish(Outcome::Died, effects),
        }
    }

    fn escalate(&mut self, effects: &mut Vec<Effect>) {
        self.hand_off_overdue(effects);
        let (Some(running), Claude::Ready(generation)) = (&mut self.running, self.claude) else {
            return;
        };
        if running.stop == Stop::Interrupted {
            running.stop = Stop::Killed;
            self.claude = Claude::Ending(generation);
            effects.push(Effect::Kill);
        }
    }

    fn close(&mut self, effects: &mut Vec<Effect>) {
        if self.claude == Claude::Closed {
            return;
        }
        let turn_running = self.running.is_some();
        // A question that is denied to a turn that goes on would have Claude ask the model again.
        if self
            .running
            .as_ref()
            .is_some_and(|running| running.stop == Stop::No)
        {
            effects.push(Effect::Interrupt);
        }
        effects.push(Effect::WithdrawAsks);
        if let Some(running) = &mut self.running {
            running.stop = Stop::Killed;
        }
        self.finish(Outcome::Cancelled, effects);
        effects.extend(
            self.queue
                .drain(..)
                .map(|queued| Effect::Answer(queued.id, Outcome::Cancelled)),
        );
        effects.push(Effect::Shutdown { turn_running });
        self.claude = Claude::Closed;
    }

    /// Answers the running prompt, if there is one. What was cancelled is answered so, however it ended.
    fn finish(&mut self, outcome: Outcome, effects: &mut Vec<Effect>) {
        let Some(running) = self.running.take() else {
            return;
        };
        self.forget(running.steered.iter().copied().chain([running.id]));
        let outcome = match running.stop {
            Stop::No if running.hand_off == HandOff::Ending => {
                effects.push(Effect::DisarmEscalation);
                outcome
            }
            Stop::No => outcome,
            Stop::Interrupted | Stop::Killed => {
                effects.push(Effect::DisarmEscalation);
                Outcome::Cancelled
            }
        };
        effects.push(Effect::Answer(running.id, outcome));
    }

    /// Moves on to the next prompt when nothing stands in its way.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        if self.running.is_some() || self.queue.is_empty() {
            return;
        }
        match self.claude {
            Claude::Ready(_) if self.suits => {
                let Some(Queued { id, retried }) = self.queue.pop_front() else {
                    return;
                };
                self.running = Some(Running {
                    id,
                    retried,
                    begun: false,
                    stop: Stop::No,
                    hand_off: HandOff::No,
                    steered: Vec::new(),
                    cut_short: false,
                    heard: None,
                    agents: if self.agents_at_work {
                        Agents::Some
                    } else {
                        Agents::None
                    },
                });
                effects.push(Effect::Send(id));
            }
            Claude::Absent => {
                let generation = self.start();
                effects.push(Effect::Launch(generation));
            }
            Claude::Ready(generation) | Claude::Stale(generation) => {
                self.claude = Claude::Ending(generation);
                effects.push(Effect::Retire);
            }
            Claude::Starting(_) | Claude::Ending(_) | Claude::Closed => {}
        }
    }

    /// The process that is started now.
    fn start(&mut self) -> Generation {
        self.newest = Generation(self.newest.0.saturating_add(1));
        self.claude = Claude::Starting(self.newest);
        self.suits = true;
        self.newest
    }

    fn is_current(&self, generation: Generation) -> bool {
        match self.claude {
            Claude::Starting(current)
            | Claude::Ready(current)
            | Claude::Stale(current)
            | Claude::Ending(current) => current == generation,
            Claude::Absent | Claude::Closed => false,
        }
    }
}
