//! The real CLI behind the backend seam: finds it, turns options into a command, and answers for its life.
//!
//! Reading order: `start` (command to running CLI), `spawner` (the one thread that starts processes), `tree` (all that
//! belongs to one CLI, found in the process `table`), `reaper` (waits for its end and reaps), `life` (the seam's view of
//! it), `stderr`. What the CLI says is `query`'s business, not this folder's.

mod life;
mod reaper;
mod spawner;
mod start;
mod stderr;
mod table;
mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use async_trait::async_trait;

use crate::backend::{Backend, LaunchError, Running};
use crate::discovery::{Surroundings, discover};
use crate::launch::{LaunchOptions, McpConfigFile, PrivateFile, argv, environment};

/// What the processes a CLI leaves behind get to end after being asked to.
const LINGER: Duration = Duration::from_millis(500);

/// Starts the real CLI.
#[derive(Debug)]
pub struct ProcessBackend {
    executable: Executable,
}

#[derive(Debug)]
enum Executable {
    At(PathBuf),
    /// Searched for at every launch, so that a CLI installed meanwhile is found.
    Discovered(Surroundings),
}

impl ProcessBackend {
    /// A backend that searches for the CLI as `surroundings` allow.
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            executable: Executable::Discovered(surroundings),
        }
    }

    /// A backend for the CLI at a path.
    pub fn at(executable: impl Into<PathBuf>) -> Self {
        Self {
            executable: Executable::At(executable.into()),
        }
    }

    fn executable(&self) -> Result<PathBuf, LaunchError> {
        let found = match &self.executable {
            Executable::At(path) => path.clone(),
            Executable::Discovered(surroundings) => discover(surroundings)?,
        };
        // The child looks a relative path up in its own working directory, and a bare name in PATH.
        std::path::absolute(&found).map_err(|source| LaunchError::Spawn {
            executable: found,
            source,
        })
    }
}

#[async_trait]
impl Backend for ProcessBackend {
    fn name(&self) -> &'static str {
        "process"
    }

    async fn launch(&self, options: &LaunchOptions) -> Result<Running, LaunchError> {
        let executable = self.executable()?;
        let mcp_config = McpConfigFile::write(&options.mcp_servers)?;
        let settings = options.settings.as_ref();
        let settings = settings
            .map(|settings| PrivateFile::write("settings", settings))
            .transpose()
            .map_err(LaunchError::Settings)?;
        let mut options = options.clone();
        if let Some(settings) = &settings {
            options.settings_file = Some(settings.path().to_owned());
        }
        let options = &options;
        let command = command(&executable, options, mcp_config.as_ref(), std::env::vars_os());
        tracing::debug!(executable = %executable.display(), cwd = %options.cwd.display(), "starting claude");
        start::start(command, LINGER, Box::new((mcp_config, settings))).await
    }
}

fn command(
    executable: &Path,
    options: &LaunchOptions,
    mcp_config: Option<&McpConfigFile>,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
) -> Command {
    let mut command = Command::new(executable);
    command
        .args(argv(options, mcp_config.map(McpConfigFile::path)))
        .env_clear()
        .envs(environment(options, inherited))
        .current_dir(&options.cwd);
    command
}

/// When a process started, in clock ticks since boot; `None` where there is none, or where nobody can tell.
pub(crate) fn started(pid: i32) -> Option<u64> {
    let row = table::row(pid)?;
    (row.state == table::ProcessState::Living).then_some(row.id.started)
}

pub(crate) use self::spawner::{Spawned, Wires, reaped, spawn};
#[cfg(test)]
pub(crate) use self::start::start as start_command;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
