//! The one seam between a running Claude and everything above it: typed options in, lines in, lines out, and a
//! life to end. `process` (the real CLI) and the rehearsal both stand behind it; nothing above can tell them apart.
//!
//! Nothing here may know how a backend starts or ends its Claude.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::launch::LaunchOptions;

/// Something that can start a Claude.
#[async_trait]
pub trait Backend: Send + Sync {
    /// A short name for logs and error messages.
    fn name(&self) -> &'static str;

    /// Starts one Claude. Dropping the returned future leaves nothing running.
    async fn launch(&self, options: &LaunchOptions) -> Result<Running, LaunchError>;
}

/// A Claude that has been started: newline-terminated JSON in both directions, and its life.
pub struct Running {
    /// Lines to Claude; dropping it is the end of its input.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// Lines from Claude.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// The life behind the two streams.
    pub life: Box<dyn Life>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

/// The life of one started Claude. Dropping it ends everything that belongs to it at once, without grace.
#[async_trait]
pub trait Life: Send {
    /// Waits for the end, however it comes. Cancel-safe; once ended it returns the same [`Exit`] again.
    async fn ended(&mut self) -> Exit;

    /// Ends it: asks first, forces after `grace.term`, and returns only when nothing of it is left. May be called
    /// again, also after an earlier call was dropped half way (a second call never lengthens the first one's grace).
    async fn kill(&mut self, grace: &Grace) -> Exit;

    /// The last of what it wrote to its error stream.
    fn stderr_tail(&self) -> String;
}

/// How a Claude ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// The last of what it wrote to its error stream; empty when it wrote nothing.
    pub stderr_tail: String,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        match self.stderr_tail.trim() {
            "" => Ok(()),
            tail => write!(f, "; its last words were `{tail}`"),
        }
    }
}

/// The status a Claude ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited by itself.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It is gone and the status could not be learnt.
    Unknown,
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code `{code}`"),
            Self::Signal(signal) => write!(f, "signal `{signal}`"),
            Self::Unknown => f.write_str("an unknown exit status"),
        }
    }
}

/// How long a Claude may take at each step of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// From the end of its input until it is asked to terminate.
    pub eof: Duration,
    /// From being asked to terminate until it is forced to.
    pub term: Duration,
}

/// With a shell command running, the real CLI takes two seconds from either request to its end.
impl Default for Grace {
    fn default() -> Self {
        Self {
            eof: Duration::from_secs(2),
            term: Duration::from_secs(5),
        }
    }
}

/// Why a Claude could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No usable CLI was found.
    #[error(transparent)]
    NoExecutable(#[from] crate::discovery::DiscoveryError),
    /// The working directory does not exist.
    #[error("the working directory `{}` does not exist; create it or open another one", .cwd.display())]
    DirectoryMissing {
        /// The directory that was asked for.
        cwd: PathBuf,
    },
    /// The working directory exists and cannot be worked in.
    #[error("the working directory `{}` cannot be used: {source}", .cwd.display())]
    DirectoryUnusable {
        /// The directory that was asked for.
        cwd: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The CLI vanished, or the interpreter its first line names does not exist.
    #[error(
        "`{}` could not be run: the file, or the interpreter its first line names, does not exist; reinstall Claude Code or point CLAUDE_CODE_EXECUTABLE at it",
        .executable.display()
    )]
    ExecutableMissing {
        /// The file that was to be run.
        executable: PathBuf,
    },
    /// The CLI may not be executed.
    #[error(
        "`{}` may not be executed: permission denied; make it executable (`chmod +x`) or point CLAUDE_CODE_EXECUTABLE at another one",
        .executable.display()
    )]
    NotExecutable {
        /// The file that was to be run.
        executable: PathBuf,
    },
    /// The MCP configuration could not be handed over.
    #[error(transparent)]
    McpConfig(#[from] crate::launch::McpConfigError),
    /// The settings could not be handed over.
    #[error("the settings for Claude could not be written to a temporary file: {0}")]
    Settings(std::io::Error),
    /// The system refused to start it.
    #[error("could not start `{}`: {source}", .executable.display())]
    Spawn {
        /// The file that was to be run.
        executable: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A reason of another backend's own.
    #[error("the `{backend}` backend could not start: {source}")]
    Other {
        /// The backend's name.
        backend: &'static str,
        /// Its reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_launch_that_failed_says_what_to_do() {
        let (cwd, executable) = (PathBuf::from("/project"), PathBuf::from("/bin/claude"));
        let system = || io::Error::from(io::ErrorKind::OutOfMemory);
        let duplicate = crate::launch::McpConfigError::DuplicateName {
            name: "files".to_owned(),
        };
        let missing = crate::discovery::DiscoveryError::NotFound {
            tried: Default::default(),
        };
        let errors = [
            LaunchError::NoExecutable(missing),
            LaunchError::DirectoryMissing { cwd: cwd.clone() },
            LaunchError::DirectoryUnusable {
                cwd,
                source: system(),
            },
            LaunchError::ExecutableMissing {
                executable: executable.clone(),
            },
            LaunchError::NotExecutable {
                executable: executable.clone(),
            },
            LaunchError::McpConfig(duplicate),
            LaunchError::Settings(system()),
            LaunchError::Spawn {
                executable,
                source: system(),
            },
            LaunchError::Other {
                backend: "rehearsal",
                source: "the script is empty".into(),
            },
        ];
        insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"), @r"
        no Claude CLI found; install it with `npm install -g @anthropic-ai/claude-code`, or set CLAUDE_CODE_EXECUTABLE to its path; tried:
        the working directory `/project` does not exist; create it or open another one
        the working directory `/project` cannot be used: out of memory
        `/bin/claude` could not be run: the file, or the interpreter its first line names, does not exist; reinstall Claude Code or point CLAUDE_CODE_EXECUTABLE at it
        `/bin/claude` may not be executed: permission denied; make it executable (`chmod +x`) or point CLAUDE_CODE_EXECUTABLE at another one
        two MCP servers are called `files`, give them different names
        the settings for Claude could not be written to a temporary file: out of memory
        could not start `/bin/claude`: out of memory
        the `rehearsal` backend could not start: the script is empty
        ");
    }

    #[test]
    fn an_exit_names_its_status_and_its_last_words() {
        let check = |status, stderr_tail: &str, expected| {
            assert_eq!(
                Exit {
                    status,
                    stderr_tail: stderr_tail.to_owned()
                }
                .to_string(),
                expected
            );
        };
        check(ExitStatus::Code(0), " \n", "exit code `0`");
        check(
            ExitStatus::Signal(9),
            "out of\nmemory\n",
            "signal `9`; its last words were `out of\nmemory`",
        );
        check(ExitStatus::Unknown, "", "an unknown exit status");
    }
}
