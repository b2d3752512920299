//! `chat`: a small terminal ACP client, for trying the agent out and for looking at any other agent. It stands at
//! the editor's end of a [`acp_proto::Duplex`]: it says hello, opens one session, sends prompts, prints what comes
//! back and asks its user what the agent asks it. It must not know how the agent works, and must not decide a
//! permission question by itself except to deny it.

mod present;

mod backlog;
mod console;
mod errors;
mod peer;
mod run;

pub use console::Console;
pub use errors::ChatError;
pub use present::changes::{Change, TooManyLines, changes};
pub use present::sanitize::{block as printable, line as printable_line};
pub use present::tools::is_nested;
pub use present::wording::plan_entry;
pub use run::{Conversation, Ending, Options, run};
