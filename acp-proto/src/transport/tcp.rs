//! TCP on the loopback interface.
//!
//! Place in the flow: one of the three transports. It must not listen where other machines can reach it: there is no
//! authentication. Every account of this machine can reach it, so who calls is asked of the system.

use std::io;
use std::net::SocketAddr;

use async_trait::async_trait;
use tokio::net::{TcpListener, TcpStream};

use super::accounts::{self, Accounts};
use super::address::check_loopback;
use super::{BindError, Caller, Duplex, Listener, is_client_fault};

/// Clients over TCP.
pub(super) struct Tcp {
    listener: TcpListener,
    address: SocketAddr,
    accounts: Accounts,
}

impl Tcp {
    pub(super) async fn bind(address: SocketAddr, accounts: Accounts) -> Result<Self, BindError> {
        check_loopback(address)?;
        let failed = |source| BindError::Tcp { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            accounts,
        })
    }
}

#[async_trait]
impl Listener for Tcp {
    async fn accept(&mut self) -> io::Result<Duplex> {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    let caller = self
                        .accounts
                        .admit(|| accounts::of_tcp_client(peer, self.address));
                    return Ok(duplex(stream, peer, caller));
                }
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
    Ok(duplex(TcpStream::connect(address).await?, address, Caller::Known))
}

fn duplex(stream: TcpStream, peer: SocketAddr, caller: Caller) -> Duplex {
    without_delay(&stream);
    let (reader, writer) = stream.into_split();
    Duplex {
        reader: Box::new(reader),
        writer: Box::new(writer),
        label: format!("tcp://{peer}"),
        caller,
    }
}

/// The peer's writer coalesces by itself: what it writes should leave at once.
fn without_delay(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tests::{bind, converse};
    use crate::transport::{ConnectError, ListenAddress};

    fn any_port(text: &str) -> ListenAddress {
        text.parse().expect(text)
    }

    #[tokio::test]
    async fn port_0_is_reported_as_the_chosen_one_and_serves_many_clients() {
        let mut hosts = vec!["127.0.0.1"];
        if std::net::TcpListener::bind("[::1]:0").is_ok() {
            hosts.push("[::1]");
        }
        for host in hosts {
            let mut listener = bind(&any_port(&format!("tcp://{host}:0"))).await.unwrap();
            let address = listener.address();
            assert!(
                address.starts_with(&format!("tcp://{host}:")) && !address.ends_with(":0"),
                "{address}"
            );
            converse(&mut *listener, &any_port(&address)).await;
        }
    }

    #[tokio::test]
    async fn small_writes_leave_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        assert!(!stream.nodelay().unwrap(), "the system would hold them back");
        without_delay(&stream);
        assert!(stream.nodelay().unwrap());
    }

    #[tokio::test]
    async fn a_taken_port_is_refused_with_what_to_do() {
        let listener = bind(&any_port("tcp://127.0.0.1:0")).await.unwrap();
        let error = bind(&any_port(&listener.address()))
            .await
            .err()
            .expect("taken")
            .to_string();
        assert!(
            error.contains(&listener.address()) && error.contains("choose another port"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn an_address_others_can_reach_is_refused_also_when_it_was_not_parsed() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let error = bind(&ListenAddress::Tcp(address.parse().unwrap()))
                .await
                .err()
                .expect(address);
            assert!(
                error.to_string().contains("can be reached from other machines"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn connecting_to_nobody_says_so() {
        let listener = bind(&any_port("tcp://127.0.0.1:0")).await.unwrap();
        let address = any_port(&listener.address());
        drop(listener);
        match crate::transport::connect(&address).await {
            Err(error @ ConnectError::Refused { .. }) => {
                assert!(
                    error.to_string().contains(&format!("--listen {address}")),
                    "{error}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
