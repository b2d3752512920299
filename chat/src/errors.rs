//! What can end a chat before its user wants it to. The sentences come from the presentation module.

use std::io;

use crate::present::wording;

/// Why a chat ended with a failure. The message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The connection ended while it was needed.
    #[error("{}", wording::connection_closed())]
    Closed,
    /// The agent answered a request with an error; the text is the whole explanation.
    #[error("{0}")]
    Agent(String),
    /// The agent speaks another version of the protocol.
    #[error("{}", wording::wrong_version(.0))]
    WrongVersion(String),
    /// The agent's answer does not have the form the protocol gives it.
    #[error("{}", wording::bad_answer(.method, .error))]
    BadAnswer {
        /// The request that was answered.
        method: &'static str,
        /// What is wrong with the answer, fit to be printed.
        error: String,
    },
    /// The agent keeps no conversations, or does not say which.
    #[error("{}", wording::CANNOT_GO_BACK)]
    CannotGoBack,
    /// There is no conversation to go on with.
    #[error("{}", wording::no_conversation(.0))]
    NoConversation(String),
    /// A conversation has to be chosen, and nobody is there to choose.
    #[error("{}", wording::NOBODY_CHOOSES)]
    NobodyChooses,
    /// There was neither an argument nor standard input to send.
    #[error("{}", wording::EMPTY_PROMPT)]
    NothingToSend,
    /// Standard input could not be read.
    #[error("{}", wording::input_failed(.0))]
    Input(io::Error),
    /// The transcript could not be written.
    #[error("{}", wording::output_failed(.0))]
    Output(io::Error),
    /// The protocol peer could not be set up.
    #[error("{}", wording::setup_failed(.0))]
    Setup(#[from] acp_proto::RouterError),
}
