//! The duplex JSON-RPC peer: one connection from its first line to its last.
//!
//! Place in the flow: [`serve`] takes a transport's [`Duplex`] and a [`Router`]; the reader cuts lines
//! (`framing`), dispatches them (`dispatch`) and the writer empties the `outbox`. It must not know what a method
//! means, apart from `$/cancel_request`.

mod connection;
mod dispatch;
mod driver;
mod foreign;
mod framing;
mod in_flight;
mod outbox;
mod outgoing;
mod writer;

use std::time::Duration;

pub use connection::{Connection, ConnectionClosed, ConnectionId, RequestContext, SendPermit, TrySendError};
pub use outgoing::{PendingResponse, RequestFailed};

use crate::rpc::Router;
use crate::transport::Duplex;

/// The notification, in both directions, that a request is not wanted any more.
const CANCEL_REQUEST: &str = "$/cancel_request";

/// The limits of one connection.
#[derive(Clone, Debug)]
pub struct PeerOptions {
    /// A longer incoming line is discarded and answered with an error.
    pub max_line_bytes: usize,
    /// So many outgoing lines wait at most; then senders wait.
    pub queue_lines: usize,
    /// When so many outgoing bytes wait, senders wait.
    pub queue_bytes: usize,
    /// The method every other request has to wait for (`initialize`). A stranger's first line has to be this request.
    pub first_method: Option<&'static str>,
    /// So many requests of the other side may be unanswered at once.
    pub max_in_flight: usize,
    /// How long the answers to open requests, and then the queued output, may take once the connection ends.
    pub drain: Duration,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self {
            max_line_bytes: 64 * 1024 * 1024,
            queue_lines: 1024,
            queue_bytes: 4 * 1024 * 1024,
            first_method: None,
            max_in_flight: 1024,
            drain: Duration::from_secs(10),
        }
    }
}

/// How a connection ended.
#[derive(Debug)]
pub enum Closed {
    /// The other side sent everything it had to send.
    EndOfInput,
    /// [`Connection::close`] was called.
    ByUs,
    /// Reading failed.
    ReadFailed(std::io::Error),
    /// The other side may not speak here, or does not speak JSON-RPC: it was told so, and nothing was run for it.
    Refused,
    /// Writing failed: the other side is gone.
    WriteFailed(std::io::Error),
}

/// Serves one connection. Nothing is read or written before the returned future is polled.
///
/// At the end of the input (or after [`Connection::close`]) every open request is told to cancel, requests of ours fail
/// with [`RequestFailed::Closed`], and what handlers still answer is written, for [`PeerOptions::drain`] at most.
/// [`Connection::closed`] fires when the future ends or is dropped. The future needs a tokio runtime.
pub fn serve(
    duplex: Duplex,
    router: Router,
    options: PeerOptions,
) -> (Connection, impl Future<Output = Closed> + Send) {
    let connection = Connection::new(duplex.label.clone(), &options);
    // Made here, so that a future that is dropped before its first poll ends the connection too.
    let ended = driver::EndOnDrop::new(connection.clone());
    (connection, driver::drive(ended, duplex, router, options))
}

/// Locks a mutex whose data stays whole when a holder panics.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
