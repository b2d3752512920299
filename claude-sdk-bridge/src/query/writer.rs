//! Writes whole lines to Claude's input from a task of its own, out of a bounded queue: nobody waits for a Claude that
//! does not read, and no line is ever cut by another or by a future that was dropped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// Lines that may wait. Claude reads its input at any time, so a queue this long means that it hangs.
const QUEUE_LINES: usize = 1024;

/// Bytes that may wait, beyond which a line is only taken into an empty queue.
const QUEUE_BYTES: usize = 128 * 1024 * 1024;

/// Why a line could not be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Claude does not read its input.
    #[error("claude does not read its input and the queue is full; cancel the turn or close the session")]
    Full,
    /// Claude's input is closed: it has ended, or is about to.
    #[error("claude's input is closed; start a new query")]
    Closed,
    /// The request is not waiting for an answer: it was withdrawn, or has been answered.
    #[error("the control request `{id}` is not waiting for an answer")]
    NotWaiting {
        /// The request's id.
        id: String,
    },
    /// The message could not be put into JSON.
    #[error("the message could not be written as JSON: {reason}")]
    Unwritable {
        /// What the serializer said.
        reason: String,
    },
}

/// The way to Claude's input.
#[derive(Debug)]
pub(super) struct Writer {
    /// Gone once the input was closed.
    queue: Mutex<Option<mpsc::Sender<Bytes>>>,
    queued_bytes: Arc<AtomicUsize>,
    task: AbortHandle,
}

impl Writer {
    pub(super) fn start(stdin: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (queue, lines) = mpsc::channel(QUEUE_LINES);
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let task = tokio::spawn(write_all(stdin, lines, Arc::clone(&queued_bytes))).abort_handle();
        Self {
            queue: Mutex::new(Some(queue)),
            queued_bytes,
            task,
        }
    }

    /// Queues one line, its end included.
    pub(super) fn send(&self, line: Bytes) -> Result<(), SendError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = &*queue else {
            return Err(SendError::Closed);
        };
        let length = line.len();
        let waiting = self.queued_bytes.load(Ordering::Relaxed);
        if waiting > 0 && waiting.saturating_add(length) > QUEUE_BYTES {
            return Err(SendError::Full);
        }
        // Counted first: the task may have written the line before `try_send` returns.
        self.queued_bytes.fetch_add(length, Ordering::Relaxed);
        queue.try_send(line).map_err(|error| {
            self.queued_bytes.fetch_sub(length, Ordering::Relaxed);
            match error {
                mpsc::error::TrySendError::Full(_) => SendError::Full,
                mpsc::error::TrySendError::Closed(_) => SendError::Closed,
            }
        })
    }

    /// Closes Claude's input behind the lines that wait.
    pub(super) fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Closes Claude's input at once; lines that wait are lost.
    pub(super) fn abort(&self) {
        self.close();
        self.task.abort();
    }
}

async fn write_all(
    mut stdin: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Bytes>,
    queued_bytes: Arc<AtomicUsize>,
) {
    while let Some(line) = lines.recv().await {
        let written = stdin.write_all(&line).await;
        queued_bytes.fetch_sub(line.len(), Ordering::Relaxed);
        let flushed = match written {
            Ok(()) if lines.is_empty() => stdin.flush().await,
            other => other,
        };
        if let Err(error) = flushed {
            // Its end shows on its output; here it only means that nothing more can be said to it.
            tracing::debug!(%error, "claude's input is closed");
            return;
        }
    }
    // In-memory streams tell the other side of the end only when asked to.
    if let Err(error) = stdin.shutdown().await {
        tracing::debug!(%error, "claude's input did not close cleanly");
    }
}
