//! One running Claude: reads its lines as typed events, correlates control requests in both directions, and sees it from
//! `initialize` to its end. Between `backend` (lines and a life) and the session, which decides what to answer.
//!
//! [`Query::next`] reads the backend's stream directly, with no task or channel in between: who does not call it slows
//! Claude, not our memory. A query must not interpret messages beyond what it correlates.

mod channel;
mod close;
mod event;
mod handle;
mod lines;
mod start;
mod timings;
mod writer;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::time::{Instant, timeout, timeout_at};

use self::channel::Channel;
use self::lines::{LineReader, MAX_LINE_BYTES};
use crate::backend::{Exit, Life, Running};
use crate::decode::{Decoded, decode};
use crate::messages::Message;
use crate::messages::control::ControlRequest;

pub use self::event::QueryEvent;
pub use self::handle::{ControlCall, ControlError, QueryHandle};
pub use self::start::StartError;
pub use self::timings::QueryTimings;
pub use self::writer::SendError;

/// What is read after Claude's end at most, should something else keep writing to its output. A pipe holds less.
const DRAIN_BYTES: usize = 8 * 1024 * 1024;

/// One running Claude. Dropping it ends Claude and everything it started at once; [`Query::close`] is the kind way.
pub struct Query {
    lines: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
    life: Box<dyn Life>,
    channel: Arc<Channel>,
    /// Events that came before the answer to `initialize`.
    kept: VecDeque<QueryEvent>,
    stage: Stage,
}

/// How far Claude has come to its end.
enum Stage {
    Running,
    /// Its output has ended. The process should end too, and is ended at the given time.
    OutputEnded {
        kill_at: Instant,
    },
    /// The process has ended, its output has not: something else holds it open.
    Draining {
        exit: Exit,
        wait: Duration,
        bytes: usize,
    },
    Ended(Exit),
}

/// What one wait for Claude brought.
enum Step {
    Read,
    OutputEnded,
    ProcessEnded(Exit),
}

impl Query {
    /// A query over what a backend started, before `initialize`.
    fn over(running: Running, timings: &QueryTimings) -> Self {
        let Running { stdin, stdout, life } = running;
        Self {
            lines: LineReader::new(stdout, MAX_LINE_BYTES),
            life,
            channel: Arc::new(Channel::new(stdin, *timings)),
            kept: VecDeque::new(),
            stage: Stage::Running,
        }
    }

    /// A handle to send with; there may be any number.
    pub fn handle(&self) -> QueryHandle {
        QueryHandle::new(Arc::clone(&self.channel))
    }

    /// The last of what Claude wrote to its error stream.
    pub fn stderr_tail(&self) -> String {
        self.life.stderr_tail()
    }

    /// The next event. Cancel-safe. After [`QueryEvent::Ended`] it returns that again.
    pub async fn next(&mut self) -> QueryEvent {
        match self.kept.pop_front() {
            Some(event) => event,
            None => self.fresh().await,
        }
    }

    /// Asks Claude something and waits for the answer; what it says meanwhile is kept for [`Query::next`].
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn ask(&mut self, request: ControlRequest) -> Result<Value, ControlError> {
        let mut call = self.handle().request(request);
        loop {
            tokio::select! {
                biased;
                answer = &mut call => return answer,
                event = self.fresh() => self.kept.push_back(event),
            }
        }
    }

    /// The next event Claude has not said before.
    async fn fresh(&mut self) -> QueryEvent {
        loop {
            if let Some(event) = self.buffered() {
                return event;
            }
            match &mut self.stage {
                Stage::Running => {
                    let step = self.step().await;
                    if let Some(event) = self.advance(step) {
                        return event;
                    }
                }
                Stage::OutputEnded { kill_at } => {
                    let grace = self.channel.timings.grace;
                    let exit = match timeout_at(*kill_at, self.life.ended()).await {
                        Ok(exit) => exit,
                        Err(_) => self.life.kill(&grace).await,
                    };
                    self.finish(exit);
                }
                Stage::Draining { exit, wait, bytes } => {
                    let started = Instant::now();
                    let read = timeout(*wait, self.lines.fill()).await;
                    *wait = wait.saturating_sub(started.elapsed());
                    match read {
                        Ok(Ok(read)) if read > 0 && read <= *bytes => *bytes -= read,
                        Ok(_) | Err(_) => {
                            let exit = exit.clone();
                            self.finish(exit);
                        }
                    }
                }
                Stage::Ended(exit) => return QueryEvent::Ended(exit.clone()),
            }
        }
    }

    /// The next event in what has already been read.
    fn buffered(&mut self) -> Option<QueryEvent> {
        loop {
            let line = self.lines.buffered()?;
            if let Some(event) = route(line, &self.channel) {
                return Some(event);
            }
        }
    }

    /// Waits for more output, or for the end without any.
    async fn step(&mut self) -> Step {
        tokio::select! {
            biased;
            read = self.lines.fill() => match read {
                Ok(0) => Step::OutputEnded,
                Ok(_) => Step::Read,
                Err(error) => {
                    tracing::warn!(%error, "claude's output cannot be read any more");
                    Step::OutputEnded
                }
            },
            exit = self.life.ended() => Step::ProcessEnded(exit),
        }
    }

    fn advance(&mut self, step: Step) -> Option<QueryEvent> {
        let timings = self.channel.timings;
        match step {
            Step::Read => None,
            Step::OutputEnded => {
                self.stage = Stage::OutputEnded {
                    kill_at: Instant::now() + timings.exit_after_output,
                };
                let rest = self.lines.rest()?;
                route(rest, &self.channel)
            }
            Step::ProcessEnded(exit) => {
                self.stage = Stage::Draining {
                    exit,
                    wait: timings.drain,
                    bytes: DRAIN_BYTES,
                };
                None
            }
        }
    }

    fn finish(&mut self, exit: Exit) {
        self.channel.end();
        self.stage = Stage::Ended(exit);
    }
}

impl Drop for Query {
    fn drop(&mut self) {
        self.channel.end();
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").finish_non_exhaustive()
    }
}

/// What a line says, where it concerns the session.
fn route(line: Bytes, channel: &Channel) -> Option<QueryEvent> {
    let message = match decode(line) {
        Decoded::Delta(delta) => return Some(QueryEvent::Delta(delta)),
        Decoded::Message(message) => message,
        Decoded::Garbage { line_start, error } => {
            tracing::warn!(%line_start, %error, "a line from claude is not JSON and is passed over");
            return None;
        }
    };
    match *message {
        Message::ControlResponse(response) => {
            channel.answered(*response);
            None
        }
        Message::ControlRequest(control) => channel.asked(*control),
        Message::ControlCancel(cancel) => channel.withdrawn(cancel.request_id),
        other @ (Message::System(_)
        | Message::Assistant(_)
        | Message::User(_)
        | Message::Result(_)
        | Message::StreamEvent(_)
        | Message::CommandLifecycle(_)
        | Message::ConversationReset(_)
        | Message::RateLimit(_)
        | Message::ToolProgress(_)
        | Message::KeepAlive(_)
        | Message::Unknown(_)) => Some(QueryEvent::Message(Box::new(other))),
    }
}

#[cfg(test)]
mod tests;
