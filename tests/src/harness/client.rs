//! An ACP client that works line by line: it sends what a test tells it to, raw lines included, and keeps every
//! message it received until somebody asks for it. A message nobody asked for fails the test at the end.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use serde_json::{Value, json};

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
        let (id, line) = self.request_line(method, params);
        self.send_line(&line);
        id
    }

    /// A request that is about to be sent, with its id.
    pub(super) fn request_line(&mut self, method: &str, params: Value) -> (u64, String) {
        let id = self.next_id;
        self.next_id += 1;
        self.sent_methods.insert(id, method.to_owned());
        (
            id,
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
    }

    /// Messages that arrived while something else was awaited.
    pub(super) fn held(&self) -> &[Value] {
        &self.held
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

    /// Takes an update of this kind that has already been kept.
    pub fn kept_update(&mut self, session: &str, kind: &str) -> Option<Value> {
        let index = self.held.iter().position(|message| {
            is_update_of(message, session) && message["params"]["update"]["sessionUpdate"] == kind
        })?;
        Some(self.held.remove(index)["params"]["update"].take())
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

    /// Waits for an error that belongs to no request.
    pub fn error_without_id(&mut self) -> Value {
        self.wait(|message| is_response(message) && message["id"].is_null())["error"].take()
    }

    /// Waits for a notification; returns its parameters.
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method && message.get("id").is_none())["params"].take()
    }

    /// From now on updates of this kind, or notifications of this method, are skipped.
    pub fn ignore(&mut self, kind: &str) {
        self.ignored.push(kind.to_owned());
        let ignored = &self.ignored;
        self.held.retain(|message| !is_ignored(message, ignored));
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
    pub(super) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
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

pub(super) fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
}

pub(super) fn is_update_of(message: &Value, session: &str) -> bool {
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

pub(super) fn outcome(mut response: Value) -> Result<Value, Value> {
    match response.get("error") {
        Some(_) => Err(response["error"].take()),
        None => Ok(response["result"].take()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// A client and the agent's end of its connection, into which these lines have been written.
    fn connected(lines: &[&str]) -> (Client, UnixStream) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        for line in lines {
            writeln!(theirs, "{line}").unwrap();
        }
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        (Client::new(Wire::Unix(ours)), theirs)
    }

    #[test]
    #[should_panic(expected = "messages that the test did not expect")]
    fn a_message_that_nobody_asked_for_fails() {
        let (client, _theirs) = connected(&[r#"{"jsonrpc":"2.0","method":"$/note","params":{}}"#]);
        drop(client);
    }

    #[test]
    #[should_panic(expected = "a line that is not JSON")]
    fn a_line_that_is_not_json_fails() {
        let (mut client, _theirs) = connected(&["INFO starting"]);
        client.next_message();
    }

    #[test]
    fn messages_are_kept_in_order_while_something_else_is_awaited() {
        let note = |number: u32| format!(r#"{{"jsonrpc":"2.0","method":"$/note","params":{number}}}"#);
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let (mut client, _theirs) = connected(&[&note(1), answer, &note(2)]);
        assert_eq!(client.call("anything", json!({})), Ok(json!({})));
        assert_eq!(
            (
                client.next_message()["params"].take(),
                client.next_message()["params"].take()
            ),
            (json!(1), json!(2))
        );
    }
}
