//! Every JSON-RPC error this agent sends: the one file with codes and texts.
//!
//! Place in the flow: handlers and the peer build their refusals here. It must not decide *whether* something is
//! refused, only how the refusal reads.

use std::fmt::Display;

use jsonrpsee::types::error::{
    INTERNAL_ERROR_CODE, INVALID_PARAMS_CODE, INVALID_REQUEST_CODE, METHOD_NOT_FOUND_CODE, PARSE_ERROR_CODE,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::RpcError;
use crate::rpc::RpcId;

/// The client has to log in first.
pub const AUTH_REQUIRED_CODE: i32 = -32000;
/// A session (or another named thing) does not exist.
pub const RESOURCE_NOT_FOUND_CODE: i32 = -32002;
/// The requested protocol version is not spoken here.
pub const UNSUPPORTED_PROTOCOL_VERSION_CODE: i32 = -32022;
/// The request was cancelled by the side that made it.
pub const REQUEST_CANCELLED_CODE: i32 = -32800;

/// Longest offending value that is sent back in `data`; a longer one is cut.
const MAX_ECHO_BYTES: usize = 4096;

/// The params of a request are wrong; `text` says what and what would be right.
#[must_use]
pub fn invalid_params(text: impl Display, data: Option<Value>) -> RpcError {
    RpcError::owned(INVALID_PARAMS_CODE, format!("Invalid params: {text}"), data)
}

/// A well-formed request that cannot be served in this state; `text` says why.
#[must_use]
pub fn invalid_request(text: impl Display, data: Option<Value>) -> RpcError {
    RpcError::owned(INVALID_REQUEST_CODE, format!("Invalid request: {text}"), data)
}

/// The client has to log in with one of the advertised methods.
#[must_use]
pub fn auth_required() -> RpcError {
    RpcError::owned(AUTH_REQUIRED_CODE, "Authentication required", None::<()>)
}

/// The client has to log in, in a way that it cannot know; `how` says which.
#[must_use]
pub fn auth_required_by(how: impl Display) -> RpcError {
    let message = format!("Authentication required: {how}");
    RpcError::owned(AUTH_REQUIRED_CODE, message, None::<()>)
}

/// No session with this id lives here.
#[must_use]
pub fn resource_not_found(session_id: impl Display) -> RpcError {
    let id = session_id.to_string();
    let message = format!("Resource not found: `{}`", cut(&id.escape_debug().to_string()));
    RpcError::owned(RESOURCE_NOT_FOUND_CODE, message, Some(json!({ "sessionId": id })))
}

/// Something failed on our side; `text` says what and, where there is something, what to do next.
#[must_use]
pub fn internal(text: impl Display, data: Option<Value>) -> RpcError {
    RpcError::owned(INTERNAL_ERROR_CODE, format!("Internal error: {text}"), data)
}

/// The client asked for a protocol version that is not spoken here.
#[must_use]
pub fn unsupported_protocol_version(requested: u16, supported: &[u16]) -> RpcError {
    let data = json!({ "requested": requested, "supported": supported });
    RpcError::owned(
        UNSUPPORTED_PROTOCOL_VERSION_CODE,
        "Unsupported protocol version",
        Some(data),
    )
}

/// The request was cancelled with `$/cancel_request` and has no better answer than this.
#[must_use]
pub fn request_cancelled() -> RpcError {
    RpcError::owned(REQUEST_CANCELLED_CODE, "Request cancelled", None::<()>)
}

/// Nothing is registered under this method name.
#[must_use]
pub fn method_not_found(method: &str) -> RpcError {
    let shown = cut(method);
    let message = format!("\"Method not found\": {shown}");
    RpcError::owned(METHOD_NOT_FOUND_CODE, message, Some(json!({ "method": shown })))
}

pub(crate) fn parse_error() -> RpcError {
    RpcError::owned(PARSE_ERROR_CODE, "Parse error", None::<()>)
}

pub(crate) fn not_utf8() -> RpcError {
    let data = json!({ "details": "the line is not valid UTF-8" });
    RpcError::owned(PARSE_ERROR_CODE, "Parse error", Some(data))
}

/// `text` is the whole offending message, valid JSON.
pub(crate) fn bad_envelope(text: &str) -> RpcError {
    let message = "Invalid request";
    if text.len() > MAX_ECHO_BYTES {
        return RpcError::owned(INVALID_REQUEST_CODE, message, Some(cut(text)));
    }
    let data = serde_json::from_str::<&RawValue>(text).ok();
    RpcError::owned(INVALID_REQUEST_CODE, message, data)
}

pub(crate) fn batch_not_supported() -> RpcError {
    invalid_request("JSON-RPC batches are not supported", None)
}

pub(crate) fn wrong_first_request(expected: &str) -> RpcError {
    let data = format!("first ACP request must be {expected}");
    RpcError::owned(INVALID_REQUEST_CODE, "Invalid request", Some(data))
}

/// A stranger did not begin as a client does. It may be a browser or a scanner: it learns what would be right, no more.
pub(crate) fn not_acp(first: &str) -> RpcError {
    invalid_request(
        format_args!("an ACP agent listens here, and the first line must be the JSON-RPC request `{first}`"),
        None,
    )
}

/// A line of HTTP or TLS came where a message should be.
pub(crate) fn foreign_protocol() -> RpcError {
    invalid_request(
        "an ACP agent listens here: JSON-RPC lines, no HTTP and no TLS",
        None,
    )
}

/// The other side may not come in.
pub(crate) fn turned_away(why: impl Display) -> RpcError {
    invalid_request(why, None)
}

pub(crate) fn line_too_long(limit_bytes: usize) -> RpcError {
    let data = json!({ "maxLineBytes": limit_bytes });
    invalid_request(
        format_args!("the line is longer than the limit of {limit_bytes} bytes"),
        Some(data),
    )
}

pub(crate) fn id_too_long(limit_bytes: usize) -> RpcError {
    invalid_request(
        format_args!("the request id is longer than the limit of {limit_bytes} bytes"),
        None,
    )
}

pub(crate) fn duplicate_id(id: &RpcId) -> RpcError {
    #[derive(serde::Serialize)]
    struct Data<'a> {
        id: &'a RpcId,
    }
    let message =
        format!("Invalid request: the id `{id}` belongs to a request that has not been answered yet");
    RpcError::owned(INVALID_REQUEST_CODE, message, Some(Data { id }))
}

pub(crate) fn too_many_in_flight(requests: usize) -> RpcError {
    let text = format_args!(
        "{requests} requests on this connection wait for their answers, send this one again after some of them"
    );
    invalid_request(text, None)
}

pub(crate) fn handler_panicked(method: &str) -> RpcError {
    internal(
        format_args!(
            "the handler of `{}` panicked, the agent's log has the details",
            cut(method)
        ),
        None,
    )
}

pub(crate) fn unserializable(details: impl Display) -> RpcError {
    internal(
        "the message could not be written as JSON",
        Some(json!({ "details": details.to_string() })),
    )
}

/// The other side answered with an `error` that is not an error object.
pub(crate) fn malformed_error(raw: &str) -> RpcError {
    internal(
        "the other side answered with a malformed error",
        Some(json!({ "error": cut(raw) })),
    )
}

/// The start of `text`, with its length when something was left out.
pub(crate) fn cut(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    if text.len() <= MAX_ECHO_BYTES {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN_CHARS).collect();
    format!("{start}… ({} bytes)", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_code_and_reads_as_it_should() {
        let id = RpcId::parse(r#""a""#).unwrap();
        let errors = [
            invalid_params(
                "`cwd` must be an absolute path, but received: x",
                Some(json!({"cwd": "x"})),
            ),
            invalid_request("a turn runs", None),
            auth_required(),
            auth_required_by("run `claude-acp --cli auth login` in a terminal, then send the prompt again"),
            resource_not_found("s1"),
            internal("Claude exited", Some(json!({"errorKind": "no_result"}))),
            unsupported_protocol_version(0, &[1]),
            request_cancelled(),
            method_not_found("nope/method"),
            parse_error(),
            not_utf8(),
            bad_envelope(r#"{"id":1}"#),
            batch_not_supported(),
            wrong_first_request("initialize"),
            line_too_long(64),
            id_too_long(4096),
            duplicate_id(&id),
            too_many_in_flight(1024),
            handler_panicked("session/new"),
            unserializable("key must be a string"),
            malformed_error("5"),
        ];
        let lines: Vec<String> = errors
            .iter()
            .map(|error| serde_json::to_string(error).unwrap())
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn a_long_method_name_is_cut() {
        let error = method_not_found(&"é".repeat(100_000));
        assert!(error.message().len() < 500);
        assert!(error.message().ends_with("… (200000 bytes)"));
    }
}
