//! Conversations that Claude has written down: listed, and brought back.
//!
//! Place in the flow: `agent` hands the requests about stored sessions here. What is read comes from the bridge's
//! `transcripts`; the CLI is their only writer.

mod list;

pub(crate) use list::list;
