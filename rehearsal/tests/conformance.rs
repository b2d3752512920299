//! Holds the engine against recordings of the real CLI: the host's side of a recording is played into an engine whose
//! script tells the same conversation, and what comes out must be the same frames with the same keys, in order.
//!
//! Values are ignored, runs of deltas count as one (recordings drop some of them), and so are the few kinds of frames
//! that the rehearsal does not play.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use claude_sdk_bridge::decode::{Decoded, decode};
use claude_sdk_bridge::launch::{LaunchOptions, SessionStart, parse_argv};
use claude_sdk_bridge::messages::Message;
use rehearsal::Script;
use rehearsal::engine::{Engine, Input, Pace, Refusal, SessionState, Setup};
use serde_json::Value;

/// Frames of the CLI that stand for things the rehearsal does not have: background tasks and notices of the day.
const NOT_PLAYED: &[&str] = &[
    "system/task_started",
    "system/task_notification",
    "system/background_tasks_changed",
    "system/informational",
];

/// Paths below which keys are data, or facts of an installation that no host reads.
const OPEN: &[&str] = &[
    "message.content[].input",
    "request.input",
    "permission_denials[].tool_input",
    "request.permission_suggestions[]",
    "response.pending_permission_requests[].request",
    "response.response.commands[]",
    "response.response.models[]",
    "response.response.agents[]",
    "response.response.account",
    "plugins[]",
];

struct Recording {
    argv: Vec<String>,
    cwd: String,
    events: Vec<Value>,
}

#[test]
fn the_engine_speaks_as_the_recordings_do() {
    let mut failures = Vec::new();
    let mut names: Vec<String> = std::fs::read_dir(fixtures("recordings"))
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    names.sort();
    assert!(names.len() >= 30, "{names:?}");
    for name in names {
        if let Err(difference) = compare(&name) {
            failures.push(format!("== {name}\n{difference}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn compare(name: &str) -> Result<(), String> {
    let recording = read(name);
    let script =
        Script::load(&fixtures("scripts").join(format!("{name}.json"))).map_err(|error| error.to_string())?;
    let played = play(&recording, script);
    let expected: Vec<Value> = recording
        .events
        .iter()
        .filter(|event| event["dir"] == "out")
        .map(|event| event["msg"].clone())
        .filter(|frame| frame.get("__eof").is_none())
        .collect();
    let (expected, actual) = (collapse(&expected), collapse(&played.frames));
    let kinds = |frames: &[Value]| frames.iter().map(kind).collect::<Vec<_>>();
    if kinds(&expected) != kinds(&actual) {
        return Err(format!(
            "recorded {:#?}\nplayed {:#?}",
            kinds(&expected),
            kinds(&actual)
        ));
    }
    for (expected, actual) in expected.iter().zip(&actual) {
        let (wanted, got) = (keys(expected), keys(actual));
        if wanted != got {
            let missing: Vec<_> = wanted.difference(&got).collect();
            let extra: Vec<_> = got.difference(&wanted).collect();
            return Err(format!(
                "{}: missing {missing:?}, too much {extra:?}",
                kind(expected)
            ));
        }
    }
    let code = recording
        .events
        .iter()
        .find(|event| event["dir"] == "exit")
        .map(|event| event["msg"]["code"].clone());
    if code != Some(Value::from(played.code)) {
        return Err(format!("recorded exit {code:?}, played {}", played.code));
    }
    for event in recording.events.iter().filter(|event| event["dir"] == "err") {
        let Some(line) = event["msg"].as_str() else {
            continue;
        };
        if !played.stderr.contains(line.trim()) {
            return Err(format!("stderr {:?} lacks {line:?}", played.stderr));
        }
    }
    Ok(())
}

struct Played {
    frames: Vec<Value>,
    stderr: String,
    code: u8,
}

/// Plays the host's side at the times of the recording; the engine's clock is the recording's.
fn play(recording: &Recording, script: Script) -> Played {
    let args = recording.argv.iter().skip(1).map(Into::into);
    let parsed = parse_argv(args).expect("the recording's arguments are the CLI's");
    let options = LaunchOptions {
        cwd: PathBuf::from(&recording.cwd),
        ..parsed.options
    };
    let mut setup = Setup::of_launch(options, "11111111-2222-4333-8444-555555555555");
    if let SessionStart::Resume { id, .. } = &setup.options.session.clone() {
        setup.session_id = id.clone();
        setup.refusal = Some(Refusal::NoConversation);
    }
    let mut engine = Engine::new(Arc::new(script), setup, SessionState::default());
    let mut out = Output::default();
    for event in recording.events.iter().filter(|event| event["dir"] == "in") {
        let now = Duration::from_secs_f64(event["t"].as_f64().unwrap());
        out.run_until(&mut engine, now);
        let message = &event["msg"];
        if message.get("__stdin").is_some() || message.get("__eof").is_some() {
            engine.input(now, Input::EndOfInput);
        } else if let Some(raw) = message["__raw"].as_str() {
            engine.input(now, Input::Line(raw.trim_end().as_bytes()));
        } else {
            let line = with_engines_id(message, recording, &out.frames).to_string();
            engine.input(now, Input::Line(line.as_bytes()));
        }
    }
    let code = out.run_until(&mut engine, Duration::from_secs(3600));
    Played {
        stderr: String::from_utf8(std::mem::take(engine.stderr())).unwrap(),
        frames: out.frames,
        code,
    }
}

#[derive(Default)]
struct Output {
    frames: Vec<Value>,
    now: Duration,
}

impl Output {
    fn run_until(&mut self, engine: &mut Engine, end: Duration) -> u8 {
        loop {
            let pace = engine.advance(self.now);
            let bytes = std::mem::take(engine.output());
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            self.frames.extend(lines.map(checked));
            match pace {
                Pace::More => {}
                Pace::Until(then) if then <= end => self.now = then,
                Pace::Until(_) | Pace::Input if self.now < end => self.now = end,
                Pace::Until(_) | Pace::Input => return 0,
                Pace::Exit(code) => return code,
            }
        }
    }
}

/// A frame, which the bridge must know, and must write as it was read.
fn checked(line: &[u8]) -> Value {
    let frame: Value = serde_json::from_slice(line).expect("a frame is JSON");
    match decode(Bytes::copy_from_slice(line)) {
        Decoded::Delta(_) => {}
        Decoded::Message(message) => {
            assert!(
                !matches!(*message, Message::Unknown(_)),
                "the bridge does not know {frame}"
            );
            assert_eq!(serde_json::to_value(&*message).unwrap(), frame);
        }
        Decoded::Garbage { error, .. } => panic!("{error}: {frame}"),
    }
    let is_delta = frame["event"]["type"] == "content_block_delta";
    let has_own_path = is_delta && frame["event"]["delta"]["type"] != "signature_delta";
    assert_eq!(
        matches!(decode(Bytes::copy_from_slice(line)), Decoded::Delta(_)),
        has_own_path,
        "{frame}"
    );
    frame
}

/// The host answered the recording's questions; here it answers the engine's, which have other ids.
fn with_engines_id(message: &Value, recording: &Recording, frames: &[Value]) -> Value {
    let mut message = message.clone();
    let asked = |frame: &Value| (frame["type"] == "control_request").then(|| frame["request_id"].clone());
    let theirs: Vec<Value> = recording
        .events
        .iter()
        .filter(|e| e["dir"] == "out")
        .filter_map(|e| asked(&e["msg"]))
        .collect();
    let ours: Vec<Value> = frames.iter().filter_map(asked).collect();
    if message["type"] == "control_response"
        && let Some(place) = theirs
            .iter()
            .position(|id| *id == message["response"]["request_id"])
        && let Some(id) = ours.get(place)
    {
        message["response"]["request_id"] = id.clone();
    }
    message
}

/// What a frame is.
fn kind(frame: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = text(&frame["type"]);
    let detail = match kind.as_str() {
        "system" | "result" => text(&frame["subtype"]),
        "stream_event" if frame["event"]["type"] == "content_block_delta" => {
            text(&frame["event"]["delta"]["type"])
        }
        "stream_event" => text(&frame["event"]["type"]),
        "control_request" => text(&frame["request"]["subtype"]),
        "control_response" => text(&frame["response"]["subtype"]),
        "command_lifecycle" => text(&frame["state"]),
        "assistant" | "user" => text(&frame["message"]["content"][0]["type"]),
        _ => String::new(),
    };
    let state = match (kind.as_str(), detail.as_str()) {
        ("system", "session_state_changed") => format!("/{}", text(&frame["state"])),
        ("system", "status") => format!("/{}{}", text(&frame["status"]), text(&frame["permissionMode"])),
        ("result", _) => format!("/{}/{}", text(&frame["terminal_reason"]), frame["is_error"]),
        _ => String::new(),
    };
    format!("{kind}/{detail}{state}")
}

/// The frames that are compared, runs of deltas as one.
fn collapse(frames: &[Value]) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for frame in frames {
        let this = kind(frame);
        let repeats = this.ends_with("_delta") && kept.last().is_some_and(|last| kind(last) == this);
        if !repeats && !NOT_PLAYED.contains(&this.as_str()) {
            kept.push(frame.clone());
        }
    }
    kept
}

fn keys(frame: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    collect(frame, "", &mut paths);
    paths
}

fn collect(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    if OPEN.contains(&path) {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect(value, &path, paths);
                paths.insert(path);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect(item, &format!("{path}[]"), paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn read(name: &str) -> Recording {
    let text = std::fs::read_to_string(fixtures("recordings").join(format!("{name}.jsonl"))).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let argv = head["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arg| arg.as_str().unwrap().to_owned())
        .collect();
    Recording {
        argv,
        cwd: head["cwd"].as_str().unwrap().to_owned(),
        events: lines.collect(),
    }
}

fn fixtures(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(kind)
}
