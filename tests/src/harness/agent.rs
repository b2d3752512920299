//! The agent's process: starts the binary, reads the address it chose, hands out connections, sends signals and
//! sees to its end.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use rustix::process::Signal;

use super::client::Client;
use super::wire::Wire;
use super::world::{Transport, World};
use super::{PATIENCE, procs};

/// A running agent.
pub struct Agent {
    child: Child,
    stdio: Option<(ChildStdin, ChildStdout)>,
    stderr: Arc<Stderr>,
    address: Option<String>,
    ended: Option<ExitStatus>,
}

#[derive(Default)]
struct Stderr {
    state: Mutex<StderrState>,
    changed: Condvar,
}

#[derive(Default)]
struct StderrState {
    lines: Vec<String>,
    closed: bool,
}

impl Agent {
    /// Starts the agent of a world on the world's transport.
    pub(crate) fn start(world: &World, extra_args: &[&str]) -> Self {
        let mut command = Command::new(world.agent_program());
        command.args(world.agent_args()).args(extra_args);
        match world.transport() {
            Transport::Stdio => {}
            Transport::Tcp => drop(command.args(["--listen", "tcp://127.0.0.1:0"])),
            Transport::Unix => drop(command.args(["--listen", &format!("unix:{}", world.socket_path())])),
        }
        command
            .env_clear()
            .envs(world.environment())
            .current_dir(world.home());
        let over_stdio = world.transport() == Transport::Stdio;
        command.stdin(if over_stdio { Stdio::piped() } else { Stdio::null() });
        let mut agent = Self::spawn(&mut command);
        if !over_stdio {
            agent.stdio = None;
            agent.address = Some(agent.wait_for_address(""));
        }
        agent
    }

    /// Starts any command line of the agent, to see how it ends.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdio = child.stdin.take().zip(child.stdout.take());
        let stderr = Arc::new(Stderr::default());
        let pipe = BufReader::new(child.stderr.take().expect("a pipe"));
        let shared = Arc::clone(&stderr);
        std::thread::spawn(move || {
            for line in pipe.split(b'\n').map_while(Result::ok) {
                shared.push(String::from_utf8_lossy(&line).into_owned());
            }
            shared.close();
        });
        Self {
            child,
            stdio,
            stderr,
            address: None,
            ended: None,
        }
    }

    /// A client on a new connection; over stdio there is only one.
    pub fn connect(&mut self) -> Client {
        Client::new(self.connect_raw())
    }

    /// The bare connection.
    pub fn connect_raw(&mut self) -> Wire {
        match self.address.as_deref() {
            None => {
                let (stdin, stdout) = self.stdio.take().expect("stdio serves one connection");
                Wire::Stdio(stdin, stdout)
            }
            Some(address) => connect(address),
        }
    }

    /// A client on a connection to one of several addresses.
    pub fn connect_to(&self, address: &str) -> Client {
        Client::new(connect(address))
    }

    /// Waits until the agent prints an address that begins so.
    pub fn wait_for_address(&self, prefix: &str) -> String {
        let line =
            self.wait_stderr(|line| address_in(line).is_some_and(|address| address.starts_with(prefix)));
        address_in(&line).expect("an address").to_owned()
    }

    /// The address that the agent printed.
    pub fn address(&self) -> &str {
        self.address.as_deref().expect("an agent that listens")
    }

    /// The agent's process id.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    /// Sends a signal to the agent alone.
    pub fn signal(&self, signal: Signal) {
        procs::signal(self.pid(), signal);
    }

    /// The agent's resident memory.
    pub fn resident_bytes(&self) -> u64 {
        procs::memory_bytes(self.pid(), "VmRSS:")
    }

    /// The most memory that was resident so far.
    pub fn peak_bytes(&self) -> u64 {
        procs::memory_bytes(self.pid(), "VmHWM:")
    }

    /// Waits until the agent has ended.
    pub fn wait_end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        let ended = procs::wait_end(self.pid(), Instant::now() + PATIENCE);
        assert!(ended, "the agent does not end");
        let status = self.child.wait().expect("a status");
        self.ended = Some(status);
        status
    }

    /// Waits for a line on stderr.
    pub fn wait_stderr(&self, wanted: impl Fn(&str) -> bool) -> String {
        self.stderr
            .wait(wanted)
            .unwrap_or_else(|lines| panic!("no such line on stderr: {lines:#?}"))
    }

    /// What the agent wrote to stderr by its end.
    pub fn all_stderr(&mut self) -> String {
        self.wait_end();
        let lines = self.stderr.wait(|_| false).expect_err("no line is wanted");
        lines.join("\n")
    }

    /// Takes the output pipe, to close it or to look at it.
    pub fn take_stdio(&mut self) -> (ChildStdin, ChildStdout) {
        self.stdio.take().expect("stdio was taken already")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.child.kill().ok();
            self.child.wait().ok();
            let lines = self.stderr.lines();
            let from = lines.len().saturating_sub(30);
            eprintln!(
                "--- the agent's stderr\n{}\n---",
                lines.get(from..).unwrap_or_default().join("\n")
            );
            return;
        }
        if self.ended.is_some() {
            return;
        }
        // Over stdio the end of input is the signal; a listener is asked to stop.
        let over_stdio = self.address.is_none();
        drop(self.stdio.take());
        if !over_stdio {
            self.signal(Signal::TERM);
        }
        let status = self.wait_end();
        assert!(
            status.success(),
            "the agent ended with {status:?} ({:?})",
            status.signal()
        );
    }
}

impl Stderr {
    fn push(&self, line: String) {
        self.state.lock().expect("the lock").lines.push(line);
        self.changed.notify_all();
    }

    fn close(&self) {
        self.state.lock().expect("the lock").closed = true;
        self.changed.notify_all();
    }

    fn lines(&self) -> Vec<String> {
        self.state.lock().expect("the lock").lines.clone()
    }

    /// The first line that is wanted, or all lines once stderr has ended without one.
    fn wait(&self, wanted: impl Fn(&str) -> bool) -> Result<String, Vec<String>> {
        let found = |state: &StderrState| {
            state
                .lines
                .iter()
                .find(|line| wanted(line.as_str()))
                .map(ToOwned::to_owned)
        };
        let state = self.state.lock().expect("the lock");
        let pending = |state: &mut StderrState| !state.closed && found(state).is_none();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, PATIENCE, pending)
            .expect("the lock");
        found(&state).ok_or_else(|| state.lines.clone())
    }
}

fn connect(address: &str) -> Wire {
    match address.strip_prefix("unix:") {
        Some(path) => Wire::Unix(UnixStream::connect(path).expect("the agent's socket")),
        None => {
            let address = address.trim_start_matches("tcp://");
            Wire::Tcp(TcpStream::connect(address).expect("the agent's port"))
        }
    }
}

fn address_in(line: &str) -> Option<&str> {
    line.split(|character: char| character.is_whitespace() || "\"`'".contains(character))
        .find(|word| word.starts_with("tcp://") || word.starts_with("unix:"))
}
