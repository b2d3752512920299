//! Claude's transcripts: found, listed and read. The CLI is their only writer; only `fork` writes, and new ones.
//!
//! Reading order: `store` knows where transcripts lie, `listing` reads the two ends of one for a list, `lines` and `scan`
//! go through a whole one in flat memory, `branch` finds the conversation in it (pure), `entry` makes of a line what the
//! live stream would have said, and `replay` puts these together. `holder` tells which
//! process writes, `lock` which of several hosts has a session open. A broken line costs that line.

mod branch;
mod entry;
mod fork;
mod holder;
mod lines;
mod listing;
mod lock;
mod replay;
mod scan;
mod store;
#[cfg(test)]
mod tests;

pub use entry::{Entry, Prompt};
pub use fork::{ForkError, fork};
pub use listing::Summary;
pub use lock::SessionLock;
pub use replay::Replay;
pub use store::{TranscriptFile, TranscriptStore, is_session_id, related_folders};
