//! What waits to be written to the client, in order.
//!
//! The actor never waits for a slow client: it queues here, stops reading from Claude while anything is queued (so a slow
//! client slows Claude, not our memory), and goes on taking commands.

use std::collections::VecDeque;

use acp_proto::{Connection, Line, SendPermit, TrySendError};

/// The queue of one session.
pub(crate) struct Outbox {
    items: VecDeque<Item>,
    /// Nothing leaves before the client knows the session.
    held: bool,
}

enum Item {
    Line(Line),
    /// Runs when everything before it has left.
    Then(Box<dyn FnOnce() + Send>),
}

impl Outbox {
    /// A queue that lets nothing out until it is opened.
    pub(crate) fn held() -> Self {
        Self {
            items: VecDeque::new(),
            held: true,
        }
    }

    /// Lets the queue's lines out from now on.
    pub(crate) fn open(&mut self) {
        self.held = false;
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Queues a line (a request whose answer nobody waits for any more is not sent), or sends it at once when nothing waits and the connection has room.
    pub(crate) fn push(&mut self, connection: &Connection, line: Line) {
        if self.held || !self.is_empty() {
            self.items.push_back(Item::Line(line));
        } else if let Err(TrySendError::Full(line)) = connection.try_send(line) {
            self.items.push_back(Item::Line(line));
        }
    }

    /// Runs `action` once everything queued so far has left.
    pub(crate) fn then(&mut self, action: impl FnOnce() + Send + 'static) {
        if self.is_empty() {
            action();
        } else {
            self.items.push_back(Item::Then(Box::new(action)));
        }
    }

    /// Sends the first line with a permit of the connection's, and runs what was waiting for it.
    pub(crate) fn release(&mut self, permit: SendPermit) {
        if let Some(Item::Line(line)) = self.items.pop_front() {
            permit.send(line);
        }
        self.run_due();
    }

    /// Drops every line: the client is gone. What waited for them still runs.
    pub(crate) fn abandon(&mut self) {
        self.items.retain(|item| matches!(item, Item::Then(_)));
        self.run_due();
    }

    fn run_due(&mut self) {
        while matches!(self.items.front(), Some(Item::Then(_))) {
            if let Some(Item::Then(action)) = self.items.pop_front() {
                action();
            }
        }
    }
}
