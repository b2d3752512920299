//! From launch options to a Claude that is ready: started, greeted, and asked what its settings come to.
//!
//! What Claude says meanwhile is kept in order for the actor. Dropping the future ends what it has started.

use std::collections::VecDeque;

use claude_sdk_bridge::{
    launch::LaunchOptions,
    messages::control::{ControlRequest, InitializeRequest, InitializeResponse},
    query::{ControlError, Query, QueryEvent, StartError},
};
use permission_core::PermissionMode;
use serde_json::Value;

use super::Origin;
use crate::{options::Request, permission};

/// A Claude that is ready.
pub(super) struct Started {
    pub(super) query: Query,
    pub(super) info: InitializeResponse,
    /// Its answer to `get_settings`; null when it gave none.
    pub(super) settings: Value,
    /// What it said before it was ready.
    pub(super) early: VecDeque<QueryEvent>,
}

/// What became of an attempt to start a process.
pub(super) type LaunchResult = Result<Box<Started>, StartError>;

impl Started {
    /// The mode that the process is in.
    pub(super) fn mode(&self) -> Option<PermissionMode> {
        self.info
            .current_permission_mode
            .as_str()
            .and_then(PermissionMode::from_wire_id)
    }

    /// Tells it choices of the session, and asks what its settings come to with them.
    pub(super) async fn choose(&mut self, choices: &[Request]) {
        for choice in choices {
            if let Err(error) = self.ask(choice.to_control()).await {
                tracing::warn!(%error, "claude did not take a choice of the session's");
            }
        }
        let settings = self.ask(ControlRequest::GetSettings(Default::default())).await;
        self.settings = settings.unwrap_or_else(|error| {
            tracing::debug!(%error, "claude did not tell its settings");
            Value::Null
        });
    }

    async fn ask(&mut self, request: ControlRequest) -> Result<Value, ControlError> {
        let mut call = self.query.handle().request(request);
        loop {
            tokio::select! {
                biased;
                answer = &mut call => return answer,
                event = self.query.next() => self.early.push_back(event),
            }
        }
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
    let (query, info) = Query::start(origin.backend.as_ref(), options, greeting, timings).await?;
    let mut started = Box::new(Started {
        query,
        info,
        settings: Value::Null,
        early: VecDeque::new(),
    });
    started.choose(choices).await;
    Ok(started)
}
