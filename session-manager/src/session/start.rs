//! From launch options to a Claude that is ready: started, greeted, and asked what its settings come to.
//!
//! Dropping the future ends what it has started.

use std::sync::{Arc, Once};

use claude_sdk_bridge::backend::Backend;
use claude_sdk_bridge::launch::LaunchOptions;
use claude_sdk_bridge::messages::control::{ControlRequest, InitializeRequest, InitializeResponse};
use claude_sdk_bridge::query::{Query, StartError};
use claude_sdk_bridge::version::ClaudeVersion;
use permission_core::PermissionMode;
use serde_json::Value;

use super::Login;
use crate::config::Timings;
use crate::options::Request;
use crate::permission;

/// What all of a session's Claude processes are started with.
#[derive(Clone)]
pub(super) struct Origin {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) timings: Timings,
    pub(super) login: Login,
    /// What each process is greeted with, beside what is ours.
    pub(super) greeting: InitializeRequest,
}

/// A Claude that is ready.
pub(super) struct Started {
    pub(super) query: Query,
    pub(super) told: Told,
}

/// What a process has told about itself.
pub(super) struct Told {
    pub(super) info: InitializeResponse,
    /// Its answer to `get_settings`; null when it gave none.
    pub(super) settings: Value,
}

/// Why there is no process.
pub(super) enum LaunchFailure {
    Start(StartError),
    /// It came up on an account that may not be used.
    Account,
}

/// What became of an attempt to start a process.
pub(super) type LaunchResult = Result<Box<Started>, LaunchFailure>;

impl Told {
    /// The mode that the process is in.
    pub(super) fn mode(&self) -> Option<PermissionMode> {
        self.info
            .current_permission_mode
            .as_str()
            .and_then(PermissionMode::from_wire_id)
    }
}

impl Started {
    /// Tells it choices of the session, and asks what its settings come to with them.
    pub(super) async fn choose(&mut self, choices: &[Request]) {
        for choice in choices {
            if let Err(error) = self.query.ask(choice.to_control()).await {
                tracing::warn!(%error, "claude did not take a choice of the session's");
            }
        }
        let settings = self.query.ask(ControlRequest::GetSettings(Default::default()));
        self.told.settings = settings.await.unwrap_or_else(|error| {
            tracing::debug!(%error, "claude did not tell its settings");
            Value::Null
        });
    }
}

/// Starts a process. `choices` are those of the session that no launch option can say.
///
/// # Errors
/// When it does not come up.
pub(super) async fn start(origin: &Origin, options: &LaunchOptions, choices: &[Request]) -> LaunchResult {
    // Without a snapshot a change of agent reaches the system prompt in the middle of a conversation too.
    let greeting = InitializeRequest {
        system_prompt_snapshot: false.into(),
        hooks: permission::callbacks().into(),
        ..origin.greeting.clone()
    };
    let timings = &origin.timings.query;
    let started = Query::start(origin.backend.as_ref(), options, greeting, timings).await;
    let (query, info) = started.map_err(LaunchFailure::Start)?;
    if !origin.login.takes(&info) {
        return Err(LaunchFailure::Account);
    }
    say_if_untried(&info);
    let settings = Value::Null;
    let mut started = Box::new(Started {
        query,
        told: Told { info, settings },
    });
    started.choose(choices).await;
    Ok(started)
}

/// Says once, to the log, that this was not tried with the Claude there is.
fn say_if_untried(info: &InitializeResponse) {
    static SAID: Once = Once::new();
    let version = info.claude_code_version.as_str().unwrap_or_default();
    if !ClaudeVersion::parse(version).is_some_and(ClaudeVersion::is_tried) {
        SAID.call_once(|| tracing::info!(version, "a version of claude that this was not tested with"));
    }
}
