//! A child of the executable's in a session of its own, as the shell commands of the CLI are.
//!
//! Place in the flow: a script's `process` asks for it, so that a host can be tried that has to find and end it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use super::complain;
use crate::script::Grandchild;

pub(super) const FLAG: &str = "--rehearsal-grandchild";

/// How long it waits, so that a test that failed leaves nothing behind for good.
const LIFE: Duration = Duration::from_secs(600);

pub(super) fn spawn(grandchild: &Grandchild) -> std::io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(FLAG).arg(if grandchild.ignore_term {
        "stubborn"
    } else {
        "obedient"
    });
    command.args(grandchild.pid_file.as_deref());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Waits.
pub(super) fn play(args: &[OsString]) -> ExitCode {
    let stubborn = args.get(1).is_some_and(|arg| arg == "stubborn");
    match wait_apart(stubborn, args.get(2)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn wait_apart(stubborn: bool, pid_file: Option<&OsString>) -> std::io::Result<()> {
    rustix::process::setsid()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // A signal with a handler that does nothing is ignored.
        let kinds = [
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::interrupt(),
        ];
        let handlers: Vec<_> = if stubborn {
            kinds.into_iter().map(signal).collect()
        } else {
            Vec::new()
        };
        // Written last: whoever finds the file finds the process as it is going to be.
        if let Some(file) = pid_file {
            let beside = PathBuf::from(file).with_extension("new");
            std::fs::write(&beside, std::process::id().to_string())?;
            std::fs::rename(beside, file)?;
        }
        tokio::time::sleep(LIFE).await;
        drop(handlers);
        Ok(())
    })
}
