//! TCP on the loopback interface.
//!
//! Place in the flow: one of the three transports. It must not listen where other machines can reach it: there is no
//! authentication.

use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;
use tokio::net::{TcpListener, TcpStream};

use super::address::check_loopback;
use super::{BindError, Duplex, Listener, is_client_fault};

/// Clients over TCP.
pub(super) struct Tcp {
    listener: TcpListener,
    address: SocketAddr,
}

impl Tcp {
    pub(super) async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        check_loopback(address)?;
        let failed = |source| BindError::Tcp { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }
}

#[async_trait]
impl Listener for Tcp {
    async fn accept(&mut self) -> io::Result<Duplex> {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => return Ok(duplex(stream, peer)),
                Err(error) if is_client_fault(&error) => {
                    tracing::debug!(%error, "a client left while connecting")
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn address(&self) -> String {
        format!("tcp://{}", self.address)
    }
}

/// Connects as a client.
pub(super) async fn connect(address: SocketAddr) -> io::Result<Duplex> {
    Ok(duplex(TcpStream::connect(address).await?, address))
}

fn duplex(stream: TcpStream, peer: SocketAddr) -> Duplex {
    // The writer coalesces by itself: what it writes should leave at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let (reader, writer) = stream.into_split();
    Duplex {
        reader: Box::new(reader),
        writer: Box::new(writer),
        label: format!("tcp://{peer}"),
    }
}
