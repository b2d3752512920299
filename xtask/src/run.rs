//! Starts programs: cargo above all, with what it prints passed on and, where asked, counted.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::tally::Tally;

/// The cargo that runs us, in the folder of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// Runs a command to its end; `false` when it fails.
pub(crate) fn passes(command: &mut Command) -> Result<bool> {
    println!("\n> {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", shown(command)))?;
    Ok(status.success())
}

/// Runs a test runner, passing its output on and counting it.
pub(crate) fn count(name: &str, command: &mut Command, tally: &mut Tally) -> Result<()> {
    println!("\n> {}", shown(command));
    let failed_before = tally.failed;
    let spawned = command.stdout(Stdio::piped()).spawn();
    let mut child = spawned.with_context(|| format!("cannot run {}", shown(command)))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.context("cannot read the runner's output")?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            tally.line(&line);
        }
    }
    let status = child.wait().context("cannot wait for the runner")?;
    tally.runner_ended(name, status.success(), failed_before);
    Ok(())
}

/// Whether skipped tests are failures here.
pub(crate) fn skips_fail() -> bool {
    std::env::var_os("CI").is_some_and(|value| value != "false" && value != "0" && !value.is_empty())
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
