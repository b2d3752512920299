//! `claude-acp`: the one binary. Reads the command line, starts the log and the runtime, and hands over to `serve`,
//! `chat_command`, `rehearsal_command`, `policy`, `sessions` or `passthrough`; `agent` puts the agent together. Must not know the protocol's fields or rules.

mod agent;
mod args;
mod chat_command;
mod exit;
mod logging;
mod passthrough;
mod policy;
mod rehearsal_command;
mod serve;
mod sessions;
mod signals;
mod surroundings;
mod traffic;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;

use crate::args::Request;
use crate::exit::Exit;
use crate::policy::Oversight;

const WORKERS: usize = 2;
/// How long a forced end waits for what was dropped to be gone, Claude's processes above all.
const FORCED_END: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // Called as the CLI, this is not an agent but the scripted Claude of one.
    if let Some(played) = rehearsal::argv::intercept(std::env::args_os(), |name| std::env::var_os(name)) {
        return played;
    }
    match run(std::env::args_os().collect()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // A reader who is gone cannot be told.
            let _ = writeln!(std::io::stderr(), "{}: {}", surroundings::NAME, in_words(&error));
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
    let log = logging::start(logging.log_level, logging.log_file.as_deref())?;
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
        Request::Sessions(command) => sessions::run(command),
        Request::Chat(args) => Oversight::begin(args.oversight.clone())
            .and_then(|oversight| in_runtime(chat_command::run(args, oversight))),
    };
    log.finish();
    code
}

/// An error and its causes, each said once: many sentences of ours end with their cause already.
fn in_words(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let cause = cause.to_string();
        match said.as_str() {
            "" => cause,
            _ if said.contains(&cause) => said,
            _ => format!("{said}: {cause}"),
        }
    })
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

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::in_words;

    /// What the system says stands once, whether the sentence above it has it already or leaves it to its cause.
    #[test]
    fn each_cause_of_an_error_is_said_once() {
        let missing = || std::io::Error::from_raw_os_error(2);
        let address: acp_proto::ListenAddress = "unix:/nowhere/a.sock".parse().unwrap();
        let told = acp_proto::ConnectError::Refused {
            address,
            source: missing(),
        };
        let rows = [
            (
                anyhow::Error::from(told).context("cannot chat"),
                "cannot chat: cannot connect to `unix:/nowhere/a.sock`: No such file or directory (os error 2); is the agent running with `--listen unix:/nowhere/a.sock`?",
            ),
            (
                Err::<(), _>(missing()).context("cannot read `x`").unwrap_err(),
                "cannot read `x`: No such file or directory (os error 2)",
            ),
            (anyhow::anyhow!("alone"), "alone"),
        ];
        for (error, expected) in rows {
            assert_eq!(in_words(&error), expected);
        }
    }
}
