//! What a query tells the session above it, in the order Claude said it. Answers to our own control requests never
//! show here: they go to whoever asked.

use crate::backend::Exit;
use crate::decode::DeltaLine;
use crate::messages::control::IncomingRequest;
use crate::messages::{ControlId, Message};

/// One thing that happened.
#[derive(Debug)]
pub enum QueryEvent {
    /// A piece of text, thinking or tool input: the hot path.
    Delta(DeltaLine),
    /// Any other message.
    Message(Box<Message>),
    /// Claude asks something and waits for exactly one [`QueryHandle::answer`](super::QueryHandle::answer).
    ControlRequest {
        /// What to answer under.
        id: ControlId,
        /// What it asks.
        request: IncomingRequest,
    },
    /// Claude withdrew a request that was not answered yet; it must not be answered any more.
    ControlCancel {
        /// The request's id.
        id: ControlId,
    },
    /// Claude has ended and nothing of it is left. Nothing else follows.
    Ended(Exit),
}
