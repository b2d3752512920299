//! From a backend to a query that is ready: launch, `initialize`, and a reason in words when it does not come to that.
//! Whatever fails, nothing is left running.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::handle::ControlError;
use super::{Query, QueryEvent, QueryTimings};
use crate::backend::{Backend, Exit, LaunchError};
use crate::launch::LaunchOptions;
use crate::messages::control::{ControlRequest, InitializeRequest, InitializeResponse};
use crate::messages::{FromWire, Message};

/// What Claude may say before it answers `initialize`; it says a few dozen messages at most.
const MAX_KEPT_EVENTS: usize = 4096;

/// Why there is no query.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It started and ended.
    #[error("claude ended before it was ready, with {exit}")]
    Exited {
        /// How it ended.
        exit: Exit,
    },
    /// It said why it does not start, such as a session to resume that does not exist.
    #[error("claude refused to start: {}", .errors.join("; "))]
    Refused {
        /// Its reasons.
        errors: Vec<String>,
        /// How it ended.
        exit: Exit,
    },
    /// It does not accept `initialize`, or did not answer it in time.
    #[error("{source}{}", last_words(.exit))]
    Initialize {
        /// What went wrong.
        source: ControlError,
        /// How it was ended.
        exit: Exit,
    },
    /// It floods us.
    #[error(
        "claude sent {MAX_KEPT_EVENTS} messages and no answer to `initialize`; check that it is the Claude Code CLI"
    )]
    Flooded {
        /// How it was ended.
        exit: Exit,
    },
}

/// Why it is not ready, before it is known how it ends.
enum NotReady {
    Ended(Exit),
    Refused(Vec<String>),
    Initialize(ControlError),
    Flooded,
}

impl Query {
    /// Starts a Claude and greets it. Events that come before its answer are kept for [`Query::next`], so nothing may have
    /// to be answered before `initialize` is: hosts of in-process MCP servers cannot start this way.
    pub async fn start(
        backend: &dyn Backend,
        options: &LaunchOptions,
        init: InitializeRequest,
        timings: &QueryTimings,
    ) -> Result<(Self, InitializeResponse), StartError> {
        let running = backend.launch(options).await?;
        let mut query = Self::over(running, timings);
        let not_ready = match query.initialize(init).await {
            Ok(response) => return Ok((query, response)),
            Err(not_ready) => not_ready,
        };
        Err(match not_ready {
            NotReady::Ended(exit) => StartError::Exited { exit },
            NotReady::Refused(errors) => StartError::Refused {
                errors,
                exit: query.close(false, timings).await,
            },
            NotReady::Initialize(source) => StartError::Initialize {
                source,
                exit: query.kill(timings).await,
            },
            NotReady::Flooded => StartError::Flooded {
                exit: query.kill(timings).await,
            },
        })
    }

    async fn initialize(&mut self, init: InitializeRequest) -> Result<InitializeResponse, NotReady> {
        let mut answer = self.handle().request(ControlRequest::Initialize(Box::new(init)));
        let mut refusal = Refusal::None;
        loop {
            let event = tokio::select! {
                biased;
                answered = &mut answer => return answered.map(read).map_err(NotReady::Initialize),
                event = self.fresh() => event,
                errors = refusal.believed() => return Err(NotReady::Refused(errors)),
            };
            if let QueryEvent::Ended(exit) = event {
                return Err(refusal.or_else(NotReady::Ended(exit)));
            }
            refusal.hear(&event, self.channel.timings.exit_after_output);
            self.kept.push_back(event);
            if self.kept.len() >= MAX_KEPT_EVENTS {
                return Err(NotReady::Flooded);
            }
        }
    }
}

/// An error result before the answer to `initialize`: Claude says why it will not start, and should then end.
enum Refusal {
    None,
    Heard {
        errors: Vec<String>,
        believed_at: Instant,
    },
}

impl Refusal {
    fn hear(&mut self, event: &QueryEvent, patience: Duration) {
        if let QueryEvent::Message(message) = event
            && let Message::Result(result) = &**message
            && result.is_error.is_true()
        {
            let errors: Vec<String> = result.errors.known().cloned().collect();
            let errors = if errors.is_empty() {
                vec![result.text()]
            } else {
                errors
            };
            *self = Self::Heard {
                errors,
                believed_at: Instant::now() + patience,
            };
        }
    }

    /// Waits until an answer need not be expected any more.
    async fn believed(&self) -> Vec<String> {
        match self {
            Self::None => std::future::pending().await,
            Self::Heard { errors, believed_at } => {
                sleep_until(*believed_at).await;
                errors.clone()
            }
        }
    }

    fn or_else(self, otherwise: NotReady) -> NotReady {
        match self {
            Self::None => otherwise,
            Self::Heard { errors, .. } => NotReady::Refused(errors),
        }
    }
}

/// A bare acknowledgement offers nothing in particular.
fn read(payload: Value) -> InitializeResponse {
    InitializeResponse::from_wire(payload).unwrap_or_else(|payload| {
        tracing::debug!(%payload, "claude's answer to `initialize` has no fields");
        InitializeResponse::default()
    })
}

fn last_words(exit: &Exit) -> String {
    match exit.stderr_tail.trim() {
        "" => String::new(),
        tail => format!("; its last words were `{tail}`"),
    }
}
