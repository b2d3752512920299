//! The actor of one session: waits for whatever comes next and routes it.
//!
//! It never waits inside a handler. Its one waiting place is [`Actor::wait`], whose branches are all cancel-safe; Claude is
//! read only while the outbox is empty.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use acp_proto::schema;
use claude_sdk_bridge::{
    backend::Exit,
    messages::{ClaudeSessionId, ContentBlock, OutgoingUserMessage},
    query::{Query, QueryEvent, QueryHandle},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use permission_core::PermissionMode;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Command, Link, Origin, Reply, answers::TurnFacts, control::CallDone, grants::Grants, outbox::Outbox,
    settings::SettingsWatch, start::LaunchResult,
};
use crate::{
    initialize::ClientFacts,
    modes::Modes,
    options::{Options, Request},
    permission::{Asks, HookEnded, SessionGuard, Subagents},
    translate::Translator,
    turn::{Event, Generation, PromptId, TurnMachine},
    usage::{TurnUsage, UsageMeter},
};

/// How long a slow client may keep a session that has ended.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// How many deltas are taken in a row before commands and timers get their turn.
const DELTA_BURST: usize = 64;

/// One session's state. The parts decide; the actor connects them.
pub(super) struct Actor {
    pub(super) origin: Origin,
    pub(super) link: Link,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) claude: Claude,
    /// What the process said before it was ready.
    pub(super) early: VecDeque<QueryEvent>,
    pub(super) turn: TurnMachine,
    pub(super) prompts: HashMap<PromptId, Prompt>,
    /// What was said into the running turn and Claude has not taken up.
    pub(super) unheard: Vec<(PromptId, Vec<ContentBlock>)>,
    pub(super) translator: Translator,
    pub(super) asks: Asks,
    pub(super) guard: SessionGuard,
    pub(super) grants: Grants,
    pub(super) modes: Modes,
    pub(super) options: Options,
    pub(super) client: ClientFacts,
    pub(super) watch: Option<SettingsWatch>,
    pub(super) transcript: Transcript,
    pub(super) calls: FuturesUnordered<BoxFuture<'static, CallDone>>,
    pub(super) outbox: Outbox,
    pub(super) escalation: Option<Instant>,
    /// Fires when the client knows the session; `None` once it has.
    pub(super) announce_after: Option<CancellationToken>,
    /// What the client is told first.
    pub(super) greetings: Vec<schema::SessionUpdate>,
    pub(super) subagents: Subagents,
    pub(super) facts: TurnFacts,
    pub(super) meter: UsageMeter,
    /// What the running prompt has used, over all the results it took.
    pub(super) turn_usage: TurnUsage,
    /// The approved plan that is on its way to a fresh process.
    pub(super) hand_off: Option<HandOffPlan>,
    pub(super) closing: Vec<oneshot::Sender<()>>,
    pub(super) farewell: Farewell,
}

/// The end of the session, once it has begun.
pub(super) enum Farewell {
    No,
    /// The process is being ended.
    Ending(BoxFuture<'static, Exit>),
    /// The process is gone; what is queued for the client may still leave until then.
    Draining(Instant),
}

/// The process behind the session, as the rim sees it.
pub(super) enum Claude {
    Absent,
    /// With the choices that it was not started with.
    Starting(Generation, BoxFuture<'static, LaunchResult>, Vec<Request>),
    Running(Generation, Box<Query>),
    Ending(Generation, BoxFuture<'static, Exit>),
}

/// A prompt that has not been answered.
pub(super) struct Prompt {
    pub(super) message: OutgoingUserMessage,
    /// Whether Claude has had it.
    pub(super) sent: bool,
    /// Nobody waits for a turn that steering has started.
    pub(super) reply: Option<Reply<schema::PromptResponse>>,
}

/// An approved plan, and how it is to be carried out.
pub(super) struct HandOffPlan {
    /// The mode of the fresh process.
    pub(super) mode: PermissionMode,
    /// The complete plan.
    pub(super) plan: String,
    /// The id that the fresh process knows the session by.
    pub(super) session: ClaudeSessionId,
}

/// What Claude has written down of the session, as far as a new process needs to know.
pub(super) enum Transcript {
    /// Nothing yet: a new process starts under this id.
    Unwritten(ClaudeSessionId),
    /// A new process resumes this.
    Written(ClaudeSessionId),
}

/// What the actor woke up for.
enum Wake {
    Command(Option<Command>),
    Claude(QueryEvent),
    Launched(Generation, Box<LaunchResult>),
    Gone(Generation, Exit),
    Called(CallDone),
    Answered(crate::permission::Answered),
    HookEnded(HookEnded),
    Escalate,
    SettingsChanged,
    Announce,
    Sent,
    ClientGone,
    ProcessParted,
    DrainedLongEnough,
}

impl Actor {
    /// Runs the session to its end.
    pub(super) async fn run(mut self) {
        while !self.parted() {
            match self.wait().await {
                Wake::Command(Some(command)) => self.command(command),
                // Every handle is gone, so nobody can use the session any more.
                Wake::Command(None) => self.dispatch(Event::Close),
                Wake::Claude(event) => self.claude_event(event),
                Wake::Launched(generation, result) => self.launched(generation, *result),
                Wake::Gone(generation, exit) => self.process_gone(generation, &exit),
                Wake::Called(done) => self.called(done),
                Wake::Answered(answered) => self.answered(answered),
                Wake::HookEnded(ended) => self.hook_ended(ended),
                Wake::Escalate => {
                    self.escalation = None;
                    self.dispatch(Event::EscalationDue);
                }
                Wake::SettingsChanged => self.settings_changed(),
                Wake::Announce => self.announce(),
                Wake::Sent => {}
                Wake::ClientGone => self.outbox.abandon(),
                Wake::ProcessParted => self.farewell = Farewell::now(),
                Wake::DrainedLongEnough => self.outbox.abandon(),
            }
        }
        for done in self.closing {
            let _: Result<(), ()> = done.send(());
        }
    }

    /// The handle of the running process, if there is one.
    pub(super) fn query(&self) -> Option<QueryHandle> {
        match &self.claude {
            Claude::Running(_, query) => Some(query.handle()),
            Claude::Absent | Claude::Starting(..) | Claude::Ending(..) => None,
        }
    }

    fn parted(&self) -> bool {
        matches!(self.farewell, Farewell::Draining(_)) && self.outbox.is_empty()
    }

    async fn wait(&mut self) -> Wake {
        let held_back = self.announce_after.is_some();
        let readable = self.outbox.is_empty();
        let closed = self.link.connection.closed();
        tokio::select! {
            biased;
            command = self.commands.recv(), if self.farewell.is_no() => Wake::Command(command),
            wake = self.farewell.next() => wake,
            () = sleep_until(self.escalation) => Wake::Escalate,
            () = announced(self.announce_after.as_ref()) => Wake::Announce,
            permit = self.link.connection.ready(), if !readable && !held_back => match permit {
                Ok(permit) => { self.outbox.release(permit); Wake::Sent }
                Err(_) => Wake::ClientGone,
            },
            () = closed.cancelled(), if !readable && held_back => Wake::ClientGone,
            Some(answered) = self.asks.next(), if !self.asks.is_empty() => Wake::Answered(answered),
            Some(ended) = self.guard.next(), if !self.guard.is_idle() => Wake::HookEnded(ended),
            Some(done) = self.calls.next(), if !self.calls.is_empty() => Wake::Called(done),
            () = settings_changed(self.watch.as_mut()) => Wake::SettingsChanged,
            event = kept(&mut self.early), if readable => Wake::Claude(event),
            wake = self.claude.next(readable) => wake,
        }
    }

    /// Takes one event of Claude's, and with it the deltas that are already there.
    fn claude_event(&mut self, event: QueryEvent) {
        let mut event = Some(event);
        for _ in 0..DELTA_BURST {
            let Some(QueryEvent::Delta(delta)) = event else {
                break;
            };
            self.delta(&delta);
            event = match &mut self.claude {
                Claude::Running(_, query) if self.outbox.is_empty() && self.early.is_empty() => {
                    query.next().now_or_never()
                }
                Claude::Running(..) | Claude::Absent | Claude::Starting(..) | Claude::Ending(..) => None,
            };
        }
        if let Some(event) = event {
            self.frame(event);
        }
    }
}

impl Claude {
    /// The next thing the process does. Its messages are read only when there is room for what they become.
    async fn next(&mut self, readable: bool) -> Wake {
        match self {
            Claude::Running(_, query) if readable => Wake::Claude(query.next().await),
            Claude::Starting(generation, starting, _) => {
                Wake::Launched(*generation, Box::new(starting.await))
            }
            Claude::Ending(generation, ending) => Wake::Gone(*generation, ending.await),
            Claude::Running(..) | Claude::Absent => std::future::pending().await,
        }
    }
}

impl Farewell {
    /// There is no process to wait for.
    pub(super) fn now() -> Self {
        Farewell::Draining(Instant::now() + DRAIN_LIMIT)
    }

    fn is_no(&self) -> bool {
        matches!(self, Farewell::No)
    }

    async fn next(&mut self) -> Wake {
        match self {
            Farewell::No => std::future::pending().await,
            Farewell::Ending(ending) => {
                let _: Exit = ending.await;
                Wake::ProcessParted
            }
            Farewell::Draining(deadline) => {
                tokio::time::sleep_until(*deadline).await;
                Wake::DrainedLongEnough
            }
        }
    }
}

async fn settings_changed(watch: Option<&mut SettingsWatch>) {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}

async fn kept(early: &mut VecDeque<QueryEvent>) -> QueryEvent {
    match early.pop_front() {
        Some(event) => event,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn announced(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}
