//! What outlives a session's processes: the choices made in it, and which of Claude's conversations it is.
//!
//! Place in the flow: `session/new` and every later choice save, `session/load` loads. Every call blocks, so the caller
//! makes it off the runtime's own threads. Nothing here reads a clock or the environment, and nothing decides which
//! choice counts.

mod file;
#[cfg(test)]
mod memory;
mod saved;
#[cfg(test)]
mod tests;

use std::{io, path::PathBuf};

use acp_proto::schema::SessionId;

pub(crate) use file::FileStore;
#[cfg(test)]
pub(crate) use memory::MemoryStore;
pub(crate) use saved::{BadRecord, ClaudeIds, SavedSession};

/// Where sessions are kept. Of two that save the same session the last one wins, whole.
pub(crate) trait Store: Send + Sync {
    /// What was saved of a session; `None` when nothing was.
    ///
    /// # Errors
    /// When something was saved that cannot be read; the session can go on as if nothing had been.
    fn load(&self, id: &SessionId) -> Result<Option<SavedSession>, StoreError>;

    /// Saves a session in place of what was saved before.
    ///
    /// # Errors
    /// When it was not saved; what was saved before is still there.
    fn save(&self, id: &SessionId, session: &SavedSession) -> Result<(), StoreError>;

    /// Forgets a session; one that was never saved is forgotten already.
    ///
    /// # Errors
    /// When it is still there.
    fn remove(&self, id: &SessionId) -> Result<(), StoreError>;
}

/// Why a session was not loaded, saved or removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("session id `{0}` cannot be saved; use letters, digits, `-` and `_`")]
    UnusableId(SessionId),
    #[error("session `{found}` cannot be saved as `{asked}`")]
    OtherSession { asked: SessionId, found: SessionId },
    #[error("saved session `{path}` cannot be read: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("saved session `{path}` is not usable: {source}; remove the file to forget the session")]
    Record { path: PathBuf, source: BadRecord },
    #[error("session cannot be saved to `{path}`: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("session cannot be saved to `{path}`: {source}")]
    Unsaveable { path: PathBuf, source: BadRecord },
    #[error("saved session `{path}` cannot be removed: {source}")]
    Remove { path: PathBuf, source: io::Error },
}

/// A session is saved under its own id only, since that is where it will be looked for.
fn check_owner(id: &SessionId, session: &SavedSession) -> Result<(), StoreError> {
    if session.session_id == *id {
        return Ok(());
    }
    let (asked, found) = (id.clone(), session.session_id.clone());
    Err(StoreError::OtherSession { asked, found })
}
