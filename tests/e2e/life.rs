//! Process life with the real CLI: whatever ends the agent or a connection, nothing of ours is left running.
//!
//! Each test leaves the model streaming or a command waiting, ends things in its own way, and then looks for
//! living processes by the test's mark.

use std::os::unix::process::ExitStatusExt;

use e2e_tests::harness::{Agent, Bell, Client, Prompt, Wire, World, allow_once, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use rustix::process::Signal;
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::{assert_error, greet_again, open};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        end_of_input_while_idle_leaves_no_process,
        end_of_input_in_a_turn_leaves_no_process,
        end_of_input_while_the_model_is_silent_leaves_no_process,
        end_of_input_while_asking_leaves_no_process,
        sigterm_answers_the_prompt_and_leaves_no_process,
        sigint_answers_the_prompt_and_leaves_no_process,
        sighup_leaves_no_process,
        a_broken_output_pipe_leaves_no_process,
        sigkill_leaves_no_process,
        a_cli_that_is_killed_fails_the_prompt_and_the_next_one_works,
        a_cli_that_is_killed_while_idle_does_not_cost_the_session,
    ];
    all.extend(cases![Claude, Tcp:
        a_client_that_vanishes_leaves_no_process_and_disturbs_nobody,
        sigterm_ends_every_connection_and_leaves_no_process,
    ]);
    all.extend(cases![Claude, Unix: a_client_that_vanishes_leaves_no_process_and_disturbs_nobody]);
    all
}

fn end_of_input_while_idle_leaves_no_process(world: &mut World) {
    let (mut agent, mut client, _session) = open(world);
    client.close();
    assert!(agent.wait_end().success());
    world.wait_none();
}

fn end_of_input_in_a_turn_leaves_no_process(world: &mut World) {
    let (mut agent, mut client, _latch, _prompt) = in_a_command(world);
    client.close();
    assert!(agent.wait_end().success());
    world.wait_none();
    client.ignore_rest();
}

fn end_of_input_while_the_model_is_silent_leaves_no_process(world: &mut World) {
    world.model().script([reply().then_hangs()]);
    let (mut agent, mut client, session) = open(world);
    client.start_prompt(&session, "go");
    world.model().wait_request(0);
    client.close();
    assert!(agent.wait_end().success());
    world.wait_none();
    client.ignore_rest();
}

fn end_of_input_while_asking_leaves_no_process(world: &mut World) {
    let file = world.project().join("made.txt");
    world.model().script([tool(
        "toolu_1",
        "Write",
        json!({"file_path": file, "content": "x"}),
    )]);
    let (mut agent, mut client, session) = open(world);
    client.start_prompt(&session, "write");
    client.permission_request();
    client.close();
    assert!(agent.wait_end().success());
    world.wait_none();
    client.ignore_rest();
    assert!(!file.exists(), "nobody said yes");
}

fn sigterm_answers_the_prompt_and_leaves_no_process(world: &mut World) {
    a_signal_answers_the_prompt(world, Signal::TERM);
}

fn sigint_answers_the_prompt_and_leaves_no_process(world: &mut World) {
    a_signal_answers_the_prompt(world, Signal::INT);
}

fn a_signal_answers_the_prompt(world: &mut World, signal: Signal) {
    let (mut agent, mut client, _latch, prompt) = in_a_command(world);
    agent.signal(signal);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    assert!(agent.wait_end().success());
    world.wait_none();
    client.ignore_rest();
}

fn sighup_leaves_no_process(world: &mut World) {
    let (mut agent, mut client, _latch, _prompt) = in_a_command(world);
    agent.signal(Signal::HUP);
    agent.wait_end();
    world.wait_none();
    client.ignore_rest();
}

fn a_broken_output_pipe_leaves_no_process(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([reply().text("words").gate(&gate).text("that nobody reads")]);
    let (mut agent, client, session) = open_over_pipes(world);
    let (mut stdin, stdout) = client;
    let blocks = json!([{"type": "text", "text": "go"}]);
    let params = json!({"sessionId": session, "prompt": blocks});
    write_line(
        &mut stdin,
        &json!({"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": params}),
    );
    gate.wait_reached();
    drop(stdout);
    gate.open();
    agent.wait_end();
    world.wait_none();
}

fn sigkill_leaves_no_process(world: &mut World) {
    let (mut agent, mut client, _latch, _prompt) = in_a_command(world);
    agent.signal(Signal::KILL);
    assert_eq!(agent.wait_end().signal(), Some(9));
    world.wait_none();
    client.ignore_rest();
}

fn a_cli_that_is_killed_fails_the_prompt_and_the_next_one_works(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([reply().text("words").gate(&gate), text("and on")]);
    let (agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    client.update(&session, "agent_message_chunk");
    gate.wait_reached();
    kill_cli(world, &agent);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_error(turn.error(), -32603, "");
    let said = turn.error().to_string();
    assert!(
        said.contains("signal") && said.contains('9'),
        "how Claude ended: {said}"
    );
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("and on", "end_turn"));
}

fn a_cli_that_is_killed_while_idle_does_not_cost_the_session(world: &mut World) {
    world.model().script([text("before"), text("after")]);
    let (agent, mut client, session) = open(world);
    assert_eq!(client.prompt(&session, "one", no_questions).text(), "before");
    kill_cli(world, &agent);
    assert_eq!(client.prompt(&session, "two", no_questions).text(), "after");
    assert!(
        world.model().wait_request(1).mentions("one"),
        "the conversation is resumed"
    );
}

fn a_client_that_vanishes_leaves_no_process_and_disturbs_nobody(world: &mut World) {
    let (latch, started) = (world.latch("latch"), world.bell("started"));
    world.model().script([waiting_command(&started, &latch)]);
    let (mut agent, mut client, session) = open(world);
    let mut other = greet_again(&mut agent);
    client.start_prompt(&session, "run");
    let (id, request) = client.permission_request();
    client.answer(&id, &request, &allow_once(&request));
    started.wait();
    client.vanish();
    world.wait_only(&agent);
    world.model().script([text("undisturbed")]);
    let session = other.new_session(&world.cwd());
    assert_eq!(other.prompt(&session, "hi", no_questions).text(), "undisturbed");
}

fn sigterm_ends_every_connection_and_leaves_no_process(world: &mut World) {
    let (mut agent, mut client, session) = open(world);
    let mut other = greet_again(&mut agent);
    other.new_session(&world.cwd());
    let gate = Gate::new();
    world.model().script([reply().text("words").gate(&gate)]);
    let prompt = client.start_prompt(&session, "go");
    gate.wait_reached();
    agent.signal(Signal::TERM);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    assert!(agent.wait_end().success());
    world.wait_none();
}

/// A turn in the middle of a command that waits for ever.
fn in_a_command(world: &World) -> (Agent, Client, Bell, Prompt) {
    let (latch, started) = (world.latch("latch"), world.bell("started"));
    world.model().script([waiting_command(&started, &latch)]);
    let (agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "run");
    let (id, request) = client.permission_request();
    client.answer(&id, &request, &allow_once(&request));
    started.wait();
    (agent, client, latch, prompt)
}

fn waiting_command(started: &Bell, latch: &Bell) -> e2e_tests::model::Reply {
    let command = format!("echo started > {}; read line < {}", started.path(), latch.path());
    tool("toolu_1", "Bash", json!({"command": command}))
}

/// Kills the CLI that runs under the agent, and waits for its end.
fn kill_cli(world: &World, agent: &Agent) {
    let cli = world.environment_value("CLAUDE_CODE_EXECUTABLE").to_owned();
    world.kill_command(&cli, agent);
}

/// A session whose client is nothing but two pipes.
fn open_over_pipes(
    world: &World,
) -> (
    Agent,
    (std::process::ChildStdin, std::process::ChildStdout),
    String,
) {
    let mut agent = world.agent();
    let Wire::Stdio(mut stdin, mut stdout) = agent.connect_raw() else {
        panic!("this test is about stdio")
    };
    let hello = json!({"protocolVersion": 1});
    write_line(
        &mut stdin,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
    );
    let new = json!({"cwd": world.cwd(), "mcpServers": []});
    write_line(
        &mut stdin,
        &json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": new}),
    );
    let session = loop {
        let message = read_line(&mut stdout);
        if let Some(session) = message["result"]["sessionId"].as_str() {
            break session.to_owned();
        }
    };
    (agent, (stdin, stdout), session)
}

fn write_line(writer: &mut impl std::io::Write, message: &serde_json::Value) {
    writer.write_all(format!("{message}\n").as_bytes()).unwrap();
}

/// Reads one line without taking a byte more than it.
fn read_line(reader: &mut impl std::io::Read) -> serde_json::Value {
    let mut line = Vec::new();
    let mut byte = [0];
    while byte != *b"\n" {
        reader.read_exact(&mut byte).unwrap();
        line.push(byte[0]);
    }
    serde_json::from_slice(&line).unwrap()
}
