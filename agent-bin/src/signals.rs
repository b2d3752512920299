//! The signals that end the program: the first one asks it to end in order, the second one at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// SIGHUP: the terminal or the connection it was started on is gone.
    Hangup,
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM: a supervisor or an editor ends it.
    Terminate,
}

impl Ending {
    /// What a shell reports for a program that such a signal killed.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens for those signals, from now on instead of being killed by them.
pub(crate) struct Signals {
    hangup: Signal,
    interrupt: Option<Signal>,
    terminate: Signal,
}

impl Signals {
    /// All of them. Must be called in a Tokio runtime.
    pub(crate) fn all() -> std::io::Result<Self> {
        let interrupt = Some(signal(SignalKind::interrupt())?);
        Ok(Self {
            interrupt,
            ..Self::without_interrupt()?
        })
    }

    /// All but Ctrl-C, which means something else to whoever listens for it.
    pub(crate) fn without_interrupt() -> std::io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: None,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next one. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Ending {
        let interrupt = async {
            match &mut self.interrupt {
                Some(interrupt) => interrupt.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.hangup.recv() => Ending::Hangup,
            _ = interrupt => Ending::Interrupt,
            _ = self.terminate.recv() => Ending::Terminate,
        }
    }
}
