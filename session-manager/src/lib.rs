//! Sessions: what an ACP client asks for on one side, Claude on the other.
//!
//! Reading order follows a prompt: `agent` is the table of ACP methods, `manager` knows the sessions, `setup` and `content`
//! read what the client sends, `session` is the actor that routes, `turn` decides which prompt runs, `translate` and
//! `tools` turn Claude's messages into updates, `permission` keeps the open questions. This crate knows no transport, no
//! process and no argv.

mod agent;
mod manager;

mod config;
mod initialize;
mod modes;
mod setup;
mod steering;

mod commands;
mod content;

mod session;
mod turn;

mod tools;
mod translate;

mod permission;

#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "wired in the next change")
)]
mod options;
#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "wired in the next change")
)]
mod store;
#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "wired in the next change")
)]
mod usage;

pub use config::{AgentIdentity, LoginCommand, ManagerConfig, Timings};
pub use manager::SessionManager;
