//! Drains a Claude's error stream, so that it never blocks on it, and keeps the last of it for error messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

/// How much of the stream is kept.
const TAIL_BYTES: usize = 8 * 1024;

/// The last of a stream that is being drained.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    drained: watch::Receiver<()>,
}

impl Tail {
    /// Starts the task that drains `stream`; it ends with the stream.
    pub(super) fn drain(stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let (done, drained) = watch::channel(());
        let kept = Arc::clone(&bytes);
        tokio::spawn(async move {
            drain(stream, &kept).await;
            drop(done);
        });
        Self { bytes, drained }
    }

    /// Waits until the stream has ended. Cancel-safe.
    pub(super) async fn drained(&mut self) {
        // Nothing is ever sent: the channel closes with the task.
        while self.drained.changed().await.is_ok() {}
    }

    /// What is kept so far, as text. Starts at a whole line where what came before was cut off.
    pub(super) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let full = bytes.len() >= TAIL_BYTES;
        let bytes: Vec<u8> = bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        match text.split_once('\n') {
            Some((_cut, whole)) if full && !whole.is_empty() => whole.to_owned(),
            _ => text.into_owned(),
        }
    }
}

async fn drain(mut stream: impl AsyncRead + Unpin, kept: &Mutex<VecDeque<u8>>) {
    let mut chunk = vec![0; TAIL_BYTES];
    loop {
        // A stream that fails has nothing more to say, as one that ends.
        let read = stream.read(&mut chunk).await.unwrap_or(0);
        let Some(new) = chunk.get(..read).filter(|new| !new.is_empty()) else {
            return;
        };
        tracing::debug!(target: "claude::stderr", "{}", String::from_utf8_lossy(new).trim_end());
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(new);
        let excess = kept.len().saturating_sub(TAIL_BYTES);
        kept.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(written: &[u8], expected: &str) {
        let mut tail = Tail::drain(std::io::Cursor::new(written.to_vec()));
        tail.drained().await;
        assert_eq!(tail.text(), expected);
    }

    #[tokio::test]
    async fn a_short_stream_is_kept_whole_and_read_lossily() {
        check(b"", "").await;
        check(b"one\ntwo\n", "one\ntwo\n").await;
        check(b"caf\xff\n", "caf\u{fffd}\n").await;
    }

    #[tokio::test]
    async fn of_a_long_stream_the_last_whole_lines_are_kept() {
        let lines: String = (0..10_000).map(|number| format!("line {number}\n")).collect();
        let mut tail = Tail::drain(std::io::Cursor::new(lines.into_bytes()));
        tail.drained().await;
        let text = tail.text();
        assert!(
            text.len() <= TAIL_BYTES && text.len() > TAIL_BYTES - 20,
            "{}",
            text.len()
        );
        assert!(
            text.starts_with("line ") && text.ends_with("line 9999\n"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn one_endless_line_is_cut_at_its_start() {
        check(&vec![b'x'; 3 * TAIL_BYTES], &"x".repeat(TAIL_BYTES)).await;
    }
}
