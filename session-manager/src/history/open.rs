//! `session/load` and `session/resume`: a stored conversation becomes a session again.
//!
//! Whether there is one, where it belongs and whether somebody else has it open is answered from files, before a process
//! is started. A session that lives here is not started twice.

use std::path::PathBuf;
use std::sync::Arc;

use acp_proto::{RequestContext, RpcError, errors, schema};
use claude_sdk_bridge::{
    messages::ClaudeSessionId,
    transcripts::{Summary, TranscriptFile, TranscriptStore},
};
use tokio::sync::oneshot;

use super::error::HistoryError;
use super::replay::{replay, send};
use crate::{
    manager::SessionManager,
    session::{Command, Current, NewSession, SessionHandle, Stored, open},
    setup::{self, StoredSessionParams},
};

/// Opens a stored conversation, and shows it before the answer if it is to be `replayed`.
///
/// # Errors
/// When there is none, it is in use elsewhere, or Claude does not start.
pub(crate) async fn open_stored(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    (store, params): (TranscriptStore, StoredSessionParams),
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
    let (transcript, folder) = find(store, &id).await.map_err(refused)?;
    let client = manager.client(ctx.connection.id());
    let new = NewSession {
        setup: setup::set_up_stored(params, folder, client, &manager.config)?,
        client,
        connection: ctx.connection.clone(),
        announce_after: ctx.responded.clone(),
        stored: Some(Stored { transcript, replayed }),
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
        let told = send(&ctx.connection, id, [paused.commands]).await;
        told.map_err(|closed| errors::internal(closed, None))?;
    }
    Ok(paused.current)
}

/// The transcript of a session that nobody has open, and the folder that it belongs to.
async fn find(
    store: TranscriptStore,
    id: &schema::SessionId,
) -> Result<(TranscriptFile, PathBuf), HistoryError> {
    let id = ClaudeSessionId::from(id.to_string());
    let found = tokio::task::spawn_blocking(move || {
        let transcript = store.find(&id).ok_or(HistoryError::Unknown)?;
        let summary = Summary::read(&transcript)
            .map_err(|error| HistoryError::Unreadable(transcript.path.clone(), error))?
            .ok_or(HistoryError::Unknown)?;
        if let Some(pid) = store.holder(&id) {
            return Err(HistoryError::Held(pid));
        }
        if !summary.cwd.is_dir() {
            return Err(HistoryError::FolderGone(summary.cwd));
        }
        Ok((transcript, summary.cwd))
    });
    found.await.unwrap_or(Err(HistoryError::Unknown))
}
