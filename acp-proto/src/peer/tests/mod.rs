//! The peer, driven over an in-memory connection by a client that sees raw lines only.

mod calls;
mod cancel;
mod end;
mod harness;
mod model;
mod order;
mod queue;
mod refusals;
mod requests;
mod strangers;
