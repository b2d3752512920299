//! Our own requests to the other side, until each has its one outcome.
//!
//! Place in the flow: a session prepares a request, sends its line, and awaits the [`PendingResponse`]; the reader
//! settles it. It must not decide what a missing answer means.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::lock;
use super::outbox::Outbox;
use crate::rpc::Line;
use crate::{RpcError, errors};

/// A request of ours has no result.
#[derive(Debug, thiserror::Error)]
pub enum RequestFailed {
    /// The other side answered with an error.
    #[error("the other side answered with error {}: {}", .0.code(), .0.message())]
    Rpc(RpcError),
    /// The connection ended before the answer came.
    #[error("the connection ended before the request was answered")]
    Closed,
    /// We gave the request up with [`PendingResponse::cancel`].
    #[error("the request was cancelled")]
    Cancelled,
}

/// The answer to a request of ours, in the future.
///
/// Dropped before the answer is there, it tells the other side with `$/cancel_request`, if the request was sent at all and
/// the other side can take that ([`super::Connection::tell_cancellations`]).
#[derive(Debug)]
#[must_use = "dropping it cancels the request"]
pub struct PendingResponse {
    id: u64,
    outcome: oneshot::Receiver<Outcome>,
    requests: Arc<Outgoing>,
}

/// The table of requests without an outcome.
#[derive(Debug)]
pub(super) struct Outgoing {
    table: Mutex<Table>,
    /// Takes the cancellations.
    outbox: Arc<Outbox>,
}

#[derive(Debug, Default)]
struct Table {
    next_id: u64,
    closed: bool,
    /// The other side can take `$/cancel_request`.
    tells: bool,
    pending: HashMap<u64, Pending>,
}

#[derive(Debug)]
struct Pending {
    settle: oneshot::Sender<Outcome>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The line is with the caller.
    Prepared,
    /// The line is on its way: the other side has to be told of a cancellation.
    Sent,
}

type Outcome = Result<Box<RawValue>, RequestFailed>;

impl PendingResponse {
    /// Gives the request up: tells the other side if it can take that, and resolves as [`RequestFailed::Cancelled`] at once.
    pub fn cancel(&self) {
        self.requests.cancel(self.id);
    }
}

impl Future for PendingResponse {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.outcome)
            .poll(cx)
            .map(|settled| settled.unwrap_or(Err(RequestFailed::Closed)))
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Outgoing {
    pub(super) fn new(outbox: Arc<Outbox>) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            outbox,
        })
    }

    /// Gives the request an id and a place in the table.
    pub(super) fn prepare<P: Serialize + ?Sized>(
        self: &Arc<Self>,
        method: &str,
        params: &P,
    ) -> (Line, PendingResponse) {
        let (settle, outcome) = oneshot::channel();
        let mut table = lock(&self.table);
        let id = table.next_id;
        table.next_id += 1;
        let line = match Line::request(id, method, params) {
            Ok(line) if !table.closed => {
                table.pending.insert(
                    id,
                    Pending {
                        settle,
                        stage: Stage::Prepared,
                    },
                );
                line
            }
            Ok(_) => {
                settle_one(settle, Err(RequestFailed::Closed));
                Line::nothing()
            }
            Err(error) => {
                tracing::error!(method, %error, "a request could not be serialized and is not sent");
                settle_one(settle, Err(RequestFailed::Rpc(errors::unserializable(error))));
                Line::nothing()
            }
        };
        drop(table);
        (
            line,
            PendingResponse {
                id,
                outcome,
                requests: Arc::clone(self),
            },
        )
    }

    /// Runs `queue` for a request that is still wanted. The table stays locked meanwhile, so that a cancellation can
    /// not get in front of its request.
    pub(super) fn send(&self, id: u64, queue: impl FnOnce()) -> bool {
        let mut table = lock(&self.table);
        let Some(pending) = table.pending.get_mut(&id) else {
            return false;
        };
        pending.stage = Stage::Sent;
        queue();
        true
    }

    /// Hands the answer over. False when nobody waits for one with this id.
    pub(super) fn settle(&self, id: u64, outcome: Result<Box<RawValue>, RpcError>) -> bool {
        let mut table = lock(&self.table);
        match table.pending.remove(&id) {
            Some(Pending {
                settle,
                stage: Stage::Sent,
            }) => {
                settle_one(settle, outcome.map_err(RequestFailed::Rpc));
                true
            }
            Some(prepared) => {
                table.pending.insert(id, prepared);
                false
            }
            None => false,
        }
    }

    /// From now on the other side hears of requests that are given up.
    pub(super) fn tell_cancellations(&self) {
        lock(&self.table).tells = true;
    }

    /// No answer can come any more.
    pub(super) fn close(&self) {
        let mut table = lock(&self.table);
        table.closed = true;
        for (_, pending) in table.pending.drain() {
            settle_one(pending.settle, Err(RequestFailed::Closed));
        }
    }

    fn cancel(&self, id: u64) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct CancelRequest {
            request_id: u64,
        }
        let mut table = lock(&self.table);
        let Some(pending) = table.pending.remove(&id) else {
            return;
        };
        match pending.stage {
            Stage::Sent if table.tells => {
                let cancel = CancelRequest { request_id: id };
                self.outbox
                    .push_control(Line::notification(super::CANCEL_REQUEST, &cancel));
            }
            Stage::Prepared | Stage::Sent => {}
        }
        settle_one(pending.settle, Err(RequestFailed::Cancelled));
    }
}

/// The receiver may be gone already: then nobody wants the outcome.
fn settle_one(settle: oneshot::Sender<Outcome>, outcome: Outcome) {
    drop(settle.send(outcome));
}
