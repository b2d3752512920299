//! Very long turns: every delta arrives in order, memory stays flat, and a client that stops reading stops the
//! flow, not the agent.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use e2e_tests::harness::{Agent, Wire, World, no_questions};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::fake_cli::SPEAK;
use crate::support::{greet_again, open};

/// How many deltas a turn has.
const DELTAS: usize = 200_000;

/// How much the agent may grow over a whole flood, its script included.
const GROWTH_BYTES: u64 = 40_000_000;

/// A tool's result can be as long as this.
const LONG_LINE_BYTES: u64 = 100_000_000;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Rehearsal, Stdio: two_hundred_thousand_deltas_arrive_in_order_with_flat_memory];
    all.extend(cases![Rehearsal, Tcp:
        two_hundred_thousand_deltas_arrive_in_order_with_flat_memory,
        a_client_that_stops_reading_stops_the_flow_and_nobody_else,
        a_client_that_stops_reading_stops_a_process_too,
    ]);
    all.extend(cases![Rehearsal, Stdio: a_line_of_a_hundred_megabytes_passes]);
    all
}

fn two_hundred_thousand_deltas_arrive_in_order_with_flat_memory(world: &mut World) {
    rehearse_flood(world);
    let mut agent = world.agent();
    let mut flood = Flood::start(&mut agent, world);
    let before = agent.resident_bytes();
    let mut most = before;
    for number in 0..DELTAS {
        flood.expect_delta(number);
        if number.is_multiple_of(10_000) {
            most = most.max(agent.resident_bytes());
        }
    }
    flood.expect_end();
    assert!(most - before < GROWTH_BYTES, "grew from {before} to {most} bytes");
}

fn a_client_that_stops_reading_stops_the_flow_and_nobody_else(world: &mut World) {
    rehearse_flood(world);
    let mut agent = world.agent();
    let mut flood = Flood::start(&mut agent, world);
    let before = agent.resident_bytes();
    flood.expect_delta(0);
    // Somebody else is served meanwhile, for far longer than the whole flood takes when it is read.
    let mut other = greet_again(&mut agent);
    let until = Instant::now() + Duration::from_secs(4);
    while Instant::now() < until {
        other.initialize();
    }
    let resident = agent.resident_bytes();
    assert!(
        resident - before.min(resident) < GROWTH_BYTES,
        "grew from {before} to {resident} bytes"
    );
    for number in 1..DELTAS {
        flood.expect_delta(number);
    }
    flood.expect_end();
}

fn a_client_that_stops_reading_stops_a_process_too(world: &mut World) {
    world.rehearse_by_executable();
    a_client_that_stops_reading_stops_the_flow_and_nobody_else(world);
}

fn a_line_of_a_hundred_megabytes_passes(world: &mut World) {
    world.use_fake_cli(&format!(
        r#"{SPEAK}
on_user() {{
    take_up
    printf '{{"type":"novelty","session_id":"s","blob":"'
    head -c {LONG_LINE_BYTES} /dev/zero | tr '\\0' x
    printf '"}}\n'
    text_delta survived
    result survived
}}
speak
"#
    ));
    let (agent, mut client, session) = open(world);
    let before = agent.peak_bytes();
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("survived", "end_turn")
    );
    let grown = agent.peak_bytes() - before;
    assert!(
        grown < 4 * LONG_LINE_BYTES,
        "{grown} bytes for a line of {LONG_LINE_BYTES}"
    );
}

fn rehearse_flood(world: &mut World) {
    let words: Vec<String> = (0..DELTAS).map(|number| format!("{number} ")).collect();
    let script = json!({"version": 1, "about": "a flood", "turns": [{"steps": [{"text": words.concat()}]}]});
    world.rehearse(&script.to_string());
}

/// A client that reads one line at a time and keeps nothing.
struct Flood {
    writer: Box<dyn Write>,
    lines: BufReader<Box<dyn Read>>,
    line: String,
}

impl Flood {
    /// Opens a session and sends the prompt.
    fn start(agent: &mut Agent, world: &World) -> Self {
        let (writer, reader): (Box<dyn Write>, Box<dyn Read>) = match agent.connect_raw() {
            Wire::Stdio(stdin, stdout) => (Box::new(stdin), Box::new(stdout)),
            Wire::Tcp(stream) => (Box::new(stream.try_clone().unwrap()), Box::new(stream)),
            Wire::Unix(stream) => (Box::new(stream.try_clone().unwrap()), Box::new(stream)),
        };
        let mut flood = Self {
            writer,
            lines: BufReader::new(reader),
            line: String::new(),
        };
        flood.send(1, "initialize", json!({"protocolVersion": 1}));
        flood.send(2, "session/new", json!({"cwd": world.cwd(), "mcpServers": []}));
        let session = loop {
            if let Some(session) = flood.message()["result"]["sessionId"].as_str() {
                break session.to_owned();
            }
        };
        let blocks = json!([{"type": "text", "text": "flood"}]);
        flood.send(
            3,
            "session/prompt",
            json!({"sessionId": session, "prompt": blocks}),
        );
        flood
    }

    fn send(&mut self, id: u32, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.writer.write_all(format!("{request}\n").as_bytes()).unwrap();
    }

    fn message(&mut self) -> Value {
        self.line.clear();
        assert_ne!(
            self.lines.read_line(&mut self.line).unwrap(),
            0,
            "the agent ended the connection"
        );
        serde_json::from_str(&self.line).unwrap()
    }

    /// The next chunk of the answer carries this number.
    fn expect_delta(&mut self, number: usize) {
        loop {
            let message = self.message();
            let update = &message["params"]["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                assert_eq!(update["content"]["text"], format!("{number} "));
                return;
            }
            assert_ne!(message["id"], 3, "the turn ended early: {message}");
        }
    }

    fn expect_end(&mut self) {
        loop {
            let message = self.message();
            if message["id"] == 3 {
                assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
                return;
            }
            assert_ne!(
                message["params"]["update"]["sessionUpdate"], "agent_message_chunk",
                "{message}"
            );
        }
    }
}
