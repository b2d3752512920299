//! `session/load` and `session/resume`: a stored conversation becomes a session again.
//!
//! Whether there is one, where it belongs and whether somebody else has it open is answered from files, before a process
//! is started. A session that lives here is not started twice.

use std::path::PathBuf;
use std::sync::Arc;

use acp_proto::{RequestContext, RpcError, errors, schema};
use claude_sdk_bridge::launch::SessionStart;
use claude_sdk_bridge::messages::ClaudeSessionId;
use claude_sdk_bridge::transcripts::{SessionLock, Summary, TranscriptFile, TranscriptStore};
use tokio::sync::oneshot;

use super::error::HistoryError;
use super::replay::{replay, send};
use super::{Record, Records};
use crate::manager::SessionManager;
use crate::session::{Command, Current, NewSession, SessionHandle, Stored, open};
use crate::setup::{self, StoredSessionParams};

/// Opens a stored conversation, and shows it before the answer if it is to be `replayed`.
///
/// # Errors
/// When there is none, it is in use elsewhere, or Claude does not start.
pub(crate) async fn open_stored(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    ((store, records), params): ((TranscriptStore, Records), StoredSessionParams),
    replayed: bool,
) -> Result<Current, RpcError> {
    setup::check_cwd(params.cwd())?;
    let id = params.session_id.clone();
    if let Some(session) = manager.session(&id, ctx.connection.id()) {
        return reopen(&ctx, session, (store, &id), replayed).await;
    }
    let refused = |error: HistoryError| error.for_client(&id);
    let _reserved = manager.reserve(&id).map_err(refused)?;
    manager.ended(&id).await;
    let Found {
        lock,
        record,
        transcripts,
        goes_on,
    } = find(store, records, &id).await.map_err(refused)?;
    let client = manager.client(ctx.connection.id());
    let new = NewSession {
        setup: setup::set_up_stored(params, (record.cwd.clone(), goes_on), client, &manager.config)?,
        client,
        connection: ctx.connection.clone(),
        announce_after: ctx.responded.clone(),
        record,
        lock,
        stored: Some(Stored {
            transcripts,
            replayed,
        }),
    };
    let opened = tokio::select! {
        opened = open(Arc::clone(&manager), new) => opened?,
        () = ctx.cancel.cancelled() => return Err(errors::request_cancelled()),
    };
    manager.adopt(opened).await
}

/// A session that lives here: what the client has of it is shown again, and the rest follows after the answer.
async fn reopen(
    ctx: &RequestContext,
    session: SessionHandle,
    (store, id): (TranscriptStore, &schema::SessionId),
    replayed: bool,
) -> Result<Current, RpcError> {
    let (reply, answer) = oneshot::channel();
    session.send(Command::Pause {
        until: ctx.responded.clone(),
        reply,
    })?;
    let mut paused = answer.await.map_err(|_| errors::resource_not_found(id))?;
    if replayed {
        for conversation in paused.conversations {
            let store = store.clone();
            let transcript = tokio::task::spawn_blocking(move || store.find(&conversation)).await;
            // Before the first prompt there is none.
            if let Some(transcript) = transcript.ok().flatten() {
                replay(transcript, &mut paused.shown, (&ctx.connection, id), false).await?;
            }
        }
        let rest = paused.shown.rest().into_iter();
        let told = send(&ctx.connection, id, rest.chain([paused.commands])).await;
        told.map_err(|closed| errors::internal(closed, None))?;
    }
    Ok(paused.current)
}

/// A conversation that can be opened.
struct Found {
    lock: Option<SessionLock>,
    /// With the folder that it belongs to.
    record: Record,
    /// What is written down of it.
    transcripts: Vec<TranscriptFile>,
    goes_on: SessionStart,
}

async fn find(
    store: TranscriptStore,
    records: Records,
    id: &schema::SessionId,
) -> Result<Found, HistoryError> {
    let id = ClaudeSessionId::from(id.to_string());
    let found = tokio::task::spawn_blocking(move || find_in_files(&store, &records, &id));
    found.await.unwrap_or(Err(HistoryError::Unknown))
}

/// Finds what there is of a session that nobody has open: by what is kept of it, or by Claude's word alone.
fn find_in_files(
    store: &TranscriptStore,
    records: &Records,
    id: &ClaudeSessionId,
) -> Result<Found, HistoryError> {
    let lock = records.lock(id)?;
    let kept = records.read(id);
    let known = kept.is_some();
    let mut record = kept.unwrap_or_else(|| Record::begun(id.clone(), PathBuf::new()));
    let conversations = record.conversations.iter();
    let transcripts: Vec<TranscriptFile> = conversations.filter_map(|id| store.find(id)).collect();
    let last = transcripts.last();
    if let Some(transcript) = last {
        let summary = Summary::read(transcript)
            .map_err(|error| HistoryError::Unreadable(transcript.path.clone(), error))?;
        match summary {
            Some(summary) => record.cwd = summary.cwd,
            None if known => {}
            None => return Err(HistoryError::Unknown),
        }
    } else if !known || record.written || record.conversations.len() > 1 {
        // What was written down of it is gone.
        return Err(HistoryError::Unknown);
    }
    records.check_free(store, &record.conversations)?;
    if !record.cwd.is_dir() {
        return Err(HistoryError::FolderGone(record.cwd));
    }
    let written = last.map(|transcript| &transcript.id) == record.conversations.last();
    let id = record.conversations.last().unwrap_or(id).clone();
    let goes_on = match written {
        true => SessionStart::Resume { id, at: None },
        // A conversation that was just begun is in no file.
        false => SessionStart::New { id },
    };
    Ok(Found {
        lock,
        record,
        transcripts,
        goes_on,
    })
}
