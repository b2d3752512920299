//! A byte stream to the agent, whatever it runs over, and a thread that cuts what arrives into lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, channel};

/// Both directions of a connection to the agent.
pub enum Wire {
    /// The pipes of the agent's process.
    Stdio(ChildStdin, ChildStdout),
    /// A TCP connection.
    Tcp(TcpStream),
    /// A connection through a Unix socket.
    Unix(UnixStream),
}

/// The client's end for writing; dropping it tells the agent that nothing more comes.
pub(crate) enum Outgoing {
    Stdio(ChildStdin),
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Wire {
    /// Starts a thread that reads lines; the channel ends with the connection.
    pub(crate) fn split(self) -> (Outgoing, Receiver<String>) {
        let (outgoing, reader): (Outgoing, Box<dyn Read + Send>) = match self {
            Wire::Stdio(stdin, stdout) => (Outgoing::Stdio(stdin), Box::new(stdout)),
            Wire::Tcp(stream) => {
                let reader = stream.try_clone().expect("a second handle");
                (Outgoing::Tcp(stream), Box::new(reader))
            }
            Wire::Unix(stream) => {
                let reader = stream.try_clone().expect("a second handle");
                (Outgoing::Unix(stream), Box::new(reader))
            }
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        (outgoing, lines)
    }
}

impl Outgoing {
    pub(crate) fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let writer: &mut dyn Write = match self {
            Outgoing::Stdio(stdin) => stdin,
            Outgoing::Tcp(stream) => stream,
            Outgoing::Unix(stream) => stream,
        };
        writer.write_all(bytes)?;
        writer.flush()
    }

    /// Ends our direction; the agent may still answer.
    pub(crate) fn end(self) {
        match self {
            Outgoing::Stdio(stdin) => drop(stdin),
            Outgoing::Tcp(stream) => drop(stream.shutdown(Shutdown::Write)),
            Outgoing::Unix(stream) => drop(stream.shutdown(Shutdown::Write)),
        }
    }

    /// Ends both directions at once, as a client that crashes does.
    pub(crate) fn vanish(self) {
        match self {
            Outgoing::Stdio(stdin) => drop(stdin),
            Outgoing::Tcp(stream) => drop(stream.shutdown(Shutdown::Both)),
            Outgoing::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }
}
