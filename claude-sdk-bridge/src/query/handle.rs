//! The way to a running Claude for everyone but its reader: prompts, answers and control requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Sleep, sleep};

use super::channel::{Answer, Channel};
use super::writer::SendError;
use crate::messages::control::{ControlFailure, ControlRequest};
use crate::messages::{ControlId, OutgoingUserMessage};

/// Sends to one running Claude. Nothing here waits for Claude to read: a full queue is an error.
#[derive(Debug, Clone)]
pub struct QueryHandle {
    channel: Arc<Channel>,
}

impl QueryHandle {
    pub(super) fn new(channel: Arc<Channel>) -> Self {
        Self { channel }
    }

    /// Sends a user message.
    pub fn send_user(&self, message: &OutgoingUserMessage) -> Result<(), SendError> {
        self.channel.send("user", message)
    }

    /// Answers a control request of Claude's: a payload, or the reason there is none. The first answer counts; a further
    /// one, or one to a request that was withdrawn, is [`SendError::NotWaiting`] and is not sent.
    pub fn answer(&self, id: &ControlId, reply: Result<Value, String>) -> Result<(), SendError> {
        self.channel.answer(id, reply)
    }

    /// Sends a control request, at once. The answer is read by [`Query::next`](super::Query::next), so somebody has to
    /// call that while the returned future is awaited. Dropping the future withdraws the request.
    pub fn request(&self, request: ControlRequest) -> ControlCall {
        let kind = request.kind().unwrap_or("unknown").to_owned();
        let limit = limit(&request, &self.channel);
        let state = match self.channel.ask(request) {
            Ok((id, answer)) => State::Waiting {
                id,
                answer,
                limit: limit.map(|limit| (limit, Box::pin(sleep(limit)))),
                channel: Arc::clone(&self.channel),
            },
            Err(error) => State::Failed(error),
        };
        ControlCall { kind, state }
    }
}

/// The answer to come to a control request of ours.
pub struct ControlCall {
    kind: String,
    state: State,
}

enum State {
    Failed(SendError),
    Waiting {
        id: ControlId,
        answer: Answer,
        limit: Option<(Duration, Pin<Box<Sleep>>)>,
        channel: Arc<Channel>,
    },
    Done,
}

impl ControlCall {
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Value, ControlError>> {
        let (id, answer, limit, channel) = match &mut self.state {
            State::Failed(error) => return Poll::Ready(Err(ControlError::Send(error.clone()))),
            State::Waiting {
                id,
                answer,
                limit,
                channel,
            } => (id, answer, limit, channel),
            State::Done => {
                return Poll::Ready(Err(ControlError::Ended {
                    kind: self.kind.clone(),
                }));
            }
        };
        if let Poll::Ready(answered) = Pin::new(answer).poll(cx) {
            let kind = || self.kind.clone();
            return Poll::Ready(match answered {
                Ok(Ok(payload)) => Ok(payload),
                Ok(Err(failure)) => Err(ControlError::Refused {
                    kind: kind(),
                    failure,
                }),
                Err(_closed) => Err(ControlError::Ended { kind: kind() }),
            });
        }
        let Some((after, sleep)) = limit else {
            return Poll::Pending;
        };
        ready!(sleep.as_mut().poll(cx));
        channel.withdraw(id);
        Poll::Ready(Err(ControlError::TimedOut {
            kind: self.kind.clone(),
            after: *after,
        }))
    }
}

impl Future for ControlCall {
    type Output = Result<Value, ControlError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answered = self.poll_answer(cx);
        if answered.is_ready() {
            self.state = State::Done;
        }
        answered
    }
}

impl Drop for ControlCall {
    fn drop(&mut self) {
        if let State::Waiting { id, channel, .. } = &self.state {
            channel.withdraw(id);
        }
    }
}

impl fmt::Debug for ControlCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlCall")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Why a control request of ours has no payload for an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// It could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// Claude said no.
    #[error("claude refused `{kind}`: {failure}")]
    Refused {
        /// The request's subtype.
        kind: String,
        /// What Claude said.
        failure: ControlFailure,
    },
    /// Claude said nothing; the request was withdrawn.
    #[error("claude did not answer `{kind}` within {after:?}; try again, or cancel the turn if it hangs")]
    TimedOut {
        /// The request's subtype.
        kind: String,
        /// How long it had.
        after: Duration,
    },
    /// Claude ended first.
    #[error("claude ended before it answered `{kind}`; start a new query")]
    Ended {
        /// The request's subtype.
        kind: String,
    },
}

impl ControlError {
    /// Whether it is the process's end that kept it from answering, and not Claude.
    #[must_use]
    pub fn is_the_end(&self) -> bool {
        match self {
            Self::Ended { .. } | Self::Send(SendError::Closed) => true,
            Self::Send(SendError::Full | SendError::NotWaiting { .. } | SendError::Unwritable { .. })
            | Self::Refused { .. }
            | Self::TimedOut { .. } => false,
        }
    }
}

/// How long Claude may take. Requests that ask a model, a server or a person take as long as they take, and so may one we
/// do not know; all others are answered out of Claude's memory.
fn limit(request: &ControlRequest, channel: &Channel) -> Option<Duration> {
    use ControlRequest as R;
    let unlimited = matches!(request, R::GetContextUsage(_) | R::Unknown(_));
    let timings = &channel.timings;
    if matches!(request, R::Initialize(_)) {
        return Some(timings.initialize);
    }
    (!unlimited).then_some(timings.control)
}
