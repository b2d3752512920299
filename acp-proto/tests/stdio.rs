//! Standard input and output as a transport, in a process of its own: pipes, sockets and files.
//!
//! The test binary starts itself; with the variable below set it is the agent's side.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use acp_proto::{Accounts, ListenAddress, PeerOptions, RouterBuilder};
use libtest_mimic::{Arguments, Failed, Trial};
use rustix::fs::{OFlags, fcntl_getfl};
use serde_json::{Value, json};

const AGENT_SIDE: &str = "ACP_PROTO_TEST_SERVES_STDIO";

/// Longer than anything here takes; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

const REQUEST: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"a\":1}}\n";
const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if std::env::var_os(AGENT_SIDE).is_some() {
        return serve();
    }
    let trials = vec![
        trial("pipes_carry_a_conversation_and_stay_blocking_for_others", pipes),
        trial(
            "sockets_carry_a_conversation_and_stay_blocking_for_others",
            sockets,
        ),
        trial("files_are_read_to_their_end_and_answered", files),
        trial("a_closed_input_ends_the_process", no_input),
        trial("megabytes_pass_through_pipes", megabytes_through_pipes),
        trial("megabytes_pass_through_sockets", megabytes_through_sockets),
    ];
    Ok(libtest_mimic::run(&Arguments::from_args(), trials).exit_code())
}

/// The agent's side: echoes until the input ends.
fn serve() -> Result<ExitCode, Box<dyn Error>> {
    let router = RouterBuilder::new()
        .request("echo", async |_, params: Value| Ok(params))?
        .build();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let mut listener = acp_proto::bind(&ListenAddress::Stdio, Accounts::Own).await?;
        let duplex = listener.accept().await?;
        if tokio::time::timeout(Duration::ZERO, listener.accept())
            .await
            .is_ok()
        {
            return Err("stdio yielded a second client".into());
        }
        acp_proto::serve(duplex, router, PeerOptions::default()).1.await;
        Ok(ExitCode::SUCCESS)
    });
    // A helper thread may still wait for input.
    runtime.shutdown_background();
    served
}

/// A test that fails, and does not hang, when an end never comes.
fn trial(name: &str, test: fn() -> Result<(), Failed>) -> Trial {
    Trial::test(name, move || {
        let (done, outcome) = mpsc::channel();
        std::thread::spawn(move || done.send(test()));
        outcome
            .recv_timeout(PATIENCE)
            .map_err(|_| Failed::from("it did not end"))?
    })
}

/// The agent's side as a process. It does not outlive its test.
struct Agent(Child);

impl Agent {
    fn start(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> io::Result<Self> {
        let this = std::env::current_exe()?;
        Ok(Self(
            Command::new(this)
                .env(AGENT_SIDE, "1")
                .stdin(stdin)
                .stdout(stdout)
                .spawn()?,
        ))
    }

    fn expect_success(mut self) -> Result<(), Failed> {
        let status = self.0.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the agent ended with {status}").into())
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Both fail when it has ended already, and that is fine.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// One request and its answer; in the middle the descriptors that others share still block; then the end.
fn converse(
    agent: Agent,
    shared: [impl AsFd; 2],
    mut to: impl Write,
    mut from: impl Read,
) -> Result<(), Failed> {
    to.write_all(REQUEST)?;
    let mut answer = vec![0; ANSWER.len()];
    from.read_exact(&mut answer)?;
    assert_eq!(String::from_utf8_lossy(&answer), ANSWER);
    for descriptor in shared {
        assert!(!fcntl_getfl(descriptor)?.contains(OFlags::NONBLOCK));
    }
    drop(to);
    agent.expect_success()?;
    let mut rest = String::new();
    from.read_to_string(&mut rest)?;
    assert_eq!(rest, "", "nothing else is on standard output");
    Ok(())
}

fn pipes() -> Result<(), Failed> {
    let (stdin, to) = io::pipe()?;
    let (from, stdout) = io::pipe()?;
    // What a wrapping shell would still hold.
    let shared = [
        OwnedFd::from(stdin.try_clone()?),
        OwnedFd::from(stdout.try_clone()?),
    ];
    converse(
        Agent::start(OwnedFd::from(stdin), OwnedFd::from(stdout))?,
        shared,
        to,
        from,
    )
}

fn sockets() -> Result<(), Failed> {
    let (stdin, to) = UnixStream::pair()?;
    let (stdout, from) = UnixStream::pair()?;
    let shared = [
        OwnedFd::from(stdin.try_clone()?),
        OwnedFd::from(stdout.try_clone()?),
    ];
    converse(
        Agent::start(OwnedFd::from(stdin), OwnedFd::from(stdout))?,
        shared,
        to,
        from,
    )
}

fn files() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let (input, output) = (directory.path().join("in"), directory.path().join("out"));
    std::fs::write(&input, REQUEST)?;
    Agent::start(File::open(input)?, File::create(&output)?)?.expect_success()?;
    assert_eq!(std::fs::read_to_string(output)?, ANSWER);
    Ok(())
}

fn no_input() -> Result<(), Failed> {
    let (mut from, stdout) = io::pipe()?;
    Agent::start(Stdio::null(), OwnedFd::from(stdout))?.expect_success()?;
    let mut rest = String::new();
    from.read_to_string(&mut rest)?;
    assert_eq!(rest, "");
    Ok(())
}

fn megabytes_through_pipes() -> Result<(), Failed> {
    let (stdin, to) = io::pipe()?;
    let (from, stdout) = io::pipe()?;
    large(
        Agent::start(OwnedFd::from(stdin), OwnedFd::from(stdout))?,
        to,
        from,
    )
}

fn megabytes_through_sockets() -> Result<(), Failed> {
    let (stdin, to) = UnixStream::pair()?;
    let (stdout, from) = UnixStream::pair()?;
    large(
        Agent::start(OwnedFd::from(stdin), OwnedFd::from(stdout))?,
        to,
        from,
    )
}

/// One line far larger than any buffer of the system, there and back.
fn large(agent: Agent, mut to: impl Write + Send + 'static, mut from: impl Read) -> Result<(), Failed> {
    let params = json!({ "text": "x".repeat(8 * 1024 * 1024) });
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": params});
    let writing = std::thread::spawn(move || writeln!(to, "{request}"));
    let mut all = String::new();
    from.read_to_string(&mut all)?;
    writing.join().map_err(|_| "the writer panicked")??;
    let answer: Value = serde_json::from_str(&all)?;
    assert_eq!(answer.pointer("/result"), Some(&params));
    agent.expect_success()
}
