//! The rehearsal as an executable that stands in for the CLI, by its arguments.
//!
//! Place in the flow: a binary's `main` calls [`intercept`] before anything else. The binary plays the CLI when it is
//! called through a link named `claude`, or when [`SCRIPT_VARIABLE`] is set and the arguments are the CLI's. The bridge's
//! `ProcessBackend` then cannot tell it from the real one.

mod grandchild;
mod memory;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use claude_sdk_bridge::launch::{LaunchOptions, parse_argv, read_mcp_config};
use claude_sdk_bridge::messages::ClaudeSessionId;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use self::memory::Memory;
use crate::engine::SessionState;
use crate::frames::VERSION;
use crate::launch;
use crate::run::{Process, Run, Signal};
use crate::script::{DEFAULT, Script};

/// Names the script that is played: a built-in one or a file.
pub const SCRIPT_VARIABLE: &str = "CLAUDE_ACP_REHEARSAL";

/// Names a directory in which sessions are remembered, so that another process can resume them. Without it (and without
/// the CLI's own `CLAUDE_CONFIG_DIR`) a session ends with its process.
pub const STATE_VARIABLE: &str = "CLAUDE_ACP_REHEARSAL_STATE";

/// The CLI's own variable that asks for the session's state.
const READS_STATE_VARIABLE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";

const CONFIG_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
const LINK_NAME: &str = "claude";

/// Plays the CLI if this process was called as one; `None` if it was called as itself. `args` begins with the program.
pub fn intercept(
    args: impl IntoIterator<Item = OsString>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Option<ExitCode> {
    let mut args = args.into_iter();
    let program = PathBuf::from(args.next().unwrap_or_default());
    let args: Vec<OsString> = args.collect();
    match Role::of(&program, &args, env(SCRIPT_VARIABLE).is_some()) {
        Role::NotOurs => None,
        Role::Version => Some(print_version()),
        Role::Grandchild => Some(grandchild::play(&args)),
        Role::Play => Some(match play(args, &env) {
            Ok(code) => code,
            Err(error) => {
                complain(&error);
                ExitCode::FAILURE
            }
        }),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Role {
    NotOurs,
    Version,
    Grandchild,
    Play,
}

impl Role {
    fn of(program: &Path, args: &[OsString], script_is_named: bool) -> Self {
        let is_link = program.file_name() == Some(OsStr::new(LINK_NAME));
        let has = |flag: &str| args.iter().any(|arg| arg == flag);
        if args.first().is_some_and(|arg| arg == grandchild::FLAG) {
            Self::Grandchild
        } else if is_link && has("--version") {
            Self::Version
        } else if is_link || (script_is_named && has("--input-format") && has("--output-format")) {
            Self::Play
        } else {
            Self::NotOurs
        }
    }
}

/// Why the executable cannot play.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Script(#[from] crate::script::ScriptError),
    #[error("error: {0}")]
    Arguments(#[from] claude_sdk_bridge::launch::ArgvError),
    #[error("Error: Invalid MCP configuration: {0}")]
    Mcp(#[from] claude_sdk_bridge::launch::McpConfigError),
    #[error("the rehearsal could not start: {0}")]
    Io(#[from] std::io::Error),
}

fn play(args: Vec<OsString>, env: &impl Fn(&str) -> Option<OsString>) -> Result<ExitCode, CliError> {
    let named = env(SCRIPT_VARIABLE).filter(|name| !name.is_empty());
    let script = Arc::new(Script::find(
        &named.map_or_else(|| DEFAULT.to_owned(), |name| name.to_string_lossy().into_owned()),
    )?);
    let parsed = parse_argv(args)?;
    let mut options = LaunchOptions {
        cwd: std::env::current_dir()?,
        ..parsed.options
    };
    for file in &parsed.mcp_configs {
        options.mcp_servers.extend(read_mcp_config(file)?);
    }
    let memory = Memory::of(env, options.persist_session, &options.cwd);
    let tells_state = env(READS_STATE_VARIABLE).is_some_and(|value| value == "1");
    if let Some(grandchild) = &script.process.grandchild {
        grandchild::spawn(grandchild)?;
    }
    let (engine, id) = launch::engine(
        script,
        &options,
        tells_state,
        |id| memory.look_up(id),
        &memory.granted(),
    );
    let process = Executable { memory, id };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(async {
        let (sender, signals) = mpsc::channel(1);
        for (kind, meaning) in [
            (SignalKind::terminate(), Signal::Terminate),
            (SignalKind::hangup(), Signal::Terminate),
            (SignalKind::interrupt(), Signal::Interrupt),
        ] {
            let mut received = signal(kind)?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while received.recv().await.is_some() {
                    let _ = sender.send(meaning).await;
                }
            });
        }
        let streams = (tokio::io::stdin(), tokio::io::stdout());
        Ok::<u8, std::io::Error>(Run::new(engine, streams, process, signals).run().await)
    })?;
    // A read of stdin may be under way on another thread and cannot be stopped; nobody waits for it.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

struct Executable {
    memory: Memory,
    id: ClaudeSessionId,
}

impl Process for Executable {
    fn write_stderr(&mut self, text: &[u8]) {
        // Whoever closed stderr does not want to know.
        let _ = std::io::stderr().write_all(text);
    }

    fn remember(&mut self, state: &SessionState) {
        if let Err(error) = self.memory.keep(&self.id, state) {
            complain(&format!("the session could not be remembered: {error}"));
        }
    }
}

fn print_version() -> ExitCode {
    match writeln!(std::io::stdout(), "{VERSION} (rehearsal)") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn complain(text: &impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
