//! What one line is: a request, a notification, a response, or nothing of the kind.
//!
//! Place in the flow: the first thing done with a line, before any method is looked up. Unknown members are ignored
//! and an explicit `null` is told from an absent member. It must not keep state or answer anything itself.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::RpcError;
use crate::errors;
use crate::rpc::RpcId;

/// Longest id that is taken: it is kept for as long as the request runs.
const MAX_ID_BYTES: usize = 4096;

/// One message of the other side.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// Wants exactly one answer.
    Request {
        id: RpcId,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// Wants none.
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours, if the id is one.
    Response {
        id: &'a RawValue,
        outcome: Result<&'a RawValue, RpcError>,
    },
    /// Has no meaning, but no answer either: an answer could start a ping-pong of errors.
    Ignored(&'static str),
    /// Is answered with this error and the id `null`.
    Refused(RpcError),
}

/// Reads one line without its terminator.
pub(crate) fn read(text: &str) -> Incoming<'_> {
    let text = text.trim_ascii();
    if text.starts_with('{') {
        return match serde_json::from_str::<Envelope<'_>>(text) {
            Ok(envelope) => classify(envelope, text),
            Err(error) if error.is_data() => Incoming::Refused(errors::bad_envelope(text)),
            Err(_) => Incoming::Refused(errors::parse_error()),
        };
    }
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Incoming::Refused(errors::parse_error());
    }
    if text.starts_with('[') {
        return Incoming::Refused(errors::batch_not_supported());
    }
    Incoming::Refused(errors::bad_envelope(text))
}

/// Every member stays raw: `Option<&RawValue>` alone would read an explicit `null` as absent.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there, `null` included. Also used for the registry's own answers.
pub(crate) fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

fn classify<'a>(envelope: Envelope<'a>, text: &'a str) -> Incoming<'a> {
    match envelope.method {
        Some(method) => call(&envelope, method, text),
        None => answer(&envelope, text),
    }
}

fn call<'a>(envelope: &Envelope<'a>, method: &'a RawValue, text: &'a str) -> Incoming<'a> {
    let (true, Some(method)) = (is_version_2(envelope), string(method)) else {
        return Incoming::Refused(errors::bad_envelope(text));
    };
    let params = envelope.params;
    let Some(id) = envelope.id else {
        return Incoming::Notification { method, params };
    };
    if id.get().len() > MAX_ID_BYTES {
        return Incoming::Refused(errors::id_too_long(MAX_ID_BYTES));
    }
    match RpcId::from_raw(id) {
        Ok(id) => Incoming::Request { id, method, params },
        Err(_) => Incoming::Refused(errors::bad_envelope(text)),
    }
}

/// A message without a method. What looks like an answer is never answered, however odd its envelope is.
fn answer<'a>(envelope: &Envelope<'a>, text: &'a str) -> Incoming<'a> {
    let outcome = match (envelope.result, envelope.error) {
        (None, None) if !is_version_2(envelope) => return Incoming::Refused(errors::bad_envelope(text)),
        (None, None) => {
            return match envelope.id {
                Some(_) => Incoming::Ignored("a message with an id, but neither method nor result nor error"),
                None => Incoming::Refused(errors::bad_envelope(text)),
            };
        }
        (_, Some(error)) if error.get() != "null" => Err(read_error(error)),
        (Some(result), _) => Ok(result),
        (None, Some(error)) => Err(errors::malformed_error(error.get())),
    };
    match envelope.id {
        Some(id) => Incoming::Response { id, outcome },
        None => Incoming::Ignored("a result or an error without an id"),
    }
}

fn is_version_2(envelope: &Envelope<'_>) -> bool {
    envelope
        .jsonrpc
        .and_then(string)
        .is_some_and(|version| version == "2.0")
}

/// The meaning of a JSON string; borrowed when it has no escapes.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// The other side's error object, read with tolerance: it only has to be an object.
fn read_error(raw: &RawValue) -> RpcError {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(default)]
        code: serde_json::Value,
        #[serde(default)]
        message: serde_json::Value,
        #[serde(borrow, default, deserialize_with = "present")]
        data: Option<&'a RawValue>,
    }
    let Ok(wire) = serde_json::from_str::<Wire<'_>>(raw.get()) else {
        return errors::malformed_error(raw.get());
    };
    let code = wire.code.as_i64().and_then(|code| i32::try_from(code).ok());
    let (Some(code), serde_json::Value::String(message)) = (code, wire.message) else {
        return errors::malformed_error(raw.get());
    };
    RpcError::owned(code, message, wire.data)
}
