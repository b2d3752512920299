//! Performs what the turn machine decides, and keeps the client's picture of the session up to date.

use acp_proto::{Line, schema};
use tokio::time::Instant;

use super::{
    actor::{Actor, Claude, Prompt},
    answers::{self, Cause, TurnFacts},
};
use crate::{
    translate::SettleReason,
    turn::{Effect, Event, Outcome, PromptId},
    usage::TurnUsage,
};

impl Actor {
    /// Lets the turn machine decide about an event, and does what it says.
    pub(super) fn dispatch(&mut self, event: Event) {
        self.dispatch_because(event, Cause::None);
    }

    /// The same, with what there is to say to a prompt that the event ends.
    pub(super) fn dispatch_because(&mut self, event: Event, cause: Cause<'_>) {
        for effect in self.turn.on(event) {
            match effect {
                Effect::Launch(generation) => self.launch(generation),
                Effect::LaunchFresh(generation) => self.launch_fresh(generation),
                Effect::AbortLaunch => self.claude = Claude::Absent,
                Effect::Send(prompt) => self.send_prompt(prompt),
                Effect::Interrupt => self.interrupt(),
                Effect::ArmEscalation => {
                    self.escalation = Some(Instant::now() + self.origin.timings.escalation)
                }
                Effect::DisarmEscalation => self.escalation = None,
                Effect::WithdrawAsks => self.withdraw_asks(),
                Effect::Kill => self.end_process(EndBy::Force),
                Effect::Retire => self.end_process(EndBy::Closing),
                Effect::Shutdown { turn_running } => self.shut_down(turn_running),
                Effect::Answer(prompt, outcome) => self.answer_prompt(prompt, outcome, cause),
            }
        }
    }

    /// Queues an update for the client.
    pub(super) fn update(&mut self, update: schema::SessionUpdate) {
        let notification = schema::SessionNotification::new(self.link.session_id.clone(), update);
        let line = Line::notification("session/update", &notification);
        self.outbox.push(&self.link.connection, line);
    }

    /// The client knows the session now: its updates may leave.
    pub(super) fn announce(&mut self) {
        self.announce_after = None;
        self.outbox.open();
        for update in std::mem::take(&mut self.greetings) {
            self.update(update);
        }
    }

    fn send_prompt(&mut self, id: PromptId) {
        let Some(query) = self.query() else { return };
        let Some(prompt) = self.prompts.get_mut(&id) else {
            return;
        };
        let again = std::mem::replace(&mut prompt.sent, true);
        self.facts = TurnFacts::default();
        // A process that takes no input is about to end, and its end answers the prompt.
        if let Err(error) = query.send_user(&prompt.message) {
            tracing::warn!(%error, "prompt not delivered to claude");
        }
        // A prompt that is sent again goes on with what it has used.
        if !again {
            self.turn_usage = TurnUsage::default();
            let plan = self.translator.prompted();
            plan.into_iter().for_each(|update| self.update(update));
        }
    }

    pub(super) fn end_process(&mut self, by: EndBy) {
        let Claude::Running(generation, mut query) = std::mem::replace(&mut self.claude, Claude::Absent)
        else {
            return;
        };
        let timings = self.origin.timings.query;
        let ending = async move {
            match by {
                EndBy::Force => query.kill(&timings).await,
                EndBy::Closing => query.close(false, &timings).await,
            }
        };
        self.claude = Claude::Ending(generation, Box::pin(ending));
    }

    fn shut_down(&mut self, turn_running: bool) {
        let timings = self.origin.timings.query;
        self.farewell =
            match std::mem::replace(&mut self.claude, Claude::Absent) {
                Claude::Running(_, query) => super::actor::Farewell::Ending(Box::pin(async move {
                    query.close(turn_running, &timings).await
                })),
                Claude::Ending(_, ending) => super::actor::Farewell::Ending(ending),
                // A process that is being started ends with the future that starts it.
                Claude::Starting(..) | Claude::Absent => super::actor::Farewell::now(),
            };
    }

    fn answer_prompt(&mut self, id: PromptId, outcome: Outcome, cause: Cause<'_>) {
        let Some(Prompt { reply, sent, .. }) = self.prompts.remove(&id) else {
            return;
        };
        if sent {
            self.hand_off = None;
            self.unheard.clear();
            for update in self.translator.settle_open(settle_reason(outcome)) {
                self.update(update);
            }
        }
        let used = sent.then(|| self.turn_usage.total()).flatten();
        let answer = answers::answer(outcome, cause, &self.facts, used, &self.origin.login);
        // A client that has gone does not want the answer any more.
        let Some(reply) = reply else { return };
        self.outbox.then(move || drop(reply.send(answer)));
    }
}

pub(super) enum EndBy {
    Force,
    Closing,
}

/// What becomes of tool calls that have no result when their prompt is answered.
fn settle_reason(outcome: Outcome) -> SettleReason {
    match outcome {
        Outcome::Finished | Outcome::NoResult => SettleReason::TurnEnded,
        Outcome::Cancelled => SettleReason::Cancelled,
        Outcome::Died | Outcome::LaunchFailed | Outcome::QueueFull | Outcome::Closed => {
            SettleReason::ProcessDied
        }
    }
}
