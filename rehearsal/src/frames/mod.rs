//! The frames of the real CLI, made from recorded ones: what each looks like, not when it is sent.
//!
//! Place in the flow: `engine` calls these with the facts of the moment; they land in an `Outbox`. A file per area,
//! as the protocol has them. Nothing here may keep state or decide anything.

mod clock;
mod delta;
mod outbox;
mod recorded;
mod session;
mod stream;
mod system;
pub(crate) mod text;
mod turn_end;
mod user;

pub use clock::Clock;

pub(crate) use delta::{DeltaKind, DeltaTemplate};
pub(crate) use outbox::Outbox;
pub(crate) use session::{
    DEFAULT_MODEL, InitFacts, SCENE_COMMAND, VERSION, commands, init, initialize_response, resolve_model,
};
pub(crate) use stream::{
    MessageFacts, SyntheticFacts, abandoned_delta, aborted_stop, assistant, block_start, block_stop,
    message_delta, message_start, message_stop, subagent_call, synthetic_assistant,
};
pub(crate) use system::{
    api_retry, informational, lifecycle, mode_changed, permission_denied, requesting, session_state,
    thinking_tokens, title_changed,
};
pub(crate) use turn_end::{ResultFacts, Timing, result, startup_failure};
pub(crate) use user::{interrupted, local_command_output, replay, subagent_result, tool_result};
