//! The way to the client: what waits to be written to it, in order.
//!
//! The actor never waits for a slow client: it queues here, stops reading from Claude while anything is queued (so a slow
//! client slows Claude, not our memory), and goes on taking commands.

use std::collections::VecDeque;

use acp_proto::{Connection, Line, RpcError, SendPermit, TrySendError, errors, schema};
use tokio_util::sync::CancellationToken;

use crate::history;

/// The queue of one session.
pub(super) struct Outlet {
    connection: Connection,
    session: schema::SessionId,
    items: VecDeque<Item>,
    /// Fires when the client knows the session, before which nothing may leave; `None` once it has.
    announced: Option<CancellationToken>,
}

enum Item {
    Line(Line),
    /// Runs when everything before it has left.
    Then(Box<dyn FnOnce() + Send>),
    /// The same, and nothing more leaves until the token fires.
    Pause(CancellationToken, Box<dyn FnOnce() + Send>),
}

impl Outlet {
    pub(super) fn new(
        connection: Connection,
        session: schema::SessionId,
        announced: CancellationToken,
    ) -> Self {
        Self {
            connection,
            session,
            items: VecDeque::new(),
            announced: Some(announced),
        }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Shows the client these.
    pub(super) fn show(&mut self, updates: impl IntoIterator<Item = schema::SessionUpdate>) {
        for update in updates {
            let notification = schema::SessionNotification::new(self.session.clone(), update);
            self.send(Line::notification("session/update", &notification));
        }
    }

    /// Shows the client these although it has no answer yet, for what comes behind that would not be part of it.
    ///
    /// # Errors
    /// When the client is gone.
    pub(super) async fn show_first(&mut self, updates: Vec<schema::SessionUpdate>) -> Result<(), RpcError> {
        let shown = history::send(&self.connection, &self.session, updates).await;
        shown.map_err(|closed| errors::internal(closed, None))
    }

    /// Queues a line (a request whose answer nobody waits for any more is not sent), or sends it at once when nothing waits
    /// and the connection has room.
    pub(super) fn send(&mut self, line: Line) {
        if self.announced.is_some() || !self.is_empty() {
            self.items.push_back(Item::Line(line));
        } else if let Err(TrySendError::Full(line)) = self.connection.try_send(line) {
            self.items.push_back(Item::Line(line));
        }
    }

    /// Runs `action` once everything queued so far has left.
    pub(super) fn then(&mut self, action: Box<dyn FnOnce() + Send>) {
        if self.is_empty() {
            action();
        } else {
            self.items.push_back(Item::Then(action));
        }
    }

    /// Runs `action` once everything queued so far has left, and lets nothing more leave before `until` fires.
    pub(super) fn pause(&mut self, until: CancellationToken, action: Box<dyn FnOnce() + Send>) {
        self.items.push_back(Item::Pause(until, action));
        if self.announced.is_none() {
            self.run_due();
        }
    }

    /// Waits until something has left, or never will because the client is gone. Cancel-safe.
    pub(super) async fn advance(&mut self) {
        let closed = self.connection.closed();
        match &self.announced {
            Some(announced) => tokio::select! {
                biased;
                () = announced.cancelled() => {
                    self.announced = None;
                    self.run_due();
                }
                () = closed.cancelled(), if !self.items.is_empty() => self.abandon(),
            },
            None if self.is_empty() => std::future::pending().await,
            None => match self.connection.ready().await {
                Ok(permit) => self.release(permit),
                Err(_) => self.abandon(),
            },
        }
    }

    /// The session ends. A client that does not know it yet hears nothing of it.
    pub(super) fn end(&mut self) {
        if self.announced.is_some() {
            self.abandon();
        }
    }

    /// Drops every line. What waited for them still runs.
    pub(super) fn abandon(&mut self) {
        self.items.retain(|item| !matches!(item, Item::Line(_)));
        self.run_due();
    }

    /// Sends the first line, and runs what was waiting for it.
    fn release(&mut self, permit: SendPermit) {
        if let Some(Item::Line(line)) = self.items.pop_front() {
            permit.send(line);
        }
        self.run_due();
    }

    fn run_due(&mut self) {
        loop {
            match self.items.pop_front() {
                Some(Item::Then(action)) => action(),
                Some(Item::Pause(until, action)) => {
                    self.announced = Some(until);
                    return action();
                }
                Some(line @ Item::Line(_)) => return self.items.push_front(line),
                None => return,
            }
        }
    }
}
