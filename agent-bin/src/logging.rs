//! Logs go to standard error, or to a file if one is named; never to standard output, which belongs to the protocol.
//! They are about us: of libraries only warnings are taken. A thread of its own writes them, so that a reader who does
//! not read standard error cannot hold the agent: what does not fit into its queue is counted and left out.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

/// Where logs of ours come from: our crates, and what Claude writes to its error stream.
const OURS: [&str; 8] = [
    "acp_proto",
    "permission_core",
    "claude_sdk_bridge",
    "rehearsal",
    "session_manager",
    "chat",
    "claude_acp",
    "claude",
];
const QUEUED_LINES: usize = 1024;
const FLUSH_PATIENCE: Duration = Duration::from_millis(500);

/// The running log. Keep it until the end: [`Log::finish`] writes what is still queued.
pub(crate) struct Log {
    ended: Receiver<()>,
    queue: Queue,
}

/// Starts logging, to standard error where no file is named.
///
/// # Errors
/// When the log file cannot be opened.
pub(crate) fn start(level: LevelFilter, file: Option<&Path>) -> anyhow::Result<Log> {
    let sink: Box<dyn Write + Send> = match file {
        Some(path) => Box::new(open(path)?),
        None => Box::new(io::stderr()),
    };
    let (queue, ended) = Queue::start(sink)?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(queue.clone())
        .with_filter(taken(level));
    let subscriber = tracing_subscriber::registry().with(lines);
    // Fails only when a subscriber is there already, and this is the only place that sets one.
    tracing::subscriber::set_global_default(subscriber).context("logging is set up already")?;
    Ok(Log { ended, queue })
}

fn taken(level: LevelFilter) -> Targets {
    let others = Targets::new().with_default(level.min(LevelFilter::WARN));
    others.with_targets(OURS.map(|target| (target, level)))
}

impl Log {
    /// Waits, for a moment at most, until what was logged is written.
    pub(crate) fn finish(self) {
        let lines = self.queue.lines;
        // The queue may be full because nobody reads; such a reader must not keep the process.
        thread::spawn(move || lines.send(Entry::End));
        let _ = self.ended.recv_timeout(FLUSH_PATIENCE);
    }
}

/// The file is the user's alone: a log may hold what was said.
fn open(path: &Path) -> anyhow::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .with_context(|| {
            format!(
                "cannot open the log file `{}`; name another one with `--log-file`",
                path.display()
            )
        })
}

enum Entry {
    Line(Vec<u8>),
    End,
}

/// The way to the writing thread.
#[derive(Clone)]
struct Queue {
    lines: SyncSender<Entry>,
    left_out: Arc<AtomicU64>,
}

impl Queue {
    fn start(mut sink: impl Write + Send + 'static) -> io::Result<(Self, Receiver<()>)> {
        let (lines, receiver) = mpsc::sync_channel(QUEUED_LINES);
        let (end, ended) = mpsc::sync_channel(1);
        let left_out = Arc::new(AtomicU64::new(0));
        let queue = Self {
            lines,
            left_out: Arc::clone(&left_out),
        };
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            write_lines(&receiver, &left_out, &mut sink);
            let _ = end.send(());
        })?;
        Ok((queue, ended))
    }
}

fn write_lines(lines: &Receiver<Entry>, left_out: &AtomicU64, sink: &mut impl Write) {
    while let Ok(Entry::Line(line)) = lines.recv() {
        // There is nobody to tell that the log cannot be written.
        let _ = sink.write_all(&line);
        tell_left_out(left_out, sink);
    }
    tell_left_out(left_out, sink);
    let _ = sink.flush();
}

fn tell_left_out(left_out: &AtomicU64, sink: &mut impl Write) {
    let count = left_out.swap(0, Ordering::Relaxed);
    if count > 0 {
        let _ = writeln!(
            sink,
            "{count} log lines were left out because nobody read them fast enough"
        );
    }
}

/// One event's line on its way; sent when it is complete.
struct LineWriter {
    queue: Queue,
    line: Vec<u8>,
}

impl Write for LineWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() && self.queue.lines.try_send(Entry::Line(line)).is_err() {
            self.queue.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl MakeWriter<'_> for Queue {
    type Writer = LineWriter;

    fn make_writer(&self) -> LineWriter {
        LineWriter {
            queue: self.clone(),
            line: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sink that lets one write pass for every token it gets.
    struct Slow {
        tokens: Receiver<()>,
        written: SyncSender<Vec<u8>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.tokens.recv();
            let _ = self.written.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn libraries_are_heard_from_warnings_up_and_no_crate_of_ours_is_one() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        let (_, members) = manifest.split_once("members = [").unwrap();
        let members = members.split(']').next().unwrap().split('"').skip(1).step_by(2);
        let targets =
            members
                .filter(|member| !["xtask", "tests"].contains(member))
                .map(|member| match member {
                    "agent-bin" => module_path!().split("::").next().unwrap().to_owned(),
                    library => library.replace('-', "_"),
                });
        let debug = taken("debug".parse().unwrap());
        for target in targets.chain(["claude::stderr".to_owned()]) {
            assert!(debug.would_enable(&target, &tracing::Level::DEBUG), "{target}");
        }
        assert!(!debug.would_enable("brush_parser::tokenizer", &tracing::Level::INFO));
        assert!(debug.would_enable("brush_parser", &tracing::Level::WARN));
        assert!(!taken("off".parse().unwrap()).would_enable("brush_parser", &tracing::Level::ERROR));
    }

    #[test]
    fn a_reader_who_does_not_read_holds_nobody_and_is_told_what_it_missed() {
        let (token, tokens) = mpsc::sync_channel(4 * QUEUED_LINES);
        let (written, lines) = mpsc::sync_channel(4 * QUEUED_LINES);
        let (queue, ended) = Queue::start(Slow { tokens, written }).unwrap();
        let logged = 2 * QUEUED_LINES;
        for _ in 0..logged {
            queue.make_writer().write_all(b"line\n").unwrap();
        }
        drop(token); // from here on every write passes
        queue.lines.send(Entry::End).unwrap();
        ended.recv_timeout(Duration::from_secs(10)).unwrap();
        let texts: Vec<String> = lines
            .iter()
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .collect();
        let kept = texts.iter().filter(|text| *text == "line\n").count();
        let left_out = logged - kept;
        assert!(left_out > 0, "the queue is shorter than what was logged");
        assert!(
            texts
                .concat()
                .contains(&format!("{left_out} log lines were left out")),
            "{texts:?}"
        );
    }

    #[test]
    fn a_log_file_that_cannot_be_opened_is_named() {
        let error = open(Path::new("/nowhere/at/all.log")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open the log file `/nowhere/at/all.log`; name another one with `--log-file`"
        );
    }
}
