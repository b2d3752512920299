//! Shows a client a stored conversation, in flat memory: read by a thread, shown as fast as the client reads.

use acp_proto::{Connection, ConnectionClosed, Line, RpcError, errors, schema};
use claude_sdk_bridge::transcripts::{Entry, Replay, TranscriptFile};
use tokio::sync::mpsc;

use super::shown::{Joined, Shown};

/// How many pieces may have been read and not shown.
const AHEAD: usize = 64;

/// Shows the conversation. With `end` it is over, as far as it is written down; otherwise it goes on elsewhere.
///
/// # Errors
/// When the transcript cannot be read, or the client is gone.
pub(crate) async fn replay(
    transcript: TranscriptFile,
    shown: &mut Shown,
    (connection, session): (&Connection, &schema::SessionId),
    end: bool,
) -> Result<(), RpcError> {
    let path = transcript.path.display().to_string();
    let mut entries = entries(transcript)
        .await
        .map_err(|error| errors::internal(format!("`{path}` cannot be read: {error}"), None))?;
    let mut joined = Joined::default();
    let show = |updates: Vec<schema::SessionUpdate>| send(connection, session, updates);
    while let Some(entry) = entries.recv().await {
        for update in shown.entry(entry) {
            show(joined.push(update)).await.map_err(gone)?;
        }
    }
    if end {
        for update in shown.end() {
            show(joined.push(update)).await.map_err(gone)?;
        }
    }
    show(joined.rest()).await.map_err(gone)
}

/// Shows the client these, waiting until it takes them.
///
/// # Errors
/// When it is gone.
pub(crate) async fn send(
    connection: &Connection,
    session: &schema::SessionId,
    updates: impl IntoIterator<Item = schema::SessionUpdate>,
) -> Result<(), ConnectionClosed> {
    for update in updates {
        let notification = schema::SessionNotification::new(session.clone(), update);
        connection
            .send(Line::notification("session/update", &notification))
            .await?;
    }
    Ok(())
}

fn gone(closed: ConnectionClosed) -> RpcError {
    errors::internal(closed, None)
}

/// The conversation, read by a thread that ends when nobody listens.
async fn entries(transcript: TranscriptFile) -> std::io::Result<mpsc::Receiver<Entry>> {
    let (opened, open) = tokio::sync::oneshot::channel();
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        let replay = match Replay::open(&transcript) {
            Ok(replay) => replay,
            Err(error) => return drop(opened.send(Err(error))),
        };
        let _: Result<(), _> = opened.send(Ok(()));
        for entry in replay {
            if sender.blocking_send(entry).is_err() {
                return;
            }
        }
    });
    open.await.map_err(std::io::Error::other)??;
    Ok(receiver)
}
