//! The one writer of a connection.
//!
//! Place in the flow: empties the outbox into the transport. Everything that is queued goes out in one write, and the
//! transport is flushed when nothing is queued any more; there is no timer, so a lone message leaves at once.
//! It must not drop, reorder or change a line.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::connection::Connection;
use super::outbox::Taken;

/// What is copied together into one write. A longer line is written by itself, without a copy.
const BATCH_BYTES: usize = 64 * 1024;

/// Writes until the outbox ends or the transport fails.
pub(super) async fn write_all(
    connection: &Connection,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let outbox = connection.outbox();
    let mut batch = Vec::new();
    let mut buffer = Vec::new();
    loop {
        match outbox.take(&mut batch, BATCH_BYTES) {
            Taken::Lines => {
                if let [line] = batch.as_slice() {
                    writer.write_all(line.as_bytes()).await?;
                } else {
                    for line in &batch {
                        buffer.extend_from_slice(line.as_bytes());
                    }
                    writer.write_all(&buffer).await?;
                    buffer.clear();
                }
                batch.clear();
            }
            Taken::Nothing => {
                writer.flush().await?;
                outbox.wait_for_work().await;
            }
            Taken::End => {
                writer.flush().await?;
                return writer.shutdown().await;
            }
        }
    }
}
