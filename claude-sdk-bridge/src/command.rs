//! Runs a command to its end: input in, output out, within limits of time and size.
//!
//! Place in the flow: `hooks` runs the hook commands of settings with it, the rehearsal its shell. The command gets a process
//! group of its own; whatever it started is gone when this returns, or when the future is dropped. What to run, and what
//! an end means, is the caller's.

use std::io;
use std::process::Command;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

use crate::backend::ExitStatus;
use crate::process::{Spawned, Wires, reaped, spawn};

/// What the processes that a command leaves behind get to end after being asked to.
const LINGER: Duration = Duration::from_millis(100);

/// What is read at a time.
const CHUNK_BYTES: usize = 8 * 1024;

/// How far a command may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From its start to its end.
    pub time: Duration,
    /// For each of standard output and standard error.
    pub output_bytes: usize,
}

/// How a command ended, with what it wrote by then.
#[derive(Debug)]
pub struct Finished {
    /// Why it ended.
    pub end: End,
    /// Its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Its standard error, up to the limit.
    pub stderr: Vec<u8>,
}

/// Why a command ended.
#[derive(Debug)]
pub enum End {
    /// By itself, or by a signal.
    Status(ExitStatus),
    /// It took longer than it may, and was killed with all it had started.
    TimedOut,
    /// It wrote more than it may, and was killed with all it had started.
    Overflowed,
    /// It could not be started.
    NotStarted(io::Error),
}

/// Runs `command` with `stdin` as its input. A command that does not read its input is not disturbed by that.
pub async fn run(command: Command, stdin: &[u8], limits: Limits) -> Finished {
    let mut output = Output::default();
    let end = match tokio::time::timeout(limits.time, to_its_end(command, stdin, limits, &mut output)).await {
        Ok(Ok(end)) => end,
        Ok(Err(error)) => End::NotStarted(error),
        Err(_) => End::TimedOut,
    };
    Finished {
        end,
        stdout: output.stdout,
        stderr: output.stderr,
    }
}

#[derive(Default)]
struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

struct Overflow;

/// Dropping the future kills what it has started.
async fn to_its_end(command: Command, stdin: &[u8], limits: Limits, output: &mut Output) -> io::Result<End> {
    let Spawned {
        stdin: input,
        stdout,
        stderr,
        tree: _killed_when_dropped,
        mut status,
    } = spawn(command, Wires::Pipes, LINGER).await?;
    let input = pipe::Sender::from_owned_fd(input)?;
    let stdout = pipe::Receiver::from_owned_fd(stdout)?;
    let stderr = pipe::Receiver::from_owned_fd(stderr.into())?;
    // Every process that could hold the pipes open is gone when there is a status, so all of these come to an end.
    let end = tokio::try_join!(
        read(stdout, &mut output.stdout, limits.output_bytes),
        read(stderr, &mut output.stderr, limits.output_bytes),
        async {
            feed(input, stdin).await;
            Ok(reaped(&mut status).await)
        },
    );
    Ok(match end {
        Ok(((), (), status)) => End::Status(status),
        Err(Overflow) => End::Overflowed,
    })
}

/// A command that does not read what it is told may do without.
async fn feed(mut input: pipe::Sender, bytes: &[u8]) {
    if let Err(error) = input.write_all(bytes).await {
        tracing::debug!(%error, "a command did not read all of its input");
    }
}

async fn read(mut from: pipe::Receiver, into: &mut Vec<u8>, limit: usize) -> Result<(), Overflow> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        // A pipe that fails has nothing more to give.
        let count = from.read(&mut chunk).await.unwrap_or(0);
        let bytes = chunk.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        let room = limit.saturating_sub(into.len());
        into.extend(bytes.iter().take(room));
        if bytes.len() > room {
            return Err(Overflow);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const LIMITS: Limits = Limits {
        time: Duration::from_secs(20),
        output_bytes: 1024 * 1024,
    };

    async fn shell(script: &str, stdin: &[u8], limits: Limits) -> Finished {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        tokio::time::timeout(Duration::from_secs(30), run(command, stdin, limits))
            .await
            .unwrap()
    }

    fn texts(finished: &Finished) -> (&str, &str) {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        (text(&finished.stdout), text(&finished.stderr))
    }

    #[tokio::test]
    async fn a_command_gets_its_input_and_gives_its_output_and_status() {
        let finished = shell("cat; echo bad >&2; exit 3", b"in", LIMITS).await;
        assert!(matches!(finished.end, End::Status(ExitStatus::Code(3))));
        assert_eq!(texts(&finished), ("in", "bad\n"));
        let killed = shell("kill -9 $$", b"", LIMITS).await;
        assert!(matches!(killed.end, End::Status(ExitStatus::Signal(9))));
    }

    #[tokio::test]
    async fn input_that_nobody_reads_does_no_harm() {
        let finished = shell("exec 0<&-; echo done", &vec![b'x'; 1024 * 1024], LIMITS).await;
        assert!(matches!(finished.end, End::Status(ExitStatus::Code(0))));
        assert_eq!(texts(&finished).0, "done\n");
    }

    #[tokio::test]
    async fn megabytes_end_it_and_what_was_read_stays_within_the_limit() {
        for script in ["yes", "yes >&2"] {
            let finished = shell(script, b"", LIMITS).await;
            assert!(matches!(finished.end, End::Overflowed), "{script}");
            let length = finished.stdout.len().max(finished.stderr.len());
            assert_eq!(length, LIMITS.output_bytes);
        }
        let limits = Limits {
            output_bytes: 3,
            ..LIMITS
        };
        let exact = shell("printf abc", b"", limits).await;
        assert!(matches!(exact.end, End::Status(ExitStatus::Code(0))));
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_killed_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pids");
        let script = format!(
            r#"trap "" TERM; echo before; echo $$ >> {0}; setsid sh -c 'trap "" TERM; echo $$ >> {0}; exec sleep 600' & sleep 600"#,
            file.display()
        );
        let limits = Limits {
            time: Duration::from_secs(1),
            ..LIMITS
        };
        let finished = shell(&script, b"", limits).await;
        assert!(matches!(finished.end, End::TimedOut));
        assert_eq!(texts(&finished).0, "before\n");
        let pids = std::fs::read_to_string(file).unwrap();
        assert_eq!(pids.lines().count(), 2);
        for pid in pids.lines() {
            let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
            gone(pid).await;
        }
    }

    #[tokio::test]
    async fn what_a_command_leaves_behind_ends_with_it() {
        let begun = Instant::now();
        let finished = shell("sleep 600 & echo $!", b"", LIMITS).await;
        assert!(matches!(finished.end, End::Status(ExitStatus::Code(0))));
        assert!(begun.elapsed() < LIMITS.time);
        let pid = rustix::process::Pid::from_raw(texts(&finished).0.trim().parse().unwrap());
        gone(pid.unwrap()).await;
    }

    #[tokio::test]
    async fn a_command_that_is_not_there_is_not_started() {
        let finished = run(Command::new("/nowhere/at/all"), b"", LIMITS).await;
        assert!(matches!(finished.end, End::NotStarted(_)));
    }

    /// An orphan is reaped by whoever adopted it, in its own time.
    async fn gone(pid: rustix::process::Pid) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_living(pid) {
            assert!(Instant::now() < deadline, "{pid:?} lives");
            tokio::task::yield_now().await;
        }
    }

    fn is_living(pid: rustix::process::Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid()));
        stat.is_ok_and(|stat| {
            !stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .trim_start()
                .starts_with('Z')
        })
    }
}
