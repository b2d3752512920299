//! The session manager: which sessions exist, and who may use them.
//!
//! Place in the flow: the method registry (`agent`) looks sessions up here; everything about one session happens in its
//! actor. A session belongs to the manager. For now it is used by the connection that opened it, and ends with it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use acp_proto::schema::SessionId;
use acp_proto::{ConnectionId, Router, RouterError, RpcError, errors};
use claude_sdk_bridge::backend::Backend;
use claude_sdk_bridge::settings::{DEBOUNCE, SettingsWatcher};

use crate::agent;
use crate::config::ManagerConfig;
use crate::history::HistoryError;
use crate::initialize::ClientFacts;
use crate::session::{Current, Opened, SessionHandle};

/// All sessions of one agent process, whatever connection they came in on.
pub struct SessionManager {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) config: ManagerConfig,
    /// One for all sessions, from the first that needs it.
    settings_watcher: OnceLock<SettingsWatcher>,
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    clients: HashMap<ConnectionId, ClientFacts>,
    sessions: HashMap<SessionId, SessionHandle>,
    /// Taken out of the table, while their processes end.
    ending: HashMap<SessionId, SessionHandle>,
    /// Stored sessions that are about to be in the table.
    opening: HashSet<SessionId>,
    closed: bool,
}

impl SessionManager {
    /// A manager without sessions.
    pub fn new(backend: Arc<dyn Backend>, mut config: ManagerConfig) -> Arc<Self> {
        config.protect_claude();
        Arc::new(Self {
            settings_watcher: OnceLock::new(),
            backend,
            config,
            tables: Mutex::default(),
        })
    }

    /// What watches the settings files of every session.
    pub(crate) fn settings_watcher(&self) -> SettingsWatcher {
        self.settings_watcher
            .get_or_init(|| SettingsWatcher::start(DEBOUNCE))
            .clone()
    }

    /// The ACP methods, to be served on every connection.
    ///
    /// # Errors
    /// When two handlers claim the same method: a mistake in this crate.
    pub fn router(self: &Arc<Self>) -> Result<Router, RouterError> {
        agent::router(self)
    }

    /// Ends the sessions of a connection that is gone; returns when their processes are.
    pub async fn connection_ended(&self, connection: ConnectionId) {
        let orphans = {
            let mut tables = self.tables();
            tables.clients.remove(&connection);
            tables.take_sessions(|_, handle| handle.owner() == connection)
        };
        self.close_all(orphans).await;
    }

    /// Ends every session and refuses new ones; returns when all processes are gone. Open prompts answer `cancelled`.
    pub async fn shutdown(&self) {
        let all = {
            let mut tables = self.tables();
            tables.closed = true;
            tables.take_sessions(|_, _| true)
        };
        self.close_all(all).await;
    }

    /// Notes what the client on a connection can do.
    pub(crate) fn greet(&self, connection: ConnectionId, facts: ClientFacts) {
        self.tables().clients.insert(connection, facts);
    }

    /// What the client on a connection can do.
    pub(crate) fn client(&self, connection: ConnectionId) -> ClientFacts {
        self.tables()
            .clients
            .get(&connection)
            .copied()
            .unwrap_or_default()
    }

    /// Adds a session, and hands back what is chosen in it.
    ///
    /// # Errors
    /// When the manager is shutting down or the session's connection has ended meanwhile.
    pub(crate) async fn adopt(&self, opened: Opened) -> Result<Current, RpcError> {
        let Opened { id, current, handle } = opened;
        if self.add(id, handle.clone()) {
            return Ok(current);
        }
        handle.close().await;
        Err(errors::internal("the agent is shutting down", None))
    }

    fn add(&self, id: SessionId, handle: SessionHandle) -> bool {
        let mut tables = self.tables();
        let open = !tables.closed && tables.clients.contains_key(&handle.owner());
        if open {
            tables.sessions.insert(id, handle);
        }
        open
    }

    /// Keeps others from opening this stored session meanwhile.
    ///
    /// # Errors
    /// When it is open already, on whatever connection, or about to be.
    pub(crate) fn reserve(&self, id: &SessionId) -> Result<Reserved<'_>, HistoryError> {
        let mut tables = self.tables();
        if tables.sessions.contains_key(id) {
            return Err(HistoryError::Elsewhere);
        }
        if !tables.opening.insert(id.clone()) {
            return Err(HistoryError::Opening);
        }
        Ok(Reserved {
            manager: self,
            id: id.clone(),
        })
    }

    /// Waits until no process of the session is left, where it is about to end.
    pub(crate) async fn ended(&self, id: &SessionId) {
        let ending = self.tables().ending.get(id).cloned();
        if let Some(handle) = ending {
            handle.close().await;
        }
    }

    /// Ends sessions that have been taken out of the table.
    async fn close_all(&self, sessions: Vec<(SessionId, SessionHandle)>) {
        futures::future::join_all(sessions.iter().map(|(_, handle)| handle.close())).await;
        let mut tables = self.tables();
        for (id, _) in &sessions {
            tables.ending.remove(id);
        }
    }

    /// The session with this id, if this connection may use it.
    pub(crate) fn session(&self, id: &SessionId, connection: ConnectionId) -> Option<SessionHandle> {
        self.tables()
            .sessions
            .get(id)
            .filter(|handle| handle.owner() == connection)
            .cloned()
    }

    /// Ends a session, if this connection may use it; returns when its process is gone.
    pub(crate) async fn close(&self, id: &SessionId, connection: ConnectionId) {
        let session = {
            let mut tables = self.tables();
            tables.take_sessions(|other, handle| other == id && handle.owner() == connection)
        };
        self.close_all(session).await;
    }

    /// The lock guards plain maps and is never held over an await, so a panic elsewhere cannot have left them half changed.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn take_sessions(
        &mut self,
        wanted: impl Fn(&SessionId, &SessionHandle) -> bool,
    ) -> Vec<(SessionId, SessionHandle)> {
        let taken = self.sessions.extract_if(|id, handle| wanted(id, handle));
        let taken: Vec<_> = taken.collect();
        self.ending.extend(taken.iter().cloned());
        taken
    }
}

/// A stored session that is about to be in the table.
pub(crate) struct Reserved<'a> {
    manager: &'a SessionManager,
    id: SessionId,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.manager.tables().opening.remove(&self.id);
    }
}
