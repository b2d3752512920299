//! Tells when a settings file changes.
//!
//! Place in the flow: one watcher a session; the host subscribes and has the texts parsed. The work is `lookout`'s, in a
//! thread of its own; this file starts and ends it. Must not interpret a text.

use std::{
    fmt,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::Duration,
};

use notify::Watcher;
use tokio::sync::watch;

use super::{
    Locations, SettingsText,
    lookout::{Handler, Lookout},
    read_all,
};

/// How long files must rest before they are read, in ordinary use.
pub const DEBOUNCE: Duration = Duration::from_millis(100);

/// All settings files that exist, weakest source first.
pub type SettingsTexts = Arc<[SettingsText]>;

/// Watches the settings files of a session until it is dropped.
pub struct SettingsWatcher {
    texts: watch::Sender<SettingsTexts>,
    watching: bool,
    /// The thread ends when this is gone; whoever wakes it holds it weakly.
    _wake: Arc<SyncSender<()>>,
}

/// The part of `notify` that tests replace.
pub(super) type MakeWatcher = fn(Handler) -> notify::Result<Box<dyn Watcher + Send>>;

impl SettingsWatcher {
    /// Begins to watch, and reads the files for the first time; blocks as long as that takes. Where the system refuses
    /// to watch, the files are read once and the log says so.
    pub fn start(locations: Locations, debounce: Duration) -> Self {
        Self::start_with(locations, debounce, |handler| {
            Ok(Box::new(notify::recommended_watcher(handler)?))
        })
    }

    /// The texts from now on; marked as changed when a text differs, closed when the watcher is dropped.
    pub fn subscribe(&self) -> watch::Receiver<SettingsTexts> {
        self.texts.subscribe()
    }

    /// Whether changes are seen.
    pub fn is_watching(&self) -> bool {
        self.watching
    }

    pub(super) fn start_with(locations: Locations, debounce: Duration, make: MakeWatcher) -> Self {
        let (wake, woken) = mpsc::sync_channel(1);
        let wake = Arc::new(wake);
        let (texts, _) = watch::channel(SettingsTexts::from([]));
        let (report, armed) = mpsc::sync_channel(1);
        let spawned = {
            let (locations, texts, wake) = (locations.clone(), texts.clone(), Arc::downgrade(&wake));
            let thread = thread::Builder::new().name("settings-watch".to_owned());
            thread.spawn(move || {
                let lookout = Lookout::start(locations, texts, wake, make);
                let (outcome, lookout) = match lookout {
                    Ok(lookout) => (Ok(()), Some(lookout)),
                    Err(error) => (Err(error), None),
                };
                if report.send(outcome).is_ok()
                    && let Some(lookout) = lookout
                {
                    lookout.run(&woken, debounce);
                }
            })
        };
        let outcome = spawned.map_err(notify::Error::io).and_then(|_| answer(&armed));
        if let Err(error) = &outcome {
            tracing::warn!(%error, "settings files are not watched, so later changes to them are not noticed");
            texts.send_replace(read_all(&locations).into());
        }
        Self {
            texts,
            watching: outcome.is_ok(),
            _wake: wake,
        }
    }
}

impl fmt::Debug for SettingsWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsWatcher")
            .field("watching", &self.watching)
            .finish_non_exhaustive()
    }
}

/// What the thread reports; it says nothing if `notify` gave up, as it does where it gets no thread.
fn answer(armed: &Receiver<notify::Result<()>>) -> notify::Result<()> {
    armed
        .recv()
        .unwrap_or_else(|_| Err(notify::Error::generic("the watcher broke down")))
}
