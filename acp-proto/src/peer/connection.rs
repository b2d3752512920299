//! The handle of one connection: how everyone above sends.
//!
//! Place in the flow: given to handlers and sessions, cheap to clone. It must not read, and it must not block: whoever
//! sends more than the client reads waits in [`Connection::ready`] or [`Connection::send`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::PeerOptions;
use super::in_flight::InFlight;
use super::outbox::{Outbox, Refused};
use super::outgoing::{Outgoing, PendingResponse};
use crate::rpc::Line;

/// Tells connections of this process apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(u64);

/// One connection. Clones are the same connection.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<Shared>,
}

/// The connection has ended: nothing can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection has ended")]
pub struct ConnectionClosed;

/// The line was not queued.
#[derive(Debug, thiserror::Error)]
pub enum TrySendError {
    /// The queue is full, or others wait for space in it. The line comes back.
    #[error("the connection's queue is full")]
    Full(Line),
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
}

/// A place in the queue of a connection.
#[derive(Debug)]
#[must_use = "dropping it gives the place back"]
pub struct SendPermit {
    connection: Connection,
    announced_bytes: usize,
    used: bool,
}

/// What a request handler knows besides its params.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The connection the request came from.
    pub connection: Connection,
    /// Fires on `$/cancel_request` for this request, and when its connection ends. A handler that has not ended
    /// [`PeerOptions::drain`] after the end of its connection is dropped.
    pub cancel: CancellationToken,
    /// Fires when the answer to this request is queued for writing (or never can be, because the connection closed).
    pub responded: CancellationToken,
}

struct Shared {
    id: ConnectionId,
    label: String,
    outbox: Arc<Outbox>,
    outgoing: Arc<Outgoing>,
    in_flight: Arc<InFlight>,
    ending: CancellationToken,
    closed: CancellationToken,
    drain: Duration,
}

impl Connection {
    /// Tells this connection from others.
    #[must_use]
    pub fn id(&self) -> ConnectionId {
        self.shared.id
    }

    /// Where the other side is, for people (`stdio`, an address, a path).
    #[must_use]
    pub fn label(&self) -> &str {
        &self.shared.label
    }

    /// Fires when nothing can be received any more; answers can still be sent.
    #[must_use]
    pub fn ending(&self) -> CancellationToken {
        self.shared.ending.clone()
    }

    /// Fires at the end of the connection, when nothing can be sent any more either.
    #[must_use]
    pub fn closed(&self) -> CancellationToken {
        self.shared.closed.clone()
    }

    /// Ends the connection in order: reading stops, open requests are cancelled, their answers and the queued output
    /// are written, for [`PeerOptions::drain`] at most.
    pub fn close(&self) {
        self.end_input();
    }

    /// Waits for a place in the queue. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn ready(&self) -> Result<SendPermit, ConnectionClosed> {
        self.reserve(0).await
    }

    /// Queues the line if there is a place for it and nobody waits for one.
    ///
    /// # Errors
    /// When there is no place (the line comes back) or the connection has ended.
    pub fn try_send(&self, line: Line) -> Result<(), TrySendError> {
        match self.try_reserve(line.len()) {
            Ok(permit) => {
                permit.send(line);
                Ok(())
            }
            Err(Refused::Full) => Err(TrySendError::Full(line)),
            Err(Refused::Closed) => Err(TrySendError::Closed),
        }
    }

    /// Waits for a place in the queue and fills it. Dropping the future before that sends nothing.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn send(&self, line: Line) -> Result<(), ConnectionClosed> {
        self.reserve(line.len()).await?.send(line);
        Ok(())
    }

    /// Makes a request: the line to send, and its answer to come.
    ///
    /// The caller sends the line, so that the order is the caller's. A request whose [`PendingResponse`] is cancelled or
    /// dropped before that is not sent. Params that cannot be serialized fail the request.
    pub fn prepare_request<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &P,
    ) -> (Line, PendingResponse) {
        self.shared.outgoing.prepare(method, params)
    }

    /// From now on the other side is told with `$/cancel_request` when a request of ours is given up. Nothing of the sort is
    /// said to a side that is not known to take it; one that has sent such a notification itself is.
    pub fn tell_cancellations(&self) {
        self.shared.outgoing.tell_cancellations();
    }

    pub(super) fn new(label: String, options: &PeerOptions) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let in_flight_bytes = options.max_line_bytes.saturating_mul(4);
        let outbox = Arc::new(Outbox::new(options.queue_lines, options.queue_bytes));
        let shared = Shared {
            id: ConnectionId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            label,
            outgoing: Outgoing::new(Arc::clone(&outbox)),
            outbox,
            in_flight: InFlight::new(options.max_in_flight, in_flight_bytes),
            ending: CancellationToken::new(),
            closed: CancellationToken::new(),
            drain: options.drain,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.shared.outbox
    }

    pub(super) fn outgoing(&self) -> &Outgoing {
        &self.shared.outgoing
    }

    pub(super) fn in_flight(&self) -> &Arc<InFlight> {
        &self.shared.in_flight
    }

    /// How long the end may take.
    pub(super) fn drain(&self) -> Duration {
        self.shared.drain
    }

    /// Waits for a place for a line of this length.
    pub(super) async fn reserve(&self, announced_bytes: usize) -> Result<SendPermit, ConnectionClosed> {
        match self.shared.outbox.reserve(announced_bytes).await {
            Ok(()) => Ok(self.permit(announced_bytes)),
            Err(Refused::Full | Refused::Closed) => Err(ConnectionClosed),
        }
    }

    /// Takes a place for a line of this length if there is one now.
    pub(super) fn try_reserve(&self, announced_bytes: usize) -> Result<SendPermit, Refused> {
        self.shared.outbox.try_reserve(announced_bytes)?;
        Ok(self.permit(announced_bytes))
    }

    /// First step of the end: no input any more.
    pub(super) fn end_input(&self) {
        self.shared.ending.cancel();
        self.shared.outgoing.close();
    }

    /// Last step of the end: no output any more.
    pub(super) fn end_output(&self) {
        self.end_input();
        self.shared.outbox.close();
        self.shared.closed.cancel();
    }

    fn permit(&self, announced_bytes: usize) -> SendPermit {
        SendPermit {
            connection: self.clone(),
            announced_bytes,
            used: false,
        }
    }
}

impl SendPermit {
    /// Queues the line. If the connection has ended meanwhile, the line is dropped with it.
    pub fn send(mut self, line: Line) {
        let outbox = &self.connection.shared.outbox;
        match line.request_id() {
            None => {
                self.used = true;
                outbox.fill(self.announced_bytes, line);
            }
            Some(id) => {
                let fill = || outbox.fill(self.announced_bytes, line);
                self.used = self.connection.shared.outgoing.send(id, fill);
            }
        }
    }
}

impl Drop for SendPermit {
    fn drop(&mut self) {
        if !self.used {
            self.connection.shared.outbox.release(self.announced_bytes);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("id", &self.shared.id)
            .field("label", &self.shared.label)
            .finish()
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
