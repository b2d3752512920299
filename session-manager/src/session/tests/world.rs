//! A client and a Claude around a real manager, both driven line by line by the test.

use std::sync::Arc;
use std::time::Duration;

use acp_proto::{Duplex, PeerOptions, serve};
use async_trait::async_trait;
use claude_sdk_bridge::backend::{Backend, Exit, ExitStatus, Grace, LaunchError, Life, Running};
use claude_sdk_bridge::launch::LaunchOptions;
use permission_core::policy::Policy;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{AgentIdentity, Audit, LoginCommand, ManagerConfig, SessionManager, Timings};

/// Longer than anything the agent waits for by itself; time is paused, so it costs nothing.
const PATIENCE: Duration = Duration::from_secs(120);

/// The client's end of the connection and the place where Claudes appear.
pub(super) struct World {
    pub(super) client: Lines,
    pub(super) session: String,
    claudes: mpsc::UnboundedReceiver<FakeClaude>,
    next_id: u64,
}

/// One end of a stream of JSON lines.
pub(super) struct Lines {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    /// What has come of the next line.
    begun: Vec<u8>,
}

/// A started Claude.
pub(super) struct FakeClaude {
    pub(super) lines: Lines,
    pub(super) options: LaunchOptions,
    /// The hooks of its `initialize`.
    pub(super) hooks: Value,
    pub(super) life: CancellationToken,
}

#[derive(Clone)]
struct FakeBackend {
    started: mpsc::UnboundedSender<FakeClaude>,
}

struct FakeLife(CancellationToken);

#[async_trait]
impl Life for FakeLife {
    async fn ended(&mut self) -> Exit {
        self.0.cancelled().await;
        Exit {
            status: ExitStatus::Code(1),
            stderr_tail: "last words".to_owned(),
        }
    }

    async fn kill(&mut self, _: &Grace) -> Exit {
        self.0.cancel();
        Exit {
            status: ExitStatus::Signal(9),
            stderr_tail: String::new(),
        }
    }

    fn stderr_tail(&self) -> String {
        String::new()
    }
}

impl Drop for FakeLife {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[async_trait]
impl Backend for FakeBackend {
    fn name(&self) -> &'static str {
        "fake"
    }

    async fn launch(&self, options: &LaunchOptions) -> Result<Running, LaunchError> {
        let (ours, theirs) = duplex(16 * 1024);
        let (stdout, stdin) = split(ours);
        let life = CancellationToken::new();
        let claude = FakeClaude {
            lines: Lines::new(theirs),
            options: options.clone(),
            hooks: Value::Null,
            life: life.clone(),
        };
        self.started.send(claude).unwrap();
        Ok(Running {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            life: Box::new(FakeLife(life)),
        })
    }
}

impl Lines {
    fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self {
            reader: BufReader::new(reader),
            writer,
            begun: Vec::new(),
        }
    }

    pub(super) async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        tokio::time::timeout(PATIENCE, self.writer.write_all(line.as_bytes()))
            .await
            .unwrap()
            .unwrap();
    }

    /// Whether a line can be written before the other side has to read.
    pub(super) async fn try_send(&mut self, line: &str) -> bool {
        tokio::time::timeout(PATIENCE, self.writer.write_all(line.as_bytes()))
            .await
            .is_ok()
    }

    pub(super) async fn receive(&mut self) -> Value {
        self.receive_or_end().await.expect("the stream has ended")
    }

    pub(super) async fn receive_or_end(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.reader.read_line(&mut line))
            .await
            .expect("nothing came");
        (read.unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }
}

impl Lines {
    /// The next line, if it comes within this time; nothing is lost when it does not.
    pub(super) async fn receive_within(&mut self, patience: Duration) -> Option<Value> {
        let read = self.reader.read_until(b'\n', &mut self.begun);
        tokio::time::timeout(patience, read).await.ok()?.ok()?;
        let line = std::mem::take(&mut self.begun);
        (!line.is_empty()).then(|| serde_json::from_slice(&line).unwrap())
    }
}

impl World {
    /// A session, with the Claude behind it.
    pub(super) async fn open() -> (Self, FakeClaude) {
        Self::without_session().await.with_session().await
    }

    /// The same under an operator's policy, whose decisions are recorded.
    pub(super) async fn open_under(policy: &str, audit: Arc<dyn Audit>) -> (Self, FakeClaude) {
        let policy = Policy::read(std::path::Path::new("/etc/policy.json"), policy).unwrap();
        Self::connected(true, true, Some((Arc::new(policy), audit)))
            .await
            .with_session()
            .await
    }

    /// The same where permissions may be bypassed.
    pub(super) async fn open_in_sandbox() -> (Self, FakeClaude) {
        Self::connected(true, true, None).await.with_session().await
    }

    pub(super) async fn with_session(self) -> (Self, FakeClaude) {
        let mut world = self;
        let cwd = std::env::temp_dir();
        let opening = world
            .request("session/new", json!({"cwd": cwd, "mcpServers": []}))
            .await;
        let mut claude = world.claude().await;
        claude.greet().await;
        let response = world.client.receive().await;
        assert_eq!(response["id"], opening, "{response}");
        world.session = response["result"]["sessionId"].as_str().unwrap().to_owned();
        let update = world.client.receive().await;
        assert_eq!(
            update["params"]["update"]["sessionUpdate"],
            "available_commands_update"
        );
        (world, claude)
    }

    /// A connection that has said hello.
    pub(super) async fn without_session() -> Self {
        Self::connected(false, true, None).await
    }

    /// A connection to an agent that hides subscriptions.
    pub(super) async fn without_subscriptions() -> Self {
        Self::connected(false, false, None).await
    }

    async fn connected(
        sandboxed: bool,
        subscriptions: bool,
        operator: Option<(Arc<Policy>, Arc<dyn Audit>)>,
    ) -> Self {
        let (policy, audit) = operator.unzip();
        let (started, claudes) = mpsc::unbounded_channel();
        let backend = FakeBackend { started };
        let config = ManagerConfig {
            agent: AgentIdentity {
                name: "agent".into(),
                title: "Agent".into(),
                version: "1".into(),
            },
            login: LoginCommand {
                program: "agent".into(),
                arguments: Vec::new(),
                browser: true,
                subscriptions,
            },
            home: Some("/home/u".into()),
            settings: crate::SettingsOrigin::Given(Vec::new().into()),
            policy,
            audit,
            environment: crate::Environment::default(),
            privileges: crate::Privileges {
                root: true,
                sandboxed,
            },
            timings: Timings::default(),
        };
        Self::greeted(SessionManager::new(Arc::new(backend), config), claudes).await
    }

    /// A connection to this manager that has said hello.
    async fn greeted(manager: Arc<SessionManager>, claudes: mpsc::UnboundedReceiver<FakeClaude>) -> Self {
        let (ours, theirs) = duplex(16 * 1024);
        let (reader, writer) = split(theirs);
        let duplex = Duplex {
            reader: Box::new(reader),
            writer: Box::new(writer),
            label: "test".to_owned(),
            caller: acp_proto::Caller::Known,
        };
        let options = PeerOptions {
            first_method: Some("initialize"),
            queue_lines: 16,
            ..PeerOptions::default()
        };
        let (connection, driver) = serve(duplex, manager.router().unwrap(), options);
        let connection = connection.id();
        tokio::spawn(async move {
            driver.await;
            manager.connection_ended(connection).await;
        });
        let client = Lines::new(ours);
        let mut world = Self {
            client,
            session: String::new(),
            claudes,
            next_id: 0,
        };
        let modern = json!({"protocolVersion": 1, "clientCapabilities": {"session": {}}});
        world.request("initialize", modern).await;
        assert_eq!(world.client.receive().await["result"]["protocolVersion"], 1);
        world
    }

    /// The next Claude that is started.
    pub(super) async fn claude(&mut self) -> FakeClaude {
        tokio::time::timeout(PATIENCE, self.claudes.recv())
            .await
            .expect("no Claude was started")
            .unwrap()
    }

    pub(super) fn no_claude_started(&mut self) -> bool {
        self.claudes.try_recv().is_err()
    }

    pub(super) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.client
            .send(json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}))
            .await;
        self.next_id
    }

    pub(super) async fn prompt(&mut self, text: &str) -> u64 {
        let params = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        self.request("session/prompt", params).await
    }

    pub(super) async fn cancel(&mut self) {
        let params = json!({"sessionId": self.session});
        self.client
            .send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))
            .await;
    }

    /// The answer to a request; whatever comes before it is handed back beside it.
    pub(super) async fn answer(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.client.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return (message, before);
            }
            before.push(message);
        }
    }

    /// The next message that is a call of `method`.
    pub(super) async fn call(&mut self, method: &str) -> Value {
        loop {
            let message = self.client.receive().await;
            if message["method"] == method {
                return message;
            }
        }
    }
}

impl FakeClaude {
    /// Answers what a process is asked before its first prompt.
    pub(super) async fn greet(&mut self) {
        self.greet_on(Value::Null).await;
        self.tell_settings().await;
    }

    /// Answers `get_settings`.
    pub(super) async fn tell_settings(&mut self) {
        let request = self.lines.receive().await;
        assert_eq!(request["request"]["subtype"], "get_settings");
        self.succeed(&request, json!({"effective": {}, "applied": {}}))
            .await;
    }

    /// Answers `initialize`, logged in to this account.
    pub(super) async fn greet_on(&mut self, account: Value) {
        let request = self.lines.receive().await;
        assert_eq!(request["request"]["subtype"], "initialize");
        self.hooks = request["request"]["hooks"].clone();
        let mode = self
            .options
            .permission_mode
            .unwrap_or(permission_core::PermissionMode::Default);
        let command = json!({"name": "compact", "description": "d", "argumentHint": ""});
        let model = json!({"value": "default", "displayName": "Default", "description": "d", "supportsAutoMode": false});
        let other =
            json!({"value": "other", "displayName": "Other", "description": "d", "supportsAutoMode": false});
        let payload = json!({"commands": [command], "models": [model, other], "account": account, "claude_code_version": "2.1.332", "current_permission_mode": mode.wire_id()});
        self.succeed(&request, payload).await;
    }

    pub(super) async fn succeed(&mut self, request: &Value, payload: Value) {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": payload});
        self.lines
            .send(json!({"type": "control_response", "response": response}))
            .await;
    }

    /// The uuid of the next prompt, which is taken up.
    pub(super) async fn take_prompt(&mut self) -> String {
        let message = self.lines.receive().await;
        assert_eq!(message["type"], "user", "{message}");
        let uuid = message["uuid"].as_str().unwrap().to_owned();
        self.lines
            .send(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "started"}))
            .await;
        self.lines
            .send(json!({"type": "system", "subtype": "init", "session_id": "claude-session"}))
            .await;
        uuid
    }

    pub(super) async fn text(&mut self, text: &str) {
        let delta = json!({"type": "text_delta", "text": text});
        let event = json!({"index": 0, "delta": delta, "type": "content_block_delta"});
        self.lines
            .send(json!({"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": null, "uuid": "u", "api_message_id": "m"}))
            .await;
    }

    pub(super) async fn result(&mut self, uuid: &str, fields: Value) {
        let mut result = json!({"type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed", "user_message_uuids": [uuid]});
        for (key, value) in fields.as_object().unwrap() {
            result[key] = value.clone();
        }
        self.lines.send(result).await;
    }

    /// Asks whether a command may run.
    pub(super) async fn ask(&mut self, id: &str, tool_use: &str) {
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "npm test"}, "tool_use_id": tool_use});
        self.lines
            .send(json!({"type": "control_request", "request_id": id, "request": request}))
            .await;
    }

    /// The next reply to a question: its id, and the payload or the error.
    pub(super) async fn reply(&mut self) -> (String, Value) {
        let message = self.lines.receive().await;
        assert_eq!(message["type"], "control_response", "{message}");
        let response = &message["response"];
        let id = response["request_id"].as_str().unwrap().to_owned();
        let said = if response["subtype"] == "success" {
            response["response"].clone()
        } else {
            response["error"].clone()
        };
        (id, said)
    }
}
