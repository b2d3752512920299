//! The harness around the agent under test: a world for each test, the agent's process, an ACP client that works
//! line by line, and the process table.
//!
//! Blocking threads and bounded waits only. Everything a test forgets is found when its values are dropped: an
//! unread message, an update nobody looked at, a scripted step the model never came to, a process left behind.

mod agent;
mod bell;
mod client;
mod conversation;
mod procs;
mod schema;
mod turn;
mod wire;
mod world;

pub use agent::Agent;
pub use bell::Bell;
pub use client::Client;
pub use conversation::{Answer, Prompt, allow_once, no_questions, reject_once};
pub use procs::Process;
pub use turn::{ToolCall, Turn};
pub use wire::Wire;
pub use world::{Backend, Transport, World};

use std::time::Duration;

/// How long anything that must happen may take; generous, since the machine may be busy: with thirty programs waiting for two
/// processors a Claude took more than a minute to start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);
