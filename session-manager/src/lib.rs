//! Sessions: what an ACP client asks for on one side, Claude on the other.
//!
//! Reading order follows a prompt: `agent` is the table of ACP methods, `manager` knows the sessions, `setup` and `content`
//! read what the client sends, `session` is the actor that routes, `turn` decides which prompt runs, `translate` and
//! `tools` turn Claude's messages into updates, `permission` keeps the open questions, `history` brings back
//! what was said before. This crate knows no transport, no
//! process and no argv.

mod agent;
mod manager;

mod client_options;
mod config;
mod initialize;
mod modes;
mod setup;
mod steering;
mod system_prompt;

mod commands;
mod content;

mod session;
mod turn;

pub mod history;

mod tools;
mod translate;

mod permission;

mod options;
mod usage;

pub use config::{
    AgentIdentity, Environment, LoginCommand, ManagerConfig, Privileges, SettingsOrigin, Timings,
};
pub use manager::SessionManager;
pub use permission::{Audit, DecisionRecord, RecordedOutcome, RecordedRule};
