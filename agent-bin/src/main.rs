//! `claude-acp`: the one binary. Reads the command line, starts the log and the runtime, and hands over to `serve`,
//! `chat_command`, `rehearsal_command`, `policy` or `passthrough`; `agent` puts the agent together. Must not know the protocol's fields or rules.

mod agent;
mod args;
mod chat_command;
mod exit;
mod logging;
mod passthrough;
mod policy;
mod rehearsal_command;
mod serve;
mod signals;

use std::{ffi::OsString, io::Write as _, process::ExitCode, time::Duration};

use anyhow::Context as _;

use crate::{args::Request, exit::Exit, policy::Oversight};

const WORKERS: usize = 2;
/// How long a forced end waits for what was dropped to be gone, Claude's processes above all.
const FORCED_END: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // Called as the CLI, this is not an agent but the scripted Claude of one.
    if let Some(played) = rehearsal::cli::intercept(std::env::args_os(), |name| std::env::var_os(name)) {
        return played;
    }
    match run(std::env::args_os().collect()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // A reader who is gone cannot be told.
            let _ = writeln!(std::io::stderr(), "{}: {error:#}", agent::NAME);
            ExitCode::from(exit::FAILED)
        }
    }
}

fn run(arguments: Vec<OsString>) -> anyhow::Result<u8> {
    let (logging, request) = match args::parse(arguments) {
        Ok(parsed) => parsed,
        Err(message) => {
            let _ = message.print();
            return Ok(u8::try_from(message.exit_code()).unwrap_or(exit::FAILED));
        }
    };
    let log = logging::start(&logging)?;
    let code = match request {
        Request::Cli { arguments, policy } => passthrough::run(arguments, policy.as_deref()),
        Request::Serve {
            listen,
            accounts,
            backend,
            oversight,
            subscriptions,
        } => Oversight::begin(oversight)
            .and_then(|oversight| agent::manager(backend, oversight, subscriptions))
            .and_then(|manager| in_runtime(serve::serve(&listen, accounts, manager))),
        Request::Rehearsal(command) => rehearsal_command::run(command),
        Request::Policy(command) => policy::run(command),
        Request::Chat(args) => Oversight::begin(args.oversight.clone())
            .and_then(|oversight| in_runtime(chat_command::run(args, oversight))),
    };
    log.finish();
    code
}

fn in_runtime(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    match runtime.block_on(work) {
        Ok(Exit::InOrder(code)) => {
            // A thread that reads a terminal cannot be called back: do not wait for it.
            runtime.shutdown_background();
            Ok(code)
        }
        Ok(Exit::Forced(code)) => {
            runtime.shutdown_timeout(FORCED_END);
            Ok(code)
        }
        Err(error) => {
            runtime.shutdown_timeout(FORCED_END);
            Err(error)
        }
    }
}
