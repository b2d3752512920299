//! A connection's life: reading, and the end in order.
//!
//! Place in the flow: the future that [`super::serve`] returns. The reader runs in it, the writer in a task of its own,
//! so that neither waits for the other. It must not look into messages.

use std::io;
use std::ops::ControlFlow;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

use super::connection::Connection;
use super::dispatch::Dispatcher;
use super::framing::Framer;
use super::{Closed, PeerOptions, writer};
use crate::errors;
use crate::rpc::Router;
use crate::transport::{Caller, Duplex};

/// Ends everything that belongs to the connection, also when its future is dropped in the middle.
#[derive(Debug)]
pub(super) struct EndOnDrop(Connection);

pub(super) async fn drive(ended: EndOnDrop, duplex: Duplex, router: Router, options: PeerOptions) -> Closed {
    let connection = ended.0.clone();
    let Duplex {
        reader,
        writer,
        label: _,
        caller,
    } = duplex;
    let writing = connection.clone();
    let mut writing =
        AbortOnDropHandle::new(tokio::spawn(
            async move { writer::write_all(&writing, writer).await },
        ));
    let ending = connection.ending();

    let closed = tokio::select! {
        read = read_all(&connection, reader, router, options, caller) => match read {
            Ok(ControlFlow::Continue(())) => Closed::EndOfInput,
            Ok(ControlFlow::Break(())) => Closed::Refused,
            Err(error) => Closed::ReadFailed(error),
        },
        written = &mut writing => return write_failed(written, ended),
        () = ending.cancelled() => Closed::ByUs,
    };
    connection.end_input();
    let drained = tokio::time::timeout(connection.drain(), async {
        tokio::select! {
            () = connection.in_flight().idle() => {}
            written = &mut writing => return written,
        }
        connection.outbox().finish();
        (&mut writing).await
    });
    match drained.await {
        Ok(Ok(Ok(()))) => closed,
        Ok(written) => write_failed(written, ended),
        Err(_) => {
            tracing::warn!(
                connection = connection.label(),
                "the connection's last output was not taken in time"
            );
            closed
        }
    }
}

impl EndOnDrop {
    pub(super) fn new(connection: Connection) -> Self {
        Self(connection)
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end_output();
    }
}

async fn read_all(
    connection: &Connection,
    mut reader: impl AsyncRead + Unpin,
    router: Router,
    options: PeerOptions,
    caller: Caller,
) -> io::Result<ControlFlow<()>> {
    let mut framer = Framer::new(options.max_line_bytes);
    let mut dispatcher = Dispatcher::new(connection.clone(), router, options, &caller);
    if let Caller::Refused(why) = caller {
        dispatcher.turn_away(errors::turned_away(why)).await;
        return Ok(ControlFlow::Break(()));
    }
    loop {
        while let Some(frame) = framer.next() {
            if dispatcher.take(frame).await.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // One read can hold thousands of lines: others on this thread want to run too.
            tokio::task::consume_budget().await;
        }
        // What opens another protocol need not hold a line feed: it would be waited for until the other side gives up.
        if let Some(byte) = framer.first_byte()
            && dispatcher.foresee(byte).await.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        if reader.read_buf(framer.spare()).await? == 0 {
            break;
        }
    }
    Ok(match framer.finish() {
        Some(frame) => dispatcher.take(frame).await,
        None => ControlFlow::Continue(()),
    })
}

/// The writer ended before it was asked to.
fn write_failed(written: Result<io::Result<()>, JoinError>, ended: EndOnDrop) -> Closed {
    drop(ended);
    match written {
        Ok(Ok(())) => Closed::ByUs,
        Ok(Err(error)) => Closed::WriteFailed(error),
        Err(error) => Closed::WriteFailed(io::Error::other(error)),
    }
}
