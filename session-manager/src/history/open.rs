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
use serde_json::json;
use tokio::sync::oneshot;

use super::replay::{replay, send};
use crate::{
    manager::SessionManager,
    session::{Command, Current, NewSession, SessionHandle, Stored, open},
    setup::{self, StoredSessionParams},
};

/// Why a stored conversation cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("no such conversation")]
    Unknown,
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(PathBuf, std::io::Error),
    #[error("the conversation is open on another connection of this agent; close it there")]
    Elsewhere,
    #[error("the conversation is being opened already; wait for that")]
    Opening,
    #[error("the process {0} has the conversation open; end it there")]
    Held(i32),
    #[error("the conversation belongs to the folder `{}`, which does not exist any more; make it again to go on", .0.display())]
    FolderGone(PathBuf),
}

impl OpenError {
    fn for_client(&self, id: &schema::SessionId) -> RpcError {
        let data = json!({"sessionId": id});
        match self {
            Self::Unknown => errors::resource_not_found(id),
            Self::Unreadable(..) => errors::internal(self, Some(data)),
            Self::Elsewhere | Self::Opening | Self::Held(_) => errors::invalid_request(self, Some(data)),
            Self::FolderGone(folder) => errors::invalid_params(self, Some(json!({"cwd": folder}))),
        }
    }
}

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
    let refused = |error: OpenError| error.for_client(&id);
    let _reserved = manager.reserve(&id).ok_or_else(|| refused(OpenError::Opening))?;
    if manager.is_open(&id) {
        return Err(refused(OpenError::Elsewhere));
    }
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
) -> Result<(TranscriptFile, PathBuf), OpenError> {
    let id = ClaudeSessionId::from(id.to_string());
    let found = tokio::task::spawn_blocking(move || {
        let transcript = store.find(&id).ok_or(OpenError::Unknown)?;
        let summary = Summary::read(&transcript)
            .map_err(|error| OpenError::Unreadable(transcript.path.clone(), error))?
            .ok_or(OpenError::Unknown)?;
        if let Some(pid) = store.holder(&id) {
            return Err(OpenError::Held(pid));
        }
        if !summary.cwd.is_dir() {
            return Err(OpenError::FolderGone(summary.cwd));
        }
        Ok((transcript, summary.cwd))
    });
    found.await.unwrap_or(Err(OpenError::Unknown))
}
