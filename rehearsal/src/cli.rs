//! The rehearsal as an executable that stands in for the CLI.
//!
//! Place in the flow: a binary's `main` calls [`intercept`] before anything else. The binary plays the CLI when it is
//! called through a link named `claude`, or when [`SCRIPT_VARIABLE`] is set and the arguments are the CLI's. The bridge's
//! `ProcessBackend` then cannot tell it from the real one.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::launch::{LaunchOptions, parse_argv, read_mcp_config};
use claude_sdk_bridge::messages::ClaudeSessionId;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::engine::SessionState;
use crate::frames::VERSION;
use crate::launch;
use crate::rim::{Rim, Signal, Surroundings};
use crate::script::{DEFAULT, Grandchild, Script};

/// Names the script that is played: a built-in one or a file.
pub const SCRIPT_VARIABLE: &str = "CLAUDE_ACP_REHEARSAL";

/// Names a directory in which sessions are remembered, so that another process can resume them. Without it (and without
/// the CLI's own `CLAUDE_CONFIG_DIR`) a session ends with its process.
pub const STATE_VARIABLE: &str = "CLAUDE_ACP_REHEARSAL_STATE";

/// The CLI's own variable that asks for the session's state.
const READS_STATE_VARIABLE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";

const CONFIG_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
const LINK_NAME: &str = "claude";
const GRANDCHILD_FLAG: &str = "--rehearsal-grandchild";

/// How long a grandchild waits, so that a test that failed leaves nothing behind for good.
const GRANDCHILD_LIFE: Duration = Duration::from_secs(600);

/// Plays the CLI if this process was called as one; `None` if it was called as itself. `args` begins with the program.
pub fn intercept(
    args: impl IntoIterator<Item = OsString>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Option<ExitCode> {
    let mut args = args.into_iter();
    let program = PathBuf::from(args.next().unwrap_or_default());
    let args: Vec<OsString> = args.collect();
    match Call::of(&program, &args, env(SCRIPT_VARIABLE).is_some()) {
        Call::NotOurs => None,
        Call::Version => Some(print_version()),
        Call::Grandchild => Some(grandchild(&args)),
        Call::Play => Some(match play(args, &env) {
            Ok(code) => code,
            Err(error) => {
                complain(&error);
                ExitCode::FAILURE
            }
        }),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Call {
    NotOurs,
    Version,
    Grandchild,
    Play,
}

impl Call {
    fn of(program: &Path, args: &[OsString], script_is_named: bool) -> Self {
        let is_link = program.file_name() == Some(OsStr::new(LINK_NAME));
        let has = |flag: &str| args.iter().any(|arg| arg == flag);
        if args.first().is_some_and(|arg| arg == GRANDCHILD_FLAG) {
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
    let memory = Memory::of(env, options.persist_session);
    let tells_state = env(READS_STATE_VARIABLE).is_some_and(|value| value == "1");
    if let Some(grandchild) = &script.process.grandchild {
        spawn_grandchild(grandchild)?;
    }
    let (engine, id) = launch::engine(script, &options, tells_state, |id| memory.look_up(id));
    let surroundings = Executable { memory, id };
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
        Ok::<u8, std::io::Error>(Rim::new(engine, streams, surroundings, signals).run().await)
    })?;
    // A read of stdin may be under way on another thread and cannot be stopped; nobody waits for it.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

struct Executable {
    memory: Memory,
    id: ClaudeSessionId,
}

impl Surroundings for Executable {
    fn complain(&mut self, text: &[u8]) {
        // Whoever closed stderr does not want to know.
        let _ = std::io::stderr().write_all(text);
    }

    fn remember(&mut self, state: &SessionState) {
        if let Err(error) = self.memory.keep(&self.id, state) {
            complain(&format!("the session could not be remembered: {error}"));
        }
    }
}

/// Sessions in files, for the processes to come.
struct Memory {
    directory: Option<PathBuf>,
}

impl Memory {
    fn of(env: &impl Fn(&str) -> Option<OsString>, persist: bool) -> Self {
        let own = env(STATE_VARIABLE).map(PathBuf::from);
        let directory =
            own.or_else(|| env(CONFIG_VARIABLE).map(|directory| Path::new(&directory).join("rehearsal")));
        Self {
            directory: directory.filter(|_| persist),
        }
    }

    fn file(&self, id: &ClaudeSessionId) -> Option<PathBuf> {
        // An id is a file name here, so it must not lead anywhere else.
        let is_plain = id
            .as_str()
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        self.directory
            .as_ref()
            .filter(|_| is_plain)
            .map(|directory| directory.join(format!("{id}.json")))
    }

    fn look_up(&self, id: &ClaudeSessionId) -> Option<SessionState> {
        let text = std::fs::read(self.file(id)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn keep(&self, id: &ClaudeSessionId, state: &SessionState) -> std::io::Result<()> {
        let Some(file) = self.file(id) else { return Ok(()) };
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec(state).map_err(std::io::Error::other)?;
        // Written beside and renamed, so that a process that is killed leaves the old memory or the new one.
        let beside = file.with_extension("new");
        std::fs::write(&beside, text)?;
        std::fs::rename(beside, file)
    }
}

fn spawn_grandchild(grandchild: &Grandchild) -> std::io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(GRANDCHILD_FLAG).arg(if grandchild.ignore_term {
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

/// Waits in a session of its own, as the shell commands of the CLI do.
fn grandchild(args: &[OsString]) -> ExitCode {
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
        tokio::time::sleep(GRANDCHILD_LIFE).await;
        drop(handlers);
        Ok(())
    })
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
