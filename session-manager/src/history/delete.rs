//! `session/delete`: a conversation, its folder, and nothing else.
//!
//! A process that goes on writing would make it anew without its history, so that is ended first, or waited for by
//! whoever has it.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use acp_proto::{RequestContext, RpcError, schema};
use claude_sdk_bridge::{messages::ClaudeSessionId, transcripts::TranscriptStore};

use super::{Records, error::HistoryError};
use crate::manager::SessionManager;

/// Deletes a conversation. One that nobody has is deleted already.
///
/// # Errors
/// When it is in use elsewhere, or the file system does not let go of it.
pub(crate) async fn delete(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    (store, records): (TranscriptStore, Records),
    id: schema::SessionId,
) -> Result<schema::DeleteSessionResponse, RpcError> {
    let refused = |error: HistoryError| error.for_client(&id);
    manager.close(&id, ctx.connection.id()).await;
    let _reserved = manager.reserve(&id).map_err(refused)?;
    manager.ended(&id).await;
    let session = ClaudeSessionId::from(id.to_string());
    let deleted = tokio::task::spawn_blocking(move || remove(&store, &records, &session));
    deleted
        .await
        .unwrap_or(Err(HistoryError::Unknown))
        .map_err(refused)?;
    Ok(schema::DeleteSessionResponse::new())
}

/// All conversations that the session has had go, and what is kept of it.
pub(super) fn remove(
    store: &TranscriptStore,
    records: &Records,
    id: &ClaudeSessionId,
) -> Result<(), HistoryError> {
    let _lock = records.lock(id)?;
    let record = records.read(id);
    let conversations = record.map_or_else(|| vec![id.clone()], |record| record.conversations);
    records.check_free(store, &conversations)?;
    for transcript in conversations.iter().flat_map(|id| store.copies(id)) {
        let folder = transcript.folder();
        gone(fs::remove_file(&transcript.path), transcript.path)?;
        let removed = match folder.is_dir() && !folder.is_symlink() {
            true => fs::remove_dir_all(&folder),
            // Whatever it is, nobody reads it any more.
            false => fs::remove_file(&folder),
        };
        gone(removed, folder)?;
    }
    records
        .remove(id)
        .map_err(|error| HistoryError::Kept(PathBuf::from(id.as_str()), error))
}

/// What was not there is gone as well.
fn gone(removed: io::Result<()>, path: PathBuf) -> Result<(), HistoryError> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(HistoryError::Kept(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_where_a_folder_would_goes_as_well() {
        let claude = tempfile::tempdir().unwrap();
        let project = claude.path().join("projects/-a");
        let kept = claude.path().join("kept");
        for folder in [project.join("inner"), kept.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        let id = ClaudeSessionId::from("0a0c4f6e-1111-4222-8333-abcdefabcdef");
        let beside = project.join(id.as_str());
        let (store, records) = (TranscriptStore::new(claude.path()), Records::new(claude.path()));
        let makes: [&dyn Fn(); 4] = [
            &|| (),
            &|| fs::write(&beside, "a file").unwrap(),
            &|| fs::create_dir_all(beside.join("subagents")).unwrap(),
            &|| std::os::unix::fs::symlink(&kept, &beside).unwrap(),
        ];
        for make in makes {
            fs::write(project.join(format!("{id}.jsonl")), "{}\n").unwrap();
            make();
            remove(&store, &records, &id).unwrap();
            let left = fs::read_dir(&project).unwrap().flatten();
            assert_eq!(left.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["inner"]);
        }
        assert!(kept.is_dir());
    }
}
