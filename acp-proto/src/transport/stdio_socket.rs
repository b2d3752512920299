//! A socket as standard input or output, which is what Node gives its children.
//!
//! Place in the flow: used by the stdio transport. The socket stays blocking for everyone who shares it: each call says
//! for itself that it must not block.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// One direction of a socket that others may share.
pub(super) struct SocketStdio {
    socket: AsyncFd<OwnedFd>,
}

impl SocketStdio {
    /// A second descriptor of the same socket. Needs a tokio runtime.
    #[expect(
        deprecated,
        reason = "the replacement is unsafe because an owner might change its descriptor; an `OwnedFd` never does"
    )]
    pub(super) fn of(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let socket = AsyncFd::new(descriptor.try_clone_to_owned()?)?;
        Ok(Self { socket })
    }
}

impl AsyncRead for SocketStdio {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.socket.poll_read_ready(cx))?;
            let received = guard.try_io(|socket| {
                Ok(rustix::net::recv(
                    socket,
                    buffer.initialize_unfilled(),
                    RecvFlags::DONTWAIT,
                )?)
            });
            match received {
                Ok(Ok((length, _))) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_not_ready) => {}
            }
        }
    }
}

impl AsyncWrite for SocketStdio {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.socket.poll_write_ready(cx))?;
            match guard.try_io(|socket| Ok(rustix::net::send(socket, bytes, SendFlags::DONTWAIT)?)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(sent) => return Poll::Ready(sent),
                Err(_not_ready) => {}
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The socket belongs to others too: it ends for the other side when the process does.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
