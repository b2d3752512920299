//! The binary as an agent: hello over each transport, and every way of ending it in order.

use std::os::unix::fs::PermissionsExt as _;

use super::harness::{Agent, Client, patiently};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::{TcpStream, UnixStream};

/// A turn that says something and then nothing, until it is interrupted.
fn endless() -> Value {
    json!({"version": 1, "about": "an endless turn", "turns": [
        {"sticky": true, "steps": [{"text": "working"}, {"delay_ms": 600_000}]}]})
}

/// The processes that a process started.
fn children(pid: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let children =
        tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).ok());
    children
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[tokio::test]
async fn hello_over_stdio_and_the_end_of_input_ends_it() {
    let (mut agent, mut client) = Agent::start(&["--backend=rehearsal"]);
    client.hello().await;
    drop(client);
    let (status, errors) = agent.ended().await;
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn hello_with_the_real_backend_starts_no_process() {
    let (mut agent, mut client) = Agent::start(&[]);
    client.hello().await;
    assert_eq!(children(agent.pid()), Vec::<String>::new());
    drop(client);
    assert_eq!(agent.ended().await.0.code(), Some(0));
}

#[tokio::test]
async fn hello_over_tcp_for_many_at_once() {
    let (mut agent, stdio) = Agent::start(&["--backend=rehearsal", "--listen=tcp://127.0.0.1:0"]);
    let address = agent.says("listening on tcp://").await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let (reader, writer) = patiently(TcpStream::connect(&address))
            .await
            .unwrap()
            .into_split();
        clients.push(Client::new(reader, writer));
    }
    for client in &mut clients {
        client.hello().await;
    }
    drop(stdio); // nobody listens there
    drop(clients.pop());
    clients[0].session(agent.home.path()).await;
    agent.signal(Signal::TERM);
    assert_eq!(agent.ended().await.0.code(), Some(0));
    for client in &mut clients {
        client.end().await;
    }
}

#[tokio::test]
async fn hello_over_a_unix_socket_that_is_private_and_gone_afterwards() {
    let (mut agent, _stdio) = Agent::start(&["--backend=rehearsal", "--listen=unix:a.sock"]);
    let path = agent.home.path().join("a.sock");
    agent.says("listening on unix:a.sock").await;
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let (reader, writer) = patiently(UnixStream::connect(&path)).await.unwrap().into_split();
    Client::new(reader, writer).hello().await;
    agent.signal(Signal::INT);
    assert_eq!(agent.ended().await.0.code(), Some(0));
    assert_eq!(
        std::fs::read_dir(agent.home.path()).unwrap().count(),
        0,
        "the socket file is removed"
    );
}

#[tokio::test]
async fn every_ending_signal_answers_the_open_prompt() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (mut agent, mut client, _script) = Agent::rehearsing(&endless(), &[]);
        let session = client.session(agent.home.path()).await;
        let prompt = client.prompt(&session, "go").await;
        agent.signal(signal);
        let answer = client.answer(prompt).await;
        assert_eq!(
            answer["result"]["stopReason"], "cancelled",
            "{signal:?}: {answer}"
        );
        client.end().await;
        assert_eq!(agent.ended().await.0.code(), Some(0), "{signal:?}");
    }
}

#[tokio::test]
async fn the_end_of_input_ends_a_running_prompt() {
    let (mut agent, mut client, _script) = Agent::rehearsing(&endless(), &[]);
    let session = client.session(agent.home.path()).await;
    client.prompt(&session, "go").await;
    drop(client);
    assert_eq!(agent.ended().await.0.code(), Some(0));
}

#[tokio::test]
async fn a_broken_output_ends_it() {
    let (mut agent, client, _script) = Agent::rehearsing(&endless(), &[]);
    let super::harness::Parts { reader, mut writer } = client.into_parts();
    drop(reader);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
    super::harness::write_line(&mut writer, &hello).await;
    let (status, _) = agent.ended().await;
    assert_eq!(status.code(), Some(0));
    drop(writer);
}

#[tokio::test]
async fn other_listeners_go_on_after_the_end_of_input() {
    let listen = ["--listen=stdio", "--listen=tcp://127.0.0.1:0"];
    let (mut agent, mut stdio) =
        Agent::start(&["--backend=rehearsal", "--log-level=debug", listen[0], listen[1]]);
    let address = agent.says("listening on tcp://").await;
    stdio.hello().await;
    drop(stdio);
    agent.says("disconnected").await;
    let (reader, writer) = patiently(TcpStream::connect(&address))
        .await
        .unwrap()
        .into_split();
    Client::new(reader, writer).hello().await;
    agent.signal(Signal::TERM);
    assert_eq!(agent.ended().await.0.code(), Some(0));
}

#[tokio::test]
async fn a_second_signal_does_not_wait() {
    let script = json!({"version": 1, "about": "a Claude that has gone deaf", "turns": [
        {"sticky": true, "steps": [{"text": "working"}, "hang"]}]});
    let (mut agent, mut client, _script) = Agent::rehearsing(&script, &["--log-level=info"]);
    let session = client.session(agent.home.path()).await;
    client.prompt(&session, "go").await;
    agent.signal(Signal::TERM);
    agent.says("ending").await;
    agent.signal(Signal::INT);
    assert_eq!(agent.ended().await.0.code(), Some(130));
}
