//! What a session had that Claude does not bring back, in a small file per session: its mode and options, and which
//! conversations it has had since it began (a cleared one, a plan that was handed over).
//!
//! Written only when there is something to keep. A file that cannot be read is as if it were not there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use claude_sdk_bridge::messages::ClaudeSessionId;
use claude_sdk_bridge::transcripts::{SessionLock, TranscriptStore, is_session_id};
use permission_core::PermissionMode;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::error::HistoryError;
use crate::options::Saved;

/// Where the records are.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    folder: PathBuf,
}

/// What is kept of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Claude's ids of its conversations, in order. It goes on with the last.
    pub(crate) conversations: Vec<ClaudeSessionId>,
    pub(crate) cwd: PathBuf,
    /// Claude has begun to write the last of them down.
    #[serde(default)]
    pub(crate) written: bool,
    /// The mode, where it is not the one of the settings.
    #[serde(default)]
    pub(crate) mode: Option<String>,
    #[serde(default)]
    pub(crate) options: Saved,
}

impl Record {
    /// That of a session that begins.
    pub(crate) fn begun(conversation: ClaudeSessionId, cwd: PathBuf) -> Self {
        Self {
            conversations: vec![conversation],
            cwd,
            ..Self::default()
        }
    }
}

impl Records {
    /// Beside Claude's own files, so that they are protected and found as those are.
    pub(crate) fn new(claude: &Path) -> Self {
        Self {
            folder: claude.join("claude-acp"),
        }
    }

    /// What is kept of a session.
    pub(crate) fn read(&self, id: &ClaudeSessionId) -> Option<Record> {
        let text = fs::read(self.path(id)?).ok()?;
        let record: Record = serde_json::from_slice(&text)
            .inspect_err(|error| tracing::warn!(%id, %error, "what was kept of a session is not readable"))
            .ok()?;
        let sound = record.conversations.iter().all(|id| is_session_id(id.as_str()));
        (sound && !record.conversations.is_empty()).then_some(record)
    }

    /// Which session has a conversation that it did not begin with, by conversation.
    pub(super) fn chained(&self) -> HashMap<ClaudeSessionId, ClaudeSessionId> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let records = files.filter_map(|file| {
            let name = file.file_name();
            let id = ClaudeSessionId::from(name.to_str()?.strip_suffix(".json")?);
            Some((self.read(&id)?.conversations, id))
        });
        let chained = records.flat_map(|(conversations, session)| {
            let later = conversations.into_iter().skip(1);
            later.map(move |conversation| (conversation, session.clone()))
        });
        chained.collect()
    }

    /// Refuses where a process has one of a session's conversations open, for itself or for the session that has gone on to
    /// it.
    ///
    /// # Errors
    /// Who has it.
    pub(super) fn check_free(
        &self,
        store: &TranscriptStore,
        conversations: &[ClaudeSessionId],
    ) -> Result<(), HistoryError> {
        let holder = |id| store.holder(id).map(|pid| (id, pid));
        let Some((id, pid)) = conversations.iter().find_map(holder) else {
            return Ok(());
        };
        let session = self.chained().remove(id);
        let another = session.filter(|session| Some(session) != conversations.first());
        Err(another.map_or(HistoryError::Held(pid), HistoryError::Chained))
    }

    /// Forgets a session.
    ///
    /// # Errors
    /// When the file system does not.
    pub(crate) fn remove(&self, id: &ClaudeSessionId) -> io::Result<()> {
        match self.path(id).map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self, id: &ClaudeSessionId, record: &Record) -> io::Result<()> {
        let Some(path) = self.path(id) else { return Ok(()) };
        fs::create_dir_all(&self.folder)?;
        let unfinished = path.with_extension("tmp");
        fs::write(&unfinished, serde_json::to_vec(record)?)?;
        fs::rename(unfinished, path)
    }

    /// Keeps other agents from a session. Where files cannot be locked it is used without.
    ///
    /// # Errors
    /// When another agent has it open.
    pub(crate) fn lock(&self, id: &ClaudeSessionId) -> Result<Option<SessionLock>, HistoryError> {
        let Some(path) = self.path(id) else {
            return Ok(None);
        };
        match SessionLock::take(path.with_extension("lock")) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(HistoryError::AnotherAgent),
            Err(error) => {
                tracing::debug!(%id, %error, "a session could not be locked");
                Ok(None)
            }
        }
    }

    fn path(&self, id: &ClaudeSessionId) -> Option<PathBuf> {
        is_session_id(id.as_str()).then(|| self.folder.join(format!("{id}.json")))
    }
}

/// Keeps the record of a session that is open.
#[derive(Debug)]
pub(crate) struct Keeper {
    record: Record,
    /// The mode that the settings gave it.
    usual: PermissionMode,
    latest: watch::Sender<Record>,
    /// Keeps other agents from the session.
    _lock: Option<SessionLock>,
}

impl Keeper {
    /// Begins with what is kept already. Without a place nothing is kept.
    pub(crate) fn new(
        records: Option<Records>,
        id: ClaudeSessionId,
        record: Record,
        usual: PermissionMode,
        lock: Option<SessionLock>,
    ) -> Self {
        let (latest, changes) = watch::channel(record.clone());
        if let Some(records) = records {
            tokio::spawn(write_changes(records, id, changes));
        }
        Self {
            record,
            usual,
            latest,
            _lock: lock,
        }
    }

    /// Claude's ids of the session's conversations, in order.
    pub(crate) fn conversations(&self) -> &[ClaudeSessionId] {
        &self.record.conversations
    }

    /// The one that the session goes on with.
    pub(crate) fn conversation(&self) -> ClaudeSessionId {
        self.record.conversations.last().cloned().unwrap_or_default()
    }

    /// The session goes on as another conversation.
    pub(crate) fn begun(&mut self, conversation: &ClaudeSessionId) {
        if self.record.conversations.last() != Some(conversation) {
            self.record.conversations.push(conversation.clone());
            self.record.written = false;
            self.keep();
        }
    }

    /// Claude writes the conversation down. That alone is nothing to keep.
    pub(crate) fn written(&mut self) {
        let begun = Record::begun(self.conversation(), self.record.cwd.clone());
        let is_kept = self.record != begun;
        if !std::mem::replace(&mut self.record.written, true) && is_kept {
            self.keep();
        }
    }

    /// What is chosen now.
    pub(crate) fn chosen(&mut self, mode: PermissionMode, options: Saved) {
        let named = (mode != self.usual || self.record.mode.is_some()).then(|| mode.wire_id().to_owned());
        if (&self.record.mode, &self.record.options) != (&named, &options) {
            self.record.mode = named;
            self.record.options = options;
            self.keep();
        }
    }

    fn keep(&self) {
        self.latest.send_replace(self.record.clone());
    }
}

/// Writes each change down, until the session has ended and the last one is written.
async fn write_changes(records: Records, id: ClaudeSessionId, mut changes: watch::Receiver<Record>) {
    while changes.changed().await.is_ok() {
        let record = changes.borrow_and_update().clone();
        let (records, id) = (records.clone(), id.clone());
        let written = tokio::task::spawn_blocking(move || records.write(&id, &record));
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "what a session has chosen is not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0a0c4f6e-1111-4222-8333-abcdefabcdef";

    /// What is read again after a session in which this has happened.
    async fn kept(records: &Records, happened: impl FnOnce(&mut Keeper)) -> Option<Record> {
        let begun = Record::begun(ID.into(), "/project".into());
        let begun = records.read(&ID.into()).unwrap_or(begun);
        let mut keeper = Keeper::new(None, ID.into(), begun, PermissionMode::Default, None);
        let changes = keeper.latest.subscribe();
        happened(&mut keeper);
        drop(keeper);
        write_changes(records.clone(), ID.into(), changes).await;
        records.read(&ID.into())
    }

    #[tokio::test]
    async fn what_is_chosen_is_kept_and_what_is_usual_is_not() {
        let claude = tempfile::tempdir().unwrap();
        let records = Records::new(claude.path());
        let choose = |mode: PermissionMode| move |keeper: &mut Keeper| keeper.chosen(mode, Saved::default());
        assert_eq!(kept(&records, choose(PermissionMode::Default)).await, None);
        assert_eq!(kept(&records, Keeper::written).await, None);
        for mode in [PermissionMode::AcceptEdits, PermissionMode::Default] {
            let record = kept(&records, choose(mode)).await.unwrap();
            assert_eq!(record.mode.as_deref(), Some(mode.wire_id()));
        }
        assert!(!records.read(&ID.into()).unwrap().written);
        let record = kept(&records, Keeper::written).await.unwrap();
        assert!(record.written);
        let next = ClaudeSessionId::from(ID.replace('f', "0"));
        let record = kept(&records, |keeper| keeper.begun(&next)).await.unwrap();
        assert_eq!(record.conversations, [ID.into(), next]);
        assert!(!record.written, "the next one is in no file");
        records.remove(&ID.into()).unwrap();
        records.remove(&ID.into()).unwrap();
        assert_eq!(records.read(&ID.into()), None);
    }

    #[test]
    fn what_is_no_record_is_none() {
        let claude = tempfile::tempdir().unwrap();
        let records = Records::new(claude.path());
        fs::create_dir_all(&records.folder).unwrap();
        for text in [
            "",
            "{}",
            r#"{"conversations": [], "cwd": "/"}"#,
            r#"{"conversations": ["../../x"], "cwd": "/"}"#,
        ] {
            fs::write(records.folder.join(format!("{ID}.json")), text).unwrap();
            assert_eq!(records.read(&ID.into()), None, "{text}");
        }
        assert_eq!(records.read(&"../settings".into()), None);
    }
}
