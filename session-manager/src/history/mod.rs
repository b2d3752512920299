//! Conversations that Claude has written down: listed, and brought back.
//!
//! Place in the flow: `agent` hands the requests about stored sessions here. What is read comes from the bridge's
//! `transcripts`; the CLI is their only writer.

mod delete;
mod error;
mod fork;
mod list;
mod open;
mod record;
mod replay;
mod shown;
#[cfg(test)]
mod tests;
mod told;

pub(crate) use delete::delete;
pub(crate) use error::HistoryError;
pub(crate) use fork::fork_stored;
pub(crate) use list::list;
pub(crate) use open::open_stored;
pub(crate) use record::{Keeper, Record, Records};
pub(crate) use replay::{replay, send};
pub(crate) use shown::Shown;
pub use told::{Told, about, stored, told};
