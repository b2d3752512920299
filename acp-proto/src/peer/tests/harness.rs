//! A served connection with handlers a test can steer, and its raw other end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::peer::{Closed, Connection, PeerOptions, RequestContext, serve};
use crate::rpc::{Router, RouterBuilder};
use crate::transport::{Caller, Duplex};
use crate::{RpcError, errors};

/// Longer than anything here takes; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits, but not for ever.
pub(super) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("this should have happened by now")
}

/// What handlers saw, in order, and the requests they hold.
#[derive(Clone, Default)]
pub(super) struct Stage {
    log: Arc<Mutex<Vec<String>>>,
    held: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    responded: Arc<Mutex<Vec<tokio_util::sync::CancellationToken>>>,
}

impl Stage {
    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    pub(super) fn write(&self, entry: impl Into<String>) {
        self.log.lock().unwrap().push(entry.into());
    }

    /// Lets the request that holds `name` go on.
    pub(super) fn release(&self, name: &str) {
        let sender = self.held.lock().unwrap().remove(name).expect("a held request");
        sender
            .send(json!({ "released": name }))
            .expect("its handler waits");
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        self.held.lock().unwrap().contains_key(name)
    }

    /// The `responded` tokens of the held requests, in order.
    pub(super) fn responded(&self) -> Vec<tokio_util::sync::CancellationToken> {
        self.responded.lock().unwrap().clone()
    }

    /// `echo` answers at once, `hold` when released or cancelled, `stuck` never; `panic` and `panic_later` panic.
    pub(super) fn router(&self) -> Router {
        let (holding, noting, hanging) = (self.clone(), self.clone(), self.clone());
        RouterBuilder::new()
            .request("initialize", async |_: RequestContext, params: Value| Ok(params))
            .and_then(|builder| builder.request("echo", async |_: RequestContext, params: Value| Ok(params)))
            .and_then(|builder| builder.request("fail", fail))
            .and_then(|builder| builder.request("panic", panic_at_once))
            .and_then(|builder| builder.request("panic_later", panic_later))
            .and_then(|builder| {
                builder.request("hold", move |context, params| {
                    holding.clone().hold(context, params)
                })
            })
            .and_then(|builder| {
                builder.request("stuck", move |_: RequestContext, _: Value| {
                    hanging.write("stuck");
                    std::future::pending::<Result<Value, RpcError>>()
                })
            })
            .and_then(|builder| builder.notification("note", move |_, params: Value| noting.note(&params)))
            .and_then(|builder| builder.notification("panic_note", |_, _: Value| panic!("on purpose")))
            .unwrap()
            .build()
    }

    fn note(&self, params: &Value) {
        self.write(format!("note {}", params["name"].as_str().unwrap_or("?")));
    }

    /// Registers before its first wait, as a session would.
    async fn hold(self, context: RequestContext, params: Value) -> Result<Value, RpcError> {
        let name = params["name"].as_str().expect("a name").to_owned();
        let (sender, released) = oneshot::channel();
        self.held.lock().unwrap().insert(name.clone(), sender);
        self.responded.lock().unwrap().push(context.responded.clone());
        self.write(format!("hold {name}"));
        tokio::select! {
            answer = released => answer.map_err(|_| errors::internal("dropped", None)),
            () = context.cancel.cancelled() => {
                self.held.lock().unwrap().remove(&name);
                Ok(json!({ "cancelled": name }))
            }
        }
    }
}

async fn fail(_: RequestContext, params: Value) -> Result<Value, RpcError> {
    Err(errors::internal("on purpose", Some(params)))
}

fn panic_at_once(_: RequestContext, _: Value) -> std::future::Ready<Result<Value, RpcError>> {
    panic!("on purpose")
}

async fn panic_later(_: RequestContext, _: Value) -> Result<Value, RpcError> {
    tokio::task::yield_now().await;
    panic!("on purpose")
}

/// A served connection and the client's end of it.
pub(super) struct Rig {
    pub(super) stage: Stage,
    pub(super) connection: Connection,
    pub(super) client: Client,
    pub(super) served: JoinHandle<Closed>,
}

/// The raw other end.
pub(super) struct Client {
    lines: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(PeerOptions::default(), 1024 * 1024)
    }

    /// With a client that can take cancellations.
    pub(super) fn telling() -> Self {
        let rig = Self::new();
        rig.connection.tell_cancellations();
        rig
    }

    /// The pipe between the two ends holds `pipe_bytes` in each direction.
    pub(super) fn with(options: PeerOptions, pipe_bytes: usize) -> Self {
        Self::called_by(Caller::Known, options, pipe_bytes)
    }

    /// The agent with somebody at the other end whom it may not know.
    pub(super) fn called_by(caller: Caller, options: PeerOptions, pipe_bytes: usize) -> Self {
        let stage = Stage::default();
        let (ours, theirs) = tokio::io::duplex(pipe_bytes);
        let (reader, writer) = tokio::io::split(ours);
        let duplex = Duplex {
            reader: Box::new(reader),
            writer: Box::new(writer),
            label: "test".to_owned(),
            caller,
        };
        let (connection, serving) = serve(duplex, stage.router(), options);
        let (reader, writer) = tokio::io::split(theirs);
        let client = Client {
            lines: BufReader::new(reader),
            writer: Some(writer),
        };
        Self {
            stage,
            connection,
            client,
            served: tokio::spawn(serving),
        }
    }
}

impl Client {
    pub(super) async fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(super) async fn send_bytes(&mut self, bytes: &[u8]) {
        let writer = self.writer.as_mut().expect("not closed yet");
        within(writer.write_all(bytes)).await.expect("the agent reads");
    }

    pub(super) async fn request(&mut self, id: &str, method: &str, params: Value) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ))
        .await;
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
            .await;
    }

    /// The next line, or `None` at the end.
    pub(super) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = within(self.lines.read_line(&mut line))
            .await
            .expect("a readable stream");
        (length > 0).then(|| line.trim_end().to_owned())
    }

    pub(super) async fn message(&mut self) -> Value {
        let line = self.line().await.expect("a message");
        serde_json::from_str(&line).expect("valid JSON")
    }

    /// All that still comes until the agent closes its side.
    pub(super) async fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(line) = self.line().await {
            messages.push(serde_json::from_str(&line).expect("valid JSON"));
        }
        messages
    }

    /// Everything sent before was handled, and nothing of it is still to be answered.
    pub(super) async fn expect_silence(&mut self) {
        self.request("\"probe\"", "echo", json!({"probe": true})).await;
        assert_eq!(
            self.message().await,
            json!({"jsonrpc": "2.0", "id": "probe", "result": {"probe": true}})
        );
    }

    /// Sends nothing more.
    pub(super) async fn close_input(&mut self) {
        let mut writer = self.writer.take().expect("not closed yet");
        within(writer.shutdown()).await.expect("an open stream");
    }
}
