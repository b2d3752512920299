//! What a query and its handles share: the way to Claude's input, and who waits for which answer. Correlates control
//! requests in both directions; it neither reads Claude's output nor decides an answer.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::{BufMut, Bytes, BytesMut};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use tokio::io::AsyncWrite;
use tokio::sync::oneshot;

use super::event::QueryEvent;
use super::timings::QueryTimings;
use super::writer::{SendError, Writer};
use crate::messages::control::{
    ControlCancel, ControlFailure, ControlRequest, ControlResponse, HostControl, IncomingControl,
};
use crate::messages::{ControlId, WireFields};

/// Where the answer to one of our requests arrives; closes without one when Claude ends.
pub(super) type Answer = oneshot::Receiver<Result<Value, ControlFailure>>;

/// The shared side of one query.
#[derive(Debug)]
pub(super) struct Channel {
    writer: Writer,
    waiting: Mutex<Waiting>,
    next_id: AtomicU64,
    pub(super) timings: QueryTimings,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Our requests that Claude has not answered.
    ours: HashMap<ControlId, oneshot::Sender<Result<Value, ControlFailure>>>,
    /// Claude's requests that we have not answered.
    theirs: HashSet<ControlId>,
}

impl Channel {
    pub(super) fn new(stdin: impl AsyncWrite + Send + Unpin + 'static, timings: QueryTimings) -> Self {
        Self {
            writer: Writer::start(stdin),
            waiting: Mutex::default(),
            next_id: AtomicU64::new(1),
            timings,
        }
    }

    /// Sends a message of kind `kind`.
    pub(super) fn send(&self, kind: &str, message: &impl WireFields) -> Result<(), SendError> {
        self.writer.send(line(kind, message)?)
    }

    /// Sends a request of ours.
    pub(super) fn ask(&self, request: ControlRequest) -> Result<(ControlId, Answer), SendError> {
        let id = ControlId::from(format!("req_{}", self.next_id.fetch_add(1, Ordering::Relaxed)));
        let message = HostControl {
            request_id: id.clone().into(),
            request,
            ..HostControl::default()
        };
        let (sender, answer) = oneshot::channel();
        // Before it is sent: the answer may be read before `send` returns.
        self.waiting().ours.insert(id.clone(), sender);
        match self.send("control_request", &message) {
            Ok(()) => Ok((id, answer)),
            Err(error) => {
                self.waiting().ours.remove(&id);
                Err(error)
            }
        }
    }

    /// Withdraws a request of ours, if it still waits.
    pub(super) fn withdraw(&self, id: &ControlId) {
        if self.waiting().ours.remove(id).is_none() {
            return;
        }
        let cancel = ControlCancel {
            request_id: id.clone(),
            ..ControlCancel::default()
        };
        if let Err(error) = self.send("control_cancel_request", &cancel) {
            tracing::debug!(%id, %error, "could not withdraw a control request");
        }
    }

    /// Answers a request of Claude's, if it still waits.
    pub(super) fn answer(&self, id: &ControlId, reply: Result<Value, String>) -> Result<(), SendError> {
        let response = match reply {
            Ok(Value::Null) => ControlResponse::success(id, None),
            Ok(payload) => ControlResponse::success(id, Some(payload)),
            Err(text) => ControlResponse::error(id, text),
        };
        let line = line("control_response", &response)?;
        let mut waiting = self.waiting();
        if !waiting.theirs.contains(id) {
            return Err(SendError::NotWaiting { id: id.to_string() });
        }
        self.writer.send(line)?;
        // Only now: an answer that could not be sent may be tried again.
        waiting.theirs.remove(id);
        Ok(())
    }

    /// Claude asks. A second request under an id that still waits is a repetition.
    pub(super) fn asked(&self, control: IncomingControl) -> Option<QueryEvent> {
        let IncomingControl {
            request_id: id,
            request,
            extra: _,
        } = control;
        if self.waiting().theirs.insert(id.clone()) {
            return Some(QueryEvent::ControlRequest { id, request });
        }
        tracing::debug!(%id, "claude repeated a control request that is being answered");
        None
    }

    /// Claude withdraws what it asked.
    pub(super) fn withdrawn(&self, id: ControlId) -> Option<QueryEvent> {
        if self.waiting().theirs.remove(&id) {
            return Some(QueryEvent::ControlCancel { id });
        }
        tracing::debug!(%id, "claude withdrew a control request nobody is answering");
        None
    }

    /// Claude answers.
    pub(super) fn answered(&self, response: ControlResponse) {
        let waiting = response
            .request_id()
            .and_then(|id| self.waiting().ours.remove(id));
        match waiting {
            // Whoever asked may be gone by now; that is its own business.
            Some(waiting) => drop(waiting.send(response.into_result())),
            None => {
                let id = response.request_id().map(ControlId::as_str);
                tracing::debug!(id, "claude answered a control request nobody waits for");
            }
        }
    }

    /// Closes Claude's input behind what is queued.
    pub(super) fn close_input(&self) {
        self.writer.close();
    }

    /// Closes Claude's input at once.
    pub(super) fn abort_input(&self) {
        self.writer.abort();
    }

    /// Nothing will be read or written any more: whoever waits learns it.
    pub(super) fn end(&self) {
        self.writer.abort();
        *self.waiting() = Waiting::default();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A whole line, its end included. JSON escapes the line ends inside.
fn line(kind: &str, message: &impl WireFields) -> Result<Bytes, SendError> {
    let mut line = BytesMut::new().writer();
    serde_json::to_writer(&mut line, &Tagged { kind, message }).map_err(|error| SendError::Unwritable {
        reason: error.to_string(),
    })?;
    let mut line = line.into_inner();
    line.put_u8(b'\n');
    Ok(line.freeze())
}

/// Writes a message under its kind without moving it into an enum first, which would copy a prompt's images.
struct Tagged<'a, T> {
    kind: &'a str,
    message: &'a T,
}

impl<T: WireFields> Serialize for Tagged<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.kind)?;
        self.message.write_fields(&mut map)?;
        map.end()
    }
}
