//! The rehearsal in process: a `Backend` whose Claude is a task.
//!
//! Place in the flow: the session manager launches it like the real CLI. The streams are bounded in-memory pipes, so
//! that a host that stops reading stops the script; the life is the task's. What a session remembers, and what is granted
//! for longer than a session, stays here and lasts as long as the backend.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use claude_sdk_bridge::backend::{Backend, Exit, ExitStatus, Grace, LaunchError, Life, Running};
use claude_sdk_bridge::launch::LaunchOptions;
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::Grants;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::engine::SessionState;
use crate::launch;
use crate::run::{Process, Run, Signal};
use crate::script::Script;

/// How much a pipe holds.
const PIPE_BYTES: usize = 64 * 1024;

/// How much of stderr is kept.
const TAIL_BYTES: usize = 8 * 1024;

const SIGKILL: i32 = 9;

/// What outlives a process.
#[derive(Debug, Default)]
struct Memory {
    sessions: HashMap<ClaudeSessionId, SessionState>,
    /// What has been granted for longer than a session, by the working directory.
    granted: HashMap<PathBuf, Grants>,
}

type Tail = Arc<Mutex<Vec<u8>>>;

/// A backend that plays a script.
#[derive(Debug, Clone)]
pub struct RehearsalBackend {
    script: Arc<Script>,
    memory: Arc<Mutex<Memory>>,
}

impl RehearsalBackend {
    /// A backend for this script. Every new session plays it from the start; a resumed one goes on where it was.
    #[must_use]
    pub fn new(script: Arc<Script>) -> Self {
        Self {
            script,
            memory: Arc::default(),
        }
    }
}

#[async_trait]
impl Backend for RehearsalBackend {
    fn name(&self) -> &'static str {
        "rehearsal"
    }

    async fn launch(&self, options: &LaunchOptions) -> Result<Running, LaunchError> {
        if !options.cwd.is_dir() {
            return Err(LaunchError::DirectoryMissing {
                cwd: options.cwd.clone(),
            });
        }
        let granted = locked(&self.memory).granted.get(&options.cwd).cloned();
        let look_up = |id: &ClaudeSessionId| locked(&self.memory).sessions.get(id).cloned();
        let script = Arc::clone(&self.script);
        let (engine, id) = launch::engine(script, options, true, look_up, &granted.unwrap_or_default());
        let (host_stdin, stdin) = tokio::io::duplex(PIPE_BYTES);
        let (stdout, host_stdout) = tokio::io::duplex(PIPE_BYTES);
        let tail = Tail::default();
        let process = InProcess {
            tail: Arc::clone(&tail),
            memory: options.persist_session.then(|| Arc::clone(&self.memory)),
            id,
            cwd: options.cwd.clone(),
        };
        let (signals, received) = mpsc::channel(1);
        let task = tokio::spawn(Run::new(engine, (stdin, stdout), process, received).run());
        let life = TaskLife {
            task,
            signals,
            tail,
            status: None,
        };
        Ok(Running {
            stdin: Box::new(host_stdin),
            stdout: Box::new(host_stdout),
            life: Box::new(life),
        })
    }
}

struct InProcess {
    tail: Tail,
    memory: Option<Arc<Mutex<Memory>>>,
    id: ClaudeSessionId,
    cwd: PathBuf,
}

impl Process for InProcess {
    fn write_stderr(&mut self, text: &[u8]) {
        let mut tail = locked(&self.tail);
        tail.extend_from_slice(text);
        let excess = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..excess);
    }

    fn remember(&mut self, state: &SessionState) {
        if let Some(memory) = &self.memory {
            let mut memory = locked(memory);
            memory.sessions.insert(self.id.clone(), state.clone());
            let granted = memory.granted.entry(self.cwd.clone()).or_default();
            granted.add_lasting(state.granted());
        }
    }
}

/// The life of a script that is being played.
struct TaskLife {
    task: JoinHandle<u8>,
    signals: mpsc::Sender<Signal>,
    tail: Tail,
    /// Set once it has ended.
    status: Option<ExitStatus>,
}

impl TaskLife {
    async fn status(&mut self) -> ExitStatus {
        if let Some(status) = self.status {
            return status;
        }
        let status = match (&mut self.task).await {
            Ok(code) => ExitStatus::Code(i32::from(code)),
            Err(error) if error.is_cancelled() => ExitStatus::Signal(SIGKILL),
            Err(_) => ExitStatus::Unknown,
        };
        self.status = Some(status);
        status
    }

    fn exit(&self, status: ExitStatus) -> Exit {
        Exit {
            status,
            stderr_tail: self.stderr_tail(),
        }
    }
}

#[async_trait]
impl Life for TaskLife {
    async fn ended(&mut self) -> Exit {
        let status = self.status().await;
        self.exit(status)
    }

    async fn kill(&mut self, grace: &Grace) -> Exit {
        // A full channel means that it has been asked already, a closed one that it has ended.
        let _ = self.signals.try_send(Signal::Terminate);
        let status = match timeout(grace.term, self.status()).await {
            Ok(status) => status,
            Err(_) => {
                self.task.abort();
                self.status().await
            }
        };
        self.exit(status)
    }

    fn stderr_tail(&self) -> String {
        String::from_utf8_lossy(&locked(&self.tail)).into_owned()
    }
}

impl Drop for TaskLife {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The data behind a lock. A task that panicked while holding it left plain data behind.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
