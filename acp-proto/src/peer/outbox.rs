//! The bounded queue of outgoing lines of one connection.
//!
//! Place in the flow: between everyone who sends and the one writer. Senders wait in line for space, so a slow client
//! slows Claude's output and not our memory. It must not write, and it must not look into a line.

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::sync::{Notify, Semaphore};

use super::lock;
use crate::rpc::Line;

/// The reader's own answers (parse errors and the like) may go over the limits by this much before the reader waits.
const REPLY_LINES: usize = 1024;
const REPLY_BYTES: usize = 1024 * 1024;

/// Lines for the writer, with two limits: how many, and how many bytes.
#[derive(Debug)]
pub(super) struct Outbox {
    state: Mutex<State>,
    max_lines: usize,
    max_bytes: usize,
    /// One waiting sender at a time watches for space; the others queue here in order.
    turnstile: Semaphore,
    space: Notify,
    work: Notify,
}

#[derive(Debug)]
struct State {
    lines: VecDeque<Line>,
    /// Queued bytes, and those that reservations announced.
    bytes: usize,
    /// Places given away that are not filled yet.
    reserved: usize,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Takes lines.
    Open,
    /// Takes no more lines; the writer ends when it has written what is queued.
    Finishing,
    /// Dropped what was queued.
    Closed,
}

/// What there is for the writer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Lines were appended to the batch.
    Lines,
    /// Nothing is queued now.
    Nothing,
    /// Nothing is queued, and nothing will be.
    End,
}

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Full,
    Closed,
}

impl Outbox {
    pub(super) fn new(max_lines: usize, max_bytes: usize) -> Self {
        let state = State {
            lines: VecDeque::new(),
            bytes: 0,
            reserved: 0,
            phase: Phase::Open,
        };
        Self {
            state: Mutex::new(state),
            max_lines: max_lines.max(1),
            max_bytes: max_bytes.max(1),
            turnstile: Semaphore::new(1),
            space: Notify::new(),
            work: Notify::new(),
        }
    }

    /// Waits for a place. Dropping the future gives up the place in the line and nothing else.
    pub(super) async fn reserve(&self, announced_bytes: usize) -> Result<(), Refused> {
        let _turn = self.turnstile.acquire().await.map_err(|_| Refused::Closed)?;
        loop {
            match self.take_place(announced_bytes) {
                Err(Refused::Full) => self.space.notified().await,
                settled => return settled,
            }
        }
    }

    /// Takes a place if there is one and nobody waits for it.
    pub(super) fn try_reserve(&self, announced_bytes: usize) -> Result<(), Refused> {
        match self.turnstile.try_acquire() {
            Ok(_turn) => self.take_place(announced_bytes),
            Err(tokio::sync::TryAcquireError::NoPermits) => Err(Refused::Full),
            Err(tokio::sync::TryAcquireError::Closed) => Err(Refused::Closed),
        }
    }

    /// Gives a reserved place back.
    pub(super) fn release(&self, announced_bytes: usize) {
        let mut state = lock(&self.state);
        state.reserved = state.reserved.saturating_sub(1);
        state.bytes = state.bytes.saturating_sub(announced_bytes);
        drop(state);
        self.space.notify_one();
    }

    /// Fills a reserved place.
    pub(super) fn fill(&self, announced_bytes: usize, line: Line) {
        let mut state = lock(&self.state);
        state.reserved = state.reserved.saturating_sub(1);
        state.bytes = state.bytes.saturating_sub(announced_bytes);
        self.push(state, line);
    }

    /// Queues an answer of the reader itself, which may not wait as long as this small reserve lasts.
    pub(super) fn push_reply(&self, line: Line) -> Result<(), Line> {
        let state = lock(&self.state);
        let over = state.lines.len() + state.reserved >= self.max_lines.saturating_add(REPLY_LINES)
            || state.bytes >= self.max_bytes.saturating_add(REPLY_BYTES);
        if over && state.phase == Phase::Open {
            return Err(line);
        }
        self.push(state, line);
        Ok(())
    }

    /// Queues a small line that may not wait. The caller bounds how many there can be.
    pub(super) fn push_control(&self, line: Line) {
        self.push(lock(&self.state), line);
    }

    /// Moves lines to `batch`: one at least if there is one, and no more than fit into `max_bytes` otherwise.
    pub(super) fn take(&self, batch: &mut Vec<Line>, max_bytes: usize) -> Taken {
        let mut state = lock(&self.state);
        let mut taken_bytes = 0;
        while let Some(line) = state.lines.front() {
            if taken_bytes > 0 && taken_bytes + line.len() > max_bytes {
                break;
            }
            taken_bytes += line.len();
            batch.extend(state.lines.pop_front());
        }
        if taken_bytes == 0 {
            return if state.phase == Phase::Open {
                Taken::Nothing
            } else {
                Taken::End
            };
        }
        state.bytes = state.bytes.saturating_sub(taken_bytes);
        drop(state);
        self.space.notify_one();
        Taken::Lines
    }

    /// Waits until there may be something to take.
    pub(super) async fn wait_for_work(&self) {
        self.work.notified().await;
    }

    /// No new lines; the writer ends when it has taken what is queued.
    pub(super) fn finish(&self) {
        self.end(Phase::Finishing);
    }

    /// No new lines, and none of the queued ones either.
    pub(super) fn close(&self) {
        self.end(Phase::Closed);
        let dropped = std::mem::take(&mut lock(&self.state).lines);
        if !dropped.is_empty() {
            tracing::debug!(
                lines = dropped.len(),
                "queued output is dropped, the connection is closed"
            );
        }
    }

    /// How many lines wait.
    #[cfg(test)]
    pub(super) fn queued(&self) -> usize {
        lock(&self.state).lines.len()
    }

    fn end(&self, phase: Phase) {
        lock(&self.state).phase = phase;
        self.turnstile.close();
        self.space.notify_one();
        self.work.notify_one();
    }

    fn take_place(&self, announced_bytes: usize) -> Result<(), Refused> {
        let mut state = lock(&self.state);
        if state.phase != Phase::Open {
            return Err(Refused::Closed);
        }
        if state.lines.len() + state.reserved >= self.max_lines || state.bytes >= self.max_bytes {
            return Err(Refused::Full);
        }
        state.reserved += 1;
        state.bytes = state.bytes.saturating_add(announced_bytes);
        Ok(())
    }

    fn push(&self, mut state: std::sync::MutexGuard<'_, State>, line: Line) {
        if state.phase != Phase::Open || line.is_nothing() {
            drop(state);
            self.space.notify_one();
            return;
        }
        state.bytes = state.bytes.saturating_add(line.len());
        state.lines.push_back(line);
        let was_empty = state.lines.len() == 1;
        drop(state);
        // The writer sleeps only after it found the queue empty.
        if was_empty {
            self.work.notify_one();
        }
    }
}
