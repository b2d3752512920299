//! A host for tests: drives an engine by hand, in its own time, and writes down what comes as short lines.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use claude_sdk_bridge::decode::{Decoded, decode};
use claude_sdk_bridge::messages::Message;
use rehearsal::Script;
use rehearsal::engine::{Engine, Input, Pace, SessionState, Setup};
use serde_json::{Value, json};

/// An engine with a clock, and the transcript of what it said.
pub(crate) struct Host {
    pub engine: Engine,
    pub now: Duration,
    pub transcript: String,
    /// Every frame that came.
    pub frames: Vec<Value>,
    /// The ids of the questions that were asked, in order.
    pub asked: Vec<String>,
    requests: u32,
    rest: Vec<u8>,
}

impl Host {
    /// A host of a script with this one turn.
    pub(crate) fn of_steps(steps: &str) -> Self {
        Self::of_turns(&format!("[{{\"steps\": {steps}}}]"))
    }

    pub(crate) fn of_turns(turns: &str) -> Self {
        Self::of_script(&format!("{{\"version\": 1, \"turns\": {turns}}}"))
    }

    pub(crate) fn of_script(script: &str) -> Self {
        Self::with(
            script,
            Setup::new("session-1", "/home/user/project"),
            SessionState::default(),
        )
    }

    pub(crate) fn with(script: &str, setup: Setup, state: SessionState) -> Self {
        let script = Script::parse("test.json", script).unwrap_or_else(|error| panic!("{error}"));
        let engine = Engine::new(Arc::new(script), setup, state);
        let mut host = Self {
            engine,
            now: Duration::ZERO,
            transcript: String::new(),
            frames: Vec::new(),
            asked: Vec::new(),
            requests: 0,
            rest: Vec::new(),
        };
        host.go_on(Duration::ZERO);
        host
    }

    /// Lets this much time pass; says what the engine waits for in the end.
    pub(crate) fn go_on(&mut self, time: Duration) -> Pace {
        let end = self.now + time;
        loop {
            let pace = self.engine.advance(self.now);
            self.take_output();
            match pace {
                Pace::More => {}
                Pace::Until(then) if then <= end => self.now = then,
                Pace::Until(_) | Pace::Input | Pace::Exit(_) => {
                    if let Pace::Exit(code) = pace {
                        let rest = String::from_utf8(std::mem::take(&mut self.rest)).unwrap();
                        if !rest.is_empty() {
                            self.note(&format!("half a line: {rest}"));
                        }
                        self.note(&format!("exit {code}"));
                    }
                    self.now = end;
                    return pace;
                }
            }
        }
    }

    pub(crate) fn prompt(&mut self, text: &str) -> Pace {
        self.say(&json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    pub(crate) fn prompt_with_id(&mut self, id: &str, text: &str) -> Pace {
        self.say(&json!({"type": "user", "uuid": id, "message": {"role": "user", "content": text}}))
    }

    pub(crate) fn request(&mut self, request: Value) -> Pace {
        self.requests += 1;
        let id = format!("req_{}", self.requests);
        self.say(&json!({"type": "control_request", "request_id": id, "request": request}))
    }

    pub(crate) fn interrupt(&mut self) -> Pace {
        self.request(json!({"subtype": "interrupt"}))
    }

    /// Answers the last question.
    pub(crate) fn answer(&mut self, reply: Value) -> Pace {
        let id = self.asked.last().expect("something was asked").clone();
        self.say(&json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": reply},
        }))
    }

    pub(crate) fn say(&mut self, message: &Value) -> Pace {
        self.write(message.to_string().as_bytes())
    }

    pub(crate) fn write(&mut self, line: &[u8]) -> Pace {
        self.engine.input(self.now, Input::Line(line));
        self.go_on(Duration::ZERO)
    }

    pub(crate) fn end_input(&mut self) -> Pace {
        self.note("(end of input)");
        self.engine.input(self.now, Input::EndOfInput);
        self.go_on(Duration::ZERO)
    }

    fn note(&mut self, line: &str) {
        self.transcript.push_str(line);
        self.transcript.push('\n');
    }

    fn take_output(&mut self) {
        self.rest.append(self.engine.output());
        let mut lines: Vec<Vec<u8>> = self
            .rest
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        self.rest = lines.pop().unwrap_or_default();
        for line in lines {
            let shown = self.line(&line);
            self.note(&shown);
        }
        let stderr = String::from_utf8(std::mem::take(self.engine.stderr())).unwrap();
        for line in stderr.lines() {
            self.note(&format!("stderr: {line}"));
        }
    }

    fn line(&mut self, line: &[u8]) -> String {
        let Ok(frame) = serde_json::from_slice::<Value>(line) else {
            return format!("not JSON: {}", String::from_utf8_lossy(line));
        };
        self.frames.push(frame.clone());
        if let Decoded::Message(message) = decode(Bytes::copy_from_slice(line)) {
            assert_eq!(serde_json::to_value(&*message).unwrap(), frame);
            if let Message::ControlRequest(request) = &*message {
                self.asked.push(request.request_id.as_str().to_owned());
            }
        }
        brief(&frame)
    }
}

/// A frame in a few words.
fn brief(frame: &Value) -> String {
    match text(&frame["type"]).as_str() {
        "system" => system(frame),
        "stream_event" => stream_event(frame),
        "assistant" => assistant(frame),
        "user" => user(frame),
        "result" => result(frame),
        "command_lifecycle" => format!(
            "lifecycle {} {}",
            text(&frame["command_uuid"]),
            text(&frame["state"])
        ),
        "control_request" => format!("asks {}", without(&frame["request"], &["subtype", "tool_use_id"])),
        "control_response" if !frame["response"]["response"]["commands"].is_null() => {
            format!("response {} (initialize)", text(&frame["response"]["request_id"]))
        }
        "control_response" => format!("response {}", without(&frame["response"], &[])),
        "control_cancel_request" => "withdraws the question".to_owned(),
        other => format!("{other} {frame}"),
    }
}

fn system(frame: &Value) -> String {
    match text(&frame["subtype"]).as_str() {
        "init" => format!(
            "init {} {}",
            text(&frame["permissionMode"]),
            text(&frame["model"])
        ),
        "session_state_changed" => format!("state {}", text(&frame["state"])),
        "status" => format!("status {} {}", frame["status"], text(&frame["permissionMode"]))
            .trim_end()
            .to_owned(),
        other => format!(
            "{other} {}",
            without(frame, &["type", "subtype", "uuid", "session_id"])
        ),
    }
}

fn stream_event(frame: &Value) -> String {
    let event = &frame["event"];
    match text(&event["type"]).as_str() {
        "content_block_delta" => format!("  delta {}", without(&event["delta"], &["type"])),
        "content_block_start" => format!("  start {}", text(&event["content_block"]["type"])),
        "message_delta" => format!("  message_delta {}", event["delta"]["stop_reason"]),
        "message_stop" if !frame["abandoned_blocks"].is_null() => {
            format!(
                "  message_stop, abandoned from {}",
                frame["abandoned_blocks"]["from_block_index"]
            )
        }
        other => format!("  {}", other.trim_start_matches("content_block_")),
    }
}

fn assistant(frame: &Value) -> String {
    let block = without(&frame["message"]["content"][0], &["signature"]);
    if text(&frame["message"]["model"]) == "<synthetic>" {
        return format!("synthetic {} {block}", text(&frame["error"]));
    }
    let note = if frame["aborted"] == true {
        " (aborted)"
    } else {
        ""
    };
    format!(
        "assistant{}{note} {block}",
        shown(" in ", &frame["parent_tool_use_id"])
    )
}

fn user(frame: &Value) -> String {
    let content = &frame["message"]["content"];
    let meta = shown(" meta ", &frame["tool_result_meta"]);
    format!(
        "user{} {content}{meta}{}",
        shown(" in ", &frame["parent_tool_use_id"]),
        shown(" structured ", &frame["tool_use_result"])
    )
}

fn result(frame: &Value) -> String {
    let said = frame
        .get("result")
        .or(frame.get("errors"))
        .unwrap_or(&Value::Null);
    let denied = if frame["permission_denials"] == json!([]) {
        &Value::Null
    } else {
        &frame["permission_denials"]
    };
    format!(
        "result {} error={} reason={} stop={} turns={} {said}{}{}{}",
        text(&frame["subtype"]),
        frame["is_error"],
        text(&frame["terminal_reason"]),
        frame["stop_reason"],
        frame["num_turns"],
        shown(" for ", &frame["user_message_uuids"]),
        shown(" origin ", &frame["origin"]),
        shown(" denied ", denied),
    )
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn shown(label: &str, value: &Value) -> String {
    if value.is_null() {
        String::new()
    } else {
        format!("{label}{value}")
    }
}

fn without(value: &Value, keys: &[&str]) -> Value {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        keys.iter().for_each(|key| {
            fields.shift_remove(*key);
        });
    }
    value
}
