//! What is kept of a session on disk: its mode, its options, and which of Claude's conversations it is.
//!
//! Saved when one of them changes, never on the way of a message. A session that cannot be saved goes on all the same.

use std::{path::PathBuf, sync::Arc};

use acp_proto::schema::SessionId;
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::PermissionMode;
use serde_json::{Map, Value};

use super::actor::{Actor, Transcript};
use crate::store::{ClaudeIds, SavedSession, Store};

/// The record of one session.
pub(super) struct Record {
    store: Arc<dyn Store>,
    saved: SavedSession,
}

impl Record {
    /// The record of a session that begins now.
    pub(super) fn new(store: Arc<dyn Store>, id: SessionId, cwd: PathBuf, claude: ClaudeSessionId) -> Self {
        let now = jiff::Timestamp::now().to_string();
        let saved = SavedSession {
            session_id: id,
            cwd,
            claude: ClaudeIds::new(claude),
            mode: None,
            options: Map::new(),
            created_at: now.clone(),
            updated_at: now,
        };
        Self { store, saved }
    }

    fn save(&mut self, claude: &ClaudeSessionId, mode: PermissionMode, options: Map<String, Value>) {
        let mut next = self.saved.clone();
        if next.claude.current != *claude {
            next.claude.move_to(claude.clone());
        }
        next.mode = Some(mode);
        next.options = options;
        if next == self.saved {
            return;
        }
        next.updated_at = jiff::Timestamp::now().to_string();
        self.saved = next;
        if let Err(error) = self.store.save(&self.saved.session_id, &self.saved) {
            tracing::warn!(%error, "session was not saved");
        }
    }
}

impl Actor {
    /// Saves what has changed, once there is a conversation to come back to. The file is small, and this is rare.
    pub(super) fn remember(&mut self) {
        let (Some(record), Transcript::Written(claude)) = (&mut self.record, &self.transcript) else {
            return;
        };
        let options = match serde_json::to_value(self.options.carry()) {
            Ok(Value::Object(options)) => options,
            Ok(_) | Err(_) => Map::new(),
        };
        record.save(claude, self.modes.current(), options);
    }
}
