//! What travels in `_meta`: records the protocol itself does not have.
//!
//! Place in the flow: attached to the official types by whoever builds them, ignored by clients that do not know them.
//! Only wire shapes stand here: what a title says or when a terminal is shown is decided elsewhere.

mod capabilities;
mod claude_code;
mod permission;
mod record;
mod terminal;

pub use capabilities::{ClientExtensions, PromptQueueing, TerminalAuth, TerminalDisplay};
pub use claude_code::ClaudeCodeMeta;
pub use permission::PermissionPresentation;
pub use record::MetaRecord;
pub use terminal::{TerminalExit, TerminalInfo, TerminalOutput, TerminalOutputDelta};

#[cfg(test)]
mod tests;
