//! Which of several hosts has a session open: one holds a lock on a file of its own.
//!
//! Claude's registry tells of a process only some time after its start, so of two hosts that open a session at the same
//! moment neither would find the other there.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// A session that no other host has while this lives.
#[derive(Debug)]
pub struct SessionLock {
    path: PathBuf,
    /// Locked, until it is closed.
    _file: File,
}

impl SessionLock {
    /// Takes the lock, which is a file that is made for it.
    ///
    /// # Errors
    /// `WouldBlock` when another host has it; others where files cannot be made or locked.
    pub fn take(path: PathBuf) -> io::Result<Self> {
        let file = locked(&path)?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Before the lock is free: whoever waits behind it finds another file there.
        let _: io::Result<()> = fs::remove_file(&self.path);
    }
}

/// The file, locked while it is the one with this name.
fn locked(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    loop {
        let file = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        // Whoever had it has removed it meanwhile.
        let named = fs::metadata(path).map(|named| (named.dev(), named.ino())).ok();
        let ours = file.metadata()?;
        if named == Some((ours.dev(), ours.ino())) {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_has_it_at_a_time_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records/session.lock");
        let first = SessionLock::take(path.clone()).unwrap();
        let refused = SessionLock::take(path.clone()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        drop(first);
        assert!(!path.exists());
        SessionLock::take(path).unwrap();
    }

    #[test]
    fn many_at_once_never_have_it_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.lock");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let takes = || {
            for lock in (0..500).filter_map(|_| SessionLock::take(path.clone()).ok()) {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                taken.fetch_add(1, Ordering::SeqCst);
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(lock);
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(takes))));
        assert!(taken.into_inner() > 0);
    }
}
