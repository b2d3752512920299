//! Standard input and output of this process.
//!
//! Place in the flow: the transport an editor uses when it starts the agent. It must not make the inherited
//! descriptors non-blocking: they are shared with whoever else holds them (a wrapping shell, the next command in a
//! script), which would suddenly see writes fail. So a pipe is opened a second time, which makes a description of our
//! own. What cannot be opened again (a file, a terminal, a socket) is read and written by tokio's helper threads.
//! Standard error is another descriptor and stays untouched.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

use super::{Duplex, Listener};

/// The one client at the other end of standard input and output.
pub(super) struct Stdio {
    taken: bool,
}

impl Stdio {
    pub(super) fn new() -> Self {
        Self { taken: false }
    }
}

#[async_trait]
impl Listener for Stdio {
    async fn accept(&mut self) -> io::Result<Duplex> {
        if std::mem::replace(&mut self.taken, true) {
            return std::future::pending().await;
        }
        Ok(Duplex {
            reader: input(),
            writer: output(),
            label: "stdio".to_owned(),
        })
    }

    fn address(&self) -> String {
        "stdio".to_owned()
    }
}

fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    let reopened = is_pipe(io::stdin().as_fd()).and_then(|pipe| {
        if pipe {
            open_own(0, |path| pipe::OpenOptions::new().open_receiver(path))
        } else {
            Ok(None)
        }
    });
    match reopened {
        Ok(Some(receiver)) => Box::new(receiver),
        Ok(None) => Box::new(tokio::io::stdin()),
        Err(error) => {
            tracing::debug!(%error, "standard input is read by a helper thread");
            Box::new(tokio::io::stdin())
        }
    }
}

fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    let reopened = is_pipe(io::stdout().as_fd()).and_then(|pipe| {
        if pipe {
            open_own(1, |path| pipe::OpenOptions::new().open_sender(path))
        } else {
            Ok(None)
        }
    });
    match reopened {
        Ok(Some(sender)) => Box::new(sender),
        Ok(None) => Box::new(tokio::io::stdout()),
        Err(error) => {
            tracing::debug!(%error, "standard output is written by a helper thread");
            Box::new(tokio::io::stdout())
        }
    }
}

fn is_pipe(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    let file = std::fs::File::from(descriptor.try_clone_to_owned()?);
    Ok(file.metadata()?.file_type().is_fifo())
}

/// Linux gives a pipe that is opened through `/proc` a description of its own; elsewhere it would be the shared one.
fn open_own<T>(descriptor: u8, open: impl FnOnce(String) -> io::Result<T>) -> io::Result<Option<T>> {
    if cfg!(target_os = "linux") {
        return open(format!("/proc/self/fd/{descriptor}")).map(Some);
    }
    Ok(None)
}
