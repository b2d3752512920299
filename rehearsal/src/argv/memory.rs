//! Sessions in files, so that another process can resume them.
//!
//! Place in the flow: `argv` looks a session up when it starts and keeps it whenever it has changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use claude_sdk_bridge::messages::ClaudeSessionId;

use super::{CONFIG_VARIABLE, STATE_VARIABLE};
use crate::engine::SessionState;

/// Sessions in files, for the processes to come.
pub(super) struct Memory {
    directory: Option<PathBuf>,
}

impl Memory {
    pub(super) fn of(env: &impl Fn(&str) -> Option<OsString>, persist: bool) -> Self {
        let own = env(STATE_VARIABLE).map(PathBuf::from);
        let directory =
            own.or_else(|| env(CONFIG_VARIABLE).map(|directory| Path::new(&directory).join("rehearsal")));
        Self {
            directory: directory.filter(|_| persist),
        }
    }

    fn file(&self, id: &ClaudeSessionId) -> Option<PathBuf> {
        // An id is a file name here, so it must not lead anywhere else.
        let is_plain = id
            .as_str()
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        self.directory
            .as_ref()
            .filter(|_| is_plain)
            .map(|directory| directory.join(format!("{id}.json")))
    }

    pub(super) fn look_up(&self, id: &ClaudeSessionId) -> Option<SessionState> {
        let text = std::fs::read(self.file(id)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(super) fn keep(&self, id: &ClaudeSessionId, state: &SessionState) -> std::io::Result<()> {
        let Some(file) = self.file(id) else { return Ok(()) };
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec(state).map_err(std::io::Error::other)?;
        // Written beside and renamed, so that a process that is killed leaves the old memory or the new one.
        let beside = file.with_extension("new");
        std::fs::write(&beside, text)?;
        std::fs::rename(beside, file)
    }
}
