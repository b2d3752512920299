//! What every transport can do, tried the same way on each.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Accounts, BindError, ConnectError, Duplex, ListenAddress, Listener, connect};

/// Waits, but not for ever.
pub(super) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("this should have happened by now")
}

/// A listener for programs of our own.
pub(super) async fn bind(address: &ListenAddress) -> Result<Box<dyn Listener>, BindError> {
    super::bind(address, Accounts::Own).await
}

/// Several clients at once, each heard and answered, and each with an end of its own.
pub(super) async fn converse(listener: &mut dyn Listener, address: &ListenAddress) {
    let mut pairs = Vec::new();
    for number in 0_u8..3 {
        let client = within(connect(address)).await.expect("somebody listens");
        let served = within(listener.accept()).await.expect("a client");
        pairs.push((number, client, served));
    }
    for (number, client, served) in &mut pairs {
        within(client.writer.write_all(&[*number])).await.unwrap();
        assert_eq!(within(served.reader.read_u8()).await.unwrap(), *number);
        within(served.writer.write_all(&[*number + 100])).await.unwrap();
        assert_eq!(within(client.reader.read_u8()).await.unwrap(), *number + 100);
    }
    for (_, client, mut served) in pairs {
        drop(client);
        assert_eq!(
            within(served.reader.read(&mut [0])).await.unwrap(),
            0,
            "the end is seen"
        );
    }
}

#[tokio::test]
async fn stdio_cannot_be_connected_to() {
    assert!(matches!(
        connect(&ListenAddress::Stdio).await,
        Err(ConnectError::Stdio)
    ));
}

#[tokio::test]
async fn a_pair_talks_to_itself() {
    let (mut left, mut right) = Duplex::pair(8);
    within(left.writer.write_all(b"x")).await.unwrap();
    assert_eq!(within(right.reader.read_u8()).await.unwrap(), b'x');
    within(right.writer.shutdown()).await.unwrap();
    assert_eq!(within(left.reader.read(&mut [0])).await.unwrap(), 0);
}

#[tokio::test]
async fn stdio_has_its_own_name() {
    let listener = bind(&ListenAddress::Stdio).await.unwrap();
    assert_eq!(listener.address(), "stdio");
}
