//! Starts processes from one thread that never ends. The signal a child gets at its parent's death is bound to the
//! thread that spawned it, so a child spawned from a runtime's worker could lose its life with that worker.
//!
//! It must not know what it starts: `process` makes the command, `tree` and `reaper` see to its end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions};
use tokio::sync::{oneshot, watch};

use super::reaper;
use super::tree::{KillOnDrop, MARK, Tree};
use crate::backend::ExitStatus;

/// What connects us with the standard input and output of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wires {
    /// Pipes, which every program can open again by name.
    Pipes,
    /// Sockets, which no other process can open through the process table, to speak in our name or in Claude's.
    Sockets,
}

/// A process that was started, with our ends of its three streams.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: ChildStderr,
    /// Dropping it ends the process and all it started.
    pub(crate) tree: KillOnDrop,
    /// The exit status, once nothing of it is left.
    pub(crate) status: watch::Receiver<Option<ExitStatus>>,
}

/// Starts `command` in a process group of its own, marked, and bound to the life of this process. What
/// outlives it gets `linger` to end. Dropping the future leaves nothing running.
pub(crate) async fn spawn(command: Command, wires: Wires, linger: Duration) -> io::Result<Spawned> {
    let (reply, spawned) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts processes is gone");
    jobs()?
        .send(Job {
            command,
            wires,
            linger,
            reply,
        })
        .map_err(|_| gone())?;
    spawned.await.map_err(|_| gone())?
}

/// The status of a process, once it has ended.
pub(crate) async fn reaped(status: &mut watch::Receiver<Option<ExitStatus>>) -> ExitStatus {
    let status = status.wait_for(Option::is_some).await;
    // The channel closes without a value only where the reaper's thread died.
    status
        .ok()
        .and_then(|status| *status)
        .unwrap_or(ExitStatus::Unknown)
}

struct Job {
    command: Command,
    wires: Wires,
    linger: Duration,
    reply: oneshot::Sender<io::Result<Spawned>>,
}

/// The queue of the one spawning thread, which starts with the first job and never ends.
fn jobs() -> io::Result<mpsc::Sender<Job>> {
    static JOBS: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    if let Some(jobs) = JOBS.get() {
        return Ok(jobs.clone());
    }
    let (sender, receiver) = mpsc::channel::<Job>();
    let serve = move || {
        for Job {
            command,
            wires,
            linger,
            reply,
        } in receiver
        {
            // Nobody waits any more: what comes back is dropped, and ended with it.
            let _ = reply.send(start(command, wires, linger));
        }
    };
    std::thread::Builder::new()
        .name("claude-spawner".to_owned())
        .spawn(serve)?;
    // Two first jobs at once make two threads; the sender of the second is dropped, and its thread would end with it.
    Ok(JOBS.get_or_init(|| sender).clone())
}

fn start(mut command: Command, wires: Wires, linger: Duration) -> io::Result<Spawned> {
    let mark = uuid::Uuid::new_v4().to_string();
    let ((their_stdin, stdin), (stdout, their_stdout)) = match wires {
        Wires::Pipes => (pipe()?, pipe()?),
        Wires::Sockets => (sockets()?, sockets()?),
    };
    command
        .env(MARK, &mark)
        .stdin(Stdio::from(their_stdin))
        .stdout(Stdio::from(their_stdout))
        .stderr(Stdio::piped())
        .process_group(0);
    die_with_parent(&mut command);
    let mut child = command.spawn()?;
    // It holds the other ends until it goes.
    drop(command);
    let stderr = child.stderr.take();
    let tree = Arc::new(Tree::new(Pid::from_child(&child), &mark));
    let guard = KillOnDrop(Arc::clone(&tree));
    let status = reaper::watch(child, Arc::clone(&tree), linger).inspect_err(|_| abandon(&tree))?;
    let Some(stderr) = stderr else {
        return Err(io::Error::other("the new process has no error stream"));
    };
    Ok(Spawned {
        stdin,
        stdout,
        stderr,
        tree: guard,
        status,
    })
}

/// A pipe: its reading end, its writing end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = std::io::pipe()?;
    Ok((reader.into(), writer.into()))
}

fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) = UnixStream::pair()?;
    Ok((one.into(), other.into()))
}

/// Ends and reaps a process nobody can watch.
fn abandon(tree: &Tree) {
    tree.kill();
    let _ = tree.reap(|| rustix::process::waitpid(Some(tree.leader()), WaitOptions::empty()));
}

/// Has the system send SIGTERM to the child when the thread that spawns it, and so this process, ends: Claude ends its
/// own children on SIGTERM, which it could not on SIGKILL.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the parent-death signal can only be set between fork and exec"
)]
fn die_with_parent(command: &mut Command) {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
    let parent = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // The parent may have died before the line above; the signal it should have sent will then never come.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::Error::from(rustix::io::Errno::SRCH))
        }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. `bind` makes two plain system calls
    // and builds errors from their numbers; it takes no lock and allocates nothing.
    unsafe { command.pre_exec(bind) };
}

/// Other systems have no such signal: there the end of its input is what tells Claude of our death.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}
