//! Whoever finds a listener's address is not a client yet: web pages, scanners and other accounts run nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use e2e_tests::harness::{Agent, Bell, Transport, World};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::greet_again;

/// An account that owns nothing here.
const NOBODY: u32 = 65534;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Tcp: a_posted_body_of_requests_runs_nothing];
    all.extend(cases![Claude, Unix: a_posted_body_of_requests_runs_nothing]);
    all.extend(cases![Rehearsal, Tcp:
        other_protocols_get_one_error_and_the_end,
        a_program_of_another_account_is_refused,
        any_local_user_comes_in_where_it_is_allowed,
    ]);
    all.extend(cases![Rehearsal, Unix: other_protocols_get_one_error_and_the_end]);
    all.extend(cases![Rehearsal, Stdio: localhost_is_served_and_a_wrong_port_is_named]);
    all
}

/// What a web page can make a browser send, and `curl --data-binary` too: the lines of a client as the body.
fn a_posted_body_of_requests_runs_nothing(world: &mut World) {
    let bell = world.bell("ran");
    let mut agent = world.agent();
    let requests = requests(world, &bell);
    let post = format!(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{requests}",
        requests.len()
    );
    let headerless = format!("\r\n{{\r\n{requests}");
    for bytes in [&post, &headerless] {
        refused(
            &talk(world, &agent, bytes.as_bytes()),
            "must be the JSON-RPC request",
        );
    }
    world.wait_only(&agent);
    // The same lines of a client start the server: its command is the first that ever rings.
    let mut client = greet_again(&mut agent);
    let server = server(&bell, "client");
    client
        .call("session/new", json!({"cwd": world.cwd(), "mcpServers": [server]}))
        .unwrap();
    assert_eq!(bell.wait(), "client");
    client.vanish();
}

fn other_protocols_get_one_error_and_the_end(world: &mut World) {
    let mut agent = world.agent();
    let hello: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for bytes in [
        hello,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"{}\n",
    ] {
        refused(
            &talk(world, &agent, bytes),
            "must be the JSON-RPC request `initialize`",
        );
    }
    greet_again(&mut agent);
}

fn a_program_of_another_account_is_refused(world: &mut World) {
    if !rustix::process::geteuid().is_root() {
        println!("only root can start programs of another account");
        return;
    }
    let mut agent = world.agent();
    refused(
        &said_to_nobody(&agent),
        &format!("and not a program of the account with uid {NOBODY}"),
    );
    greet_again(&mut agent);
}

fn any_local_user_comes_in_where_it_is_allowed(world: &mut World) {
    if !rustix::process::geteuid().is_root() {
        println!("only root can start programs of another account");
        return;
    }
    let mut agent = world.agent_with(&["--allow-any-local-user"]);
    let warned = agent.wait_stderr(|line| line.contains("--allow-any-local-user"));
    assert!(warned.contains("every account of this machine"), "{warned}");
    let answer: Value = serde_json::from_str(said_to_nobody(&agent).trim()).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], 1);
    greet_again(&mut agent);
}

fn localhost_is_served_and_a_wrong_port_is_named(world: &mut World) {
    let mut agent = world.agent_with(&["--listen", "tcp://localhost:0"]);
    let address = agent.wait_for_address("tcp://");
    assert_eq!(agent.connect_to(&address).initialize()["protocolVersion"], 1);
    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.wait_end().success());
    let output = world
        .command(&["--listen", "tcp://127.0.0.1:99999"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("has no port `99999`; use a port up to 65535"),
        "{said}"
    );
}

/// The lines with which a client has its MCP server started.
fn requests(world: &World, bell: &Bell) -> String {
    let new = json!({"cwd": world.cwd(), "mcpServers": [server(bell, "stranger")]});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {}}});
    let new = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": new});
    format!("{initialize}\n{new}\n")
}

/// An MCP server that is none, but tells that it was started, and by whom.
fn server(bell: &Bell, by: &str) -> Value {
    json!({"name": "tells", "command": "/bin/sh", "env": [],
        "args": ["-c", format!("echo {by} > '{}'", bell.path())]})
}

/// Sends the bytes and the end of the input; returns all that comes back until the agent hangs up.
fn talk(world: &World, agent: &Agent, bytes: &[u8]) -> String {
    fn all(mut stream: impl Read + Write, bytes: &[u8], end: impl FnOnce()) -> String {
        stream.write_all(bytes).expect("the agent listens");
        end();
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("text and an end");
        said
    }
    match world.transport() {
        Transport::Unix => {
            let stream = UnixStream::connect(world.socket_path()).unwrap();
            all(&stream, bytes, || drop(stream.shutdown(Shutdown::Write)))
        }
        Transport::Tcp | Transport::Stdio => {
            let stream = TcpStream::connect(agent.address().trim_start_matches("tcp://")).unwrap();
            // Without an end of its own, as a browser that keeps the connection: the agent hangs up.
            all(&stream, bytes, || ())
        }
    }
}

/// What a program of another account gets for a correct first line.
fn said_to_nobody(agent: &Agent) -> String {
    let address = agent.address().trim_start_matches("tcp://").to_owned();
    let (host, port) = address.rsplit_once(':').expect("a port");
    let line = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
    let script = format!("exec 3<>/dev/tcp/{host}/{port}; echo '{line}' >&3; head -n 1 <&3");
    let output = Command::new("/bin/bash")
        .args(["-c", &script])
        .current_dir("/")
        .stdin(Stdio::null())
        .uid(NOBODY)
        .output()
        .expect("bash");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// One line, an error with this text.
fn refused(said: &str, text: &str) {
    let error: Value = serde_json::from_str(said.trim_end()).unwrap_or_else(|_| panic!("one line: {said:?}"));
    assert_eq!(error["error"]["code"], -32600, "{said}");
    let message = error["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(text), "{message}");
}
