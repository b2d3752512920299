//! What the parts of a session want done. They decide; the actor does it, in order.

use acp_proto::schema::SessionUpdate;
use acp_proto::{Line, RpcError};
use claude_sdk_bridge::messages::ControlId;
use claude_sdk_bridge::messages::control::{CanUseTool, ControlRequest, HookCallback};
use permission_core::PermissionMode;
use serde_json::Value;

use super::Reply;
use super::choices::Waiter;
use crate::options::Request;
use crate::turn::{Event, Generation};

/// One thing to do.
pub(super) enum Effect {
    /// Show the client something.
    Update(Box<SessionUpdate>),
    /// Ask the client something.
    Request(Line),
    /// Answer the client, after everything that it is shown before.
    Answer(Box<dyn FnOnce() + Send>),
    /// Answer Claude.
    Reply(ControlId, Result<Value, String>),
    /// Ask Claude something.
    Call(ControlRequest, Purpose),
    /// Let the turn machine decide about this.
    Turn(Event),
    /// End the process by force.
    Kill,
}

/// What a control request of ours is for.
pub(super) enum Purpose {
    /// The turn is to end.
    Interrupt(Generation),
    /// A mode was chosen.
    Mode(PermissionMode, Waiter),
    /// An option was chosen, after which another is to follow.
    Choice(Request, Option<Request>, Waiter),
    /// What Claude's settings come to.
    Settings,
    /// Whether the shell lines of commands and skills run.
    ShellLines,
    /// How large the context can be.
    Window,
    /// The state of the MCP servers, for the sake of a callback.
    Servers(ControlId, Box<HookCallback>),
    /// The plan that a question is about.
    Plan(ControlId, Box<CanUseTool>),
}

impl Effect {
    /// Shows the client something.
    pub(super) fn update(update: SessionUpdate) -> Self {
        Self::Update(Box::new(update))
    }

    /// The answer to a request of the client's. One that has gone does not want it any more.
    pub(super) fn answer<T: Send + 'static>(reply: Reply<T>, answer: Result<T, RpcError>) -> Self {
        Self::Answer(Box::new(move || drop(reply.send(answer))))
    }
}
