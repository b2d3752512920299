//! `session/fork`: another session with the same history, all of it or up to a message.
//!
//! The copy is a conversation like any other, in the folder of the first and with its choices; a session that nobody has
//! said anything in is begun anew. One that somebody else has open can be forked as well.

use std::path::PathBuf;
use std::sync::Arc;

use acp_proto::{RequestContext, RpcError, errors, schema};
use claude_sdk_bridge::messages::ClaudeSessionId;
use claude_sdk_bridge::transcripts::{ForkError, Summary, TranscriptStore, fork};
use serde_json::{Value, json};

use super::error::HistoryError;
use super::open::open_stored;
use super::{Record, Records};
use crate::manager::SessionManager;
use crate::session::Current;
use crate::setup::StoredSessionParams;

/// What a fork is made of.
struct Source {
    session: ClaudeSessionId,
    /// The message that it ends with.
    until: Option<String>,
    /// Where it is begun anew, if nobody has said anything.
    begun: Option<PathBuf>,
}

/// Copies a conversation and opens the copy.
///
/// # Errors
/// When there is none, it has no such message, or Claude does not start.
pub(crate) async fn fork_stored(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    ((store, records), mut params): ((TranscriptStore, Records), StoredSessionParams),
) -> Result<(schema::SessionId, Current), RpcError> {
    let id = params.session_id.clone();
    let lives_here = manager.session(&id, ctx.connection.id()).is_some();
    let source = Source {
        session: ClaudeSessionId::from(id.to_string()),
        until: fork_point(params.meta()),
        begun: lives_here.then(|| params.cwd().to_owned()),
    };
    let copy = ClaudeSessionId::from(uuid::Uuid::new_v4().to_string());
    let forked = schema::SessionId::new(copy.as_str());
    let files = (store.clone(), records.clone());
    let copying = {
        let copy = copy.clone();
        tokio::task::spawn_blocking(move || copy_files(&files, &source, copy))
    };
    let copied = copying.await.unwrap_or(Ok(false)).map_err(|error| match error {
        ForkError::NoMessage(_) => errors::invalid_params(error, Some(json!({"sessionId": id}))),
        ForkError::Io(_) => errors::internal(error, Some(json!({"sessionId": id}))),
    })?;
    if !copied {
        return Err(HistoryError::Unknown.for_client(&id));
    }
    params.session_id = forked.clone();
    let stored = ((store.clone(), records.clone()), params);
    let opened = open_stored(manager, ctx, stored, false).await;
    if opened.is_err() {
        // Nobody has heard of it.
        tokio::task::spawn_blocking(move || super::delete::remove(&store, &records, &copy));
    }
    Ok((forked, opened?))
}

/// Makes the files of the copy; `false` where there is nothing to copy.
fn copy_files(
    (store, records): &(TranscriptStore, Records),
    source: &Source,
    copy: ClaudeSessionId,
) -> Result<bool, ForkError> {
    let record = records.read(&source.session);
    let conversations = record.iter().flat_map(|record| record.conversations.last());
    let last = conversations.last().unwrap_or(&source.session);
    let transcript = store.find(last);
    let begun = match (&transcript, &record, &source.begun) {
        (_, Some(record), _) => Some(Record {
            conversations: vec![copy.clone()],
            ..record.clone()
        }),
        (None, None, Some(cwd)) => Some(Record::begun(copy.clone(), cwd.clone())),
        (Some(_), None, _) | (None, None, None) => None,
    };
    let copied = match &transcript {
        Some(transcript) => {
            let title = Summary::read(transcript)?.map(|summary| format!("{} (fork)", summary.title));
            fork(
                transcript,
                &copy,
                &title.unwrap_or_default(),
                source.until.as_deref(),
            )?;
            true
        }
        None => begun.is_some(),
    };
    if let Some(record) = begun {
        records.write(&copy, &record)?;
    }
    Ok(copied)
}

/// The message that a fork ends with, as clients name it.
fn fork_point(meta: Option<&schema::Meta>) -> Option<String> {
    let meta = meta?;
    let air = || meta.get("jetbrains")?.get("air")?.get("fork")?.get("messageId");
    let claude_code = || meta.get("claudeCode")?.get("rewindTo");
    air()
        .or_else(claude_code)
        .and_then(Value::as_str)
        .map(str::to_owned)
}
