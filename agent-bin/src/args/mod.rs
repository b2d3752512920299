//! The command line: what may be given, what goes with what, and what it means. Nothing is done here.

mod policy;
mod wording;

use std::ffi::OsString;
use std::path::PathBuf;

use acp_proto::{Accounts, ListenAddress};
use chat::Conversation;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand};

use tracing::level_filters::LevelFilter;

pub(crate) use policy::{ExplainArgs, Given, OversightArgs, PolicyCommand, object};

use policy::policy_request;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "claude-acp",
    version,
    about = wording::ABOUT,
    after_help = wording::AFTER_HELP,
    disable_version_flag = true,
    disable_help_subcommand = true
)]
struct CommandLine {
    #[command(flatten)]
    logging: LoggingArgs,

    /// Serve at this address instead of standard input and output, repeatable:
    /// `unix:PATH`, `tcp://localhost:PORT`, `tcp://[::1]:PORT` or `stdio`; port 0
    /// takes a free one and tells it on standard error. Programs of other
    /// accounts of this machine are refused
    #[arg(long, value_name = "URL", verbatim_doc_comment)]
    listen: Vec<ListenAddress>,

    /// Let programs of every account of this machine in: each of them can then
    /// run commands as you
    #[arg(long, requires = "listen", verbatim_doc_comment)]
    allow_any_local_user: bool,

    /// Who does the work: `process` is the Claude CLI, `rehearsal` or
    /// `rehearsal=SCRIPT` a scripted Claude [default: process]
    #[arg(long, value_name = "KIND", value_parser = parse_backend, verbatim_doc_comment)]
    backend: Option<Backend>,

    #[command(flatten)]
    oversight: OversightArgs,

    /// Offer no login with a claude.ai subscription, and run no session on
    /// one
    #[arg(long, verbatim_doc_comment)]
    hide_claude_auth: bool,

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
    /// List, show and export the conversations that Claude has written down
    #[command(disable_help_subcommand = true)]
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Check an operator's policy, explain what would become of a tool call
    #[command(disable_help_subcommand = true)]
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
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

/// What `sessions` does.
#[derive(Debug, Clone, Subcommand, PartialEq, Eq)]
pub(crate) enum SessionsCommand {
    /// List the conversations of this directory and its repository's worktrees, the newest first
    List {
        /// Those of all directories
        #[arg(long)]
        all: bool,

        /// A JSON object a line, as `session/list` has them
        #[arg(long)]
        json: bool,
    },
    /// Print a conversation as Markdown
    Show {
        /// Its session id
        id: String,
    },
    /// Write a conversation as one HTML page that needs nothing else
    Export {
        /// Its session id
        id: String,

        /// The file to write [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// How much is logged, and where to.
#[derive(Debug, Args, PartialEq, Eq)]
pub(crate) struct LoggingArgs {
    /// Log at this level: off, error, warn, info, debug, trace
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub(crate) log_level: LevelFilter,

    /// Append the log to this file instead of standard error
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,
}

/// What `chat` takes.
#[derive(Debug, Args, PartialEq, Eq)]
pub(crate) struct ChatArgs {
    /// Talk to a scripted Claude: the built-in script, another built-in one
    /// by its name, or a script file
    #[arg(
        long,
        value_name = "SCRIPT",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "connect", verbatim_doc_comment)]
    pub(crate) rehearse: Option<Option<String>>,

    /// Talk to the agent that listens at this address
    #[arg(long, value_name = "URL")]
    pub(crate) connect: Option<ListenAddress>,

    /// Go on with the newest conversation of this directory
    #[arg(long = "continue", conflicts_with_all = ["resume", "rehearse"])]
    pub(crate) newest: bool,

    /// Go on with an earlier conversation: the one with this id, or one to choose
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "rehearse")]
    pub(crate) resume: Option<Option<String>>,

    #[command(flatten)]
    pub(crate) oversight: OversightArgs,

    /// The prompt; without it, prompts are read from the terminal, or one from standard input
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
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    /// Serve clients.
    Serve {
        /// Where; never empty.
        listen: Vec<ListenAddress>,
        /// Whose programs.
        accounts: Accounts,
        /// With whom.
        backend: Backend,
        /// Under whose eyes.
        oversight: OversightArgs,
        /// Whether claude.ai subscriptions may be used.
        subscriptions: bool,
    },
    /// Chat in the terminal.
    Chat(ChatArgs),
    /// Tell about the scripts of the rehearsal.
    Rehearsal(RehearsalCommand),
    /// Check or explain a policy.
    Policy(PolicyCommand),
    /// Tell about stored conversations.
    Sessions(SessionsCommand),
    /// Become the Claude CLI.
    Cli {
        /// Its arguments.
        arguments: Vec<OsString>,
        /// A policy limits them.
        policy: Option<PathBuf>,
    },
}

/// Reads a command line, the program's name first.
///
/// # Errors
/// What to print and how to exit, also for `--help` and `--version`.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<(LoggingArgs, Request), clap::Error> {
    let (own, for_cli) = split_at_cli(arguments);
    let script = script_apart(&own);
    let CommandLine {
        logging,
        listen,
        allow_any_local_user,
        backend,
        oversight,
        hide_claude_auth,
        cli,
        command,
        version: _,
    } = CommandLine::try_parse_from(own).map_err(|error| with_tip(error, script))?;
    let serves = !listen.is_empty() || backend.is_some();
    let request = match (command, cli) {
        (Some(_), _) if hide_claude_auth => return Err(conflict(wording::HIDE_CLAUDE_AUTH_WITH_COMMAND)),
        (Some(Command::Chat(_)), _) if !listen.is_empty() => return Err(conflict(wording::LISTEN_WITH_CHAT)),
        (Some(Command::Chat(_)), _) if backend.is_some() => return Err(conflict(wording::BACKEND_WITH_CHAT)),
        (Some(Command::Chat(_)), Some(_)) => return Err(conflict(wording::CLI_WITH_CHAT)),
        (Some(Command::Rehearsal { .. }), cli) if serves || cli.is_some() => {
            return Err(conflict(wording::SERVING_WITH_REHEARSAL));
        }
        (Some(Command::Rehearsal { .. }), _) if !oversight.is_empty() => {
            return Err(conflict(wording::OVERSIGHT_WITH_REHEARSAL));
        }
        (Some(Command::Policy { .. }), cli) if serves || cli.is_some() => {
            return Err(conflict(wording::SERVING_WITH_POLICY));
        }
        (Some(Command::Sessions { .. }), cli) if serves || cli.is_some() || !oversight.is_empty() => {
            return Err(conflict(wording::SERVING_WITH_SESSIONS));
        }
        (None, Some(_)) if serves => return Err(conflict(wording::CLI_WITH_SERVING)),
        (Some(Command::Chat(chat)), None) => chat_request(chat, oversight)?,
        (Some(Command::Rehearsal { command }), _) => Request::Rehearsal(command),
        (Some(Command::Policy { command }), _) => policy_request(command, oversight)?,
        (Some(Command::Sessions { command }), _) => Request::Sessions(command),
        (None, Some(given)) => Request::Cli {
            arguments: for_cli.unwrap_or(given),
            policy: oversight.policy,
        },
        (None, None) => {
            let accounts = if allow_any_local_user {
                Accounts::Any
            } else {
                Accounts::Own
            };
            serve_request(listen, accounts, backend, oversight, !hide_claude_auth)?
        }
    };
    Ok((logging, request))
}

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

impl ChatArgs {
    /// The conversation to have.
    pub(crate) fn conversation(&self) -> Conversation {
        match &self.resume {
            _ if self.newest => Conversation::Newest,
            Some(Some(id)) => Conversation::Named(id.clone()),
            Some(None) => Conversation::Chosen,
            None => Conversation::New,
        }
    }

    /// What may have been meant otherwise.
    pub(crate) fn hint(&self) -> Option<String> {
        let prompt = self.prompt.as_deref().filter(|_| self.rehearse == Some(None))?;
        names_a_script(prompt).then(|| wording::script_is_prompt(prompt))
    }
}

fn names_a_script(text: &str) -> bool {
    rehearsal::script::names().contains(&text) || text.ends_with(".json")
}

/// The script that stands behind `--rehearse` instead of being its value.
fn script_apart(arguments: &[OsString]) -> Option<String> {
    let script = arguments.windows(2).find_map(|pair| match pair {
        [flag, value] if flag == "--rehearse" => value.to_str(),
        _ => None,
    });
    script.filter(|script| names_a_script(script)).map(str::to_owned)
}

fn with_tip(mut error: clap::Error, script: Option<String>) -> clap::Error {
    if let Some(script) = script.filter(|_| error.kind() == ErrorKind::UnknownArgument) {
        let tip = wording::script_is_prompt(&script).into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

fn chat_request(mut chat: ChatArgs, before: OversightArgs) -> Result<Request, clap::Error> {
    if chat.connect == Some(ListenAddress::Stdio) {
        return Err(conflict(wording::CONNECT_STDIO));
    }
    chat.oversight = before.or(chat.oversight)?;
    if chat.connect.is_some() && !chat.oversight.is_empty() {
        return Err(conflict(wording::OVERSIGHT_WITH_CONNECT));
    }
    // `--rehearse=` names no script.
    chat.rehearse = chat
        .rehearse
        .map(|script| script.filter(|script| !script.is_empty()));
    Ok(Request::Chat(chat))
}

fn serve_request(
    listen: Vec<ListenAddress>,
    accounts: Accounts,
    backend: Option<Backend>,
    oversight: OversightArgs,
    subscriptions: bool,
) -> Result<Request, clap::Error> {
    let backend = backend.unwrap_or(Backend::Process);
    let free_port = |address: &ListenAddress| matches!(address, ListenAddress::Tcp(tcp) if tcp.port() == 0);
    for (index, address) in listen.iter().enumerate() {
        if !free_port(address) && listen.iter().take(index).any(|earlier| earlier == address) {
            return Err(conflict(wording::LISTEN_TWICE));
        }
    }
    let listen = if listen.is_empty() {
        vec![ListenAddress::Stdio]
    } else {
        listen
    };
    Ok(Request::Serve {
        listen,
        accounts,
        backend,
        oversight,
        subscriptions,
    })
}

fn parse_backend(text: &str) -> Result<Backend, String> {
    match text.split_once('=') {
        None if text == "process" => Ok(Backend::Process),
        None if text == "rehearsal" => Ok(Backend::Rehearsal(None)),
        Some(("rehearsal", script)) if !script.is_empty() => Ok(Backend::Rehearsal(Some(script.into()))),
        _ => Err(wording::NO_BACKEND.to_owned()),
    }
}

fn conflict(message: &str) -> clap::Error {
    CommandLine::command().error(ErrorKind::ArgumentConflict, message)
}

#[cfg(test)]
mod tests;
