//! Listening on TCP and Unix sockets: addresses, the socket file, many clients at once.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use e2e_tests::harness::{Client, World, allow_once, no_questions};
use rustix::process::Signal;

use crate::case::{Case, cases};
use crate::support::{greet_again, open};

/// A rehearsal that greets every prompt.
const GREETS: &str = r#"{"version": 1, "about": "greets", "turns": [{"sticky": true, "steps": [
    {"tool": {"name": "Bash", "id": "toolu_1", "input": {"command": "true"}, "ask": true, "result": "ran"}},
    {"text": "greetings"}]}]}"#;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Rehearsal, Tcp:
        many_connections_are_served_at_once,
        sessions_of_another_connection_are_not_ours,
        a_client_that_leaves_does_not_disturb_the_others,
        the_chosen_port_is_printed_and_is_not_zero,
        the_chat_connects_to_an_agent_that_listens,
    ];
    all.extend(cases![Rehearsal, Unix:
        many_connections_are_served_at_once,
        sessions_of_another_connection_are_not_ours,
        a_client_that_leaves_does_not_disturb_the_others,
        the_socket_belongs_to_its_owner_alone,
        a_stale_socket_is_replaced,
        a_live_socket_is_refused,
        a_file_that_is_no_socket_is_refused_and_kept,
        the_socket_is_removed_at_exit,
        the_chat_connects_to_an_agent_that_listens,
    ]);
    all.extend(cases![Rehearsal, Stdio:
        an_address_beyond_loopback_is_refused,
        an_address_that_is_none_is_refused,
        two_listeners_and_stdio_are_served_together,
        ipv6_loopback_is_served,
    ]);
    all
}

fn many_connections_are_served_at_once(world: &mut World) {
    world.rehearse(GREETS);
    let mut agent = world.agent();
    let mut clients: Vec<Client> = (0..8).map(|_| greet_again(&mut agent)).collect();
    let sessions: Vec<String> = clients
        .iter_mut()
        .map(|client| client.new_session(&world.cwd()))
        .collect();
    let prompts: Vec<_> = clients
        .iter_mut()
        .zip(&sessions)
        .map(|(client, session)| client.start_prompt(session, "hi"))
        .collect();
    // Every turn is open at this point: all of them wait for an answer.
    let questions: Vec<_> = clients.iter_mut().map(Client::permission_request).collect();
    for (client, (id, request)) in clients.iter_mut().zip(&questions) {
        client.answer(id, request, &allow_once(request));
    }
    for (client, prompt) in clients.iter_mut().zip(&prompts) {
        let mut turn = client.finish_prompt(prompt, no_questions);
        assert_eq!(turn.tool("toolu_1").status(), "completed");
        assert_eq!(turn.text(), "greetings");
    }
}

fn sessions_of_another_connection_are_not_ours(world: &mut World) {
    world.rehearse(GREETS);
    let (mut agent, mut first, session) = open(world);
    let mut second = greet_again(&mut agent);
    let turn = second.prompt(&session, "hi", no_questions);
    assert_eq!(turn.error()["code"], -32002);
    second.cancel(&session);
    first.prompt(&session, "hi", allow_once).ignore_rest();
}

fn a_client_that_leaves_does_not_disturb_the_others(world: &mut World) {
    world.rehearse(GREETS);
    let (mut agent, mut first, session) = open(world);
    let mut second = greet_again(&mut agent);
    let other = second.new_session(&world.cwd());
    second.start_prompt(&other, "hi");
    second.permission_request();
    second.vanish();
    first.prompt(&session, "hi", allow_once).ignore_rest();
    greet_again(&mut agent);
}

fn the_chosen_port_is_printed_and_is_not_zero(world: &mut World) {
    let mut agent = world.agent();
    let port = agent
        .address()
        .rsplit(':')
        .next()
        .and_then(|port| port.parse::<u16>().ok());
    assert!(port.is_some_and(|port| port != 0), "{}", agent.address());
    greet_again(&mut agent);
}

fn the_socket_belongs_to_its_owner_alone(world: &mut World) {
    let mut agent = world.agent();
    let mode = std::fs::metadata(world.socket_path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    greet_again(&mut agent);
}

fn a_stale_socket_is_replaced(world: &mut World) {
    // The file outlives its listener, as after a crash.
    drop(UnixListener::bind(world.socket_path()).unwrap());
    assert!(std::fs::exists(world.socket_path()).unwrap());
    let mut agent = world.agent();
    greet_again(&mut agent);
}

fn a_live_socket_is_refused(world: &mut World) {
    let mut agent = world.agent();
    let address = format!("unix:{}", world.socket_path());
    let output = world.command(&["--listen", &address]).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&world.socket_path()), "{said}");
    // The one that was there first is still served.
    greet_again(&mut agent);
}

fn a_file_that_is_no_socket_is_refused_and_kept(world: &mut World) {
    let path = world.path("precious.txt");
    std::fs::write(&path, "precious").unwrap();
    let output = world
        .command(&["--listen", &format!("unix:{}", path.display())])
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "precious");
}

fn the_socket_is_removed_at_exit(world: &mut World) {
    let mut agent = world.agent();
    greet_again(&mut agent);
    drop(agent);
    assert!(!std::fs::exists(world.socket_path()).unwrap());
}

fn the_chat_connects_to_an_agent_that_listens(world: &mut World) {
    world.rehearse(GREETS);
    let agent = world.agent();
    let output = world
        .command(&["chat", "--connect", agent.address(), "hello"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("greetings"), "{shown}");
}

fn an_address_beyond_loopback_is_refused(world: &mut World) {
    for address in ["tcp://0.0.0.0:0", "tcp://[::]:0", "tcp://192.0.2.1:80"] {
        let output = world.command(&["--listen", address]).output().unwrap();
        assert!(!output.status.success(), "{address}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("127.0.0.1"), "{address}: {said}");
    }
}

fn an_address_that_is_none_is_refused(world: &mut World) {
    for address in [
        "nonsense",
        "tcp://",
        "tcp://127.0.0.1",
        "unix:",
        "http://127.0.0.1:1",
    ] {
        let output = world.command(&["--listen", address]).output().unwrap();
        assert!(!output.status.success(), "{address}: {output:?}");
        assert!(!output.stderr.is_empty(), "{address}");
    }
}

fn two_listeners_and_stdio_are_served_together(world: &mut World) {
    let unix = format!("unix:{}", world.socket_path());
    let mut agent = world.agent_with(&[
        "--listen",
        "stdio",
        "--listen",
        "tcp://127.0.0.1:0",
        "--listen",
        &unix,
    ]);
    let tcp = agent.wait_for_address("tcp://");
    agent.wait_for_address("unix:");
    let mut clients = [agent.connect(), agent.connect_to(&tcp), agent.connect_to(&unix)];
    for client in &mut clients {
        assert_eq!(client.initialize()["protocolVersion"], 1);
    }
    // Who started the agent may leave; it listens on for the others.
    let [stdio, tcp, _] = &mut clients;
    stdio.close();
    assert_eq!(tcp.initialize()["protocolVersion"], 1);
    agent.signal(Signal::TERM);
    assert!(agent.wait_end().success());
}

fn ipv6_loopback_is_served(world: &mut World) {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        println!("this machine has no IPv6 loopback");
        return;
    }
    let mut agent = world.agent_with(&["--listen", "tcp://[::1]:0"]);
    let address = agent.wait_for_address("tcp://");
    assert_eq!(agent.connect_to(&address).initialize()["protocolVersion"], 1);
    agent.signal(Signal::TERM);
    assert!(agent.wait_end().success());
}
