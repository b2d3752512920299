//! `--cli`: this process becomes the Claude CLI. Being replaced is the most faithful way of passing things through:
//! terminal, signals, exit code and everything else are the CLI's own from then on.

use std::{convert::Infallible, ffi::OsString, os::unix::process::CommandExt as _, process::Command};

use anyhow::Context as _;
use claude_sdk_bridge::{
    discovery::{Surroundings, discover},
    launch::is_nesting_marker,
};

/// Runs the CLI with these arguments. Returns only when it cannot be started.
///
/// # Errors
/// When there is no CLI, or the system does not start it.
pub(crate) fn run(arguments: Vec<OsString>) -> anyhow::Result<Infallible> {
    let found = discover(&Surroundings::of_this_process())?;
    // A name without a slash would be searched for in PATH.
    let executable = std::path::absolute(&found).unwrap_or(found);
    let mut command = Command::new(&executable);
    command.args(arguments);
    // A login started from inside Claude is not a Claude inside Claude.
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_nesting_marker(name)) {
        command.env_remove(name);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run the Claude CLI `{}`", executable.display()))
}
