//! The watcher on real directories. Every wait is bounded and ends with the change it waits for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notify::{Config, ErrorKind, EventHandler, RecursiveMode, Watcher, WatcherKind};
use tempfile::TempDir;
use tokio::sync::watch::Receiver;
use tokio::time::timeout;

use super::worker::{Handler, MAX_DEBOUNCES, Unrest};
use super::*;
use crate::settings::SettingsSurroundings;

const BOUND: Duration = Duration::from_secs(120);
const QUIET: Duration = Duration::from_millis(5);

/// A directory with a home, a repository and a place for managed settings, none of which exist yet.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn locations(&self) -> Locations {
        let surroundings = SettingsSurroundings {
            home: Some(self.at("home")),
            claude_config_dir: None,
            managed: Some(self.at("etc/claude-code/managed-settings.json")),
        };
        Locations::of(&surroundings, &self.at("repo"))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn watch(&self, quiet: Duration) -> (WatchedSettings, Receiver<SettingsTexts>) {
        let watched = SettingsWatcher::start(quiet).watch(&self.locations());
        let texts = watched.texts.clone();
        (watched, texts)
    }

    /// What the receiver holds, by path in this machine.
    fn shown(&self, texts: &SettingsTexts) -> Vec<(String, String)> {
        let text = |text: &SettingsText| {
            let path = text.path.strip_prefix(self.0.path()).unwrap();
            (path.display().to_string(), text.text.clone().unwrap())
        };
        texts.iter().map(text).collect()
    }

    /// Waits until the receiver holds exactly these files.
    async fn until(&self, texts: &mut Receiver<SettingsTexts>, expected: &[(&str, &str)]) {
        let arrived = texts.wait_for(|texts| {
            self.shown(texts)
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str()))
                .eq(expected.iter().copied())
        });
        let in_time = timeout(BOUND, arrived).await.is_ok_and(|outcome| outcome.is_ok());
        assert!(
            in_time,
            "expected {expected:?}, there is {:?}",
            self.shown(&texts.borrow())
        );
    }
}

const USER: &str = "home/.claude/settings.json";
const PROJECT: &str = "repo/.claude/settings.json";
const LOCAL: &str = "repo/.claude/settings.local.json";
const MANAGED: &str = "etc/claude-code/managed-settings.json";

#[tokio::test]
async fn the_first_texts_are_there_at_once() {
    let machine = Machine::new();
    machine.write(USER, "1");
    machine.write(MANAGED, "2");
    let (_watcher, texts) = machine.watch(QUIET);
    let shown = machine.shown(&texts.borrow());
    assert_eq!(
        shown,
        [
            (USER.to_owned(), "1".to_owned()),
            (MANAGED.to_owned(), "2".to_owned())
        ]
    );
    assert!(!texts.has_changed().unwrap());
}

#[tokio::test]
async fn files_whose_directories_do_not_exist_yet_are_seen() {
    let machine = Machine::new();
    let (_watcher, mut texts) = machine.watch(QUIET);
    machine.write(PROJECT, "1");
    machine.until(&mut texts, &[(PROJECT, "1")]).await;
    machine.write(MANAGED, "2");
    machine.until(&mut texts, &[(PROJECT, "1"), (MANAGED, "2")]).await;
    machine.write(USER, "3");
    machine.write(LOCAL, "4");
    machine
        .until(
            &mut texts,
            &[(USER, "3"), (PROJECT, "1"), (LOCAL, "4"), (MANAGED, "2")],
        )
        .await;
}

#[tokio::test]
async fn directories_that_appear_one_by_one_are_followed() {
    let machine = Machine::new();
    machine.write(LOCAL, "0");
    let (_watcher, mut texts) = machine.watch(QUIET);
    for (round, directory) in ["etc", "etc/claude-code"].into_iter().enumerate() {
        fs::create_dir(machine.at(directory)).unwrap();
        // A change that the watcher must have seen before the next directory appears.
        let text = round.to_string() + "!";
        machine.write(LOCAL, &text);
        machine.until(&mut texts, &[(LOCAL, &text)]).await;
    }
    machine.write(MANAGED, "1");
    machine.until(&mut texts, &[(LOCAL, "1!"), (MANAGED, "1")]).await;
}

#[tokio::test]
async fn changes_in_place_by_rename_and_by_deletion_are_seen() {
    let machine = Machine::new();
    machine.write(USER, "1");
    let (_watcher, mut texts) = machine.watch(QUIET);
    machine.write(USER, "2");
    machine.until(&mut texts, &[(USER, "2")]).await;
    for text in ["3", "4"] {
        machine.write("home/.claude/.settings.json.swp", text);
        fs::rename(machine.at("home/.claude/.settings.json.swp"), machine.at(USER)).unwrap();
        machine.until(&mut texts, &[(USER, text)]).await;
    }
    fs::rename(machine.at(USER), machine.at("home/.claude/settings.json~")).unwrap();
    machine.until(&mut texts, &[]).await;
    machine.write(USER, "5");
    machine.until(&mut texts, &[(USER, "5")]).await;
    fs::remove_file(machine.at(USER)).unwrap();
    machine.until(&mut texts, &[]).await;
}

#[tokio::test]
async fn a_directory_may_be_deleted_moved_and_replaced() {
    let machine = Machine::new();
    machine.write(PROJECT, "1");
    let (_watcher, mut texts) = machine.watch(QUIET);
    fs::remove_dir_all(machine.at("repo")).unwrap();
    machine.until(&mut texts, &[]).await;
    machine.write(PROJECT, "2");
    machine.until(&mut texts, &[(PROJECT, "2")]).await;
    machine.write("repo/other/settings.json", "3");
    fs::rename(machine.at("repo/.claude"), machine.at("repo/old")).unwrap();
    fs::rename(machine.at("repo/other"), machine.at("repo/.claude")).unwrap();
    machine.until(&mut texts, &[(PROJECT, "3")]).await;
    machine.write(PROJECT, "4");
    machine.until(&mut texts, &[(PROJECT, "4")]).await;
}

#[tokio::test]
async fn changes_behind_links_and_of_links_are_seen() {
    let machine = Machine::new();
    machine.write("dots/claude/settings.json", "1");
    machine.write("dots/project.json", "2");
    machine.write("repo/.claude/other", "");
    fs::create_dir(machine.at("home")).unwrap();
    symlink(machine.at("dots/claude"), machine.at("home/.claude")).unwrap();
    symlink("../../dots/project.json", machine.at(PROJECT)).unwrap();
    let (_watcher, mut texts) = machine.watch(QUIET);
    machine.until(&mut texts, &[(USER, "1"), (PROJECT, "2")]).await;
    machine.write("dots/claude/settings.json", "3");
    machine.until(&mut texts, &[(USER, "3"), (PROJECT, "2")]).await;
    machine.write("dots/project.json", "4");
    machine.until(&mut texts, &[(USER, "3"), (PROJECT, "4")]).await;
    machine.write("dots/newer/settings.json", "5");
    symlink(machine.at("dots/newer"), machine.at("home/link")).unwrap();
    fs::rename(machine.at("home/link"), machine.at("home/.claude")).unwrap();
    machine.until(&mut texts, &[(USER, "5"), (PROJECT, "4")]).await;
    machine.write("dots/newer/settings.json", "6");
    machine.until(&mut texts, &[(USER, "6"), (PROJECT, "4")]).await;
}

#[tokio::test]
async fn writes_in_quick_succession_are_one_change() {
    let machine = Machine::new();
    machine.write(USER, "0");
    let (_watcher, mut texts) = machine.watch(Duration::from_secs(1));
    for round in 1..=50 {
        machine.write(USER, &round.to_string());
    }
    timeout(BOUND, texts.changed()).await.unwrap().unwrap();
    let shown = machine.shown(&texts.borrow_and_update());
    assert_eq!(shown, [(USER.to_owned(), "50".to_owned())]);
}

#[tokio::test]
async fn what_is_dropped_is_not_watched_any_more_and_the_rest_is() {
    let machine = Machine::new();
    machine.write(USER, "1");
    let watcher = SettingsWatcher::start(QUIET);
    let first = watcher.watch(&machine.locations());
    let second = watcher.watch(&machine.locations());
    let (mut gone, mut kept) = (first.texts.clone(), second.texts.clone());
    drop(first);
    let closed = async { while gone.changed().await.is_ok() {} };
    timeout(BOUND, closed).await.expect("nobody publishes there");
    machine.write(USER, "2");
    machine.until(&mut kept, &[(USER, "2")]).await;
    drop(watcher);
    machine.write(USER, "3");
    machine.until(&mut kept, &[(USER, "3")]).await;
    drop(second);
    let closed = async { while kept.changed().await.is_ok() {} };
    timeout(BOUND, closed).await.expect("the thread must end");
}

/// Instances of inotify and threads are few: a system gives a user 128 of the first.
#[tokio::test]
async fn three_hundred_sessions_see_a_change_of_a_shared_and_of_an_own_file() {
    let machines: Vec<Machine> = (0..300).map(|_| Machine::new()).collect();
    let shared = Machine::new();
    let watcher = SettingsWatcher::start(QUIET);
    let mut sessions: Vec<(WatchedSettings, Receiver<SettingsTexts>)> = Vec::new();
    for machine in &machines {
        let mut locations = machine.locations();
        locations.user = Some(shared.at(USER));
        let watched = watcher.watch(&locations);
        let texts = watched.texts.clone();
        sessions.push((watched, texts));
    }
    shared.write(USER, "everybody's");
    for (machine, (_, texts)) in machines.iter().zip(&mut sessions) {
        let seen = texts.wait_for(|texts| texts.len() == 1);
        timeout(BOUND, seen).await.expect("in time").unwrap();
        machine.write(PROJECT, "one's");
        let seen = texts.wait_for(|texts| texts.len() == 2);
        timeout(BOUND, seen).await.expect("in time").unwrap();
    }
    for (_, texts) in &sessions {
        assert_eq!(texts.borrow().len(), 2);
    }
}

#[test]
fn what_leaves_every_text_as_it_is_is_no_change() {
    let machine = Machine::new();
    machine.write(USER, "1");
    let (watched, mut texts) = machine.watch(QUIET);
    texts.mark_unchanged();
    // The second session is taken up after the thread has looked at the first again.
    machine.write(USER, "1");
    let again = SettingsWatcher {
        worker: Arc::clone(&watched.worker),
    };
    drop(again.watch(&machine.locations()));
    assert!(!texts.has_changed().unwrap());
}

/// A system whose limit is reached.
#[derive(Debug)]
struct Full;

impl Watcher for Full {
    fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
        Ok(Self)
    }

    fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
        Err(notify::Error::new(ErrorKind::MaxFilesWatch))
    }

    fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
        Err(notify::Error::watch_not_found())
    }

    fn kind() -> WatcherKind {
        WatcherKind::NullWatcher
    }
}

#[tokio::test]
async fn a_system_that_cannot_watch_leaves_the_first_texts_and_an_open_channel() {
    let machine = Machine::new();
    machine.write(USER, "1");
    let makers: [MakeWatcher; 3] = [
        |_: Handler| Err(notify::Error::new(ErrorKind::MaxFilesWatch)),
        |_: Handler| Ok(Box::new(Full)),
        |_: Handler| panic!("no thread for the events"),
    ];
    for make in makers {
        let watched = SettingsWatcher::start_with(QUIET, make).watch(&machine.locations());
        let mut texts = watched.texts.clone();
        assert_eq!(
            machine.shown(&texts.borrow()),
            [(USER.to_owned(), "1".to_owned())]
        );
        assert!(texts.has_changed().is_ok(), "still open");
        drop(watched);
        let closed = async { while texts.changed().await.is_ok() {} };
        timeout(BOUND, closed).await.expect("the thread must end");
    }
}

#[test]
fn files_that_never_rest_are_read_all_the_same() {
    let begun = Instant::now();
    let restless = Unrest {
        begun,
        last: begun + Duration::from_secs(600),
    };
    let debounce = Duration::from_millis(100);
    assert!(restless.left(debounce) <= debounce);
    let long = Unrest {
        begun: begun.checked_sub(debounce * MAX_DEBOUNCES).unwrap(),
        last: restless.last,
    };
    assert_eq!(long.left(debounce), Duration::ZERO);
}
