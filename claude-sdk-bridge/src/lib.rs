//! The other end of the Claude Agent SDK protocol: how Claude is found, started, spoken to and ended.
//!
//! Reading order follows a prompt: `launch` says how to start, `discovery` what, `backend` is the seam behind which it
//! runs (`process` is the real CLI, of some `version`), `messages` is the wire, `decode` reads a line of it, `query` is one running Claude
//! with its questions and answers; `settings` reads and watches the files that configure Claude, `transcripts`
//! those in which it keeps conversations; `command`, `hooks` and
//! `paths` are what permission-core needs of the machine. This crate knows nothing of ACP, sessions or decisions.

pub mod launch;

pub mod backend;
pub mod discovery;
pub mod process;
pub mod version;

pub mod decode;
pub mod messages;

pub mod query;

pub mod settings;
pub mod transcripts;

pub mod command;
pub mod hooks;
pub mod paths;
