//! Watches one started Claude from a thread of its own until nothing of it is left: waits for the leader's end, clears
//! away what outlives it, and reaps. A plain thread, so that it also works while the async runtime shuts down.
//!
//! It decides nothing about when a Claude should end: that is `life`'s part.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions};
use tokio::sync::watch;

use super::tree::Tree;
use crate::backend::ExitStatus;

/// The thread reads small files and waits; the default of 2 MiB would be address space for nothing.
const STACK_BYTES: usize = 256 * 1024;

/// How often the survivors of a leader are looked at; the system tells of the end of children only.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A process that does not end this long after SIGKILL hangs in the kernel; waiting longer would help nobody.
const GIVE_UP_AFTER: Duration = Duration::from_secs(2);

/// Starts the watch. What outlives the leader gets `linger` to end after being asked to, unless [`Tree::terminate`]
/// has set another time by then. The status comes through the returned channel, after the reaping.
pub(super) fn watch(
    child: Child,
    tree: Arc<Tree>,
    linger: Duration,
) -> io::Result<watch::Receiver<Option<ExitStatus>>> {
    let (ended, status) = watch::channel(None);
    let reaping = move || {
        wait_without_reaping(&tree);
        clear_away(&tree, linger);
        ended.send_replace(Some(reap(&tree, child)));
    };
    std::thread::Builder::new()
        .name("claude-reaper".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(reaping)?;
    Ok(status)
}

/// Until it is reaped the leader keeps its number, so that its group can be signalled safely.
fn wait_without_reaping(tree: &Tree) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(error) = rustix::process::waitid(WaitId::Pid(tree.leader()), options) {
        if error != rustix::io::Errno::INTR {
            // No such child: the system reaps children by itself where SIGCHLD is ignored. It has ended all the same.
            tracing::debug!(%error, "the end of Claude was seen, its status was not");
            return;
        }
    }
}

fn clear_away(tree: &Tree, linger: Duration) {
    let mut deadline = tree.terminate(Instant::now() + linger);
    let mut forced = false;
    while tree.has_descendants() {
        deadline = tree.deadline().unwrap_or(deadline).min(deadline);
        let now = Instant::now();
        if now >= deadline {
            if !forced {
                tracing::warn!("processes that outlived Claude are killed");
            }
            forced = true;
            tree.kill();
        }
        if now >= deadline + GIVE_UP_AFTER {
            tracing::error!("processes of Claude's do not end after SIGKILL and are left");
            return;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn reap(tree: &Tree, mut child: Child) -> ExitStatus {
    match tree.reap(|| child.wait()) {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ExitStatus::Code(code),
            (None, Some(signal)) => ExitStatus::Signal(signal),
            (None, None) => ExitStatus::Unknown,
        },
        Err(error) => {
            tracing::debug!(%error, "could not reap Claude");
            ExitStatus::Unknown
        }
    }
}
