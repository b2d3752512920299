//! The thread of the settings watcher.
//!
//! Place in the flow: takes up and forgets what sessions watch, waits for events of the file system, lets them settle, arms
//! again what they concern (directories come, go and are replaced), reads, and publishes where a text differs. It arms
//! before it reads, so that nothing is missed: a change is either read or wakes the thread once more. A directory that
//! several sessions need is watched once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use notify::{Event, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::places::Places;
use super::{MakeWatcher, SettingsTexts, WatchId};
use crate::settings::{Locations, read_all};

/// Files that never rest are read after this many debounce times.
pub(super) const MAX_DEBOUNCES: u32 = 10;
/// How often arming is repeated because directories changed meanwhile; the next event goes on from there.
const MAX_ARMINGS: usize = 8;

/// Whom `notify` calls.
pub(super) type Handler = Box<dyn FnMut(notify::Result<Event>) + Send>;

/// What the thread is told.
pub(super) enum Message {
    /// Watch these files, publish what stands in them, and answer.
    Watch {
        id: WatchId,
        locations: Locations,
        texts: watch::Sender<SettingsTexts>,
        armed: SyncSender<()>,
    },
    /// Nobody wants to know any more.
    Forget(WatchId),
    /// An event was noted.
    Changed,
}

/// The thread's own state.
pub(super) struct Worker {
    sessions: HashMap<WatchId, Session>,
    /// What is watched, and for how many sessions.
    directories: BTreeMap<PathBuf, usize>,
    noted: Arc<Mutex<Noted>>,
    /// `None` where the system does not let us watch.
    watcher: Option<Box<dyn Watcher + Send>>,
}

struct Session {
    locations: Locations,
    texts: watch::Sender<SettingsTexts>,
}

/// What the events are held against, and what they were found to concern. Never locked while `notify` is called: it may
/// be waiting for the lock itself.
#[derive(Default)]
struct Noted {
    places: HashMap<WatchId, Places>,
    by_directory: HashMap<PathBuf, BTreeSet<WatchId>>,
    concerned: BTreeSet<WatchId>,
}

/// Since when files have been changing, and when they were last seen to.
pub(super) struct Unrest {
    pub(super) begun: Instant,
    pub(super) last: Instant,
}

impl Worker {
    /// The events come back as messages.
    pub(super) fn new(events: Weak<SyncSender<Message>>, make: MakeWatcher) -> Self {
        let noted = Arc::new(Mutex::new(Noted::default()));
        let handler = handler(noted.clone(), events);
        // `notify` panics where it gets no thread.
        let made = catch_unwind(AssertUnwindSafe(|| make(handler)))
            .unwrap_or_else(|_| Err(notify::Error::generic("the watcher broke down")));
        let watcher = made.inspect_err(not_watched).ok();
        Self {
            sessions: HashMap::new(),
            directories: BTreeMap::new(),
            noted,
            watcher,
        }
    }

    /// Goes on until nobody can tell it anything any more.
    pub(super) fn run(mut self, messages: &Receiver<Message>, debounce: Duration) {
        let mut unrest: Option<Unrest> = None;
        loop {
            // Its message may have found no room.
            if unrest.is_none() && !lock(&self.noted).concerned.is_empty() {
                Unrest::note(&mut unrest);
            }
            let message = match &unrest {
                None => messages.recv().map_err(RecvTimeoutError::from),
                Some(unrest) => messages.recv_timeout(unrest.left(debounce)),
            };
            match message {
                Ok(Message::Watch {
                    id,
                    locations,
                    texts,
                    armed,
                }) => {
                    self.sessions.insert(id, Session { locations, texts });
                    self.take_up(id);
                    // Who has gone meanwhile needs no answer.
                    let _ = armed.send(());
                }
                Ok(Message::Forget(id)) => self.forget(id),
                Ok(Message::Changed) => Unrest::note(&mut unrest),
                Err(RecvTimeoutError::Timeout) => {
                    unrest = None;
                    let concerned = mem::take(&mut lock(&self.noted).concerned);
                    concerned.into_iter().for_each(|id| self.take_up(id));
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Arms for a session's files and publishes what stands in them.
    fn take_up(&mut self, id: WatchId) {
        let Some(session) = self.sessions.get(&id) else {
            return;
        };
        let locations = session.locations.clone();
        if let Err(error) = self.arm(id, &locations) {
            not_watched(&error);
        }
        if let Some(session) = self.sessions.get(&id) {
            session.publish();
        }
    }

    fn forget(&mut self, id: WatchId) {
        self.sessions.remove(&id);
        let before = lock(&self.noted).replace(id, None);
        self.release(before);
    }

    /// Watches whatever has to be watched now, anew: `notify` silently forgets directories that are moved.
    fn arm(&mut self, id: WatchId, locations: &Locations) -> notify::Result<()> {
        let now = || Places::of(locations.files().map(|(_, file)| file));
        let mut outcome = Ok(());
        for _ in 0..MAX_ARMINGS {
            let places = now();
            let before = lock(&self.noted).replace(id, Some(places.clone()));
            outcome = self.watch(&places);
            self.release(before);
            if now() == places {
                break;
            }
        }
        outcome
    }

    fn watch(&mut self, places: &Places) -> notify::Result<()> {
        let mut outcome = Ok(());
        for directory in &places.directories {
            *self.directories.entry(directory.clone()).or_default() += 1;
            let Some(watcher) = &mut self.watcher else {
                continue;
            };
            // Also where it is watched already: what is there now may be another directory. It is not released before, since
            // others would miss what happens in between.
            let Err(error) = watcher.watch(directory, RecursiveMode::NonRecursive) else {
                continue;
            };
            match error.kind {
                notify::ErrorKind::MaxFilesWatch => outcome = Err(error),
                // Where we may not look, Claude may not either; and what is gone is seen by the next arming.
                _ => tracing::debug!(%error, directory = %directory.display(), "directory is not watched"),
            }
        }
        outcome
    }

    /// What one session does not need any more stays watched for the others.
    fn release(&mut self, places: Option<Places>) {
        for directory in places.into_iter().flat_map(|places| places.directories) {
            let Some(sessions) = self.directories.get_mut(&directory) else {
                continue;
            };
            *sessions = sessions.saturating_sub(1);
            if *sessions > 0 {
                continue;
            }
            self.directories.remove(&directory);
            if let Some(watcher) = &mut self.watcher {
                // Fails for one that is gone, which is as good.
                let _ = watcher.unwatch(&directory);
            }
        }
    }
}

impl Session {
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
}

impl Noted {
    /// Puts a session's new places in the stead of its old ones, which it returns.
    fn replace(&mut self, id: WatchId, places: Option<Places>) -> Option<Places> {
        let before = self.places.remove(&id);
        for directory in before.iter().flat_map(|places| &places.directories) {
            if let Some(ids) = self.by_directory.get_mut(directory) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.by_directory.remove(directory);
                }
            }
        }
        if let Some(places) = places {
            for directory in &places.directories {
                self.by_directory.entry(directory.clone()).or_default().insert(id);
            }
            self.places.insert(id, places);
        }
        before
    }

    /// Notes whom an event concerns; whether it concerns anybody.
    fn note(&mut self, event: notify::Result<Event>) -> bool {
        // An error may stand for events that are lost.
        let Ok(event) = event.map_err(drop) else {
            return self.note_all();
        };
        if event.need_rescan() {
            return self.note_all();
        }
        let directories = event
            .paths
            .iter()
            .flat_map(|path| [Some(path.as_path()), path.parent()]);
        let candidates: BTreeSet<WatchId> = directories
            .flatten()
            .filter_map(|directory: &Path| self.by_directory.get(directory))
            .flatten()
            .copied()
            .collect();
        let concerned = candidates
            .into_iter()
            .filter(|id| self.places.get(id).is_some_and(|places| places.concern(&event)));
        let before = concerned.collect::<Vec<_>>();
        let any = !before.is_empty();
        self.concerned.extend(before);
        any
    }

    fn note_all(&mut self) -> bool {
        self.concerned.extend(self.places.keys());
        !self.concerned.is_empty()
    }
}

impl Unrest {
    fn note(unrest: &mut Option<Self>) {
        let last = Instant::now();
        let begun = unrest.as_ref().map_or(last, |unrest| unrest.begun);
        *unrest = Some(Self { begun, last });
    }

    /// How long to wait until what changed is read.
    pub(super) fn left(&self, debounce: Duration) -> Duration {
        let longest = debounce.saturating_mul(MAX_DEBOUNCES);
        let rest = debounce.saturating_sub(self.last.elapsed());
        longest.saturating_sub(self.begun.elapsed()).min(rest)
    }
}

/// Notes events, and wakes the thread for those that concern a session.
fn handler(noted: Arc<Mutex<Noted>>, events: Weak<SyncSender<Message>>) -> Handler {
    Box::new(move |event| {
        let concerns = lock(&noted).note(event);
        if concerns && let Some(events) = events.upgrade() {
            // Full means that the thread is about to look anyway.
            let _ = events.try_send(Message::Changed);
        }
    })
}

fn not_watched(error: &notify::Error) {
    tracing::warn!(%error, "settings files are not watched, so later changes to them are not noticed");
}

fn lock(noted: &Mutex<Noted>) -> MutexGuard<'_, Noted> {
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}
