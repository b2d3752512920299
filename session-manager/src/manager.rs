//! The session manager: which sessions exist, and who may use them.
//!
//! Place in the flow: the method registry (`agent`) looks sessions up here; everything about one session happens in its
//! actor. A session belongs to the manager. For now it is used by the connection that opened it, and ends with it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use acp_proto::{ConnectionId, Router, RouterError, schema::SessionId};
use claude_sdk_bridge::{
    backend::Backend,
    settings::{DEBOUNCE, SettingsWatcher},
};

use crate::{agent, config::ManagerConfig, initialize::ClientFacts, session::SessionHandle};

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
            tables.take_sessions(|handle| handle.owner() == connection)
        };
        close_all(orphans).await;
    }

    /// Ends every session and refuses new ones; returns when all processes are gone. Open prompts answer `cancelled`.
    pub async fn shutdown(&self) {
        let all = {
            let mut tables = self.tables();
            tables.closed = true;
            tables.take_sessions(|_| true)
        };
        close_all(all).await;
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

    /// Adds a session, unless the manager is shutting down or its connection has ended meanwhile.
    pub(crate) fn add(&self, id: SessionId, handle: SessionHandle) -> bool {
        let mut tables = self.tables();
        let open = !tables.closed && tables.clients.contains_key(&handle.owner());
        if open {
            tables.sessions.insert(id, handle);
        }
        open
    }

    /// The session with this id, if this connection may use it.
    pub(crate) fn session(&self, id: &SessionId, connection: ConnectionId) -> Option<SessionHandle> {
        self.tables()
            .sessions
            .get(id)
            .filter(|handle| handle.owner() == connection)
            .cloned()
    }

    /// Takes a session out of the table, if this connection may use it.
    pub(crate) fn remove(&self, id: &SessionId, connection: ConnectionId) -> Option<SessionHandle> {
        let mut tables = self.tables();
        if tables.sessions.get(id)?.owner() == connection {
            tables.sessions.remove(id)
        } else {
            None
        }
    }

    /// The lock guards plain maps and is never held over an await, so a panic elsewhere cannot have left them half changed.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn take_sessions(&mut self, wanted: impl Fn(&SessionHandle) -> bool) -> Vec<SessionHandle> {
        self.sessions
            .extract_if(|_, handle| wanted(handle))
            .map(|(_, handle)| handle)
            .collect()
    }
}

async fn close_all(handles: Vec<SessionHandle>) {
    futures::future::join_all(handles.iter().map(SessionHandle::close)).await;
}
