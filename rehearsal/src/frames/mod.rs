//! The frames of the real CLI, built from the bridge's typed messages: what each looks like, not when it is sent.
//!
//! Place in the flow: `engine` calls these with the facts of the moment; they land in an `Outbox`. A file per area,
//! as the protocol has them. Nothing here may keep state or decide anything.

mod clock;
mod delta;
mod facts;
mod outbox;
mod session;
mod stream;
mod system;
pub(crate) mod text;
mod turn_end;
mod user;

pub use clock::Clock;

pub(crate) use delta::{DeltaKind, DeltaTemplate};
pub(crate) use facts::{DEFAULT_MODEL, SCENE_COMMAND, VERSION, display_name, resolve_model};
pub(crate) use outbox::Outbox;
pub(crate) use session::{InitFacts, commands, init, initialize_response, models};
pub(crate) use stream::{
    MessageFacts, SyntheticFacts, abandoned_delta, aborted_stop, assistant, block_start, block_stop,
    message_delta, message_start, message_stop, subagent_call, synthetic_assistant,
};
pub(crate) use system::{
    api_retry, informational, lifecycle, mode_changed, permission_denied, requesting, session_state,
    thinking_tokens, title_changed,
};
pub(crate) use turn_end::{ResultFacts, Timing, cost_usd, result, startup_failure};
pub(crate) use user::{interrupted, local_command_output, replay, subagent_result, tool_result};

use serde_json::{Map, Value};

/// The fields of an object literal.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
