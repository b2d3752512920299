//! One session: a Claude process, the turns it runs for a client, and the questions it asks.
//!
//! Place in the flow: the method registry sends [`Command`]s through a [`SessionHandle`]; the actor owns everything else.
//! The actor only routes: decisions are taken by the turn machine, the translator and permission-core.

mod actor;
mod answers;
mod asking;
mod configure;
mod control;
mod effects;
mod frames;
mod grants;
mod guarding;
mod launch;
mod login;
mod open;
mod outbox;
mod overlay;
mod settings;
mod start;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, sync::Arc};

use acp_proto::{Connection, ConnectionId, RpcError, errors, schema};
use claude_sdk_bridge::{
    backend::Backend,
    launch::LaunchOptions,
    messages::{ContentBlock, control::InitializeRequest},
};
use permission_core::guard::Policy;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub(crate) use login::Login;
pub(crate) use open::open;

use crate::{
    config::{Environment, Timings},
    initialize::ClientFacts,
    setup::Setup,
    turn::PromptId,
};

/// How many commands may wait for an actor. It takes them without waiting itself, so this is reached only by a flood.
const COMMAND_QUEUE: usize = 1024;

/// The answer to one request, given once.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, RpcError>>;

/// What a session is opened with.
pub(crate) struct NewSession {
    /// What the client asked for.
    pub(crate) setup: Setup,
    pub(crate) client: ClientFacts,
    pub(crate) connection: Connection,
    /// Fires when the client knows the session's id: no update may come before.
    pub(crate) announce_after: CancellationToken,
}

/// A session that has been opened.
pub(crate) struct Opened {
    pub(crate) id: schema::SessionId,
    pub(crate) modes: schema::SessionModeState,
    pub(crate) options: Vec<schema::SessionConfigOption>,
    pub(crate) handle: SessionHandle,
}

/// What a client asks of a session.
pub(crate) enum Command {
    /// Run a turn.
    Prompt {
        id: PromptId,
        content: Vec<ContentBlock>,
        reply: Reply<schema::PromptResponse>,
    },
    /// Say something into the running turn.
    Steer {
        content: Vec<ContentBlock>,
        when_idle: WhenIdle,
        reply: Reply<Steered>,
    },
    /// Stop the running turn and forget the waiting ones.
    Cancel,
    /// Stop or forget one prompt.
    CancelPrompt(PromptId),
    /// Change the permission mode.
    SetMode { id: String, reply: Reply<()> },
    /// Change a config option.
    SetOption {
        id: String,
        value: schema::SessionConfigOptionValue,
        reply: Reply<Vec<schema::SessionConfigOption>>,
    },
    /// End the session.
    Close { done: oneshot::Sender<()> },
}

/// What to do with steering when no turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenIdle {
    /// Run a turn of its own, which nobody waits for.
    StartTurn,
    /// Leave it to the client.
    RequirePrompt,
}

/// What became of steering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steered {
    Injected,
    StartedNewTurn,
    PromptRequired,
}

/// The way to a session's actor.
#[derive(Clone)]
pub(crate) struct SessionHandle {
    commands: mpsc::Sender<Command>,
    owner: ConnectionId,
}

impl SessionHandle {
    /// The connection that may use the session.
    pub(crate) fn owner(&self) -> ConnectionId {
        self.owner
    }

    /// Hands over a command, without waiting, so that the order of arrival is kept.
    ///
    /// # Errors
    /// When the session is over, or floods of commands wait already.
    pub(crate) fn send(&self, command: Command) -> Result<(), RpcError> {
        self.commands.try_send(command).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => errors::internal(
                "too many requests wait for this session; wait for answers before sending more",
                None,
            ),
            mpsc::error::TrySendError::Closed(_) => {
                errors::internal("the session has ended; open a new one", None)
            }
        })
    }

    /// Hands over a command that must not be lost, waiting in a flood until there is room. A session that has ended needs
    /// it no more.
    pub(crate) async fn deliver(&self, command: Command) {
        let _: Result<(), _> = self.commands.send(command).await;
    }

    /// Ends the session; returns when its process is gone. Ending it twice is fine.
    pub(crate) async fn close(&self) {
        let (done, ended) = oneshot::channel();
        if self.commands.send(Command::Close { done }).await.is_ok() {
            // An actor that is gone has ended its process on the way.
            let _: Result<(), _> = ended.await;
        }
    }
}

/// The connection a session talks to, and the id it goes by there.
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) session_id: schema::SessionId,
}

impl Link {
    fn channel() -> (mpsc::Sender<Command>, mpsc::Receiver<Command>) {
        mpsc::channel(COMMAND_QUEUE)
    }
}

/// What all of a session's Claude processes are started with.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) backend: Arc<dyn Backend>,
    /// What an operator decides for all of them.
    pub(crate) policy: Option<Arc<Policy>>,
    pub(crate) timings: Timings,
    /// The environment of this process.
    pub(crate) environment: Environment,
    pub(crate) home: Option<PathBuf>,
    pub(crate) login: Login,
    pub(crate) options: LaunchOptions,
    /// What each process is greeted with, beside what is ours.
    pub(crate) greeting: InitializeRequest,
}

impl Origin {
    /// The options of the next process. Under a policy they depend on what the settings files say now.
    fn next(&self, watch: Option<&settings::SettingsWatch>) -> LaunchOptions {
        let mut options = self.options.clone();
        let files = watch.map(settings::SettingsWatch::texts).unwrap_or_default();
        let environment = self.environment.variables();
        overlay::lay_over(&mut options, self.policy.as_deref(), &files, environment);
        options
    }
}
