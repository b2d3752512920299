//! The thread of a settings watcher.
//!
//! Place in the flow: waits for events of the file system, lets them settle, arms again (directories come, go and are
//! replaced), reads, and publishes if a text differs. It arms before it reads, so that nothing is missed: a change is
//! either read or wakes the thread once more.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::{Duration, Instant},
};

use notify::{Event, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::{
    Locations,
    points::Points,
    read_all,
    watch::{MakeWatcher, SettingsTexts},
};

/// Files that never rest are read after this many debounce times.
const MAX_DEBOUNCES: u32 = 10;
/// How often arming is repeated because directories changed meanwhile; the next event goes on from there.
const MAX_ARMINGS: usize = 8;

/// Whom `notify` calls.
pub(super) type Handler = Box<dyn FnMut(notify::Result<Event>) + Send>;

/// An armed watcher.
pub(super) struct Lookout {
    locations: Locations,
    texts: watch::Sender<SettingsTexts>,
    points: Arc<Mutex<Points>>,
    watcher: Box<dyn Watcher + Send>,
}

impl Lookout {
    /// Arms and publishes for the first time.
    pub(super) fn start(
        locations: Locations,
        texts: watch::Sender<SettingsTexts>,
        wake: Weak<SyncSender<()>>,
        make: MakeWatcher,
    ) -> notify::Result<Self> {
        let points = Arc::new(Mutex::new(Points::default()));
        let watcher = make(handler(points.clone(), wake))?;
        let mut lookout = Self {
            locations,
            texts,
            points,
            watcher,
        };
        lookout.arm()?;
        lookout.publish();
        Ok(lookout)
    }

    /// Goes on until nobody can wake it any more.
    pub(super) fn run(mut self, woken: &Receiver<()>, debounce: Duration) {
        while woken.recv().is_ok() && settle(woken, debounce) {
            if let Err(error) = self.arm() {
                tracing::warn!(%error, "not all settings files are watched any more");
            }
            self.publish();
        }
    }

    /// Watches whatever has to be watched now, anew: `notify` silently forgets directories that are moved.
    fn arm(&mut self) -> notify::Result<()> {
        let mut outcome = Ok(());
        for _ in 0..MAX_ARMINGS {
            let points = self.points_now();
            let before = mem::replace(&mut *lock(&self.points), points.clone());
            for directory in &before.directories {
                // Fails for one that is gone, which is as good.
                let _ = self.watcher.unwatch(directory);
            }
            outcome = self.watch(&points);
            if self.points_now() == points {
                break;
            }
        }
        outcome
    }

    fn watch(&mut self, points: &Points) -> notify::Result<()> {
        for directory in &points.directories {
            let Err(error) = self.watcher.watch(directory, RecursiveMode::NonRecursive) else {
                continue;
            };
            match error.kind {
                notify::ErrorKind::MaxFilesWatch => return Err(error),
                // Where we may not look, Claude may not either; and what is gone is seen by the next arming.
                _ => tracing::debug!(%error, directory = %directory.display(), "directory is not watched"),
            }
        }
        Ok(())
    }

    fn publish(&self) {
        let texts = read_all(&self.locations);
        self.texts.send_if_modified(|current| {
            let differs = **current != *texts;
            if differs {
                *current = texts.into();
            }
            differs
        });
    }

    fn points_now(&self) -> Points {
        Points::of(self.locations.files().map(|(_, file)| file))
    }
}

/// Wakes the thread for events that concern its points.
fn handler(points: Arc<Mutex<Points>>, wake: Weak<SyncSender<()>>) -> Handler {
    Box::new(move |event| {
        // An error may stand for events that are lost.
        let concerns = event.map_or(true, |event| lock(&points).concern(&event));
        if concerns && let Some(wake) = wake.upgrade() {
            // Full means that the thread is about to look anyway.
            let _ = wake.try_send(());
        }
    })
}

/// Waits until nothing has happened for the debounce time; `false` if nobody can wake the thread any more.
fn settle(woken: &Receiver<()>, debounce: Duration) -> bool {
    let begun = Instant::now();
    let longest = debounce.saturating_mul(MAX_DEBOUNCES);
    loop {
        let left = longest.saturating_sub(begun.elapsed()).min(debounce);
        if left.is_zero() {
            return true;
        }
        match woken.recv_timeout(left) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn lock(points: &Mutex<Points>) -> MutexGuard<'_, Points> {
    points.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::mpsc, thread};

    use notify::NullWatcher;

    use super::*;

    #[test]
    fn what_leaves_every_text_as_it_is_is_no_change() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("settings.json");
        fs::write(&file, "1").unwrap();
        let locations = Locations {
            user: Some(file.clone()),
            ..Locations::default()
        };
        let (texts, mut seen) = watch::channel(SettingsTexts::from([]));
        let lookout = Lookout::start(locations, texts, Weak::new(), |_| Ok(Box::new(NullWatcher)));
        let lookout = lookout.unwrap();
        assert_eq!(seen.borrow_and_update().len(), 1);
        fs::write(&file, "1").unwrap();
        lookout.publish();
        assert!(!seen.has_changed().unwrap());
        fs::write(&file, "2").unwrap();
        lookout.publish();
        assert!(seen.has_changed().unwrap());
    }

    #[test]
    fn files_that_never_rest_are_looked_at_all_the_same() {
        let (wake, woken) = mpsc::sync_channel(1);
        let (report, settled) = mpsc::sync_channel(1);
        thread::spawn(move || {
            let outcome = settle(&woken, Duration::from_millis(20));
            let _ = report.send(outcome);
            drop(woken);
        });
        let restless = thread::spawn(move || while wake.send(()).is_ok() {});
        assert_eq!(settled.recv_timeout(Duration::from_secs(20)), Ok(true));
        restless.join().unwrap();
    }

    #[test]
    fn a_watcher_that_is_gone_ends_the_wait() {
        let (wake, woken) = mpsc::sync_channel::<()>(1);
        drop(wake);
        assert!(!settle(&woken, Duration::from_secs(600)));
    }
}
