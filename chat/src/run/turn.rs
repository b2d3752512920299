//! One turn: the prompt goes out, events are shown until its answer is there. The first interrupt cancels the turn,
//! the second one gives up on it.

use acp_proto::schema::{RequestPermissionOutcome, SessionId, StopReason};

use super::ask::Asked;
use super::{Chat, cancel_line, prompt_request, stop_reason};
use crate::ChatError;
use crate::peer::{self, Event, Failure};
use crate::present::wording;

/// So much text is written at once at most: an interrupt wants to be noticed.
const BATCH_BYTES: usize = 64 * 1024;

/// How a turn ended.
pub(super) enum End {
    /// It was answered.
    Stopped(StopReason),
    /// It failed; the session may be used again.
    Failed(String),
    /// The user did not want to wait for its end.
    Abandoned,
}

/// What an interrupt means now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    Cancelling,
}

impl Chat {
    pub(super) async fn turn(&mut self, session: &SessionId, prompt: String) -> Result<End, ChatError> {
        self.transcript.turn_begins();
        let (line, response) = self
            .connection
            .prepare_request(peer::PROMPT, &prompt_request(session, prompt));
        peer::send(&self.connection, line).await?;
        let mut phase = Phase::Running;
        tokio::pin!(response);
        let answer = loop {
            let asked = tokio::select! {
                biased;
                _ = self.console.interrupts.recv() => Asked::Interrupted,
                Some(event) = self.events.next() => self.turn_events(event, phase).await?,
                answer = &mut response => break peer::outcome(answer),
            };
            match (asked, phase) {
                (Asked::Settled, _) => {}
                (Asked::Interrupted, Phase::Cancelling) => return Ok(End::Abandoned),
                (Asked::Interrupted, Phase::Running) => {
                    phase = Phase::Cancelling;
                    self.transcript.line_is_open(); // the terminal wrote `^C`
                    peer::send(&self.connection, cancel_line(session)).await?;
                    self.remark(wording::CANCELLING).await?;
                }
            }
        };
        // What came before the answer was queued before it.
        while let Some(event) = self.events.waiting() {
            self.turn_events(event, Phase::Cancelling).await?;
        }
        self.turn_end(answer).await
    }

    async fn turn_end(
        &mut self,
        answer: Result<Box<serde_json::value::RawValue>, Failure>,
    ) -> Result<End, ChatError> {
        let reason = match &answer {
            Ok(answer) => Some(stop_reason(answer)?),
            Err(_) => None,
        };
        let text = self.transcript.turn_ended(reason);
        self.print(&text).await?;
        match (answer, reason) {
            (_, Some(reason)) => Ok(End::Stopped(reason)),
            (Err(Failure::Closed), None) => Err(ChatError::Closed),
            (Err(failure), None) => Ok(End::Failed(self.explain(failure))),
            (Ok(_), None) => Err(ChatError::Closed),
        }
    }

    /// Takes an event and those that wait behind it, up to the first that the user has to do with.
    pub(super) async fn turn_events(&mut self, first: Event, phase: Phase) -> Result<Asked, ChatError> {
        let mut next = Some(first);
        while let Some(event) = next {
            if self.turn_event(event, phase).await? == Asked::Interrupted {
                return Ok(Asked::Interrupted);
            }
            next = if self.unwritten.len() < BATCH_BYTES {
                self.events.waiting()
            } else {
                None
            };
        }
        self.flush().await?;
        Ok(Asked::Settled)
    }

    /// Renders or asks what the agent sent. A question that belongs to a cancelled turn is not asked any more.
    async fn turn_event(&mut self, event: Event, phase: Phase) -> Result<Asked, ChatError> {
        match event {
            Event::Update(notification) => {
                let text = self.transcript.update(&notification.update);
                self.unwritten.push_str(&text);
                Ok(Asked::Settled)
            }
            Event::Question(question) => match phase {
                Phase::Running => self.ask(question).await,
                Phase::Cancelling => {
                    question.answer(RequestPermissionOutcome::Cancelled);
                    Ok(Asked::Settled)
                }
            },
        }
    }

    /// The same between turns, below a prompt marker. Says whether anything was printed.
    pub(super) async fn idle_event(&mut self, event: Event) -> Result<bool, ChatError> {
        let text = match event {
            Event::Question(question) => {
                self.ask(question).await?;
                String::new()
            }
            Event::Update(notification) => {
                let text = self.transcript.update(&notification.update);
                if text.is_empty() {
                    return Ok(false);
                }
                text
            }
        };
        let end = self.transcript.turn_ended(None);
        self.print(&format!("{text}{end}")).await?;
        Ok(true)
    }
}
