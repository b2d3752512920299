//! A model server on loopback: speaks the Anthropic Messages API to the real Claude CLI and says what a test
//! scripted.
//!
//! It records every request, so that a test can assert what the model was told. Requests of Claude's main loop
//! consume the script; side requests (titles, counting, health checks) are answered without it. A main request
//! that finds the script empty is refused and makes [`ModelServer::finish`] fail.

mod record;
mod script;
mod server;
mod wire;

pub use record::Request;
pub use script::{Failure, Gate, Reply, Step, fail, reply, text, tool};
pub use server::ModelServer;
