//! What always holds, whatever the host does and whenever: random hosts against a script with everything in it.
//!
//! Every request is answered once, every question is settled once, every tool call has one result, every message that is
//! opened is closed, every prompt comes to one end, and the process ends with its input.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rehearsal::Script;
use rehearsal::engine::{Engine, Input, Pace, SessionState, Setup};
use serde_json::{Value, json};

const SCRIPT: &str = r#"{"version": 1, "session": {"delta_delay_ms": 1, "denial_threshold": 2, "settings": {
        "permissions": {"allow": ["Bash(ls)", "Bash(make *)"], "deny": ["Bash(rm *)"]}}}, "turns": [
    {"sticky": true, "prompt": "decided", "steps": [
        {"tool": {"name": "Bash", "input": {"command": "make a"}, "decide": true, "run_ms": 2, "hook": {"feedback": "tidy up"}}},
        {"tool": {"name": "Write", "input": {"file_path": "a", "content": "x"}, "decide": true, "parallel": true}},
        {"tool": {"name": "Bash", "input": {"command": "rm a"}, "decide": true, "hook": {"decision": "ask"}}},
        {"tool": {"name": "Task", "input": {"description": "d", "prompt": "p"}, "decide": true, "result": "r", "subagent": [
            {"name": "Bash", "input": {"command": "npm test"}, "decide": true}, {"name": "Read", "result": "x"}]}},
        {"tool": {"name": "EnterPlanMode", "decide": true}}, {"tool": {"name": "Nothing", "decide": true}},
        {"tool": {"name": "ExitPlanMode", "decide": true, "if_refused": [{"text": "well"}]}}, {"text": "done"}]},
    {"sticky": true, "prompt": "text", "steps": [{"thinking": "Hm, let me see."}, {"delay_ms": 2}, {"text": "one two three"}]},
    {"sticky": true, "prompt": "tools", "steps": [
        {"text": "Now:"},
        {"tool": {"name": "Bash", "ask": {"at": "block_end"}, "run_ms": 3}},
        {"tool": {"name": "Edit", "ask": true, "parallel": true}},
        {"tool": {"name": "Read", "parallel": true, "run_ms": 1}},
        {"repeat": {"times": 2, "steps": [{"tool": {"name": "Bash", "ask": {"at": "message_stop"}}}]}},
        {"tool": {"name": "WebFetch", "denied": "no"}}, {"text": "done"}]},
    {"sticky": true, "prompt": "fails", "steps": [{"text": "Oh"}, {"delay_ms": 1}, {"error": {"kind": "overloaded", "retries": 2}}]},
    {"sticky": true, "prompt": "waits", "steps": [{"text": "Well"}, {"wait_for": "interrupt"}]},
    {"sticky": true, "prompt": "ignores", "on_interrupt": "ignore", "steps": [{"wait_for": "interrupt"}, {"text": "anyway"}]},
    {"sticky": true, "prompt": "succeeds", "on_interrupt": "succeed", "steps": [{"tool": {"name": "Bash", "ask": true, "run_ms": 5}}]},
    {"sticky": true, "steps": [{"text": "whatever"}]}
]}"#;

#[derive(Debug, Clone)]
enum Action {
    Prompt(&'static str),
    Interrupt,
    DropQueue,
    Answer(Value),
    Mode(&'static str),
    Wait(u64),
}

fn action() -> impl Strategy<Value = Action> {
    let prompts = [
        "decided", "text", "tools", "fails", "waits", "ignores", "succeeds", "else",
    ];
    let modes = ["default", "acceptEdits", "dontAsk", "plan", "nonsense"];
    let answers = [
        json!({"behavior": "allow"}),
        json!({"behavior": "deny", "message": "no"}),
        json!({"behavior": "deny", "message": "no", "interrupt": true}),
        json!({"behavior": "perhaps"}),
        json!({"behavior": "allow", "updatedPermissions": [
            {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "ask", "destination": "localSettings"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
        json!({"decision": "block", "reason": "no"}),
        json!({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "why"}}),
    ];
    prop_oneof![
        4 => prop::sample::select(prompts.to_vec()).prop_map(Action::Prompt),
        2 => Just(Action::Interrupt),
        1 => Just(Action::DropQueue),
        4 => prop::sample::select(answers.to_vec()).prop_map(Action::Answer),
        1 => prop::sample::select(modes.to_vec()).prop_map(Action::Mode),
        6 => (0u64..8).prop_map(Action::Wait),
    ]
}

struct Host {
    engine: Engine,
    now: Duration,
    frames: Vec<Value>,
    sent: u32,
}

impl Host {
    fn new(hooks: bool) -> Self {
        let script = Arc::new(Script::parse("test.json", SCRIPT).unwrap());
        let setup = Setup::new("session-1", "/home/user/project");
        let engine = Engine::new(script, setup, SessionState::default());
        let mut host = Self {
            engine,
            now: Duration::ZERO,
            frames: Vec::new(),
            sent: 0,
        };
        if hooks {
            let registered = json!([{"hookCallbackIds": ["one"], "timeout": 0.004}]);
            let hooks = json!({"PreToolUse": registered, "PostToolUse": registered});
            host.say(&json!({"type": "control_request", "request_id": "init", "request": {"subtype": "initialize", "hooks": hooks}}));
        }
        host
    }

    fn run(&mut self, time: Duration) -> Pace {
        let end = self.now + time;
        loop {
            let pace = self.engine.advance(self.now);
            let bytes = std::mem::take(self.engine.output());
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            self.frames
                .extend(lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()));
            match pace {
                Pace::More => {}
                Pace::Until(then) if then <= end => self.now = then,
                Pace::Until(_) | Pace::Input | Pace::Exit(_) => {
                    self.now = end;
                    return pace;
                }
            }
        }
    }

    fn say(&mut self, message: &Value) {
        self.engine
            .input(self.now, Input::Line(message.to_string().as_bytes()));
    }

    fn act(&mut self, action: Action) {
        self.sent += 1;
        let id = format!("host-{}", self.sent);
        let request =
            |request: Value| json!({"type": "control_request", "request_id": id, "request": request});
        match action {
            Action::Prompt(text) => {
                self.say(&json!({"type": "user", "uuid": id, "message": {"role": "user", "content": text}}));
            }
            Action::Interrupt => self.say(&request(json!({"subtype": "interrupt"}))),
            Action::DropQueue => self.say(&request(json!({"subtype": "interrupt", "cancel_queued": true}))),
            Action::Mode(mode) => self.say(&request(json!({"subtype": "set_permission_mode", "mode": mode}))),
            Action::Answer(reply) => {
                let Some(asked) = self
                    .frames
                    .iter()
                    .rfind(|frame| frame["type"] == "control_request")
                else {
                    return;
                };
                let response =
                    json!({"subtype": "success", "request_id": asked["request_id"], "response": reply});
                self.say(&json!({"type": "control_response", "response": response}));
            }
            Action::Wait(ms) => {
                self.run(Duration::from_millis(ms));
            }
        }
    }

    /// How often each id occurs in the frames that `of` picks.
    fn count(&self, of: impl Fn(&Value) -> Vec<Value>) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for id in self.frames.iter().flat_map(of) {
            *counts.entry(id.to_string()).or_default() += 1;
        }
        counts
    }
}

fn picked(frame: &Value, kind: &str, id: &Value) -> Vec<Value> {
    if frame["type"] == kind {
        vec![id.clone()]
    } else {
        Vec::new()
    }
}

fn blocks(frame: &Value, kind: &str, key: &str) -> Vec<Value> {
    let blocks = frame["message"]["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == kind)
        .map(|block| block[key].clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_settled_exactly_once(
        actions in prop::collection::vec(action(), 0..40), breathe in any::<bool>(), hooks in any::<bool>(),
    ) {
        let mut host = Host::new(hooks);
        let (mut requests, mut prompts) = (usize::from(hooks), 0);
        for action in actions {
            requests += usize::from(matches!(action, Action::Interrupt | Action::DropQueue | Action::Mode(_)));
            prompts += usize::from(matches!(action, Action::Prompt(_)));
            host.act(action);
            // A host may also say several things before anything is played.
            if breathe {
                host.run(Duration::ZERO);
            }
        }
        host.engine.input(host.now, Input::EndOfInput);
        let pace = host.run(Duration::from_secs(60));
        prop_assert!(matches!(pace, Pace::Exit(0 | 1)), "{pace:?}");

        let answered = host.count(|frame| picked(frame, "control_response", &frame["response"]["request_id"]));
        prop_assert_eq!(answered.len(), requests);
        prop_assert!(answered.values().all(|count| *count == 1), "{:?}", answered);

        let ends = |frame: &Value| match frame["state"].as_str() {
            Some("completed" | "cancelled") => picked(frame, "command_lifecycle", &frame["command_uuid"]),
            _ => Vec::new(),
        };
        let ended = host.count(ends);
        prop_assert_eq!(ended.len(), prompts);
        prop_assert!(ended.values().all(|count| *count == 1), "{:?}", ended);

        // What a subagent was about to do ends with its call.
        let own = |frame: &Value| frame["parent_tool_use_id"].is_null();
        host.frames.retain(own);
        let called = host.count(|frame| blocks(frame, "tool_use", "id"));
        let resulted = host.count(|frame| blocks(frame, "tool_result", "tool_use_id"));
        prop_assert_eq!(called, resulted);

        let started = host.count(|frame| picked_event(frame, "message_start"));
        let stopped = host.count(|frame| picked_event(frame, "message_stop"));
        prop_assert_eq!(started, stopped);
        let opened = host.frames.iter().filter(|frame| frame["event"]["type"] == "content_block_start").count();
        let closed = host.frames.iter().filter(|frame| frame["event"]["type"] == "content_block_stop").count();
        prop_assert_eq!(opened, closed);

        let mut states = host.frames.iter().filter(|frame| frame["subtype"] == "session_state_changed");
        let last = states.next_back().map(|frame| frame["state"].clone());
        prop_assert!(last.is_none() || last == Some(json!("idle")), "{last:?}");
        let ids = host.count(|frame| frame.get("uuid").cloned().into_iter().collect());
        prop_assert!(ids.values().all(|count| *count == 1));
    }
}

fn picked_event(frame: &Value, kind: &str) -> Vec<Value> {
    if frame["event"]["type"] == kind {
        vec![frame["api_message_id"].clone()]
    } else {
        Vec::new()
    }
}
