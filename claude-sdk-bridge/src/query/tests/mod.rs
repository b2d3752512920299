//! Queries over a Claude played in memory (`start`, `control`, `end`) and over shell scripts (`scripts`). Timeouts run on
//! paused time.

mod control;
mod end;
#[cfg(target_os = "linux")]
mod scripts;
mod start;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::sync::watch;
use tokio::time::timeout;

use super::*;
use crate::backend::{Backend, ExitStatus, Grace, LaunchError};
use crate::launch::{LaunchOptions, SessionStart};
use crate::messages::control::InitializeRequest;

/// On paused time nothing really waits; elsewhere the bound is for a test that would hang.
async fn within<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(100 * 24 * 3600), future)
        .await
        .expect("took too long")
}

fn options() -> LaunchOptions {
    LaunchOptions::new("/", SessionStart::Unnamed)
}

fn timings() -> QueryTimings {
    QueryTimings::default()
}

fn exited(code: i32) -> Exit {
    Exit {
        status: ExitStatus::Code(code),
        stderr_tail: String::new(),
    }
}

/// What the life of a played Claude went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LifeEvent {
    Killed(Grace),
    Dropped,
}

struct PlayedLife {
    exit: watch::Receiver<Option<Exit>>,
    log: Arc<Mutex<Vec<LifeEvent>>>,
}

#[async_trait]
impl Life for PlayedLife {
    async fn ended(&mut self) -> Exit {
        match self.exit.wait_for(Option::is_some).await.map(|exit| exit.clone()) {
            Ok(exit) => exit.unwrap(),
            Err(_) => std::future::pending().await,
        }
    }

    async fn kill(&mut self, grace: &Grace) -> Exit {
        self.log.lock().unwrap().push(LifeEvent::Killed(*grace));
        let exit = self.exit.borrow().clone();
        exit.unwrap_or(Exit {
            status: ExitStatus::Signal(15),
            stderr_tail: "killed".to_owned(),
        })
    }

    fn stderr_tail(&self) -> String {
        "so far".to_owned()
    }
}

impl Drop for PlayedLife {
    fn drop(&mut self) {
        self.log.lock().unwrap().push(LifeEvent::Dropped);
    }
}

/// The other side: a Claude whose lines the test writes and reads.
struct Claude {
    input: Lines<BufReader<DuplexStream>>,
    output: DuplexStream,
    exit: watch::Sender<Option<Exit>>,
    log: Arc<Mutex<Vec<LifeEvent>>>,
}

impl Claude {
    async fn says(&mut self, message: Value) {
        self.writes(format!("{message}\n").as_bytes()).await;
    }

    async fn writes(&mut self, bytes: &[u8]) {
        within(self.output.write_all(bytes)).await.unwrap();
    }

    async fn hears(&mut self) -> Value {
        let line = within(self.input.next_line()).await.unwrap().expect("a line");
        serde_json::from_str(&line).unwrap()
    }

    /// Its input ends without another line.
    async fn hears_the_end(&mut self) {
        assert_eq!(within(self.input.next_line()).await.unwrap(), None);
    }

    async fn answers(&mut self, id: &str, payload: Value) {
        self.says(success(id, payload)).await;
    }

    fn exits(&self, exit: Exit) {
        self.exit.send_replace(Some(exit));
    }

    fn life(&self) -> Vec<LifeEvent> {
        self.log.lock().unwrap().clone()
    }
}

fn success(id: &str, payload: Value) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": payload}})
}

fn status(number: usize) -> Value {
    json!({"type": "prompt_suggestion", "suggestion": number.to_string()})
}

/// A Claude in memory with `room` bytes in each of its pipes, and what is needed to play it.
fn played(room: usize) -> (Running, Claude) {
    let (stdin, input) = duplex(room);
    let (output, stdout) = duplex(room);
    let (exit, ended) = watch::channel(None);
    let log = Arc::new(Mutex::new(Vec::new()));
    let life = PlayedLife {
        exit: ended,
        log: Arc::clone(&log),
    };
    let running = Running {
        stdin: Box::new(stdin),
        stdout: Box::new(stdout),
        life: Box::new(life),
    };
    (
        running,
        Claude {
            input: BufReader::new(input).lines(),
            output,
            exit,
            log,
        },
    )
}

fn query() -> (Query, Claude) {
    let (running, claude) = played(64 * 1024);
    (Query::over(running, &timings()), claude)
}

/// A backend that starts one played Claude.
struct Played(Mutex<Option<Running>>);

#[async_trait]
impl Backend for Played {
    fn name(&self) -> &'static str {
        "played"
    }

    async fn launch(&self, _options: &LaunchOptions) -> Result<Running, LaunchError> {
        Ok(self.0.lock().unwrap().take().expect("one launch"))
    }
}

/// The event as a test compares it.
fn shown(event: &QueryEvent) -> String {
    match event {
        QueryEvent::Delta(delta) => format!("delta {}", delta.literal()),
        QueryEvent::Message(message) => format!("message {}", serde_json::to_string(message).unwrap()),
        QueryEvent::ControlRequest { id, request } => format!("asks {id} {}", request.kind().unwrap_or("?")),
        QueryEvent::ControlCancel { id } => format!("withdraws {id}"),
        QueryEvent::Ended(exit) => format!("ended with {exit}"),
    }
}

async fn next(query: &mut Query) -> String {
    shown(&within(query.next()).await)
}
