//! Sessions kept in files: one small file a session, in a directory that only the user can read.
//!
//! A file is written beside its place and moved there, so that a reader finds the old one or the new one, whole. Two
//! agents may save the same session at once; the last move wins.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use acp_proto::schema::SessionId;
use tempfile::NamedTempFile;

use super::{
    SavedSession, Store, StoreError,
    saved::{self, MAX_BYTES},
};

/// Longer ids than this are nobody's, and file systems end names soon after.
const MAX_ID_BYTES: usize = 128;

/// The sessions in one directory.
#[derive(Debug)]
pub(crate) struct FileStore {
    directory: PathBuf,
}

impl FileStore {
    /// The sessions in `directory`, which is made when the first one is saved.
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Where a session is kept. Only ids of harmless characters have a place, so no id leads out of the directory.
    fn place(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let name: &str = &id.0;
        if name.is_empty() || name.len() > MAX_ID_BYTES || !name.bytes().all(harmless) {
            return Err(StoreError::UnusableId(id.clone()));
        }
        Ok(self.directory.join(format!("{name}.json")))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        // Only its owner can read a temporary file, and it keeps its rights when it is moved.
        let mut file = NamedTempFile::new_in(&self.directory)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }
}

impl Store for FileStore {
    fn load(&self, id: &SessionId) -> Result<Option<SavedSession>, StoreError> {
        let path = self.place(id)?;
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Read { path, source }),
        };
        match saved::decode(&bytes, id) {
            Ok(session) => Ok(Some(session)),
            Err(source) => Err(StoreError::Record { path, source }),
        }
    }

    fn save(&self, id: &SessionId, session: &SavedSession) -> Result<(), StoreError> {
        let path = self.place(id)?;
        super::check_owner(id, session)?;
        let bytes = match saved::encode(session) {
            Ok(bytes) => bytes,
            Err(source) => return Err(StoreError::Unsaveable { path, source }),
        };
        self.write(&path, &bytes)
            .map_err(|source| StoreError::Write { path, source })
    }

    fn remove(&self, id: &SessionId) -> Result<(), StoreError> {
        let path = self.place(id)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|source| StoreError::Remove { path, source }),
        }
    }
}

/// What is in a file, up to just more than a session may have.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe that someone put there would wait for its other end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
