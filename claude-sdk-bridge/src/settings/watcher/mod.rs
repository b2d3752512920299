//! Tells when a settings file changes: one watcher for the whole process, whatever the number of sessions.
//!
//! Place in the flow: the host starts it, and every session watches its own files with it. The work is `worker`'s, in a
//! thread of its own; which directories have to be watched for a file says `places`. Must not interpret a text.

mod places;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;
use std::{fmt, thread};

use notify::Watcher;
use tokio::sync::watch;

use super::{Locations, SettingsText, read_all};
use worker::{Handler, Message, Worker};

/// How long files must rest before they are read, in ordinary use.
pub const DEBOUNCE: Duration = Duration::from_millis(100);

/// So many messages may wait for the thread. An event that finds no room is noted all the same.
const WAITING: usize = 64;

/// All settings files that exist, weakest source first.
pub type SettingsTexts = Arc<[SettingsText]>;

/// Watches settings files for everybody in this process, with two threads and one watch of the system's. Clones are the
/// same watcher; it ends with the last of them and of what it watches.
#[derive(Clone)]
pub struct SettingsWatcher {
    worker: Arc<SyncSender<Message>>,
}

/// The settings files of one session, watched until this is dropped.
pub struct WatchedSettings {
    texts: watch::Receiver<SettingsTexts>,
    id: WatchId,
    worker: Arc<SyncSender<Message>>,
}

/// Tells what is watched for one session from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct WatchId(u64);

/// The part of `notify` that tests replace.
type MakeWatcher = fn(Handler) -> notify::Result<Box<dyn Watcher + Send>>;

impl SettingsWatcher {
    /// Starts the watcher; `debounce` is how long files must rest before they are read.
    #[must_use]
    pub fn start(debounce: Duration) -> Self {
        Self::start_with(debounce, |handler| {
            Ok(Box::new(notify::recommended_watcher(handler)?))
        })
    }

    /// Begins to watch these files, and reads them for the first time; blocks as long as that takes. Where the system
    /// refuses to watch, the files are read once and the log says so.
    #[must_use]
    pub fn watch(&self, locations: &Locations) -> WatchedSettings {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = WatchId(NEXT.fetch_add(1, Ordering::Relaxed));
        let (texts, mut seen) = watch::channel(SettingsTexts::from([]));
        let (armed, answer) = mpsc::sync_channel(1);
        let begin = Message::Watch {
            id,
            locations: locations.clone(),
            texts: texts.clone(),
            armed,
        };
        // Without a thread nobody answers; then the texts of now are the last ones.
        if self.worker.send(begin).is_err() || answer.recv().is_err() {
            tracing::warn!("settings files are not watched, so later changes to them are not noticed");
            texts.send_replace(read_all(locations).into());
        }
        // What is there now is read by whoever asked for it; a change is what comes after.
        seen.mark_unchanged();
        WatchedSettings {
            texts: seen,
            id,
            worker: Arc::clone(&self.worker),
        }
    }

    fn start_with(debounce: Duration, make: MakeWatcher) -> Self {
        let (worker, messages) = mpsc::sync_channel(WAITING);
        let worker = Arc::new(worker);
        let events = Arc::downgrade(&worker);
        let spawned = thread::Builder::new()
            .name("settings-watch".to_owned())
            .spawn(move || Worker::new(events, make).run(&messages, debounce));
        if let Err(error) = spawned {
            tracing::warn!(%error, "there is no thread to watch settings files");
        }
        Self { worker }
    }
}

impl WatchedSettings {
    /// What stands in the files.
    #[must_use]
    pub fn texts(&self) -> SettingsTexts {
        self.texts.borrow().clone()
    }

    /// Waits until a file says something else. Never ends once nothing is watched any more. Cancel-safe.
    pub async fn changed(&mut self) {
        if self.texts.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for WatchedSettings {
    fn drop(&mut self) {
        // A thread that is gone watches nothing.
        let _ = self.worker.send(Message::Forget(self.id));
    }
}

impl fmt::Debug for SettingsWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsWatcher").finish_non_exhaustive()
    }
}

impl fmt::Debug for WatchedSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedSettings")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
