//! A run of an engine: bytes in and out, time, signals. The same for both forms of the rehearsal.
//!
//! Place in the flow: `backend` runs this as a task over in-memory pipes, `argv` over stdin and stdout. It moves bytes
//! and decides nothing. While the host does not read, the engine is not played on, but what the host writes is heard.

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::engine::{Engine, Input, Pace, SessionState};

/// The exit code of a process that obeyed SIGTERM.
pub(crate) const TERMINATED: u8 = 143;

/// The exit code after the host stopped listening.
const HOST_GONE: u8 = 1;

/// A signal, or what stands for one in process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

/// What a run has beside the two streams.
pub(crate) trait Process: Send {
    /// Takes what is written to stderr.
    fn write_stderr(&mut self, text: &[u8]);
    /// Takes what the session remembers from now on.
    fn remember(&mut self, state: &SessionState);
}

/// One run of an engine.
pub(crate) struct Run<R, W, S> {
    engine: Engine,
    reader: BufReader<R>,
    writer: W,
    process: S,
    signals: mpsc::Receiver<Signal>,
    obeys_signals: bool,
    started: Instant,
    remembered: SessionState,
    /// Output that the host has not taken, from `written` on.
    waiting: Vec<u8>,
    written: usize,
    line: Vec<u8>,
    input_open: bool,
}

enum Event {
    Line,
    EndOfInput,
    Written(usize),
    Woken,
    Signal(Signal),
    HostGone,
}

impl<R, W, S> Run<R, W, S>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
    S: Process,
{
    pub(crate) fn new(engine: Engine, streams: (R, W), process: S, signals: mpsc::Receiver<Signal>) -> Self {
        let (reader, writer) = streams;
        Self {
            obeys_signals: !engine.ignores_signals(),
            remembered: engine.state().clone(),
            engine,
            reader: BufReader::new(reader),
            writer,
            process,
            signals,
            started: Instant::now(),
            waiting: Vec::new(),
            written: 0,
            line: Vec::new(),
            input_open: true,
        }
    }

    /// Plays until the process would end; gives its exit code.
    pub(crate) async fn run(mut self) -> u8 {
        let mut pace = Pace::More;
        loop {
            if self.waiting.is_empty() {
                pace = self.engine.advance(self.started.elapsed());
                self.collect();
            }
            match (pace, self.waiting.is_empty()) {
                (Pace::Exit(code), true) => return self.end(code).await,
                (Pace::More, true) => continue,
                _ => {}
            }
            match self.event(pace).await {
                Event::Line => {
                    let line = std::mem::take(&mut self.line);
                    let line = line.strip_suffix(b"\n").unwrap_or(&line);
                    self.engine.input(self.started.elapsed(), Input::Line(line));
                }
                Event::EndOfInput => {
                    self.input_open = false;
                    self.engine.input(self.started.elapsed(), Input::EndOfInput);
                }
                Event::Written(count) => self.taken(count),
                Event::Woken => {}
                Event::Signal(Signal::Terminate) => return TERMINATED,
                Event::Signal(Signal::Interrupt) => {
                    self.engine.input(self.started.elapsed(), Input::Interrupt)
                }
                Event::HostGone => return HOST_GONE,
            }
        }
    }

    /// The writer may still be busy with what it has taken.
    async fn end(mut self, code: u8) -> u8 {
        loop {
            tokio::select! {
                biased;
                Some(signal) = self.signals.recv(), if self.obeys_signals => match signal {
                    Signal::Terminate => return TERMINATED,
                    Signal::Interrupt => {}
                },
                flushed = self.writer.flush() => return flushed.map_or(HOST_GONE, |()| code),
            }
        }
    }

    /// Waits for whatever comes first. Cancel-safe in every branch: a line that is half read stays in `line`.
    async fn event(&mut self, pace: Pace) -> Event {
        let ends = matches!(pace, Pace::Exit(_));
        let waits = self.waiting.is_empty();
        let deadline = match pace {
            Pace::Until(then) if waits => Some(self.started + then),
            Pace::Until(_) | Pace::More | Pace::Input | Pace::Exit(_) => None,
        };
        let unwritten = self.waiting.get(self.written..).unwrap_or_default();
        tokio::select! {
            biased;
            Some(signal) = self.signals.recv(), if self.obeys_signals => Event::Signal(signal),
            read = self.reader.read_until(b'\n', &mut self.line), if self.input_open && !ends => match read {
                // The last line may lack its end; then the next read says there is nothing more.
                Ok(0) | Err(_) if self.line.is_empty() => Event::EndOfInput,
                Ok(_) | Err(_) => Event::Line,
            },
            written = self.writer.write(unwritten), if !waits => match written {
                Ok(0) | Err(_) => Event::HostGone,
                Ok(count) => Event::Written(count),
            },
            () = sleep_until(deadline.unwrap_or(self.started)), if deadline.is_some() => Event::Woken,
            else => std::future::pending().await,
        }
    }

    fn collect(&mut self) {
        std::mem::swap(self.engine.output(), &mut self.waiting);
        self.written = 0;
        let stderr = self.engine.stderr();
        if !stderr.is_empty() {
            self.process.write_stderr(stderr);
            stderr.clear();
        }
        if *self.engine.state() != self.remembered {
            self.remembered.clone_from(self.engine.state());
            self.process.remember(&self.remembered);
        }
    }

    fn taken(&mut self, count: usize) {
        self.written += count;
        if self.written >= self.waiting.len() {
            self.waiting.clear();
            self.written = 0;
        }
    }
}
