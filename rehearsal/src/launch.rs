//! From launch options to an engine: which session it is, and what it is told about the launch.
//!
//! Place in the flow: `backend` and `argv` both start their engines here; they differ in where they look a session up.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use claude_sdk_bridge::launch::{LaunchOptions, SessionStart};
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::Grants;
use uuid::Uuid;

use crate::engine::{Engine, Refusal, SessionState, Setup};
use crate::frames::Clock;
use crate::script::Script;

/// Makes the engine for a launch; `look_up` finds what a session remembers, `granted` is what sessions of the project have been
/// granted for longer.
pub(crate) fn engine(
    script: Arc<Script>,
    options: &LaunchOptions,
    tells_state: bool,
    look_up: impl Fn(&ClaudeSessionId) -> Option<SessionState>,
    granted: &Grants,
) -> (Engine, ClaudeSessionId) {
    let found = find(&options.session, look_up);
    let mut state = found.state;
    state.granted.add_lasting(granted);
    let launch = state.count_launch();
    let setup = Setup {
        tells_state,
        pid: std::process::id(),
        seed: seed(&found.id, launch),
        clock: Clock::system(),
        refusal: found.refusal,
        mode: options.permission_mode.unwrap_or_else(|| script.default_mode()),
        ..Setup::of_launch(options.clone(), found.id.clone())
    };
    (Engine::new(script, setup, state), found.id)
}

struct Found {
    id: ClaudeSessionId,
    state: SessionState,
    refusal: Option<Refusal>,
}

fn find(session: &SessionStart, look_up: impl Fn(&ClaudeSessionId) -> Option<SessionState>) -> Found {
    let known = |id: &ClaudeSessionId, under: &ClaudeSessionId| match look_up(id) {
        Some(state) => Found {
            id: under.clone(),
            state,
            refusal: None,
        },
        // The refusal names the session that was looked for.
        None => Found {
            id: id.clone(),
            state: SessionState::default(),
            refusal: Some(Refusal::NoConversation),
        },
    };
    match session {
        SessionStart::New { id } => Found {
            id: id.clone(),
            state: SessionState::of(id),
            refusal: look_up(id).map(|_| Refusal::SessionInUse),
        },
        SessionStart::Resume { id, at: _ } => known(id, id),
        SessionStart::Fork { from, id, at: _ } => known(from, id.as_ref().unwrap_or(&random_id())),
        SessionStart::Unnamed => {
            let id = random_id();
            Found {
                state: SessionState::of(&id),
                id,
                refusal: None,
            }
        }
    }
}

fn random_id() -> ClaudeSessionId {
    ClaudeSessionId::from(Uuid::new_v4().to_string())
}

/// Frames of two launches of a session never share an id.
fn seed(id: &ClaudeSessionId, launch: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.as_str().hash(&mut hasher);
    launch.hash(&mut hasher);
    hasher.finish()
}
