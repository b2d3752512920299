//! The chat's half of the protocol: the methods an agent calls on it become [`Event`]s in arrival order, and the
//! requests it makes are typed. Must not print or decide.

use std::sync::Arc;

use acp_proto::errors::AUTH_REQUIRED_CODE;
use acp_proto::schema::{
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
};
use acp_proto::{Connection, Line, PeerOptions, Router, RouterBuilder, RouterError, RpcError};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::backlog;
use crate::errors::ChatError;
use crate::present::sanitize;

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const NEW_SESSION: &str = "session/new";
pub(crate) const LIST_SESSIONS: &str = "session/list";
pub(crate) const LOAD_SESSION: &str = "session/load";
pub(crate) const PROMPT: &str = "session/prompt";
pub(crate) const CANCEL: &str = "session/cancel";

/// What the agent sends on its own.
#[derive(Debug)]
pub(crate) enum Event {
    /// Something to show.
    Update(Box<SessionNotification>),
    /// Something to ask.
    Question(Question),
}

/// A permission request that waits for its answer. Dropped unanswered, it answers `cancelled`.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) request: Box<RequestPermissionRequest>,
    /// The agent took it back, or the connection ended.
    pub(crate) withdrawn: CancellationToken,
    answer: oneshot::Sender<RequestPermissionOutcome>,
}

impl Question {
    pub(crate) fn answer(self, outcome: RequestPermissionOutcome) {
        // The agent may have taken the question back at this very moment: then nobody waits.
        let _ = self.answer.send(outcome);
    }
}

/// The methods an agent may call on a client that advertises nothing beyond the necessary.
pub(crate) fn router(updates: backlog::Sender<Event>) -> Result<Router, RouterError> {
    let updates = Arc::new(updates);
    let questions = Arc::clone(&updates);
    let router = RouterBuilder::new()
        .notification("session/update", move |_, notification: SessionNotification| {
            updates.push(Event::Update(Box::new(notification)));
        })?
        .request(
            "session/request_permission",
            move |context, request: RequestPermissionRequest| {
                let (answer, answered) = oneshot::channel();
                let question = Question {
                    request: Box::new(request),
                    withdrawn: context.cancel,
                    answer,
                };
                questions.push(Event::Question(question));
                async move {
                    let outcome = answered.await.unwrap_or(RequestPermissionOutcome::Cancelled);
                    Ok::<_, RpcError>(RequestPermissionResponse::new(outcome))
                }
            },
        )?
        .build();
    Ok(router)
}

/// A client's peer takes requests at once; the agent has no first method to call.
pub(crate) fn options() -> PeerOptions {
    PeerOptions {
        first_method: None,
        ..PeerOptions::default()
    }
}

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The agent wants a login first.
    LoginNeeded,
    /// The agent refused it or failed.
    Refused(RpcError),
    /// The connection is gone.
    Closed,
}

/// What came back for a request, still as text.
pub(crate) fn outcome(
    response: Result<Box<RawValue>, acp_proto::RequestFailed>,
) -> Result<Box<RawValue>, Failure> {
    use acp_proto::RequestFailed;
    response.map_err(|failed| match failed {
        RequestFailed::Rpc(error) if error.code() == AUTH_REQUIRED_CODE => Failure::LoginNeeded,
        RequestFailed::Rpc(error) => Failure::Refused(error),
        RequestFailed::Closed | RequestFailed::Cancelled => Failure::Closed,
    })
}

/// Reads an answer.
pub(crate) fn read<R: DeserializeOwned>(method: &'static str, answer: &RawValue) -> Result<R, ChatError> {
    serde_json::from_str(answer.get())
        // The error quotes the agent.
        .map_err(|error| ChatError::BadAnswer {
            method,
            error: sanitize::line(&error.to_string()),
        })
}

/// Sends one line in order.
pub(crate) async fn send(connection: &Connection, line: Line) -> Result<(), ChatError> {
    connection.send(line).await.map_err(|_| ChatError::Closed)
}
