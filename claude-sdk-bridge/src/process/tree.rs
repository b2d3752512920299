//! Everything that belongs to one started Claude, and how it is signalled: the leader, its process group, and every
//! descendant the process table shows, in whatever session it lives and whoever its parent has become.
//!
//! Three signs are combined, because each alone has a hole: the parent chain (lost when a parent dies), the groups and
//! sessions of members already known (lost when they were never seen), and a mark in the environment every descendant
//! inherits (lost when a program clears its environment). A daemon started from inside a session carries the mark and
//! ends with it.
//!
//! The leader is never signalled after it was reaped: until then its number, and with it its group's, cannot be used
//! again. It must not wait for anything: waiting is `reaper`'s and `life`'s part.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitOptions};

use super::table::{self, ProcessId, ProcessState, Row};

/// The name of the environment variable that marks what belongs to one started Claude.
pub(super) const MARK: &str = "CLAUDE_ACP_QUERY";

/// A survey that still finds new processes after this many rounds is given up until the next call.
const MAX_ROUNDS: usize = 64;

/// The processes of one started Claude.
#[derive(Debug)]
pub(crate) struct Tree {
    leader: Pid,
    /// `NAME=value`, as it stands in the environment of every member.
    mark: String,
    stage: Mutex<Stage>,
}

#[derive(Debug)]
enum Stage {
    /// The leader runs, or has ended and was not reaped yet.
    Unreaped(Known),
    /// Nothing is left to signal.
    Reaped,
}

#[derive(Debug)]
struct Known {
    /// Every member seen so far: number and start time.
    members: HashMap<i32, u64>,
    /// Set once the members were asked to terminate: when they will be forced to.
    deadline: Option<Instant>,
}

impl Tree {
    /// The tree of a leader that was just spawned into a group of its own with [`MARK`] set to `mark`.
    pub(super) fn new(leader: Pid, mark: &str) -> Self {
        let pid = leader.as_raw_pid();
        let members = table::row(pid)
            .map(|row| (pid, row.id.started))
            .into_iter()
            .collect();
        let stage = Mutex::new(Stage::Unreaped(Known {
            members,
            deadline: None,
        }));
        Self {
            leader,
            mark: format!("{MARK}={mark}"),
            stage,
        }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Asks every member to terminate, and sets when it will be forced to. A repeated call only shortens the time and
    /// signals nobody twice. Returns the deadline that now holds.
    pub(super) fn terminate(&self, deadline: Instant) -> Instant {
        let mut stage = self.lock();
        let Stage::Unreaped(known) = &mut *stage else {
            return deadline;
        };
        if let Some(earlier) = known.deadline {
            let kept = earlier.min(deadline);
            known.deadline = Some(kept);
            return kept;
        }
        known.deadline = Some(deadline);
        // The survey comes first: once a parent has ended, its children can no longer be traced to it.
        let members = self.survey(known);
        self.signal_group(Signal::TERM);
        let group = self.leader.as_raw_pid();
        members
            .living
            .iter()
            .filter(|row| row.group != group)
            .for_each(|row| signal(row.id, Signal::TERM));
        deadline
    }

    /// Ends every member without grace. Nothing a member started before the signal reached it is missed: the table is
    /// read again until it shows nobody new.
    pub(super) fn kill(&self) {
        let mut stage = self.lock();
        let Stage::Unreaped(known) = &mut *stage else {
            return;
        };
        known.deadline = Some(Instant::now());
        let mut struck: HashSet<ProcessId> = HashSet::new();
        for _ in 0..MAX_ROUNDS {
            let found = self.survey(known).living;
            self.signal_group(Signal::KILL);
            let fresh: Vec<ProcessId> = found
                .iter()
                .map(|row| row.id)
                .filter(|id| struck.insert(*id))
                .collect();
            if fresh.is_empty() {
                return;
            }
            fresh.into_iter().for_each(|id| signal(id, Signal::KILL));
        }
    }

    /// When the members will be forced to end; `None` before [`Tree::terminate`] and after the reaping.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &*self.lock() {
            Stage::Unreaped(known) => known.deadline,
            Stage::Reaped => None,
        }
    }

    /// Whether a member other than the leader still lives. Cheap while a known one does; reads the whole table
    /// only when none of those is left.
    pub(super) fn has_descendants(&self) -> bool {
        let mut stage = self.lock();
        let Stage::Unreaped(known) = &mut *stage else {
            return false;
        };
        let leader = self.leader.as_raw_pid();
        let lives = |(pid, started): (&i32, &u64)| {
            *pid != leader
                && table::row(*pid)
                    .is_some_and(|row| row.id.started == *started && row.state == ProcessState::Living)
        };
        known.members.iter().any(lives) || self.survey(known).living.iter().any(|row| row.id.pid != leader)
    }

    /// Reaps the leader through `wait`, and what else of the tree has become ours to reap. From here on nothing is
    /// signalled any more.
    pub(super) fn reap<T>(&self, wait: impl FnOnce() -> T) -> T {
        let mut stage = self.lock();
        if let Stage::Unreaped(known) = &mut *stage {
            // For those no table shows; a group of zombies takes no harm.
            self.signal_group(Signal::KILL);
            let own = own_pid();
            let adopted = self
                .survey(known)
                .zombies
                .into_iter()
                .filter(|row| row.parent == own);
            adopted
                .filter(|row| row.id.pid != self.leader.as_raw_pid())
                .for_each(reap_adopted);
        }
        *stage = Stage::Reaped;
        wait()
    }

    /// Reads the table and adds every member it shows to those known.
    fn survey(&self, known: &mut Known) -> Members {
        let rows: HashMap<i32, Row> = table::read().into_iter().map(|row| (row.id.pid, row)).collect();
        let oldest = known.members.get(&self.leader.as_raw_pid()).copied().unwrap_or(0);
        let candidates: Vec<&Row> = rows
            .values()
            .filter(|row| row.id.started >= oldest && row.id.pid != own_pid())
            .collect();
        for row in &candidates {
            let seen = known.members.get(&row.id.pid) == Some(&row.id.started);
            if !seen && row.state == ProcessState::Living && table::carries(row.id.pid, &self.mark) {
                known.members.insert(row.id.pid, row.id.started);
            }
        }
        loop {
            let before = known.members.len();
            for row in &candidates {
                if !is_ours(row.id.pid, known, &rows) && has_ties(row, known, &rows) {
                    known.members.insert(row.id.pid, row.id.started);
                }
            }
            if known.members.len() == before {
                break;
            }
        }
        let members = candidates
            .into_iter()
            .filter(|row| is_ours(row.id.pid, known, &rows))
            .copied();
        let (living, zombies) = members.partition(|row| row.state == ProcessState::Living);
        Members { living, zombies }
    }

    fn signal_group(&self, signal: Signal) {
        // The only failure is a group nobody is left in.
        let _ = rustix::process::kill_process_group(self.leader, signal);
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the tree when it goes.
#[derive(Debug)]
pub(crate) struct KillOnDrop(pub(super) std::sync::Arc<Tree>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

struct Members {
    living: Vec<Row>,
    zombies: Vec<Row>,
}

/// Whether the process that now has this number, or had it last, is a known member.
fn is_ours(pid: i32, known: &Known, rows: &HashMap<i32, Row>) -> bool {
    let Some(started) = known.members.get(&pid) else {
        return false;
    };
    rows.get(&pid).is_none_or(|row| row.id.started == *started)
}

/// Whether a process descends from a known member, or lives in a group or session one of them opened.
fn has_ties(row: &Row, known: &Known, rows: &HashMap<i32, Row>) -> bool {
    [row.parent, row.group, row.session]
        .into_iter()
        .any(|pid| is_ours(pid, known, rows))
}

/// Signals one process, unless its number has meanwhile become another's.
fn signal(id: ProcessId, signal: Signal) {
    let same = table::row(id.pid).is_some_and(|row| row.id == id);
    if same
        && let Some(pid) = Pid::from_raw(id.pid)
        && let Err(error) = rustix::process::kill_process(pid, signal)
    {
        tracing::debug!(pid = id.pid, %error, "could not signal a process of Claude's");
    }
}

/// Orphans become ours where we are the first process of a container.
fn reap_adopted(row: Row) {
    if let Some(pid) = Pid::from_raw(row.id.pid) {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}
