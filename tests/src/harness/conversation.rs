//! What an editor does with a [`Client`]: says hello, opens sessions, sends prompts, answers permission requests.
//!
//! Sits on the messages of `client` and returns a [`Turn`] for each prompt; it must not read lines itself.

use serde_json::{Value, json};

use super::client::{Client, is_response, is_update_of, outcome};
use super::turn::Turn;

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
        let early = self.held().iter().find(|message| is_update_of(message, &session));
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
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let (id, prompt) = self.request_line("session/prompt", params);
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

    /// Waits for a permission request; returns its id and parameters.
    pub fn permission_request(&mut self) -> (Value, Value) {
        let mut message = self.wait(|message| message["method"] == "session/request_permission");
        (message["id"].take(), message["params"].take())
    }

    /// Waits for a form to fill in; returns the id and the parameters of its request.
    pub fn elicitation(&mut self) -> (Value, Value) {
        let mut message = self.wait(|message| message["method"] == "elicitation/create");
        (message["id"].take(), message["params"].take())
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
}
