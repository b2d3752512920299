//! Where bytes come from and go to: stdio, TCP, Unix sockets. Nothing above can tell them apart.
//!
//! Place in the flow: a [`Listener`] yields a [`Duplex`] per client, which [`crate::serve`] drives. It knows who may be at
//! the other end ([`Caller`]), and must not look into the bytes.

mod accounts;
mod address;
mod stdio;
mod stdio_socket;
mod tcp;
mod unix;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::{fmt, io};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

pub use accounts::Accounts;
pub use address::{AddressError, ListenAddress};

/// The two directions of one connection.
pub struct Duplex {
    /// What the other side sends.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// What we send.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Where the other side is, for people.
    pub label: String,
    /// Who the other side is.
    pub caller: Caller,
}

/// Who is at the other end of a connection, as far as its transport can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Who started this process, or whom we called ourselves.
    Known,
    /// Whoever found the address: a web page and a scanner can, too. What it sends first has to prove that it speaks ACP.
    Stranger,
    /// Somebody who may not come in. Nothing of theirs is read; they are told this reason.
    Refused(String),
}

/// A place clients connect to.
#[async_trait]
pub trait Listener: Send {
    /// The next client. Dropping the future loses no client.
    ///
    /// # Errors
    /// When the system has no room for another connection (wait before the next try), or the listener is broken.
    async fn accept(&mut self) -> io::Result<Duplex>;

    /// The address clients use, with the port that was really chosen.
    fn address(&self) -> String;
}

/// A listener could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Not an address of this machine only.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The TCP port could not be opened.
    #[error("cannot listen on `tcp://{address}`: {source}; choose another port, or 0 for a free one")]
    Tcp {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Another process serves this socket.
    #[error("`unix:{}` is served by another process; end it or choose another path", .0.display())]
    Live(PathBuf),
    /// Something that is not a socket is in the way.
    #[error("`{}` exists and is not a socket; remove it or choose another path", .0.display())]
    NotASocket(PathBuf),
    /// The socket file could not be made.
    #[error("cannot listen on `unix:{}`: {source}", path.display())]
    Unix {
        /// The path asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Stdio has no other end to connect to.
    #[error("`stdio` cannot be connected to; name `tcp://127.0.0.1:PORT` or `unix:PATH`")]
    Stdio,
    /// Nothing answers there.
    #[error("cannot connect to `{address}`: {source}; is the agent running with `--listen {address}`?")]
    Refused {
        /// The address asked for.
        address: ListenAddress,
        /// What the system said.
        source: io::Error,
    },
}

/// Opens a listener that serves these accounts of this machine. Stdio yields one duplex and then waits for ever.
///
/// # Errors
/// When the address is refused or taken; the message says what to do.
pub async fn bind(address: &ListenAddress, accounts: Accounts) -> Result<Box<dyn Listener>, BindError> {
    Ok(match address {
        ListenAddress::Stdio => Box::new(stdio::Stdio::new()),
        ListenAddress::Tcp(address) => Box::new(tcp::Tcp::bind(*address, accounts).await?),
        ListenAddress::Unix(path) => Box::new(unix::Unix::bind(path, accounts).await?),
    })
}

/// Connects to a listener, as a client.
///
/// # Errors
/// When nothing answers there.
pub async fn connect(address: &ListenAddress) -> Result<Duplex, ConnectError> {
    let connected = match address {
        ListenAddress::Stdio => return Err(ConnectError::Stdio),
        ListenAddress::Tcp(address) => tcp::connect(*address).await,
        ListenAddress::Unix(path) => unix::connect(path).await,
    };
    connected.map_err(|source| ConnectError::Refused {
        address: address.clone(),
        source,
    })
}

impl fmt::Debug for Duplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplex")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl Duplex {
    /// Two ends of a connection inside this process, with room for so many bytes each way.
    #[must_use]
    pub fn pair(buffer_bytes: usize) -> (Self, Self) {
        let (left, right) = tokio::io::duplex(buffer_bytes);
        (Self::in_process(left), Self::in_process(right))
    }

    fn in_process(stream: tokio::io::DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            label: "in process".to_owned(),
            caller: Caller::Known,
        }
    }
}

/// Whether a failed accept concerns one client only: the next one may be fine.
fn is_client_fault(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests;
