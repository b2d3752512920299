//! The command line: what may be given, what goes with what, and what it means. Nothing is done here.

use std::{ffi::OsString, path::PathBuf};

use acp_proto::ListenAddress;
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, error::ErrorKind};

use crate::logging::Level;

const ABOUT: &str = "An ACP agent for Claude: editors start it, or connect to it, and get Claude Code.";

const AFTER_HELP: &str = "\
Without arguments it serves one client on standard input and output, which is how editors start it.

Examples:
  claude-acp                                         serve the editor that started it
  claude-acp --listen tcp://127.0.0.1:0              serve many clients, on a free port
  claude-acp --listen unix:/run/user/1000/claude.sock
  claude-acp --cli auth login                        log in to Claude
  claude-acp chat \"what is in this directory?\"       one prompt, here in the terminal
  claude-acp chat --rehearse \"hello\"                 the same with a scripted Claude, without a login
  claude-acp rehearsal list                          what the scripted Claude can play

Exit codes:
  0    everything that was asked for is done; also after SIGTERM, SIGINT or SIGHUP ended the serving
  1    it failed: an address cannot be used, a turn failed, the connection was lost
  2    the command line is not understood
  128+ a signal ended it before it was done: the second signal while serving, Ctrl-C in a chat
  With --cli, the exit code of the Claude CLI.";

const LISTEN_HELP: &str = "\
Serve at this address instead of standard input and output, repeatable:
stdio, tcp://127.0.0.1:PORT, tcp://[::1]:PORT or unix:PATH; port 0 takes
a free one and tells it on standard error";

const BACKEND_HELP: &str = "\
Who does the work: `process` is the Claude CLI, `rehearsal` or
`rehearsal=SCRIPT` a scripted Claude [default: process]";

const REHEARSE_HELP: &str = "\
Talk to a scripted Claude: the built-in script, another built-in one
by its name, or a script file";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "claude-acp",
    version,
    about = ABOUT,
    after_help = AFTER_HELP,
    disable_version_flag = true,
    disable_help_subcommand = true
)]
struct CommandLine {
    #[command(flatten)]
    logging: LoggingArgs,

    #[arg(long, value_name = "URL", help = LISTEN_HELP)]
    listen: Vec<ListenAddress>,

    #[arg(long, value_name = "KIND", value_parser = parse_backend, help = BACKEND_HELP)]
    backend: Option<Backend>,

    /// Run the Claude CLI with everything that follows, in this terminal
    #[arg(long, value_name = "ARGS", num_args = 0.., allow_hyphen_values = true)]
    cli: Option<Vec<OsString>>,

    /// Print the version
    #[arg(short = 'V', short_alias = 'v', long, action = ArgAction::Version)]
    version: Option<bool>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Chat with the agent in this terminal
    Chat(ChatArgs),
    /// List the scripts of the scripted Claude, check one of your own
    #[command(disable_help_subcommand = true)]
    Rehearsal {
        #[command(subcommand)]
        command: RehearsalCommand,
    },
}

/// What `rehearsal` does.
#[derive(Debug, Clone, Subcommand, PartialEq, Eq)]
pub(crate) enum RehearsalCommand {
    /// List the built-in scripts and their scenes
    List,
    /// Print the JSON schema of the script format
    Schema,
    /// Tell whether files are scripts: file, line, column and what is allowed there; exits with 1 if one is not
    Check {
        /// The script files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// How much is logged, and where to.
#[derive(Debug, Args, Default, PartialEq, Eq)]
pub(crate) struct LoggingArgs {
    /// Log at this level: off, error, warn, info, debug, trace
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub(crate) log_level: Level,

    /// Append the log to this file as well
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,
}

/// What `chat` takes.
#[derive(Debug, Args, PartialEq, Eq)]
pub(crate) struct ChatArgs {
    #[arg(
        long,
        value_name = "SCRIPT",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "connect",
        help = REHEARSE_HELP
    )]
    pub(crate) rehearse: Option<Option<String>>,

    /// Talk to the agent that listens at this address
    #[arg(long, value_name = "URL")]
    pub(crate) connect: Option<ListenAddress>,

    /// The prompt; without it, prompts are read from the terminal or from standard input
    pub(crate) prompt: Option<String>,
}

/// Who does the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backend {
    /// The Claude CLI.
    Process,
    /// A script by name or path, or the default one.
    Rehearsal(Option<String>),
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Serve clients.
    Serve {
        /// Where; never empty.
        listen: Vec<ListenAddress>,
        /// With whom.
        backend: Backend,
    },
    /// Chat in the terminal.
    Chat(ChatArgs),
    /// Tell about the scripts of the rehearsal.
    Rehearsal(RehearsalCommand),
    /// Become the Claude CLI.
    Cli(Vec<OsString>),
}

/// Reads a command line, the program's name first.
///
/// # Errors
/// What to print and how to exit, also for `--help` and `--version`.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<(LoggingArgs, Request), clap::Error> {
    let (own, for_cli) = split_at_cli(arguments);
    let CommandLine {
        logging,
        listen,
        backend,
        cli,
        command,
        version: _,
    } = CommandLine::try_parse_from(own)?;
    let serves = !listen.is_empty() || backend.is_some();
    let request = match (command, cli) {
        (Some(Command::Chat(_)), _) if !listen.is_empty() => return Err(conflict(LISTEN_WITH_CHAT)),
        (Some(Command::Chat(_)), _) if backend.is_some() => return Err(conflict(BACKEND_WITH_CHAT)),
        (Some(Command::Chat(_)), Some(_)) => return Err(conflict(CLI_WITH_CHAT)),
        (Some(Command::Rehearsal { .. }), cli) if serves || cli.is_some() => {
            return Err(conflict(SERVING_WITH_REHEARSAL));
        }
        (None, Some(_)) if serves => return Err(conflict(CLI_WITH_SERVING)),
        (Some(Command::Chat(chat)), None) => chat_request(chat)?,
        (Some(Command::Rehearsal { command }), _) => Request::Rehearsal(command),
        (None, Some(given)) => Request::Cli(for_cli.unwrap_or(given)),
        (None, None) => serve_request(listen, backend)?,
    };
    Ok((logging, request))
}

const LISTEN_WITH_CHAT: &str =
    "`--listen` serves clients and `chat` is one: leave one of them out, or use `chat --connect URL`";
const BACKEND_WITH_CHAT: &str =
    "`--backend` is for serving: use `chat --rehearse` for a scripted Claude, or neither for the Claude CLI";
const CLI_WITH_CHAT: &str = "`--cli` runs the Claude CLI and cannot be combined with `chat`: use one of them";
const SERVING_WITH_REHEARSAL: &str = "`rehearsal` tells about scripts and serves nobody: leave `--listen`, `--backend` and `--cli` out, or play a script with `--backend rehearsal=SCRIPT`";
const CLI_WITH_SERVING: &str =
    "`--cli` runs the Claude CLI instead of serving: leave `--listen` and `--backend` out";
const LISTEN_TWICE: &str = "the same `--listen` address is given twice: leave one of them out";
const CONNECT_STDIO: &str =
    "`chat --connect` needs an address to connect to: tcp://127.0.0.1:PORT or unix:PATH";

/// What follows `--cli` is not ours to read, also when it looks like an option of ours. `--cli` itself stays.
fn split_at_cli(mut arguments: Vec<OsString>) -> (Vec<OsString>, Option<Vec<OsString>>) {
    let ours = |argument: &OsString| argument == "chat" || argument == "--";
    let end = arguments
        .iter()
        .position(|argument| argument == "--cli" || ours(argument));
    match end {
        Some(end) if arguments.get(end).is_some_and(|argument| argument == "--cli") => {
            let rest = arguments.split_off(end.saturating_add(1));
            (arguments, Some(rest))
        }
        _ => (arguments, None),
    }
}

fn chat_request(mut chat: ChatArgs) -> Result<Request, clap::Error> {
    if chat.connect == Some(ListenAddress::Stdio) {
        return Err(conflict(CONNECT_STDIO));
    }
    // `--rehearse=` names no script.
    chat.rehearse = chat
        .rehearse
        .map(|script| script.filter(|script| !script.is_empty()));
    Ok(Request::Chat(chat))
}

fn serve_request(listen: Vec<ListenAddress>, backend: Option<Backend>) -> Result<Request, clap::Error> {
    let backend = backend.unwrap_or(Backend::Process);
    if listen.is_empty() {
        return Ok(Request::Serve {
            listen: vec![ListenAddress::Stdio],
            backend,
        });
    }
    let free_port = |address: &ListenAddress| matches!(address, ListenAddress::Tcp(tcp) if tcp.port() == 0);
    for (index, address) in listen.iter().enumerate() {
        if !free_port(address) && listen.iter().take(index).any(|earlier| earlier == address) {
            return Err(conflict(LISTEN_TWICE));
        }
    }
    Ok(Request::Serve { listen, backend })
}

fn parse_backend(text: &str) -> Result<Backend, String> {
    match text.split_once('=') {
        None if text == "process" => Ok(Backend::Process),
        None if text == "rehearsal" => Ok(Backend::Rehearsal(None)),
        Some(("rehearsal", script)) if !script.is_empty() => Ok(Backend::Rehearsal(Some(script.into()))),
        _ => Err("expected `process`, `rehearsal` or `rehearsal=SCRIPT`".to_owned()),
    }
}

fn conflict(message: &str) -> clap::Error {
    CommandLine::command().error(ErrorKind::ArgumentConflict, message)
}

#[cfg(test)]
mod tests;
