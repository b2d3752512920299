//! The process table: finds every process of a test by a marker in its environment, and waits for their end.
//!
//! Linux only, through `/proc` and pidfds.

use std::fs;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::PATIENCE;

/// A living process of a test.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its command line, shortened.
    pub command: String,
}

/// Every living process whose environment holds the marker.
pub(crate) fn with_marker(marker: &str) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| fs::read(format!("/proc/{pid}/environ")).is_ok_and(|env| contains(&env, marker)))
        .map(|pid| Process {
            pid,
            command: command(pid),
        })
        .collect()
}

/// Waits until the process has ended; `false` when it lives on past the deadline.
pub(crate) fn wait_end(pid: i32, deadline: Instant) -> bool {
    let Some(pid) = Pid::from_raw(pid) else {
        return true;
    };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: i64::from(left.subsec_nanos()),
    };
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Waits until no process with the marker is left but those named.
pub(crate) fn wait_only(marker: &str, expected: &[i32]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let others: Vec<Process> = with_marker(marker)
            .into_iter()
            .filter(|process| !expected.contains(&process.pid))
            .collect();
        let Some(first) = others.first() else { return };
        assert!(
            wait_end(first.pid, deadline),
            "processes left behind: {others:#?}"
        );
    }
}

/// Waits until no process with the marker has the text in its command line.
pub(crate) fn wait_gone(marker: &str, text: &str) {
    let deadline = Instant::now() + PATIENCE;
    while let Some(process) = with_marker(marker)
        .into_iter()
        .find(|process| process.command.contains(text))
    {
        assert!(wait_end(process.pid, deadline), "still running: {process:?}");
    }
}

/// Kills a process and waits for its end.
pub(crate) fn kill(pid: i32) {
    signal(pid, Signal::KILL);
    assert!(
        wait_end(pid, Instant::now() + PATIENCE),
        "process {pid} outlives SIGKILL"
    );
}

/// Ends every process with the marker, after a test that failed.
pub(crate) fn kill_all(marker: &str) {
    for process in with_marker(marker) {
        signal(process.pid, Signal::KILL);
    }
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        kill_process(pid, signal).ok();
    }
}

/// A field of a process's status that is a size, e.g. `VmRSS`, in bytes.
pub(crate) fn memory_bytes(pid: i32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a living process");
    let line = status
        .lines()
        .find(|line| line.starts_with(field))
        .expect("the field");
    let kib: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse().ok())
        .expect("a number");
    kib * 1024
}

/// The pids of a process's children, those included that have ended and were not reaped.
pub(crate) fn children_of(parent: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| state_and_parent(*pid).is_some_and(|(_, actual)| actual == parent))
        .collect()
}

/// Waits until a process has reaped all its children that have ended.
///
/// There is no event to wait for: a process that has ended stays what it is until its parent looks.
pub(crate) fn wait_reaped(parent: i32) {
    let deadline = Instant::now() + PATIENCE;
    let is_zombie = |pid: &i32| state_and_parent(*pid).is_some_and(|(state, _)| state == "Z");
    while let Some(zombie) = children_of(parent).into_iter().find(is_zombie) {
        assert!(
            Instant::now() < deadline,
            "child {zombie} has ended and is not reaped"
        );
        std::thread::yield_now();
    }
}

fn state_and_parent(pid: i32) -> Option<(String, i32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the fields after it are plain.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn command(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line)
        .replace('\0', " ")
        .chars()
        .take(200)
        .collect()
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack
        .split(|byte| *byte == 0)
        .any(|variable| variable == needle.as_bytes())
}
