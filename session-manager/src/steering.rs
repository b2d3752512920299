//! `_session/steering`: an extension by which a client says something into the running turn.
//!
//! The wire records only; what is done with it is the session's business.

use acp_proto::schema::{ContentBlock, SessionId};
use serde::{Deserialize, Serialize};

use crate::session::{Steered, WhenIdle};

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SteeringRequest {
    pub(crate) session_id: SessionId,
    pub(crate) prompt: Vec<ContentBlock>,
    #[serde(rename = "_meta", default)]
    meta: Option<Meta>,
}

#[derive(Debug, Default, Deserialize)]
struct Meta {
    #[serde(default)]
    steering: Option<Options>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    #[serde(default)]
    idle_behavior: Option<String>,
}

/// The response.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct SteeringResponse {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// On the answer to `initialize`: that the method exists.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Steering {
    pub(crate) supported: bool,
}

impl acp_proto::ext::MetaRecord for Steering {
    const KEY: &'static str = "steering";
}

impl SteeringRequest {
    /// What the client wants when no turn runs. An unknown wish starts a turn, as no wish does.
    pub(crate) fn when_idle(&self) -> WhenIdle {
        let options = self.meta.as_ref().and_then(|meta| meta.steering.as_ref());
        match options.and_then(|options| options.idle_behavior.as_deref()) {
            Some("promptRequired") => WhenIdle::RequirePrompt,
            Some(_) | None => WhenIdle::StartTurn,
        }
    }
}

impl From<Steered> for SteeringResponse {
    fn from(steered: Steered) -> Self {
        let (outcome, reason) = match steered {
            Steered::Injected => ("injected", None),
            Steered::StartedNewTurn => ("startedNewTurn", None),
            Steered::PromptRequired => ("promptRequired", Some("noRunningTurn")),
        };
        Self { outcome, reason }
    }
}
