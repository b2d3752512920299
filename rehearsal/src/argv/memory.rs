//! Sessions in files, so that another process can resume them, and what is granted for longer than a session.
//!
//! Place in the flow: `argv` looks a session up when it starts and keeps it whenever it has changed.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::Grants;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{CONFIG_VARIABLE, STATE_VARIABLE};
use crate::engine::SessionState;

/// Sessions in files, for the processes to come.
pub(super) struct Memory {
    directory: Option<PathBuf>,
    /// The name of the file with what is granted in the working directory.
    granted: String,
}

impl Memory {
    pub(super) fn of(env: &impl Fn(&str) -> Option<OsString>, persist: bool, cwd: &Path) -> Self {
        let own = env(STATE_VARIABLE).map(PathBuf::from);
        let directory =
            own.or_else(|| env(CONFIG_VARIABLE).map(|directory| Path::new(&directory).join("rehearsal")));
        let mut hasher = DefaultHasher::new();
        cwd.hash(&mut hasher);
        Self {
            directory: directory.filter(|_| persist),
            granted: format!("granted-at-{:016x}", hasher.finish()),
        }
    }

    pub(super) fn look_up(&self, id: &ClaudeSessionId) -> Option<SessionState> {
        self.read(id.as_str())
    }

    /// What has been granted in the working directory for longer than a session.
    pub(super) fn granted(&self) -> Grants {
        self.read(&self.granted).unwrap_or_default()
    }

    pub(super) fn keep(&self, id: &ClaudeSessionId, state: &SessionState) -> std::io::Result<()> {
        let before = self.granted();
        let mut granted = before.clone();
        granted.add_lasting(state.granted());
        if granted != before {
            self.write(&self.granted, &granted)?;
        }
        self.write(id.as_str(), state)
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        // An id is a file name here, so it must not lead anywhere else.
        let is_plain = name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        self.directory
            .as_ref()
            .filter(|_| is_plain)
            .map(|directory| directory.join(format!("{name}.json")))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let text = std::fs::read(self.file(name)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn write(&self, name: &str, value: &impl Serialize) -> std::io::Result<()> {
        let Some(file) = self.file(name) else {
            return Ok(());
        };
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec(value).map_err(std::io::Error::other)?;
        // Written beside and renamed, so that a process that is killed leaves the old memory or the new one.
        let beside = file.with_extension("new");
        std::fs::write(&beside, text)?;
        std::fs::rename(beside, file)
    }
}
