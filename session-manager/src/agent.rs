//! The ACP methods this agent answers: the table of contents of the crate.
//!
//! Each handler reads its parameters, finds the session and hands over to its actor. What must keep the order of arrival
//! (a cancel after its prompt) happens before the handler's first await.

use std::sync::Arc;

use acp_proto::{Connection, RequestContext, Router, RouterBuilder, RouterError, RpcError, errors, schema};
use claude_sdk_bridge::transcripts::TranscriptStore;
use serde_json::json;
use tokio::sync::oneshot;

use crate::content;
use crate::history::{self, Record, Records};
use crate::initialize::{self, ClientFacts};
use crate::manager::SessionManager;
use crate::session::{Command, Current, NewSession, SessionHandle, open};
use crate::setup::{self, NewSessionParams, StoredSessionParams};
use crate::steering::{SteeringRequest, SteeringResponse};
use crate::turn::PromptId;

/// Registers every method.
pub(crate) fn router(manager: &Arc<SessionManager>) -> Result<Router, RouterError> {
    let [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] =
        std::array::from_fn(|_| Arc::clone(manager));
    Ok(RouterBuilder::new()
        .request("initialize", move |ctx, request| {
            std::future::ready(initialize(&m1, &ctx, &request))
        })?
        .request("authenticate", |_, request| {
            std::future::ready(authenticate(&request))
        })?
        .request("session/new", move |ctx, request| {
            new_session(Arc::clone(&m2), ctx, request)
        })?
        .request("session/prompt", move |ctx, request| {
            prompt(Arc::clone(&m3), ctx, request)
        })?
        .request("session/set_config_option", move |ctx, request| {
            set_option(Arc::clone(&m8), ctx, request)
        })?
        .request("_session/steering", move |ctx, request| {
            steer(Arc::clone(&m7), ctx, request)
        })?
        .notification("session/cancel", move |connection, request| {
            cancel(&m4, &connection, &request)
        })?
        .request("session/set_mode", move |ctx, request| {
            set_mode(Arc::clone(&m5), ctx, request)
        })?
        .request("session/close", move |ctx, request| {
            close(Arc::clone(&m6), ctx, request)
        })?
        .request("session/load", move |ctx, request| {
            load(Arc::clone(&m10), ctx, request)
        })?
        .request("session/resume", move |ctx, request| {
            resume(Arc::clone(&m11), ctx, request)
        })?
        .request("session/fork", move |ctx, request| {
            fork(Arc::clone(&m13), ctx, request)
        })?
        .request("session/delete", move |ctx, request| {
            delete(Arc::clone(&m12), ctx, request)
        })?
        .request("session/list", move |_, request| list(Arc::clone(&m9), request))?
        .build())
}

fn initialize(
    manager: &SessionManager,
    ctx: &RequestContext,
    request: &schema::InitializeRequest,
) -> Result<schema::InitializeResponse, RpcError> {
    let response = initialize::respond(request, &manager.config)?;
    let facts = ClientFacts::read(request, &manager.config.login);
    if facts.cancellations {
        ctx.connection.tell_cancellations();
    }
    manager.greet(ctx.connection.id(), facts);
    Ok(response)
}

/// Every login runs in a terminal of the client's, so there is nothing to do here, and saying so is better than a success.
fn authenticate(request: &schema::AuthenticateRequest) -> Result<schema::AuthenticateResponse, RpcError> {
    let method = request.method_id.to_string();
    let message = format!(
        "unsupported authentication method: `{method}`; run the method's command in a terminal, then send the prompt again"
    );
    Err(errors::invalid_params(
        &message,
        Some(json!({"methodId": method})),
    ))
}

async fn new_session(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    params: NewSessionParams,
) -> Result<schema::NewSessionResponse, RpcError> {
    let client = manager.client(ctx.connection.id());
    let setup = setup::set_up(&params, client, &manager.config)?;
    let records = manager.config.records();
    let session = NewSession {
        // Nobody else knows it yet.
        lock: records.and_then(|records| records.lock(&setup.id).ok().flatten()),
        record: Record::begun(setup.id.clone(), setup.wanted.options.cwd.clone()),
        setup,
        client,
        connection: ctx.connection.clone(),
        announce_after: ctx.responded.clone(),
        stored: None,
    };
    let opening = open(Arc::clone(&manager), session);
    let opened = tokio::select! {
        opened = opening => opened?,
        () = ctx.cancel.cancelled() => return Err(errors::request_cancelled()),
    };
    let response = schema::NewSessionResponse::new(opened.id.clone());
    let Current { modes, options } = manager.adopt(opened).await?;
    Ok(response.modes(modes).config_options(options))
}

async fn load(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    params: StoredSessionParams,
) -> Result<schema::LoadSessionResponse, RpcError> {
    let store = stored(&manager, "session/load")?;
    let Current { modes, options } = history::open_stored(manager, ctx, (store, params), true).await?;
    Ok(schema::LoadSessionResponse::new()
        .modes(modes)
        .config_options(options))
}

async fn resume(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    params: StoredSessionParams,
) -> Result<schema::ResumeSessionResponse, RpcError> {
    let store = stored(&manager, "session/resume")?;
    let Current { modes, options } = history::open_stored(manager, ctx, (store, params), false).await?;
    Ok(schema::ResumeSessionResponse::new()
        .modes(modes)
        .config_options(options))
}

async fn prompt(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    request: schema::PromptRequest,
) -> Result<schema::PromptResponse, RpcError> {
    let session = find(&manager, &ctx.connection, &request.session_id)?;
    let content = content::user_content(request.prompt)?;
    let id = PromptId::new();
    let (reply, mut answer) = oneshot::channel();
    session.send(Command::Prompt { id, content, reply })?;
    tokio::select! {
        answer = &mut answer => return answer.unwrap_or_else(|_| Err(session_gone())),
        () = ctx.cancel.cancelled() => {}
    }
    // The turn ends as a cancelled one does: the answer still comes from the actor.
    session.deliver(Command::CancelPrompt(id)).await;
    answer.await.unwrap_or_else(|_| Err(session_gone()))
}

async fn steer(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    request: SteeringRequest,
) -> Result<SteeringResponse, RpcError> {
    let session = find(&manager, &ctx.connection, &request.session_id)?;
    let when_idle = request.when_idle();
    let content = content::user_content(request.prompt)?;
    let (reply, answer) = oneshot::channel();
    session.send(Command::Steer {
        content,
        when_idle,
        reply,
    })?;
    let steered = answer.await.unwrap_or_else(|_| Err(session_gone()))?;
    Ok(steered.into())
}

/// A cancel of an unknown session is ignored: a notification has no answer.
fn cancel(manager: &SessionManager, connection: &Connection, request: &schema::CancelNotification) {
    let Some(session) = manager.session(&request.session_id, connection.id()) else {
        tracing::debug!(session = %request.session_id, "cancel of an unknown session ignored");
        return;
    };
    if session.send(Command::Cancel).is_err() {
        // In a flood it comes late, which is better than never.
        tokio::spawn(async move { session.deliver(Command::Cancel).await });
    }
}

async fn set_mode(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    request: schema::SetSessionModeRequest,
) -> Result<schema::SetSessionModeResponse, RpcError> {
    let session = find(&manager, &ctx.connection, &request.session_id)?;
    let (reply, answer) = oneshot::channel();
    session.send(Command::SetMode {
        id: request.mode_id.to_string(),
        reply,
    })?;
    answer.await.unwrap_or_else(|_| Err(session_gone()))?;
    Ok(schema::SetSessionModeResponse::new())
}

async fn set_option(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    request: schema::SetSessionConfigOptionRequest,
) -> Result<schema::SetSessionConfigOptionResponse, RpcError> {
    let session = find(&manager, &ctx.connection, &request.session_id)?;
    let (reply, answer) = oneshot::channel();
    session.send(Command::SetOption {
        id: request.config_id.to_string(),
        value: request.value,
        reply,
    })?;
    let options = answer.await.unwrap_or_else(|_| Err(session_gone()))?;
    Ok(schema::SetSessionConfigOptionResponse::new(options))
}

/// Closing an unknown session succeeds: it is as gone as the client wants it.
async fn close(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    request: schema::CloseSessionRequest,
) -> Result<schema::CloseSessionResponse, RpcError> {
    manager.close(&request.session_id, ctx.connection.id()).await;
    Ok(schema::CloseSessionResponse::new())
}

async fn fork(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    params: StoredSessionParams,
) -> Result<schema::ForkSessionResponse, RpcError> {
    let stored = stored(&manager, "session/fork")?;
    let (id, current) = history::fork_stored(manager, ctx, (stored, params)).await?;
    Ok(schema::ForkSessionResponse::new(id)
        .modes(current.modes)
        .config_options(current.options))
}

async fn delete(
    manager: Arc<SessionManager>,
    ctx: RequestContext,
    request: schema::DeleteSessionRequest,
) -> Result<schema::DeleteSessionResponse, RpcError> {
    let store = stored(&manager, "session/delete")?;
    history::delete(manager, ctx, store, request.session_id).await
}

async fn list(
    manager: Arc<SessionManager>,
    request: schema::ListSessionsRequest,
) -> Result<schema::ListSessionsResponse, RpcError> {
    history::list(stored(&manager, "session/list")?, request).await
}

/// Where stored conversations lie, and what is kept of them. A scripted Claude keeps none, and nobody is told that it does.
fn stored(manager: &SessionManager, method: &str) -> Result<(TranscriptStore, Records), RpcError> {
    let config = &manager.config;
    config
        .transcripts()
        .zip(config.records())
        .ok_or_else(|| errors::method_not_found(method))
}

fn find(
    manager: &SessionManager,
    connection: &Connection,
    id: &schema::SessionId,
) -> Result<SessionHandle, RpcError> {
    manager
        .session(id, connection.id())
        .ok_or_else(|| errors::resource_not_found(id))
}

/// The actor ended without an answer: the session was closed meanwhile, or the actor panicked. The others go on.
fn session_gone() -> RpcError {
    errors::internal("the session ended before it could answer; open a new one", None)
}
