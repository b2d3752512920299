//! An ACP client that works line by line: it sends what a test tells it to, raw lines included, and keeps every
//! message it received until somebody asks for it. A message nobody asked for fails the test at the end.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use serde_json::{Value, json};

use super::turn::Turn;
use super::wire::{Outgoing, Wire};
use super::{PATIENCE, schema};

/// The client's end of one connection.
pub struct Client {
    outgoing: Option<Outgoing>,
    lines: Receiver<String>,
    /// Messages that arrived while something else was awaited, in order.
    held: Vec<Value>,
    ignored: Vec<String>,
    sent_methods: HashMap<u64, String>,
    next_id: u64,
    transcript: Vec<String>,
}

/// A prompt that has been sent.
#[derive(Debug)]
pub struct Prompt {
    id: u64,
    session: String,
}

/// How the client answers a permission request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Selects the first option of this kind.
    Kind(&'static str),
    /// Selects an option by its id, offered or not.
    Option(String),
    /// The outcome `cancelled`.
    Cancelled,
    /// A JSON-RPC error.
    Error,
    /// No answer at all.
    Silence,
}

/// Allows whatever is asked, once.
pub fn allow_once(_: &Value) -> Answer {
    Answer::Kind("allow_once")
}

/// Rejects whatever is asked, once.
pub fn reject_once(_: &Value) -> Answer {
    Answer::Kind("reject_once")
}

/// Fails the test when anything is asked.
pub fn no_questions(request: &Value) -> Answer {
    panic!("unexpected permission request: {request}")
}

impl Prompt {
    /// The id of its request.
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl Client {
    /// Takes over a connection.
    pub fn new(wire: Wire) -> Self {
        let (outgoing, lines) = wire.split();
        Self {
            outgoing: Some(outgoing),
            lines,
            held: Vec::new(),
            ignored: Vec::new(),
            sent_methods: HashMap::new(),
            next_id: 1,
            transcript: Vec::new(),
        }
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &str) {
        self.note(">", line);
        let outgoing = self.outgoing.as_mut().expect("an open connection");
        outgoing
            .send(format!("{line}\n").as_bytes())
            .expect("the agent reads");
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.note(">", &String::from_utf8_lossy(bytes));
        self.outgoing
            .as_mut()
            .expect("an open connection")
            .send(bytes)
            .expect("the agent reads");
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.sent_methods.insert(id, method.to_owned());
        self.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Sends a request and waits for its answer.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        self.response(id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Waits for the answer to a request; other messages are kept.
    pub fn response(&mut self, id: u64) -> Result<Value, Value> {
        let response = self.wait(|message| is_response(message) && message["id"] == id);
        outcome(response)
    }

    /// Waits for the first message, whatever it is.
    pub fn next_message(&mut self) -> Value {
        self.wait(|_| true)
    }

    /// The next line as it came; nothing may have been kept back before it.
    pub fn next_line(&mut self) -> String {
        assert!(
            self.held.is_empty(),
            "messages that were not looked at: {:#?}",
            self.held
        );
        let line = self.lines.recv_timeout(PATIENCE).expect("a line");
        self.note("<", &line);
        line
    }

    /// Waits for an update of this kind; other messages are kept.
    pub fn update(&mut self, session: &str, kind: &str) -> Value {
        let mut message = self.wait(|message| {
            is_update_of(message, session) && message["params"]["update"]["sessionUpdate"] == kind
        });
        message["params"]["update"].take()
    }

    /// Waits for a permission request; returns its id and parameters.
    pub fn permission_request(&mut self) -> (Value, Value) {
        let mut message = self.wait(|message| message["method"] == "session/request_permission");
        (message["id"].take(), message["params"].take())
    }

    /// Waits for an error that belongs to no request.
    pub fn error_without_id(&mut self) -> Value {
        self.wait(|message| is_response(message) && message["id"].is_null())["error"].take()
    }

    /// Waits for a notification; returns its parameters.
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method && message.get("id").is_none())["params"].take()
    }

    /// Answers a permission request.
    pub fn answer(&mut self, id: &Value, request: &Value, answer: &Answer) {
        let outcome = match answer {
            Answer::Silence => return,
            Answer::Error => {
                let error = json!({"code": -32603, "message": "the dialog is gone"});
                return self.send_line(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
            }
            Answer::Cancelled => json!({"outcome": "cancelled"}),
            Answer::Option(option) => json!({"outcome": "selected", "optionId": option}),
            Answer::Kind(kind) => {
                let options = request["options"].as_array().expect("options");
                let option = options.iter().find(|option| option["kind"] == *kind);
                let option = option.unwrap_or_else(|| panic!("no option of kind `{kind}`: {request}"));
                json!({"outcome": "selected", "optionId": option["optionId"]})
            }
        };
        let result = json!({"outcome": outcome});
        self.send_line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
    }

    /// From now on updates of this kind, or notifications of this method, are skipped.
    pub fn ignore(&mut self, kind: &str) {
        self.ignored.push(kind.to_owned());
        let ignored = &self.ignored;
        self.held.retain(|message| !is_ignored(message, ignored));
    }

    /// Says hello with the capabilities of an ordinary editor.
    pub fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true},
            "clientInfo": {"name": "e2e", "title": "End-to-end suite", "version": "0"},
        });
        self.call("initialize", params).expect("initialize succeeds")
    }

    /// Opens a session in a folder and waits for its list of commands.
    pub fn new_session(&mut self, cwd: &str) -> String {
        self.new_session_with(json!({"cwd": cwd, "mcpServers": []}))
    }

    /// Opens a session with these parameters and waits for its list of commands.
    pub fn new_session_with(&mut self, params: Value) -> String {
        let result = self.call("session/new", params).expect("session/new succeeds");
        let session = result["sessionId"].as_str().expect("a session id").to_owned();
        let early = self.held.iter().find(|message| is_update_of(message, &session));
        assert_eq!(early, None, "nothing of a session may come before its response");
        self.update(&session, "available_commands_update");
        session
    }

    /// Sends a prompt of one text block and waits for its end.
    pub fn prompt(&mut self, session: &str, text: &str, ask: impl FnMut(&Value) -> Answer) -> Turn {
        let prompt = self.start_prompt(session, text);
        self.finish_prompt(&prompt, ask)
    }

    /// Sends a prompt of one text block.
    pub fn start_prompt(&mut self, session: &str, text: &str) -> Prompt {
        self.start_prompt_with(session, json!([{"type": "text", "text": text}]))
    }

    /// Sends a prompt of these blocks.
    pub fn start_prompt_with(&mut self, session: &str, blocks: Value) -> Prompt {
        let id = self.request("session/prompt", json!({"sessionId": session, "prompt": blocks}));
        Prompt {
            id,
            session: session.to_owned(),
        }
    }

    /// Sends a prompt and, in the same write, its cancellation.
    pub fn start_prompt_and_cancel(&mut self, session: &str, text: &str) -> Prompt {
        let id = self.next_id;
        self.next_id += 1;
        self.sent_methods.insert(id, "session/prompt".to_owned());
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let prompt = json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params});
        let params = json!({"sessionId": session});
        let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
        self.send_line(&format!("{prompt}\n{cancel}"));
        Prompt {
            id,
            session: session.to_owned(),
        }
    }

    /// Waits for the response to a prompt, collecting the session's updates and answering its questions.
    pub fn finish_prompt(&mut self, prompt: &Prompt, mut ask: impl FnMut(&Value) -> Answer) -> Turn {
        let (mut updates, mut questions) = (Vec::new(), Vec::new());
        loop {
            let message = self.wait(|message| {
                is_response(message) && message["id"] == prompt.id
                    || message["params"]["sessionId"] == prompt.session.as_str()
            });
            match message["method"].as_str() {
                None => {
                    return Turn {
                        updates,
                        questions,
                        outcome: outcome(message),
                    };
                }
                Some("session/update") => updates.push(message["params"]["update"].clone()),
                Some("session/request_permission") => {
                    let (id, request) = (message["id"].clone(), message["params"].clone());
                    let answer = ask(&request);
                    self.answer(&id, &request, &answer);
                    questions.push(request);
                }
                Some(other) => panic!("unexpected `{other}` during a prompt: {message}"),
            }
        }
    }

    /// Asks for the end of a session's turn.
    pub fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session}));
    }

    /// Waits until the agent has ended the connection; messages before that are kept.
    pub fn wait_closed(&mut self) {
        while let Some(message) = self.receive() {
            self.held.push(message);
        }
    }

    /// Forgets everything that was received, for a test that is not about it.
    pub fn ignore_rest(&mut self) {
        self.wait_closed();
        self.held.clear();
    }

    /// Ends our direction of the connection.
    pub fn close(&mut self) {
        if let Some(outgoing) = self.outgoing.take() {
            outgoing.end();
        }
    }

    /// Goes away in both directions at once, and forgets what was received.
    pub fn vanish(mut self) {
        if let Some(outgoing) = self.outgoing.take() {
            outgoing.vanish();
        }
        self.ignore_rest();
    }

    /// Stops reading for good while our direction stays open, as a client that hangs or has lost its pipe.
    pub fn stop_reading(mut self) {
        self.held.clear();
        let (_, nothing) = std::sync::mpsc::channel();
        self.lines = nothing;
    }

    /// Takes the first kept or arriving message that is wanted; others are kept in order.
    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.held.iter().position(&wanted) {
            return self.held.remove(index);
        }
        loop {
            let message = self.receive().expect("the agent ended the connection");
            if wanted(&message) {
                return message;
            }
            self.held.push(message);
        }
    }

    /// The next message that is not ignored; `None` at the end of the connection.
    fn receive(&mut self) -> Option<Value> {
        loop {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("no message for {PATIENCE:?}; kept: {:#?}", self.held)
                }
            };
            self.note("<", &line);
            let message: Value = serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("a line that is not JSON: {error}: {line}"));
            self.check(&message);
            if !is_ignored(&message, &self.ignored) {
                return Some(message);
            }
        }
    }

    fn check(&self, message: &Value) {
        assert_eq!(message["jsonrpc"], "2.0", "not JSON-RPC 2.0: {message}");
        if let Some(method) = message["method"].as_str() {
            schema::check_call(method, &message["params"]);
        } else if let (Some(id), Some(result)) = (message["id"].as_u64(), message.get("result")) {
            schema::check_result(self.sent_methods.get(&id).map_or("", String::as_str), result);
        }
    }

    fn note(&mut self, direction: &str, line: &str) {
        let short: String = line.chars().take(600).collect();
        self.transcript.push(format!("{direction} {short}"));
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.transcript.len().saturating_sub(60);
            let tail = self.transcript.get(from..).unwrap_or_default();
            eprintln!("--- the client's last messages\n{}\n---", tail.join("\n"));
            return;
        }
        self.close();
        self.wait_closed();
        assert!(
            self.held.is_empty(),
            "messages that the test did not expect: {:#?}",
            self.held
        );
    }
}

fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
}

fn is_update_of(message: &Value, session: &str) -> bool {
    message["method"] == "session/update" && message["params"]["sessionId"] == session
}

fn is_ignored(message: &Value, ignored: &[String]) -> bool {
    let name = match message["method"].as_str() {
        Some("session/update") => &message["params"]["update"]["sessionUpdate"],
        _ => &message["method"],
    };
    name.as_str()
        .is_some_and(|name| ignored.iter().any(|ignored| ignored == name))
}

fn outcome(mut response: Value) -> Result<Value, Value> {
    match response.get("error") {
        Some(_) => Err(response["error"].take()),
        None => Ok(response["result"].take()),
    }
}
