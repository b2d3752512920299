//! One line of the other side, acted on.
//!
//! Place in the flow: the reader hands over frames in arrival order. A handler's synchronous part and the first poll of
//! its future run here, before the next line is looked at; what is not finished then goes on in a task. Every request
//! has exactly one answer. It must not wait for a handler, nor for the client to read, as long as there is room.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use jsonrpsee::types::{Id, Params};
use jsonrpsee::{AsyncMethod, Extensions, MethodResponse, SyncMethod};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::connection::{Connection, RequestContext};
use super::framing::Frame;
use super::in_flight::{NoEntry, Ticket};
use super::outbox::Refused;
use super::{PeerOptions, foreign};
use crate::rpc::envelope::{Incoming, read};
use crate::rpc::{Handler, Line, Router, RpcId};
use crate::transport::Caller;
use crate::{RpcError, errors};

/// The registry's idea of a connection, which nothing here uses: the context in the extensions is ours.
const NO_CONNECTION: jsonrpsee::ConnectionId = jsonrpsee::ConnectionId(0);

/// Acts on lines, one connection's.
pub(super) struct Dispatcher {
    connection: Connection,
    router: Router,
    max_line_bytes: usize,
    gate: Gate,
}

/// Whether the first request was made, and by whom it is awaited.
#[derive(Clone, Copy, Debug)]
enum Gate {
    /// Everything else is answered with an error.
    WaitingFor(&'static str),
    /// Everything else ends the connection: it need not be a client at all.
    Proving(&'static str),
    /// A client of ours.
    Open,
    /// A client that was a stranger. A line of another protocol still ends the connection.
    Proven,
}

/// What becomes of a frame that nothing in flight answers for.
enum Reaction {
    Nothing,
    /// An error for the line, and the connection goes on.
    Answer(Line),
    /// An error for the line, and the end.
    HangUp(Line),
}

/// A handler at work. What a panic leaves is an error.
type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
/// The registry's answer, or what stood in the way of one.
type Outcome = Result<MethodResponse, RpcError>;

impl Dispatcher {
    pub(super) fn new(connection: Connection, router: Router, options: PeerOptions, caller: &Caller) -> Self {
        let gate = match (options.first_method, caller) {
            (None, _) => Gate::Open,
            (Some(first), Caller::Known) => Gate::WaitingFor(first),
            (Some(first), Caller::Stranger | Caller::Refused(_)) => Gate::Proving(first),
        };
        Self {
            connection,
            router,
            max_line_bytes: options.max_line_bytes,
            gate,
        }
    }

    /// Acts on one frame. Waits only when the answer to garbage finds no room, so that garbage cannot fill the memory.
    ///
    /// Breaks where the connection has to end: nothing more may be read then.
    pub(super) async fn take(&mut self, frame: Frame) -> ControlFlow<()> {
        let reaction = self.act_on(&frame);
        drop(frame);
        match reaction {
            Reaction::Nothing => ControlFlow::Continue(()),
            Reaction::Answer(line) => {
                self.answer_garbage(line).await;
                ControlFlow::Continue(())
            }
            Reaction::HangUp(line) => {
                self.answer_garbage(line).await;
                ControlFlow::Break(())
            }
        }
    }

    /// Looks at the start of a line whose end is not there yet. Breaks where it cannot become what is waited for.
    pub(super) async fn foresee(&self, first_byte: u8) -> ControlFlow<()> {
        match self.gate {
            Gate::Proving(first) if first_byte != b'{' => {
                self.turn_away(errors::not_acp(first)).await;
                ControlFlow::Break(())
            }
            Gate::Proving(_) | Gate::WaitingFor(_) | Gate::Open | Gate::Proven => ControlFlow::Continue(()),
        }
    }

    /// Tells the other side why it is not served.
    pub(super) async fn turn_away(&self, why: RpcError) {
        self.answer_garbage(self.refuse_connection(None, why)).await;
    }

    async fn answer_garbage(&self, line: Line) {
        if let Err(line) = self.connection.outbox().push_reply(line) {
            // A closed connection has nobody to answer to.
            let _ = self.connection.send(line).await;
        }
    }

    /// Does what the frame asks for.
    fn act_on(&mut self, frame: &Frame) -> Reaction {
        let (incoming, bytes) = match frame {
            Frame::Line(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => (read(text), bytes.as_ref()),
                Err(_) => (Incoming::Refused(errors::not_utf8()), bytes.as_ref()),
            },
            Frame::TooLong => (
                Incoming::Refused(errors::line_too_long(self.max_line_bytes)),
                &[][..],
            ),
        };
        match (self.gate, incoming) {
            (Gate::Proving(first), Incoming::Request { id, method, .. }) if method != first => {
                Reaction::HangUp(self.refuse_connection(Some(&id), errors::not_acp(first)))
            }
            (Gate::Proving(first), incoming) if !matches!(incoming, Incoming::Request { .. }) => {
                Reaction::HangUp(self.refuse_connection(None, errors::not_acp(first)))
            }
            (Gate::Proven, Incoming::Refused(_)) if foreign::is_foreign(bytes) => {
                Reaction::HangUp(self.refuse_connection(None, errors::foreign_protocol()))
            }
            (_, incoming) => self.react(incoming, bytes.len()),
        }
    }

    fn react(&mut self, incoming: Incoming<'_>, bytes: usize) -> Reaction {
        match incoming {
            Incoming::Request { id, method, params } => match self.request(id, &method, params, bytes) {
                Some(line) => Reaction::Answer(line),
                None => Reaction::Nothing,
            },
            Incoming::Notification { method, params } => {
                self.notification(&method, params);
                Reaction::Nothing
            }
            Incoming::Response { id, outcome } => {
                self.response(id, outcome);
                Reaction::Nothing
            }
            Incoming::Ignored(what) => {
                tracing::info!(connection = self.connection.label(), "ignored {what}");
                Reaction::Nothing
            }
            Incoming::Refused(error) => {
                let (connection, code) = (self.connection.label(), error.code());
                tracing::info!(connection, code, "refused a line: {}", error.message());
                Reaction::Answer(refusal(error))
            }
        }
    }

    /// The one line that a connection gets which is not served.
    fn refuse_connection(&self, id: Option<&RpcId>, why: RpcError) -> Line {
        let connection = self.connection.label();
        // No warning: whoever finds the port could fill a log with them.
        tracing::info!(connection, "refused a connection: {}", why.message());
        Line::error(id, &why)
    }

    fn request(&mut self, id: RpcId, method: &str, params: Option<&RawValue>, bytes: usize) -> Option<Line> {
        if let Gate::WaitingFor(first) = self.gate
            && first != method
        {
            return Some(Line::error(Some(&id), &errors::wrong_first_request(first)));
        }
        let cancel = self.connection.ending().child_token();
        let ticket = match self.connection.in_flight().enter(id, bytes, cancel) {
            Ok(ticket) => ticket,
            Err(NoEntry::Duplicate(id)) => return Some(refusal(errors::duplicate_id(&id))),
            Err(NoEntry::TooMany(id, requests)) => {
                return Some(Line::error(Some(&id), &errors::too_many_in_flight(requests)));
            }
        };
        let mut running = match self.router.handler(method) {
            Some(Handler::Request(callback)) => self.start(callback, &ticket, method, params),
            Some(Handler::Notification(_)) | None => {
                std::future::ready(Err(errors::method_not_found(method))).boxed()
            }
        };
        match running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => {
                self.open_gate(outcome.as_ref().is_ok_and(MethodResponse::is_success));
                self.answer(ticket, &outcome);
            }
            Poll::Pending => {
                self.open_gate(true);
                // Spawning polls it again, with a waker that counts.
                tokio::spawn(run(self.connection.clone(), ticket, running));
            }
        }
        None
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let connection = self.connection.label();
        if method == super::CANCEL_REQUEST {
            self.cancel(params);
            return;
        }
        if let Gate::WaitingFor(first) = self.gate {
            tracing::info!(connection, method, "ignored a notification before `{first}`");
            return;
        }
        let Some(Handler::Notification(callback)) = self.router.handler(method) else {
            tracing::debug!(connection, method, "ignored a notification without a handler");
            return;
        };
        match self.notify(&callback, params) {
            Ok(response) if response.is_error() => {
                tracing::warn!(connection, method, answer = %response, "a notification could not be handled");
            }
            Ok(_) => {}
            Err(()) => tracing::error!(connection, method, "the handler of a notification panicked"),
        }
    }

    fn notify(&self, callback: &SyncMethod, params: Option<&RawValue>) -> Result<MethodResponse, ()> {
        let mut extensions = Extensions::new();
        extensions.insert(self.connection.clone());
        let params = Params::new(params.map(RawValue::get));
        std::panic::catch_unwind(AssertUnwindSafe(|| {
            callback(Id::Null, params, usize::MAX, extensions)
        }))
        .map_err(drop)
    }

    /// `$/cancel_request`: one that names no request in flight came too late, and that is no fault. Who sends it
    /// can take it.
    fn cancel(&self, params: Option<&RawValue>) {
        self.connection.tell_cancellations();
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CancelRequest<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        let wanted = params
            .and_then(|params| serde_json::from_str::<CancelRequest<'_>>(params.get()).ok())
            .and_then(|params| RpcId::from_raw(params.request_id).ok());
        let connection = self.connection.label();
        match wanted {
            None => tracing::warn!(connection, "ignored a cancellation without a request id"),
            Some(id) if self.connection.in_flight().cancel(&id) => {}
            Some(id) => tracing::debug!(connection, %id, "ignored the cancellation of no open request"),
        }
    }

    fn response(&self, id: &RawValue, outcome: Result<&RawValue, RpcError>) {
        let settled = serde_json::from_str::<u64>(id.get()).is_ok_and(|id| {
            self.connection
                .outgoing()
                .settle(id, outcome.map(RawValue::to_owned))
        });
        if !settled {
            let connection = self.connection.label();
            let id: String = id.get().chars().take(64).collect();
            tracing::info!(connection, id, "ignored an answer to no open request");
        }
    }

    fn start(
        &self,
        callback: AsyncMethod<'static>,
        ticket: &Ticket,
        method: &str,
        params: Option<&RawValue>,
    ) -> Running {
        let mut extensions = Extensions::new();
        extensions.insert(RequestContext {
            connection: self.connection.clone(),
            cancel: ticket.cancel_token().clone(),
            responded: ticket.responded_token().clone(),
        });
        let params = Params::new(params.map(RawValue::get)).into_owned();
        let panicked = errors::handler_panicked(method);
        let called = async move { callback(Id::Null, params, NO_CONNECTION, usize::MAX, extensions).await };
        AssertUnwindSafe(called)
            .catch_unwind()
            .map(|returned| returned.map_err(|_| panicked))
            .boxed()
    }

    /// Answers at once where there is room, else in a task that waits for it.
    fn answer(&self, mut ticket: Ticket, outcome: &Outcome) {
        let line = answer_line(ticket.id(), outcome);
        match self.connection.try_reserve(line.len()) {
            Ok(permit) => {
                ticket.free_id();
                permit.send(line);
            }
            Err(Refused::Full) => {
                let connection = self.connection.clone();
                tokio::spawn(async move { deliver(&connection, ticket, line).await });
            }
            Err(Refused::Closed) => {}
        }
    }

    fn open_gate(&mut self, opened: bool) {
        if opened {
            self.gate = match self.gate {
                Gate::WaitingFor(_) | Gate::Open => Gate::Open,
                Gate::Proving(_) | Gate::Proven => Gate::Proven,
            };
        }
    }
}

/// An error for a line that was no request.
fn refusal(error: RpcError) -> Line {
    Line::error(None, &error)
}

/// The rest of a request: its handler's end and its answer. A handler that goes on after the connection began to end has
/// as long as everything else then; after that it is dropped.
async fn run(connection: Connection, ticket: Ticket, running: Running) {
    let outcome = tokio::select! {
        outcome = running => outcome,
        () = overdue(&connection) => return,
    };
    let line = answer_line(ticket.id(), &outcome);
    drop(outcome);
    deliver(&connection, ticket, line).await;
}

async fn overdue(connection: &Connection) {
    connection.ending().cancelled().await;
    tokio::time::sleep(connection.drain()).await;
}

async fn deliver(connection: &Connection, mut ticket: Ticket, line: Line) {
    if let Ok(permit) = connection.reserve(line.len()).await {
        ticket.free_id();
        permit.send(line);
    }
}

fn answer_line(id: &RpcId, outcome: &Outcome) -> Line {
    match outcome {
        Ok(response) => Line::registry_answer(id, response.as_ref()),
        Err(error) => Line::error(Some(id), error),
    }
}
