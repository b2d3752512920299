//! Turns a finished command into a running CLI, and what the system says when it refuses into a reason a person can act
//! on. It must not know options or argv: `process` makes the command.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::fs::{Access, access};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::life::ProcessLife;
use super::spawner::{self, Spawned, Wires};
use super::stderr::Tail;
use crate::backend::{LaunchError, Running};

/// Starts `command`. `guard` is kept until the process has ended, `linger` is what it leaves behind gets to end.
pub(crate) async fn start(
    command: Command,
    linger: Duration,
    guard: Box<dyn Send>,
) -> Result<Running, LaunchError> {
    let executable = Path::new(command.get_program()).to_path_buf();
    let cwd = command.get_current_dir().map(Path::to_path_buf);
    let refused = |error| explain(error, &executable, cwd.as_deref());
    let spawned = spawner::spawn(command, Wires::Sockets, linger)
        .await
        .map_err(refused)?;
    connect(spawned, guard).map_err(refused)
}

fn connect(spawned: Spawned, guard: Box<dyn Send>) -> io::Result<Running> {
    let Spawned {
        stdin,
        stdout,
        stderr,
        tree,
        status,
    } = spawned;
    let stdin = socket(stdin)?;
    let stdout = socket(stdout)?;
    let stderr = Tail::drain(pipe::Receiver::from_owned_fd(stderr.into())?);
    let life = ProcessLife::new(tree, status, stderr, guard);
    Ok(Running {
        stdin: Box::new(stdin),
        stdout: Box::new(stdout),
        life: Box::new(life),
    })
}

fn socket(end: OwnedFd) -> io::Result<UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(end);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// The system has one number for many reasons: the same "no such file" for a missing directory, a missing program and a
/// missing interpreter. What is there tells them apart.
fn explain(error: io::Error, executable: &Path, cwd: Option<&Path>) -> LaunchError {
    let executable = executable.to_path_buf();
    if let Some(cwd) = cwd {
        let cwd = cwd.to_path_buf();
        match std::fs::metadata(&cwd) {
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                return LaunchError::DirectoryMissing { cwd };
            }
            Err(source) => return LaunchError::DirectoryUnusable { cwd, source },
            Ok(found) if !found.is_dir() => {
                let source = io::Error::from(io::ErrorKind::NotADirectory);
                return LaunchError::DirectoryUnusable { cwd, source };
            }
            Ok(_) => {}
        }
        if let Err(source) = access(&cwd, Access::EXEC_OK) {
            return LaunchError::DirectoryUnusable {
                cwd,
                source: source.into(),
            };
        }
    }
    match error.kind() {
        io::ErrorKind::NotFound => LaunchError::ExecutableMissing { executable },
        io::ErrorKind::PermissionDenied => LaunchError::NotExecutable { executable },
        _ => LaunchError::Spawn {
            executable,
            source: error,
        },
    }
}
