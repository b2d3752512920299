//! Runs the built binary in a home of its own and talks to it line by line. Every wait is bounded.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader,
};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_claude-acp");
const PATIENCE: Duration = Duration::from_secs(120);

/// What a finished run left behind.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command with nothing of the caller's home, terminal or settings in it.
pub(crate) fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Runs to the end with this standard input.
pub(crate) async fn run(mut command: Command, input: &str) -> Finished {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that does not read its input may be gone before it is written.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = patiently(child.wait_with_output()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Finished {
        status: output.status,
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

pub(crate) async fn patiently<T>(waiting: impl Future<Output = T>) -> T {
    timeout(PATIENCE, waiting).await.expect("in time")
}

/// A binary that serves.
pub(crate) struct Agent {
    pub(crate) home: TempDir,
    child: Child,
    errors: Box<dyn AsyncBufRead + Send + Unpin>,
}

impl Agent {
    pub(crate) fn start(arguments: &[&str]) -> (Self, Client<ChildStdout, ChildStdin>) {
        let home = tempfile::tempdir().unwrap();
        let mut child = command(home.path(), arguments).spawn().unwrap();
        let client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let errors = Box::new(BufReader::new(child.stderr.take().unwrap()));
        (Self { home, child, errors }, client)
    }

    /// Starts one that plays this script.
    pub(crate) fn rehearsing(
        script: &Value,
        arguments: &[&str],
    ) -> (Self, Client<ChildStdout, ChildStdin>, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        let backend = format!("--backend=rehearsal={}", path.display());
        let arguments: Vec<&str> = std::iter::once(backend.as_str())
            .chain(arguments.iter().copied())
            .collect();
        let (agent, client) = Self::start(&arguments);
        (agent, client, folder)
    }

    /// The rest of the first line on standard error that has `text` in it.
    pub(crate) async fn says(&mut self, text: &str) -> String {
        let find = async {
            loop {
                let mut line = String::new();
                assert!(
                    self.errors.read_line(&mut line).await.unwrap() > 0,
                    "no {text:?} on standard error"
                );
                if let Some((_, rest)) = line.split_once(text) {
                    return rest.trim_end().to_owned();
                }
            }
        };
        patiently(find).await
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end; says how it ended and what it still wrote to standard error.
    pub(crate) async fn ended(&mut self) -> (ExitStatus, String) {
        let status = patiently(self.child.wait()).await.unwrap();
        let mut rest = String::new();
        patiently(self.errors.read_to_string(&mut rest)).await.unwrap();
        (status, rest)
    }
}

/// A client that takes one line after the other, and nothing but JSON.
pub(crate) struct Client<R, W> {
    lines: BufReader<R>,
    pub(crate) writer: W,
    next_id: u64,
}

/// The two directions of a client.
pub(crate) struct Parts<R, W> {
    pub(crate) reader: R,
    pub(crate) writer: W,
}

pub(crate) async fn write_line(writer: &mut (impl AsyncWrite + Unpin), message: &Value) {
    patiently(writer.write_all(format!("{message}\n").as_bytes()))
        .await
        .unwrap();
    patiently(writer.flush()).await.unwrap();
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<R, W> {
    pub(crate) fn new(reader: R, writer: W) -> Self {
        Self {
            lines: BufReader::new(reader),
            writer,
            next_id: 0,
        }
    }

    /// The two directions.
    pub(crate) fn into_parts(self) -> Parts<R, W> {
        Parts {
            reader: self.lines.into_inner(),
            writer: self.writer,
        }
    }

    /// The end of the connection; updates may come before it.
    pub(crate) async fn end(&mut self) {
        while let Some(message) = self.next().await {
            assert_eq!(message["method"], "session/update", "{message}");
        }
    }

    /// The next message, or nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = patiently(self.lines.read_line(&mut line)).await.unwrap();
        (length > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}")))
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        write_line(&mut self.writer, message).await;
    }

    /// Sends a request and gives its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// The answer to a request; what comes before it is skipped.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await.expect("an answer");
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id).await
    }

    /// Says hello and checks who answers.
    pub(crate) async fn hello(&mut self) {
        let answer = self.call("initialize", json!({"protocolVersion": 1})).await;
        assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
        assert_eq!(answer["result"]["agentInfo"]["name"], "claude-acp", "{answer}");
    }

    /// Says hello, opens a session and gives its id.
    pub(crate) async fn session(&mut self, cwd: &Path) -> String {
        self.hello().await;
        let answer = self
            .call("session/new", json!({"cwd": cwd, "mcpServers": []}))
            .await;
        answer["result"]["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    }

    /// Sends a prompt and waits until something of its turn is there.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        let id = self
            .request("session/prompt", json!({"sessionId": session, "prompt": prompt}))
            .await;
        loop {
            let message = self.next().await.expect("an update");
            if message["params"]["update"]["sessionUpdate"] == "agent_message_chunk" {
                return id;
            }
        }
    }
}
