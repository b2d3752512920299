//! Standard input and output of this process.
//!
//! Place in the flow: the transport an editor uses when it starts the agent. It must not make the inherited
//! descriptions non-blocking: they are shared with whoever else holds them (a wrapping shell, the next command of a
//! script), whose own reads and writes would suddenly fail. So a pipe is opened a second time, which gives a
//! description of our own; a socket is told with each call not to block; a file or a terminal is left to tokio's
//! helper threads. Standard error is another descriptor and stays untouched.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

use super::stdio_socket::SocketStdio;
use super::{Caller, Duplex, Listener};

/// The one client at the other end of standard input and output.
pub(super) struct Stdio {
    turn: Turn,
}

enum Turn {
    First,
    Over,
}

/// What a standard descriptor is.
enum Kind {
    Pipe,
    Socket,
    Other,
}

impl Stdio {
    pub(super) fn new() -> Self {
        Self { turn: Turn::First }
    }
}

#[async_trait]
impl Listener for Stdio {
    async fn accept(&mut self) -> io::Result<Duplex> {
        match std::mem::replace(&mut self.turn, Turn::Over) {
            Turn::First => Ok(Duplex {
                reader: input(),
                writer: output(),
                label: "stdio".to_owned(),
                caller: Caller::Known,
            }),
            Turn::Over => std::future::pending().await,
        }
    }

    fn address(&self) -> String {
        "stdio".to_owned()
    }
}

fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    own_input().unwrap_or_else(|error| {
        tracing::debug!(%error, "standard input is read by a helper thread");
        Box::new(tokio::io::stdin())
    })
}

/// Fails for a pipe of another user, for one: it cannot be opened again.
fn own_input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let descriptor = io::stdin();
    Ok(match kind_of(descriptor.as_fd())? {
        Kind::Pipe => Box::new(pipe::OpenOptions::new().open_receiver("/proc/self/fd/0")?),
        Kind::Socket => Box::new(SocketStdio::of(descriptor.as_fd())?),
        Kind::Other => Box::new(tokio::io::stdin()),
    })
}

fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    own_output().unwrap_or_else(|error| {
        tracing::debug!(%error, "standard output is written by a helper thread");
        Box::new(tokio::io::stdout())
    })
}

fn own_output() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    let descriptor = io::stdout();
    Ok(match kind_of(descriptor.as_fd())? {
        Kind::Pipe => Box::new(pipe::OpenOptions::new().open_sender("/proc/self/fd/1")?),
        Kind::Socket => Box::new(SocketStdio::of(descriptor.as_fd())?),
        Kind::Other => Box::new(tokio::io::stdout()),
    })
}

/// A pipe counts as one only where it can be opened again: elsewhere `/dev/fd` gives the shared description.
fn kind_of(descriptor: BorrowedFd<'_>) -> io::Result<Kind> {
    let kind = File::from(descriptor.try_clone_to_owned()?)
        .metadata()?
        .file_type();
    Ok(if kind.is_fifo() && cfg!(target_os = "linux") {
        Kind::Pipe
    } else if kind.is_socket() {
        Kind::Socket
    } else {
        Kind::Other
    })
}
