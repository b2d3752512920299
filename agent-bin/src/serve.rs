//! Serving: listeners in, connections out, and an end in which nothing is lost. What is said on a connection is the
//! session manager's business.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use acp_proto::{Accounts, Closed, Duplex, ListenAddress, Listener, PeerOptions, Router};
use anyhow::Context as _;
use session_manager::SessionManager;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::exit::{self, Exit};
use crate::signals::{Ending, Signals};
use crate::traffic;

/// How long the last output of a connection may take.
const DRAIN: Duration = Duration::from_secs(3);
/// How long to leave a listener alone that cannot take a client, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Somebody typed the command who may have wanted something else.
const TERMINAL_HINT: &str = "waiting for an ACP client on standard input; to chat in this terminal, run `claude-acp chat` (Ctrl-C ends this)";

/// Somebody else's programs may come in.
const ANY_ACCOUNT: &str =
    "every account of this machine can reach it and run commands as yours (--allow-any-local-user)";

/// Serves clients until a signal comes, or until the only client there can be is gone.
///
/// # Errors
/// When an address cannot be served; then nothing is.
pub(crate) async fn serve(
    listen: &[ListenAddress],
    accounts: Accounts,
    manager: Arc<SessionManager>,
) -> anyhow::Result<Exit> {
    let mut signals = Signals::all().context("cannot listen for signals")?;
    let server = Server::new(manager)?;
    let mut listeners = Vec::new();
    for address in listen {
        listeners.push((
            acp_proto::bind(address, accounts).await?,
            *address == ListenAddress::Stdio,
        ));
    }
    let only_stdio = listeners.iter().all(|(_, stdio)| *stdio);
    let mut accepting = JoinSet::new();
    for (listener, stdio) in listeners {
        if !stdio {
            tell(format_args!("listening on {}", listener.address()));
            if accounts == Accounts::Any {
                tell(format_args!("{ANY_ACCOUNT}"));
            }
        } else if std::io::stdin().is_terminal() {
            tell(format_args!("{TERMINAL_HINT}"));
        }
        accepting.spawn(server.clone().accept_all(listener, stdio));
    }
    let asked = tokio::select! {
        signal = signals.next() => Some(signal),
        () = server.stdio_gone.cancelled(), if only_stdio => None,
    };
    tracing::info!(signal = ?asked, "ending");
    accepting.shutdown().await;
    Ok(match server.end(&mut signals, asked).await {
        Outcome::Ended => Exit::InOrder(exit::DONE),
        Outcome::Forced(signal) => Exit::Forced(signal.exit_code()),
    })
}

/// How serving came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything is in order.
    Ended,
    /// A signal did not let it come to that.
    Forced(Ending),
}

/// Serves connections of whatever kind. Clones share everything.
#[derive(Clone)]
pub(crate) struct Server {
    manager: Arc<SessionManager>,
    router: Router,
    connections: TaskTracker,
    /// Asks every connection to end in order.
    hang_up: CancellationToken,
    /// The client on standard input and output is gone, and its sessions are.
    stdio_gone: CancellationToken,
}

impl Server {
    pub(crate) fn new(manager: Arc<SessionManager>) -> anyhow::Result<Self> {
        let router = manager.router()?;
        let (hang_up, stdio_gone) = (CancellationToken::new(), CancellationToken::new());
        Ok(Self {
            manager,
            router,
            connections: TaskTracker::new(),
            hang_up,
            stdio_gone,
        })
    }

    /// Serves one client in a task of its own.
    pub(crate) fn connect(&self, duplex: Duplex) -> tokio::task::JoinHandle<()> {
        self.connections.spawn(self.clone().converse(duplex))
    }

    /// Ends everything in order: open prompts are answered, Claude's processes end, what is queued is written. A signal
    /// beyond the one that asked for it cuts this short.
    pub(crate) async fn end(&self, signals: &mut Signals, mut asked: Option<Ending>) -> Outcome {
        let in_order = async {
            self.manager.shutdown().await;
            self.hang_up.cancel();
            self.connections.close();
            self.connections.wait().await;
        };
        tokio::pin!(in_order);
        loop {
            tokio::select! {
                () = &mut in_order => return Outcome::Ended,
                signal = signals.next() => match asked.replace(signal) {
                    None => tracing::info!(?signal, "ending already"),
                    Some(_) => return Outcome::Forced(signal),
                },
            }
        }
    }

    async fn accept_all(self, mut listener: Box<dyn Listener>, stdio: bool) {
        let mut pause = PAUSE;
        loop {
            match listener.accept().await {
                Ok(duplex) => {
                    pause = PAUSE;
                    let served = self.connect(duplex);
                    if stdio {
                        // A connection that panicked is gone as well.
                        let _ = served.await;
                        self.stdio_gone.cancel();
                    }
                }
                Err(error) => {
                    tracing::warn!(address = listener.address(), %error, ?pause, "cannot accept a client");
                    sleep(pause).await;
                    pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    async fn converse(self, duplex: Duplex) {
        let options = PeerOptions {
            first_method: Some("initialize"),
            drain: DRAIN,
            ..PeerOptions::default()
        };
        let (connection, driver) = acp_proto::serve(traffic::of_client(duplex), self.router, options);
        tracing::debug!(client = connection.label(), "connected");
        let ending = async {
            tokio::select! {
                () = self.hang_up.cancelled() => connection.close(),
                () = connection.ending().cancelled_owned() => {}
            }
            // While the connection drains: the answers of its prompts come from here.
            self.manager.connection_ended(connection.id()).await;
        };
        let (closed, ()) = tokio::join!(driver, ending);
        match closed {
            Closed::EndOfInput | Closed::ByUs | Closed::Refused => {
                tracing::debug!(client = connection.label(), "disconnected")
            }
            Closed::ReadFailed(error) | Closed::WriteFailed(error) => {
                tracing::info!(client = connection.label(), %error, "the connection was lost");
            }
        }
    }
}

/// What whoever started this needs to know, whatever the log level.
fn tell(text: std::fmt::Arguments<'_>) {
    // Nobody has to read standard error.
    let _ = writeln!(std::io::stderr(), "{text}");
}
