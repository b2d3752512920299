//! The other side's requests that have no answer yet.
//!
//! Place in the flow: the reader enters each request, `$/cancel_request` finds it here, and its [`Ticket`] leaves with
//! the answer. It must not answer anything.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lock;
use crate::rpc::RpcId;

/// Requests in flight, with two limits: how many, and how many bytes they came in.
#[derive(Debug)]
pub(super) struct InFlight {
    table: Mutex<Table>,
    max_requests: usize,
    max_bytes: usize,
    idle: Notify,
}

#[derive(Debug, Default)]
struct Table {
    by_id: HashMap<RpcId, CancellationToken>,
    /// Tickets that live: an id leaves just before its answer is queued, its ticket just after.
    tickets: usize,
    bytes: usize,
}

/// One request in flight. It gives up its id and its place at the latest when it is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    in_flight: Arc<InFlight>,
    id: RpcId,
    /// Whether the table still holds the id for this ticket.
    entered: bool,
    bytes: usize,
    cancel: CancellationToken,
    responded: CancellationToken,
}

/// Why a request may not run.
#[derive(Debug)]
pub(super) enum NoEntry {
    /// The id is in use.
    Duplicate(RpcId),
    /// So many requests are in flight.
    TooMany(RpcId, usize),
}

impl InFlight {
    pub(super) fn new(max_requests: usize, max_bytes: usize) -> Arc<Self> {
        let idle = Notify::new();
        Arc::new(Self {
            table: Mutex::default(),
            max_requests,
            max_bytes,
            idle,
        })
    }

    /// Takes a request in. `cancel` fires when the other side, or the end of the connection, cancels it.
    pub(super) fn enter(
        self: &Arc<Self>,
        id: RpcId,
        bytes: usize,
        cancel: CancellationToken,
    ) -> Result<Ticket, NoEntry> {
        let mut table = lock(&self.table);
        let (tickets, held_bytes) = (table.tickets, table.bytes);
        let full = tickets >= self.max_requests || (tickets > 0 && held_bytes + bytes > self.max_bytes);
        match table.by_id.entry(id) {
            Entry::Occupied(entry) => Err(NoEntry::Duplicate(entry.key().clone())),
            Entry::Vacant(entry) if full => Err(NoEntry::TooMany(entry.into_key(), tickets)),
            Entry::Vacant(entry) => {
                let id = entry.key().clone();
                entry.insert(cancel.clone());
                table.tickets += 1;
                table.bytes += bytes;
                drop(table);
                let responded = CancellationToken::new();
                Ok(Ticket {
                    in_flight: Arc::clone(self),
                    id,
                    entered: true,
                    bytes,
                    cancel,
                    responded,
                })
            }
        }
    }

    /// Fires the token of a request. False when none with this id is in flight.
    pub(super) fn cancel(&self, id: &RpcId) -> bool {
        let token = lock(&self.table).by_id.get(id).cloned();
        // Fired without the lock: whoever is woken may come back here.
        token.inspect(CancellationToken::cancel).is_some()
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        lock(&self.table).tickets == 0
    }

    /// Waits until every request is answered.
    pub(super) async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            if lock(&self.table).tickets == 0 {
                return;
            }
            notified.await;
        }
    }
}

impl Ticket {
    pub(super) fn id(&self) -> &RpcId {
        &self.id
    }

    pub(super) fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    pub(super) fn responded_token(&self) -> &CancellationToken {
        &self.responded
    }

    /// Frees the id: the other side may use it again as soon as it sees the answer.
    pub(super) fn free_id(&mut self) {
        if std::mem::take(&mut self.entered) {
            lock(&self.in_flight.table).by_id.remove(&self.id);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.free_id();
        let mut table = lock(&self.in_flight.table);
        table.tickets -= 1;
        table.bytes -= self.bytes;
        let idle = table.tickets == 0;
        drop(table);
        if idle {
            self.in_flight.idle.notify_one();
        }
        self.responded.cancel();
    }
}
