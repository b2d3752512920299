//! The Claude process behind a session: started, started again, asked, answered and ended.
//!
//! Place in the flow: the turn machine says when; `choices` says with which options. What it says goes to the actor.

use claude_sdk_bridge::backend::Exit;
use claude_sdk_bridge::launch::{LaunchOptions, SessionStart};
use claude_sdk_bridge::messages::control::ControlRequest;
use claude_sdk_bridge::messages::{ClaudeSessionId, ControlId, OutgoingUserMessage};
use claude_sdk_bridge::query::{ControlError, Query, QueryEvent, SendError, StartError};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use serde_json::Value;

use super::effect::Purpose;
use super::start::{LaunchFailure, LaunchResult, Origin, Started, Told, start};
use crate::options::Request;
use crate::turn::Generation;

/// The process of one session, and what is asked of it.
pub(super) struct Process {
    origin: Origin,
    state: State,
    transcript: Transcript,
    calls: FuturesUnordered<BoxFuture<'static, (Purpose, Result<Value, ControlError>)>>,
}

enum State {
    Absent,
    Starting {
        generation: Generation,
        attempt: BoxFuture<'static, LaunchResult>,
        /// The conversation that it begins, where it does not go on with the session's.
        fresh: Option<ClaudeSessionId>,
        /// Choices that it was not started with.
        late: Vec<Request>,
    },
    Running(Generation, Box<Query>),
    Ending(Generation, BoxFuture<'static, Exit>),
}

/// What Claude has written down of the session, as far as a new process needs to know.
pub(super) enum Transcript {
    /// Nothing yet: a new process starts under this id.
    Unwritten(ClaudeSessionId),
    /// A new process resumes this.
    Written(ClaudeSessionId),
}

impl Transcript {
    /// That of a conversation whose first process is started so.
    pub(super) fn of(start: &SessionStart, id: ClaudeSessionId) -> Self {
        match start {
            SessionStart::Resume { .. } | SessionStart::Fork { .. } => Self::Written(id),
            SessionStart::New { .. } | SessionStart::Unnamed => Self::Unwritten(id),
        }
    }
}

/// What happened to the process.
pub(super) enum ProcessEvent {
    /// It said something.
    Said(Generation, QueryEvent),
    /// An attempt to start it is over.
    Launched(Generation, LaunchResult),
    /// It was ended.
    Ended(Generation, Exit),
    /// It answered a request of ours, or will not.
    Answered(Purpose, Result<Value, ControlError>),
}

/// How a process is ended.
pub(super) enum EndBy {
    Force,
    /// In good order.
    Closing {
        turn_running: bool,
    },
}

impl Process {
    /// The first process of a session.
    pub(super) fn new(origin: Origin, query: Query, transcript: Transcript) -> Self {
        Self {
            origin,
            state: State::Running(Generation(1), Box::new(query)),
            transcript,
            calls: FuturesUnordered::new(),
        }
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The next thing that happens. What it says is read only when there is room for what becomes of it. Cancel-safe.
    pub(super) async fn next(&mut self, readable: bool) -> ProcessEvent {
        tokio::select! {
            biased;
            Some((purpose, answer)) = self.calls.next() => ProcessEvent::Answered(purpose, answer),
            event = self.state.next(readable) => event,
        }
    }

    /// What it has said already and nobody has taken.
    pub(super) fn said(&mut self) -> Option<QueryEvent> {
        match &mut self.state {
            State::Running(_, query) => query.next().now_or_never(),
            State::Absent | State::Starting { .. } | State::Ending(..) => None,
        }
    }

    /// Which one is running, if one is.
    pub(super) fn generation(&self) -> Option<Generation> {
        match &self.state {
            State::Running(generation, _) => Some(*generation),
            State::Absent | State::Starting { .. } | State::Ending(..) => None,
        }
    }

    /// Asks the running process something; without one, it is as if it had ended meanwhile: the purpose is handed back. A
    /// choice is kept for a process that is being started.
    pub(super) fn call(&mut self, request: ControlRequest, purpose: Purpose) -> Option<Purpose> {
        match &mut self.state {
            State::Running(_, query) => {
                let call = query.handle().request(request);
                self.calls.push(Box::pin(async move { (purpose, call.await) }));
                return None;
            }
            State::Starting { late, .. } => {
                if let Purpose::Choice(choice, ..) = &purpose {
                    late.push(choice.clone());
                }
            }
            State::Absent | State::Ending(..) => {}
        }
        Some(purpose)
    }

    /// Answers a request of Claude's.
    pub(super) fn reply(&self, control: &ControlId, reply: Result<Value, String>) {
        if let State::Running(_, query) = &self.state
            && let Err(error) = query.handle().answer(control, reply)
        {
            tracing::debug!(%error, "reply not delivered to claude");
        }
    }

    /// Says something to Claude.
    ///
    /// # Errors
    /// When it takes no input any more.
    pub(super) fn send(&self, message: &OutgoingUserMessage) -> Result<(), SendError> {
        match &self.state {
            State::Running(_, query) => query.handle().send_user(message),
            State::Absent | State::Starting { .. } | State::Ending(..) => Err(SendError::Closed),
        }
    }

    /// The conversation that Claude has now.
    pub(super) fn conversation(&self) -> &ClaudeSessionId {
        match &self.transcript {
            Transcript::Unwritten(id) | Transcript::Written(id) => id,
        }
    }

    /// Claude has begun to write the conversation down.
    pub(super) fn written(&mut self, id: ClaudeSessionId) {
        self.transcript = Transcript::Written(id);
    }

    /// Claude has begun another conversation, of which nothing is written down.
    pub(super) fn reset(&mut self, id: ClaudeSessionId) {
        self.transcript = Transcript::Unwritten(id);
    }

    /// Starts a process that goes on with what Claude has written down, or from nothing when that is nothing.
    pub(super) fn launch(
        &mut self,
        generation: Generation,
        (options, choices): (LaunchOptions, Vec<Request>),
    ) {
        let (fresh, id) = match &self.transcript {
            Transcript::Unwritten(id) => (true, id.clone()),
            Transcript::Written(id) => (false, id.clone()),
        };
        let new = SessionStart::New { id: id.clone() };
        let resumed = SessionStart::Resume { id, at: None };
        let (first, second) = if fresh { (new, resumed) } else { (resumed, new) };
        let with = move |session| LaunchOptions {
            session,
            ..options.clone()
        };
        let origin = self.origin.clone();
        let attempt = async move {
            match start(&origin, &with(first), &choices).await {
                // Claude and we disagree about what it has written down, so it is asked the other way.
                Err(LaunchFailure::Start(StartError::Refused { .. })) => {
                    start(&origin, &with(second), &choices).await
                }
                started => started,
            }
        };
        self.starting(generation, attempt.boxed(), None);
    }

    /// Starts a process that knows nothing of the conversation.
    pub(super) fn launch_fresh(
        &mut self,
        generation: Generation,
        (mut options, choices): (LaunchOptions, Vec<Request>),
    ) {
        let id = ClaudeSessionId::from(uuid::Uuid::new_v4().to_string());
        options.session = SessionStart::New { id: id.clone() };
        let origin = self.origin.clone();
        let attempt = async move { start(&origin, &options, &choices).await };
        self.starting(generation, attempt.boxed(), Some(id));
    }

    /// Gives up the process that is being started.
    pub(super) fn abort_launch(&mut self) {
        self.state = State::Absent;
    }

    /// An attempt is over. `None` where the process is first told what was chosen meanwhile.
    pub(super) fn launched(&mut self, result: LaunchResult) -> Option<Result<Told, LaunchFailure>> {
        let State::Starting {
            generation,
            fresh,
            late,
            ..
        } = std::mem::replace(&mut self.state, State::Absent)
        else {
            return None;
        };
        let mut started = match result {
            Ok(started) => started,
            Err(failure) => return Some(Err(failure)),
        };
        if !late.is_empty() {
            let choosing = async move {
                started.choose(&late).await;
                Ok(started)
            };
            self.starting(generation, choosing.boxed(), fresh);
            return None;
        }
        if let Some(id) = fresh {
            self.reset(id);
        }
        let Started { query, told } = *started;
        self.state = State::Running(generation, Box::new(query));
        Some(Ok(told))
    }

    /// Ends the running process.
    pub(super) fn end(&mut self, by: EndBy) {
        let timings = self.origin.timings.query;
        self.state = match std::mem::replace(&mut self.state, State::Absent) {
            State::Running(generation, mut query) => {
                let ending = async move {
                    match by {
                        EndBy::Force => query.kill(&timings).await,
                        EndBy::Closing { turn_running } => query.close(turn_running, &timings).await,
                    }
                };
                State::Ending(generation, ending.boxed())
            }
            state @ (State::Absent | State::Starting { .. } | State::Ending(..)) => state,
        };
    }

    /// Ends whatever there is for good. Returns whether an end is still to come.
    pub(super) fn shut_down(&mut self, turn_running: bool) -> bool {
        self.end(EndBy::Closing { turn_running });
        // A process that is being started ends with the future that starts it.
        if matches!(self.state, State::Starting { .. }) {
            self.state = State::Absent;
        }
        matches!(self.state, State::Ending(..))
    }

    /// The process is gone, wanted or not.
    pub(super) fn gone(&mut self) {
        self.state = State::Absent;
    }

    fn starting(
        &mut self,
        generation: Generation,
        attempt: BoxFuture<'static, LaunchResult>,
        fresh: Option<ClaudeSessionId>,
    ) {
        self.state = State::Starting {
            generation,
            attempt,
            fresh,
            late: Vec::new(),
        };
    }
}

impl State {
    async fn next(&mut self, readable: bool) -> ProcessEvent {
        match self {
            State::Running(generation, query) if readable => {
                ProcessEvent::Said(*generation, query.next().await)
            }
            State::Starting {
                generation, attempt, ..
            } => ProcessEvent::Launched(*generation, attempt.await),
            State::Ending(generation, ending) => ProcessEvent::Ended(*generation, ending.await),
            State::Running(..) | State::Absent => std::future::pending().await,
        }
    }
}
