//! The updates that arrived and are not shown yet, kept in order and bounded: the peer's handlers cannot wait, so
//! while too many are waiting the connection's reader is held still instead, and the agent feels it. In the flow:
//! connection → [`Gated`] reader → peer → [`Sender`] → [`Receiver`] → the chat's loop.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// Makes a backlog of at most about `limit` items: those a single read brings may come on top.
pub(crate) fn backlog<T>(limit: usize) -> (Sender<T>, Receiver<T>, Gate) {
    let gate = Gate {
        limit,
        state: Arc::new(Mutex::new(State {
            waiting: 0,
            reader: None,
        })),
    };
    let (sender, receiver) = mpsc::unbounded_channel();
    (
        Sender {
            sender,
            gate: gate.clone(),
        },
        Receiver {
            receiver,
            gate: gate.clone(),
        },
        gate,
    )
}

/// Where handlers put items.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    sender: mpsc::UnboundedSender<T>,
    gate: Gate,
}

impl<T> Sender<T> {
    /// Adds an item; it is dropped when the chat is over.
    pub(crate) fn push(&self, item: T) {
        self.gate.lock().waiting += 1;
        if self.sender.send(item).is_err() {
            self.gate.leave();
        }
    }
}

/// Where the chat takes them from.
#[derive(Debug)]
pub(crate) struct Receiver<T> {
    receiver: mpsc::UnboundedReceiver<T>,
    gate: Gate,
}

impl<T> Receiver<T> {
    /// The next item; `None` once the connection is gone and everything was taken. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<T> {
        let item = self.receiver.recv().await;
        if item.is_some() {
            self.gate.leave();
        }
        item
    }

    /// An item that is there already.
    pub(crate) fn waiting(&mut self) -> Option<T> {
        let item = self.receiver.try_recv().ok();
        if item.is_some() {
            self.gate.leave();
        }
        item
    }
}

/// Counts what is waiting and knows who waits for it to become less.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    limit: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    waiting: usize,
    reader: Option<Waker>,
}

impl Gate {
    /// A reader that yields nothing while the backlog is full.
    pub(crate) fn gated(self, reader: Box<dyn AsyncRead + Send + Unpin>) -> Gated {
        Gated { reader, gate: self }
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting < self.limit
            && let Some(reader) = state.reader.take()
        {
            reader.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Gate::gated`].
pub(crate) struct Gated {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    gate: Gate,
}

impl AsyncRead for Gated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        {
            let mut state = self.gate.lock();
            if state.waiting >= self.gate.limit {
                state.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncReadExt as _;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_full_backlog_holds_the_reader_until_something_is_taken() {
        let (sender, mut receiver, gate) = backlog(2);
        let mut reader = gate.gated(Box::new(&b"ab"[..]));
        sender.push(1);
        assert_eq!(reader.read_u8().await.unwrap(), b'a');
        sender.push(2);
        timeout(Duration::from_secs(1), reader.read_u8())
            .await
            .expect_err("the gate is closed");
        let (read, taken) = tokio::join!(timeout(Duration::from_secs(1), reader.read_u8()), receiver.next());
        assert_eq!((read.unwrap().unwrap(), taken), (b'b', Some(1)));
    }

    #[tokio::test]
    async fn items_come_out_in_order_and_end_with_the_senders() {
        let (sender, mut receiver, _gate) = backlog(8);
        for item in 0..3 {
            sender.push(item);
        }
        drop(sender);
        assert_eq!(
            (receiver.next().await, receiver.waiting(), receiver.next().await),
            (Some(0), Some(1), Some(2))
        );
        assert_eq!((receiver.waiting(), receiver.next().await), (None, None));
    }
}
