//! A saved session, and the text it is saved as.
//!
//! Reading takes any bytes: fields of a later release are passed over, a missing choice is no choice, and what cannot be
//! understood is an error. Pure.

use std::path::PathBuf;

use acp_proto::schema::SessionId;
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::PermissionMode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The version of the format. It changes only when an older release would misread a newer file.
const VERSION: u64 = 1;

/// How large a saved session may be. Real ones have a few hundred bytes.
pub(super) const MAX_BYTES: usize = 256 * 1024;

/// What is kept of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedSession {
    /// The id the client knows.
    pub(crate) session_id: SessionId,
    /// The session's directory; Claude finds a conversation only from there.
    pub(crate) cwd: PathBuf,
    /// Claude's own ids.
    pub(crate) claude: ClaudeIds,
    /// The permission mode that was chosen last; `None` also for a mode that this release does not know.
    #[serde(
        default,
        deserialize_with = "known_mode",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) mode: Option<PermissionMode>,
    /// The values of the config options that were chosen, by option.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Map::is_empty")]
    pub(crate) options: Map<String, Value>,
    /// When the session began, as RFC 3339.
    pub(crate) created_at: String,
    /// When it was last used, as RFC 3339.
    pub(crate) updated_at: String,
}

/// The conversations that a session has been for Claude.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaudeIds {
    /// The conversation that goes on.
    pub(crate) current: ClaudeSessionId,
    /// The ones before a hand-off or `/clear`, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<ClaudeSessionId>,
}

/// Why bytes are no saved session, or a session cannot become one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadRecord {
    #[error("it is larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("version {0} is of a newer claude-acp")]
    Newer(u64),
    #[error("it has no version")]
    NoVersion,
    #[error("it is session `{0}`")]
    OtherSession(SessionId),
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
}

/// The file's outermost shape when it is written.
#[derive(Serialize)]
struct Record<'a> {
    version: u64,
    #[serde(flatten)]
    session: &'a SavedSession,
}

impl ClaudeIds {
    /// A session that is one conversation so far.
    pub(crate) fn new(current: ClaudeSessionId) -> Self {
        Self {
            current,
            earlier: Vec::new(),
        }
    }

    /// The session goes on as another conversation.
    pub(crate) fn move_to(&mut self, next: ClaudeSessionId) {
        if next != self.current {
            let left = std::mem::replace(&mut self.current, next);
            // A conversation is listed once, also when the session returns to it.
            self.earlier
                .retain(|earlier| *earlier != left && *earlier != self.current);
            self.earlier.push(left);
        }
    }
}

/// The bytes of a session.
///
/// # Errors
/// When they would be more than can be read again.
pub(super) fn encode(session: &SavedSession) -> Result<Vec<u8>, BadRecord> {
    let version = VERSION;
    let mut bytes = serde_json::to_vec_pretty(&Record { version, session })?;
    bytes.push(b'\n');
    if bytes.len() > MAX_BYTES {
        return Err(BadRecord::TooLarge);
    }
    Ok(bytes)
}

/// The session in bytes that claim to be session `id`.
///
/// # Errors
/// When they are no session of a version that this release reads, or are another session.
pub(super) fn decode(bytes: &[u8], id: &SessionId) -> Result<SavedSession, BadRecord> {
    if bytes.len() > MAX_BYTES {
        return Err(BadRecord::TooLarge);
    }
    let value: Value = serde_json::from_slice(bytes)?;
    match value.get("version").and_then(Value::as_u64) {
        None | Some(0) => return Err(BadRecord::NoVersion),
        Some(VERSION) => {}
        Some(newer) => return Err(BadRecord::Newer(newer)),
    }
    let session: SavedSession = serde_json::from_value(value)?;
    if session.session_id != *id {
        return Err(BadRecord::OtherSession(session.session_id));
    }
    Ok(session)
}

/// A choice that cannot be read costs that choice, not the session.
fn known_mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PermissionMode>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let mode = value.as_str().and_then(PermissionMode::from_wire_id);
    if mode.is_none() && !value.is_null() {
        tracing::warn!(%value, "saved permission mode is unknown and does not count");
    }
    Ok(mode)
}

fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(options) => Ok(options),
        Value::Null => Ok(Map::new()),
        other => {
            tracing::warn!(value = %other, "saved options are no object and do not count");
            Ok(Map::new())
        }
    }
}
