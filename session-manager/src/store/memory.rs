//! Sessions kept in memory: for tests, and where the user has no directory for state.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use acp_proto::schema::SessionId;

use super::{SavedSession, Store, StoreError};

/// A store that lasts as long as the process.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    sessions: Mutex<HashMap<SessionId, SavedSession>>,
}

impl MemoryStore {
    /// No step under the lock can leave the map half changed, so a panic elsewhere does not matter.
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, SavedSession>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn load(&self, id: &SessionId) -> Result<Option<SavedSession>, StoreError> {
        Ok(self.sessions().get(id).cloned())
    }

    fn save(&self, id: &SessionId, session: &SavedSession) -> Result<(), StoreError> {
        super::check_owner(id, session)?;
        self.sessions().insert(id.clone(), session.clone());
        Ok(())
    }

    fn remove(&self, id: &SessionId) -> Result<(), StoreError> {
        self.sessions().remove(id);
        Ok(())
    }
}
