//! `chat`: a terminal at one end, at the other the agent itself in this process, or one that listens somewhere.

use std::io::Write as _;
use std::time::Duration;

use acp_proto::Duplex;
use anyhow::Context as _;
use chat::{Console, Options};

use crate::args::{Backend, ChatArgs};
use crate::exit::{self, Exit};
use crate::policy::Oversight;
use crate::serve::{Outcome, Server};
use crate::signals::{Ending, Signals};
use crate::{agent, surroundings};

/// The client's name for itself.
const CLIENT: &str = "claude-acp chat";
/// An end that takes longer is explained.
const NOTICEABLE: Duration = Duration::from_millis(500);
const ENDING_CLAUDE: &str = "waiting for Claude to end… (Ctrl-C does not wait)";
/// What may be on its way between the chat and the agent in one process.
const PIPE_BYTES: usize = 64 * 1024;

/// Chats.
///
/// # Errors
/// With a sentence for the user.
pub(crate) async fn run(args: ChatArgs, oversight: Oversight) -> anyhow::Result<Exit> {
    let cwd = std::env::current_dir().context("cannot use the current directory; change to another one")?;
    if let Some(hint) = args.hint() {
        // Nobody has to read standard error.
        let _ = writeln!(std::io::stderr(), "{hint}");
    }
    let options = Options {
        cwd,
        conversation: args.conversation(),
        prompt: args.prompt,
        client: (CLIENT.to_owned(), surroundings::VERSION.to_owned()),
        agent_command: surroundings::program(),
    };
    // Ctrl-C is the chat's own.
    let mut signals = Signals::without_interrupt().context("cannot listen for signals")?;
    if let Some(address) = args.connect {
        let duplex = acp_proto::connect(&address).await?;
        return talk(options, duplex, &mut signals).await.map(Exit::InOrder);
    }
    let backend = args.rehearse.map_or(Backend::Process, Backend::Rehearsal);
    let server = Server::new(agent::manager(backend, oversight, true)?)?;
    let (here, there) = tokio::io::duplex(PIPE_BYTES);
    server.connect(in_memory(there));
    let code = talk(options, in_memory(here), &mut signals).await;
    // From here on Ctrl-C means: do not wait for Claude to end by itself.
    let mut signals = Signals::all().context("cannot listen for signals")?;
    let end = server.end(&mut signals, Some(Ending::Interrupt));
    tokio::pin!(end);
    let ended = tokio::select! {
        ended = &mut end => ended,
        () = tokio::time::sleep(NOTICEABLE) => {
            let _ = writeln!(std::io::stderr(), "{ENDING_CLAUDE}");
            end.await
        }
    };
    match ended {
        Outcome::Ended => code.map(Exit::InOrder),
        Outcome::Forced(signal) => Ok(Exit::Forced(signal.exit_code())),
    }
}

async fn talk(options: Options, duplex: Duplex, signals: &mut Signals) -> anyhow::Result<u8> {
    let console = Console::stdio().context("cannot use the terminal")?;
    tokio::select! {
        ended = chat::run(options, console, duplex) => Ok(match ended? {
            chat::Ending::Finished => exit::DONE,
            chat::Ending::Stopped => exit::FAILED,
            chat::Ending::Interrupted => exit::INTERRUPTED,
        }),
        signal = signals.next() => Ok(signal.exit_code()),
    }
}

fn in_memory(stream: tokio::io::DuplexStream) -> Duplex {
    let (reader, writer) = tokio::io::split(stream);
    Duplex {
        reader: Box::new(reader),
        writer: Box::new(writer),
        label: "this process".to_owned(),
        caller: acp_proto::Caller::Known,
    }
}
