//! One session: a Claude process, the turns it runs for a client, and the questions it asks.
//!
//! Place in the flow: the method registry sends [`Command`]s through a [`SessionHandle`]; the actor owns everything else.
//! The actor only routes, over parts with their own fields: `process`, `prompts`, `questions`, `choices`, `outlet`. What a
//! part wants done is an `effect`; decisions are taken by the turn machine, the translator and permission-core.

mod actor;
mod answers;
mod choices;
mod effect;
mod grants;
mod login;
mod open;
mod outlet;
mod process;
mod prompts;
mod questions;
mod settings;
mod start;
#[cfg(test)]
mod tests;

use acp_proto::{Connection, ConnectionId, RpcError, errors, schema};
use claude_sdk_bridge::messages::{ClaudeSessionId, ContentBlock};
use claude_sdk_bridge::transcripts::{SessionLock, TranscriptFile};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub(crate) use login::Login;
pub(crate) use open::open;

use crate::history::{Record, Shown};
use crate::initialize::ClientFacts;
use crate::setup::Setup;
use crate::turn::PromptId;

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
    /// What is kept of it, from before or from now on.
    pub(crate) record: Record,
    /// Keeps other agents from it.
    pub(crate) lock: Option<SessionLock>,
    /// What it goes on with.
    pub(crate) stored: Option<Stored>,
}

impl NewSession {
    /// Whether the client is shown what there is before the answer.
    fn is_replayed(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.replayed)
    }
}

/// A session that Claude has written down.
pub(crate) struct Stored {
    /// In order, one a conversation.
    pub(crate) transcripts: Vec<TranscriptFile>,
    /// It is shown to the client first, with everything else there is to say.
    pub(crate) replayed: bool,
}

/// A session that has been opened.
pub(crate) struct Opened {
    pub(crate) id: schema::SessionId,
    pub(crate) current: Current,
    pub(crate) handle: SessionHandle,
}

/// What is chosen in a session, and what can be.
pub(crate) struct Current {
    pub(crate) modes: schema::SessionModeState,
    pub(crate) options: Vec<schema::SessionConfigOption>,
}

impl Current {
    fn of(choices: &choices::Choices) -> Self {
        Self {
            modes: choices.modes().state(),
            options: choices.options(),
        }
    }
}

/// A session that shows its client nothing for a while.
pub(crate) struct Paused {
    pub(crate) current: Current,
    /// Nothing yet, to the same client; what runs is shown behind what is written down.
    pub(crate) shown: Shown,
    /// What Claude has written of it, if anything, in order.
    pub(crate) conversations: Vec<ClaudeSessionId>,
    pub(crate) commands: schema::SessionUpdate,
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
    SetMode {
        id: String,
        reply: Reply<Vec<schema::SessionConfigOption>>,
    },
    /// Change a config option.
    SetOption {
        id: String,
        value: schema::SessionConfigOptionValue,
        reply: Reply<Vec<schema::SessionConfigOption>>,
    },
    /// Show the client nothing until then, so that it can be shown the conversation anew.
    Pause {
        until: CancellationToken,
        reply: oneshot::Sender<Paused>,
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
    /// The way to an actor, and the actor's end of it.
    fn new(owner: ConnectionId) -> (Self, mpsc::Receiver<Command>) {
        let (commands, receiver) = mpsc::channel(COMMAND_QUEUE);
        (Self { commands, owner }, receiver)
    }

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
