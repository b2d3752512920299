//! Random traffic against a model of the peer: exactly one answer per request, arrival order kept, whatever comes
//! between.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::harness::{Rig, within};
use crate::peer::{PendingResponse, RequestFailed};

/// Ids as they are written; the last two mean the same.
const IDS: [&str; 7] = ["1", "-1", "1.5", "null", r#""a""#, "\"é\"", r#""\u00e9""#];

/// What happens, on either side.
#[derive(Clone, Debug)]
enum Op {
    /// The client makes a request.
    Call(Method, usize),
    /// The client sends a notification.
    Note,
    /// The client cancels a request.
    Cancel(usize),
    /// The client sends a line that is answered with an error, or one that is not answered.
    Garbage(usize),
    /// The client answers the n-th of our requests, or one we never made.
    Answer(usize, bool),
    /// A held request goes on.
    Release(usize),
    /// We make a request.
    Ask,
    /// We give one of our requests up.
    Withdraw(usize),
    /// Everything so far is written and its answers are read.
    Flush,
}

#[derive(Clone, Copy, Debug)]
enum Method {
    Echo,
    Hold,
    Fail,
    Panic,
    PanicLater,
    Unknown,
}

/// Lines and the code of the error they are answered with.
const GARBAGE: [(&str, Option<i32>); 8] = [
    ("{oops", Some(-32700)),
    ("[]", Some(-32600)),
    ("7", Some(-32600)),
    (r#"{"id":1,"method":"echo"}"#, Some(-32600)),
    ("", None),
    (r#"{"jsonrpc":"2.0","id":1}"#, None),
    (r#"{"jsonrpc":"2.0","method":"nobody/knows"}"#, None),
    (
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        None,
    ),
];

fn op() -> impl Strategy<Value = Op> {
    let method = prop_oneof![
        2 => Just(Method::Echo),
        5 => Just(Method::Hold),
        1 => Just(Method::Fail),
        1 => Just(Method::Panic),
        1 => Just(Method::PanicLater),
        1 => Just(Method::Unknown),
    ];
    prop_oneof![
        8 => (method, 0..IDS.len()).prop_map(|(method, id)| Op::Call(method, id)),
        2 => Just(Op::Note),
        3 => (0..IDS.len()).prop_map(Op::Cancel),
        2 => (0..GARBAGE.len()).prop_map(Op::Garbage),
        3 => (0usize..4, any::<bool>()).prop_map(|(pick, ok)| Op::Answer(pick, ok)),
        3 => (0usize..8).prop_map(Op::Release),
        2 => Just(Op::Ask),
        1 => (0usize..4).prop_map(Op::Withdraw),
        1 => Just(Op::Flush),
    ]
}

/// The same number for ids that are equal.
fn class(id: usize) -> usize {
    id.min(5)
}

fn id_value(id: usize) -> Value {
    serde_json::from_str(IDS[id]).unwrap()
}

/// What the peer should be in, and what it should say next.
struct Model {
    rig: Rig,
    burst: String,
    /// Answers that come in this order.
    ordered: Vec<Value>,
    /// Answers that tasks give, in any order and between the others.
    unordered: Vec<Value>,
    /// Held requests: the id as it was written, and the name.
    open: BTreeMap<usize, (usize, String)>,
    /// Ids that an answer on its way may or may not have freed.
    unsettled: Vec<usize>,
    asked: Vec<(u64, PendingResponse)>,
    answered: Vec<(PendingResponse, Result<Value, i64>)>,
    log: Vec<String>,
    names: usize,
    asks: u64,
}

impl Model {
    fn new() -> Self {
        Self {
            rig: Rig::telling(),
            burst: String::new(),
            ordered: Vec::new(),
            unordered: Vec::new(),
            open: BTreeMap::new(),
            unsettled: Vec::new(),
            asked: Vec::new(),
            answered: Vec::new(),
            log: Vec::new(),
            names: 0,
            asks: 0,
        }
    }

    async fn run(&mut self, op: Op) {
        match op {
            Op::Call(method, id) => self.call(method, id),
            Op::Note => {
                self.names += 1;
                self.log.push(format!("note {}", self.names));
                self.say(
                    &json!({"jsonrpc": "2.0", "method": "note", "params": {"name": self.names.to_string()}})
                        .to_string(),
                );
            }
            Op::Cancel(id) => self.cancel(id),
            Op::Garbage(pick) => {
                let (line, code) = GARBAGE[pick];
                self.say(line);
                self.ordered
                    .extend(code.map(|code| json!({"id": null, "code": code})));
            }
            Op::Answer(pick, ok) => self.answer(pick, ok),
            Op::Release(pick) => self.release(pick).await,
            Op::Ask => self.ask().await,
            Op::Withdraw(pick) => self.withdraw(pick).await,
            Op::Flush => self.flush().await,
        }
    }

    fn say(&mut self, line: &str) {
        self.burst += line;
        self.burst += "\n";
    }

    fn call(&mut self, method: Method, id: usize) {
        if self.unsettled.contains(&class(id)) {
            return;
        }
        self.names += 1;
        let name = self.names.to_string();
        let wire = match method {
            Method::Echo => "echo",
            Method::Hold => "hold",
            Method::Fail => "fail",
            Method::Panic => "panic",
            Method::PanicLater => "panic_later",
            Method::Unknown => "nobody/knows",
        };
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{wire}","params":{{"name":"{name}"}}}}"#,
            IDS[id]
        ));
        if self.open.contains_key(&class(id)) {
            self.ordered.push(json!({"id": null, "code": -32600}));
            return;
        }
        let wire_id = id_value(id);
        match method {
            Method::Echo => self
                .ordered
                .push(json!({"id": wire_id, "result": {"name": name}})),
            Method::Fail | Method::Panic => self.ordered.push(json!({"id": wire_id, "code": -32603})),
            Method::Unknown => self.ordered.push(json!({"id": wire_id, "code": -32601})),
            Method::PanicLater => {
                self.unordered.push(json!({"id": wire_id, "code": -32603}));
                self.unsettled.push(class(id));
            }
            Method::Hold => {
                self.log.push(format!("hold {name}"));
                self.open.insert(class(id), (id, name));
            }
        }
    }

    fn cancel(&mut self, id: usize) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{}}}}}"#,
            IDS[id]
        ));
        if let Some((wire_id, name)) = self.open.remove(&class(id)) {
            self.unordered
                .push(json!({"id": id_value(wire_id), "result": {"cancelled": name}}));
            self.unsettled.push(class(id));
        }
    }

    fn answer(&mut self, pick: usize, ok: bool) {
        let (id, pending) = match pick < self.asked.len() {
            true => {
                let (id, pending) = self.asked.remove(pick);
                (id, Some(pending))
            }
            false => (1_000_000, None),
        };
        let (member, outcome) = match ok {
            true => (
                json!({"jsonrpc": "2.0", "id": id, "result": {"to": id}}),
                Ok(json!({"to": id})),
            ),
            false => (
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -5, "message": "no"}}),
                Err(-5),
            ),
        };
        self.say(&member.to_string());
        self.answered.extend(pending.map(|pending| (pending, outcome)));
    }

    async fn release(&mut self, pick: usize) {
        self.flush().await;
        let Some(class) = self.open.keys().copied().cycle().nth(pick) else {
            return;
        };
        let (id, name) = self.open.remove(&class).unwrap();
        self.rig.stage.release(&name);
        self.unordered
            .push(json!({"id": id_value(id), "result": {"released": name}}));
        self.flush().await;
    }

    async fn ask(&mut self) {
        self.flush().await;
        let (line, pending) = self.rig.connection.prepare_request("ask", &json!({}));
        self.rig.connection.send(line).await.unwrap();
        self.ordered.push(json!({"id": self.asks, "method": "ask"}));
        self.asked.push((self.asks, pending));
        self.asks += 1;
        self.flush().await;
    }

    async fn withdraw(&mut self, pick: usize) {
        self.flush().await;
        if pick < self.asked.len() {
            let (id, pending) = self.asked.remove(pick);
            pending.cancel();
            assert!(matches!(within(pending).await, Err(RequestFailed::Cancelled)));
            self.ordered
                .push(json!({"method": "$/cancel_request", "requestId": id}));
        }
        self.flush().await;
    }

    /// Sends what was said, and reads exactly what should come back.
    async fn flush(&mut self) {
        self.say(r#"{"jsonrpc":"2.0","id":"probe","method":"echo","params":{"all":"handled"}}"#);
        self.ordered
            .push(json!({"id": "probe", "result": {"all": "handled"}}));
        let burst = std::mem::take(&mut self.burst);
        self.rig.client.send_bytes(burst.as_bytes()).await;
        let mut messages = Vec::new();
        for _ in 0..self.ordered.len() + self.unordered.len() {
            messages.push(summary(&self.rig.client.message().await));
        }
        self.compare(messages);
        self.unsettled.clear();
        for (pending, expected) in std::mem::take(&mut self.answered) {
            let outcome = match within(pending).await {
                Ok(result) => Ok(serde_json::from_str::<Value>(result.get()).unwrap()),
                Err(RequestFailed::Rpc(error)) => Err(i64::from(error.code())),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(outcome, expected);
        }
    }

    fn compare(&mut self, mut messages: Vec<Value>) {
        for expected in std::mem::take(&mut self.unordered) {
            // The last one: an id is not used again in a burst once a task answers it.
            let at = messages.iter().rposition(|message| *message == expected);
            messages.remove(at.unwrap_or_else(|| panic!("{expected} is missing in {messages:?}")));
        }
        assert_eq!(messages, std::mem::take(&mut self.ordered));
    }

    /// The client leaves: whatever is open is settled.
    async fn end(mut self) {
        self.flush().await;
        self.rig.client.close_input().await;
        let rest = self.rig.client.rest().await.iter().map(summary).collect();
        for (_, (id, name)) in std::mem::take(&mut self.open) {
            self.unordered
                .push(json!({"id": id_value(id), "result": {"cancelled": name}}));
        }
        self.compare(rest);
        for (_, pending) in self.asked {
            assert!(matches!(within(pending).await, Err(RequestFailed::Closed)));
        }
        assert_eq!(self.rig.stage.log(), self.log, "handlers ran in arrival order");
        within(self.rig.served).await.unwrap();
    }
}

/// The parts of a message the model speaks of.
fn summary(message: &Value) -> Value {
    match (message.get("method"), message.get("error")) {
        (Some(method), _) if method == "$/cancel_request" => {
            json!({"method": method, "requestId": message["params"]["requestId"]})
        }
        (Some(method), _) => json!({"id": message["id"], "method": method}),
        (None, Some(error)) => json!({"id": message["id"], "code": error["code"]}),
        (None, None) => json!({"id": message["id"], "result": message["result"]}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_time: 30_000, ..ProptestConfig::default() })]

    #[test]
    fn random_traffic_gets_exactly_the_answers_of_the_model(ops in proptest::collection::vec(op(), 0..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut model = Model::new();
            for op in ops {
                model.run(op).await;
            }
            model.end().await;
        });
    }
}
