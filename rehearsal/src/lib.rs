//! A scripted Claude: deterministic turns from a script file, spoken in the messages of the real CLI.
//!
//! Reading order follows a prompt: `script` says what happens, `engine` plays it as a pure state machine, `backend`
//! runs the engine in process behind the bridge's `Backend` trait, `argv` runs it as an executable that stands in for
//! the CLI. This crate must not know ACP or sessions of the agent.
//!
//! The script format is described for its writers in the crate's README.

pub mod script;

pub mod engine;
mod frames;

mod launch;
mod run;

pub mod argv;
mod backend;

pub use backend::RehearsalBackend;
pub use frames::Clock;
pub use script::{Script, ScriptError};
