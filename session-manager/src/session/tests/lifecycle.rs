//! A model test of the life of permission questions: whatever order Claude asks and withdraws in, and the client
//! answers, cancels and goes away in, each question has exactly one reply, and is allowed only by the very option
//! that the user selected.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{FakeClaude, Lines, World};

/// Time is paused and goes on only when nobody has anything to do, so this is how long quiet takes to notice.
const QUIET: Duration = Duration::from_millis(1);

/// Longer than a session takes to end.
const END: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask(Kind),
    /// Claude delivers a question again.
    Repeat(usize),
    /// Claude withdraws a question, answered or not.
    Withdraw(usize),
    /// The client responds to a request, whether it has done so before or not.
    Answer(usize, Choice),
    Cancel,
    Disconnect,
}

/// What Claude asks about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Command,
    CommandWithSuggestion,
    /// Takes another exchange with Claude before it is shown.
    Plan,
    Form,
}

/// What the client responds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    /// The option of this number, or the form filled in.
    Offered(usize),
    /// An option that is offered nowhere, or an unknown action.
    Forged,
    Cancelled,
    Null,
    Error,
}

/// What a reply to Claude comes to.
#[derive(Debug, PartialEq)]
enum Reply {
    /// With the updates that come with it.
    Allow(Value),
    Deny,
    Error,
}

struct Question {
    kind: Kind,
    /// The request that the client got.
    request: Option<Value>,
    /// What the first of the client's responses comes to.
    chosen: Option<Reply>,
    withdrawn: bool,
    /// The client was told that nobody waits for its answer.
    recalled: bool,
    replies: Vec<Reply>,
}

struct Model {
    client: Option<Lines>,
    claude: FakeClaude,
    session: String,
    questions: Vec<Question>,
    announced: HashSet<String>,
    /// The id of the open `session/prompt`.
    prompt: Option<u64>,
    next_id: u64,
    /// The prompt that Claude works on.
    working_on: Option<String>,
}

fn steps() -> impl Strategy<Value = Vec<(Step, bool)>> {
    let kind = prop_oneof![
        Just(Kind::Command),
        Just(Kind::CommandWithSuggestion),
        Just(Kind::Plan),
        Just(Kind::Form)
    ];
    let choice = prop_oneof![
        4 => (0..4_usize).prop_map(Choice::Offered),
        1 => Just(Choice::Forged),
        1 => Just(Choice::Cancelled),
        1 => Just(Choice::Null),
        1 => Just(Choice::Error),
    ];
    let which = 0..8_usize;
    let step = prop_oneof![
        8 => kind.prop_map(Step::Ask),
        8 => (which.clone(), choice).prop_map(|(which, choice)| Step::Answer(which, choice)),
        2 => which.clone().prop_map(Step::Withdraw),
        1 => which.prop_map(Step::Repeat),
        2 => Just(Step::Cancel),
        1 => Just(Step::Disconnect),
    ];
    prop::collection::vec((step, any::<bool>()), 1..24)
}

proptest! {
    // `PROPTEST_CASES` asks for more.
    #[test]
    fn each_question_has_one_reply_and_only_the_users_choice_allows(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(&steps));
    }
}

async fn run(steps: &[(Step, bool)]) {
    let (world, claude) = World::open().await;
    // What is left of the world lives to the end of the case.
    let World { client, session, .. } = world;
    let mut model = Model {
        client: Some(client),
        claude,
        session,
        questions: Vec::new(),
        announced: HashSet::new(),
        prompt: None,
        next_id: 1000,
        working_on: None,
    };
    for (step, alone) in steps {
        // A step on its own has a certain outcome; others race with what is still under way.
        if *alone {
            model.settle(QUIET).await;
        }
        let expected = alone.then(|| model.expected(*step));
        model.take(*step).await;
        if let Some(expected) = expected {
            model.settle(QUIET).await;
            model.check_step(*step, expected);
        }
    }
    model.finish().await;
}

impl Model {
    async fn take(&mut self, step: Step) {
        match step {
            Step::Ask(kind) => {
                self.questions.push(Question {
                    kind,
                    request: None,
                    chosen: None,
                    withdrawn: false,
                    recalled: false,
                    replies: Vec::new(),
                });
                self.deliver(self.questions.len() - 1).await;
            }
            // Once a question has its reply, the same id would be another question: one that is under way counts.
            Step::Repeat(which) => {
                self.settle(QUIET).await;
                if self.is_open(which) {
                    self.deliver(which).await;
                }
            }
            Step::Withdraw(which) => {
                if let Some(question) = self.questions.get_mut(which) {
                    question.withdrawn = true;
                    let withdrawal = json!({"type": "control_cancel_request", "request_id": control(which)});
                    self.tell_session(withdrawal).await;
                }
            }
            Step::Answer(which, choice) => self.answer(which, choice).await,
            Step::Cancel => {
                let params = json!({"sessionId": self.session});
                self.tell_client(json!({"method": "session/cancel", "params": params}))
                    .await;
            }
            Step::Disconnect => self.client = None,
        }
    }

    async fn deliver(&mut self, which: usize) {
        let (tool, input) = match self.questions[which].kind {
            Kind::Command | Kind::CommandWithSuggestion => ("Bash", json!({"command": "npm test"})),
            Kind::Plan => ("ExitPlanMode", json!({})),
            Kind::Form => {
                let options = json!([{"label": "a"}, {"label": "b"}]);
                let question = json!({"question": "Which?", "header": "Pick", "options": options});
                ("AskUserQuestion", json!({"questions": [question]}))
            }
        };
        let mut request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": tool_use(which)});
        if self.questions[which].kind == Kind::CommandWithSuggestion {
            request["permission_suggestions"] = suggestion();
        }
        let line = json!({"type": "control_request", "request_id": control(which), "request": request});
        self.tell_session(line).await;
    }

    async fn answer(&mut self, which: usize, choice: Choice) {
        let Some(question) = self.questions.get_mut(which) else {
            return;
        };
        let Some(request) = &question.request else { return };
        let mut response = json!({"id": request["id"]});
        let options = request["params"]["options"].as_array();
        let (result, meaning) = match (choice, options) {
            (Choice::Error, None) => (Value::Null, Reply::Deny),
            (Choice::Error, Some(_)) | (Choice::Null, _) => (Value::Null, Reply::Error),
            (Choice::Offered(_), None) => (
                json!({"action": "accept", "content": {"question_0": "a"}}),
                Reply::Allow(Value::Null),
            ),
            (Choice::Forged, None) => (json!({"action": "allow"}), Reply::Error),
            (Choice::Cancelled, None) => (json!({"action": "cancel"}), Reply::Error),
            (Choice::Offered(number), Some(options)) => {
                let option = &options[number % options.len()];
                // A plan that goes on in a new process is another test's.
                let id = match option["optionId"].as_str().unwrap() {
                    id if id.starts_with("exit-plan-clear") => "reject",
                    id => id,
                };
                (selected(id), meaning(id))
            }
            (Choice::Forged, Some(_)) => (selected("exit-plan-bypass"), Reply::Error),
            (Choice::Cancelled, Some(_)) => (json!({"outcome": {"outcome": "cancelled"}}), Reply::Error),
        };
        if choice == Choice::Error {
            response["error"] = json!({"code": -32603, "message": "the dialog is gone"});
        } else {
            response["result"] = result;
        }
        if self.client.is_some() {
            question.chosen.get_or_insert(meaning);
        }
        self.tell_client(response).await;
    }

    /// Lets everything that is under way arrive.
    async fn settle(&mut self, quiet: Duration) {
        if self.client.is_some() && self.prompt.is_none() {
            self.next_id += 1;
            self.prompt = Some(self.next_id);
            let prompt = json!([{"type": "text", "text": "go"}]);
            let params = json!({"sessionId": self.session, "prompt": prompt});
            self.tell_client(json!({"id": self.next_id, "method": "session/prompt", "params": params}))
                .await;
        }
        loop {
            if let Some(client) = &mut self.client
                && let Some(message) = client.receive_within(QUIET).await
            {
                self.client_got(&message);
            } else if let Some(message) = self.claude.lines.receive_within(quiet).await {
                self.claude_got(&message).await;
            } else {
                return;
            }
        }
    }

    fn client_got(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str() {
            None if message["id"] == json!(self.prompt) => self.prompt = None,
            None => {}
            Some("session/update") if params["update"]["sessionUpdate"] == "tool_call" => {
                let id = params["update"]["toolCallId"].as_str().unwrap();
                assert!(self.announced.insert(id.to_owned()), "`{id}` is announced twice");
            }
            Some("session/update") => {}
            Some("session/request_permission" | "elicitation/create") => {
                let id = params["toolCall"]["toolCallId"]
                    .as_str()
                    .or(params["toolCallId"].as_str());
                let id = id.unwrap();
                assert!(self.announced.contains(id), "`{id}` is asked about unannounced");
                let question = &mut self.questions[number(id)];
                assert_eq!(question.request, None, "`{id}` is asked about twice");
                question.request = Some(message.clone());
            }
            Some("$/cancel_request") => {
                let recalled = |question: &&mut Question| {
                    let request = question.request.as_ref();
                    request.is_some_and(|request| request["id"] == params["requestId"])
                };
                let question = self.questions.iter_mut().find(recalled).unwrap();
                assert!(!question.recalled, "recalled twice: {message}");
                question.recalled = true;
            }
            Some(other) => panic!("unexpected `{other}`: {message}"),
        }
    }

    async fn claude_got(&mut self, message: &Value) {
        match message["type"].as_str().unwrap() {
            "user" => {
                let uuid = message["uuid"].as_str().unwrap();
                self.working_on = Some(uuid.to_owned());
                let started = json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "started"});
                self.tell_session(started).await;
            }
            "control_request" => {
                let response = json!({"subtype": "success", "request_id": message["request_id"], "response": {"content": "a plan"}});
                self.tell_session(json!({"type": "control_response", "response": response}))
                    .await;
                if message["request"]["subtype"] == "interrupt"
                    && let Some(uuid) = self.working_on.take()
                {
                    self.tell_session(json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools", "user_message_uuids": [uuid]}))
                        .await;
                }
            }
            "control_response" => {
                let response = &message["response"];
                let number = number(response["request_id"].as_str().unwrap());
                let reply = match response["subtype"].as_str().unwrap() {
                    "success" if response["response"]["behavior"] == "allow" => {
                        Reply::Allow(response["response"]["updatedPermissions"].clone())
                    }
                    "success" => Reply::Deny,
                    _ => Reply::Error,
                };
                let question = &mut self.questions[number];
                if reply != Reply::Error {
                    assert_eq!(question.chosen.as_ref(), Some(&reply), "nobody chose this");
                }
                question.replies.push(reply);
                assert_eq!(question.replies.len(), 1, "one reply: {message}");
            }
            // Nobody waits for our answer any more.
            "control_cancel_request" => {}
            other => panic!("unexpected `{other}`: {message}"),
        }
    }

    /// Whether the client can still decide a question.
    fn is_open(&self, which: usize) -> bool {
        self.questions
            .get(which)
            .is_some_and(|question| question.replies.is_empty() && !question.withdrawn)
    }

    /// The questions that must have a reply once this step has been taken on its own.
    fn expected(&self, step: Step) -> Vec<usize> {
        let connected = self.client.is_some();
        match step {
            Step::Answer(which, _) if connected && self.is_open(which) => vec![which],
            Step::Cancel | Step::Disconnect if connected => {
                let all = 0..self.questions.len();
                all.filter(|which| self.is_open(*which)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn check_step(&self, step: Step, expected: Vec<usize>) {
        for which in expected {
            let question = &self.questions[which];
            let reply = match step {
                Step::Answer(..) => question.chosen.as_ref(),
                _ => Some(&Reply::Error),
            };
            assert_eq!(question.replies.first(), reply, "{which} after {step:?}");
        }
    }

    /// Ends the session and checks that nothing is left open on either side.
    async fn finish(mut self) {
        self.settle(QUIET).await;
        let connected = self.client.is_some();
        let params = json!({"sessionId": self.session});
        self.tell_client(json!({"id": 1, "method": "session/close", "params": params}))
            .await;
        self.prompt.get_or_insert(0);
        self.settle(END).await;
        for (which, question) in self.questions.iter().enumerate().filter(|_| connected) {
            let replied = question.replies.len() == 1;
            assert!(replied || question.withdrawn, "{which} has no reply");
            let decided = question.chosen.is_some() || question.recalled;
            assert!(question.request.is_none() || decided, "{which} is still shown");
        }
    }

    /// Claude says something; once the client has gone, perhaps to nobody.
    async fn tell_session(&mut self, message: Value) {
        let taken = self.claude.lines.try_send(&format!("{message}\n")).await;
        assert!(taken, "the session does not read");
    }

    async fn tell_client(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        if let Some(client) = &mut self.client {
            client.send(message).await;
        }
    }
}

fn suggestion() -> Value {
    let rule = json!({"toolName": "Bash", "ruleContent": "npm test *"});
    json!([{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}])
}

/// What selecting an offered option comes to.
fn meaning(option: &str) -> Reply {
    let mode = |mode: &str| json!([{"type": "setMode", "mode": mode, "destination": "session"}]);
    match option {
        "allow-once" => Reply::Allow(Value::Null),
        "allow-with-updates" => Reply::Allow(suggestion()),
        "exit-plan-default" => Reply::Allow(mode("default")),
        "exit-plan-accept-edits" => Reply::Allow(mode("acceptEdits")),
        "reject" => Reply::Deny,
        other => panic!("unexpected option `{other}`"),
    }
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn control(which: usize) -> String {
    format!("ask-{which}")
}

fn tool_use(which: usize) -> String {
    format!("toolu_{which}")
}

/// The question behind an id of either kind.
fn number(id: &str) -> usize {
    id.trim_start_matches(|character: char| !character.is_ascii_digit())
        .parse()
        .unwrap()
}
