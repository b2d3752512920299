//! What one line is: a request, a notification, a response, or nothing of the kind.
//!
//! Place in the flow: the first thing done with a line, before any method is looked up. Unknown members are ignored
//! and an explicit `null` is told from an absent member. It must not keep state or answer anything itself.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::rpc::RpcId;
use crate::{RpcError, errors};

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

/// A member that is there, `null` included.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line is read as, in a word and its parts.
    fn check(text: &str, expected: &str) {
        let shown = match read(text) {
            Incoming::Request { id, method, params } => format!("request {id} {method} {}", raw(params)),
            Incoming::Notification { method, params } => format!("notification {method} {}", raw(params)),
            Incoming::Response {
                id,
                outcome: Ok(result),
            } => format!("response {id} {result}"),
            Incoming::Response {
                id,
                outcome: Err(error),
            } => {
                format!(
                    "error {id} {} {} {}",
                    error.code(),
                    error.message(),
                    raw(error.data())
                )
            }
            Incoming::Ignored(_) => "ignored".to_owned(),
            Incoming::Refused(error) => {
                format!(
                    "refused {} {} {}",
                    error.code(),
                    error.message(),
                    raw(error.data())
                )
            }
        };
        assert_eq!(shown, expected, "{text}");
    }

    fn raw(value: Option<&RawValue>) -> &str {
        value.map_or("-", RawValue::get)
    }

    #[test]
    fn requests_keep_their_id_and_their_raw_params() {
        for id in [
            "0",
            "-1",
            "1.5",
            "1e2",
            "18446744073709551616",
            "null",
            r#""""#,
            "\"\u{fc}\"",
            r#""\u00fc""#,
        ] {
            check(
                &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#),
                &format!("request {id} m -"),
            );
        }
        check(
            r#"{"method":"m","id":1,"jsonrpc":"2.0","params":{"a" : null},"x":{"y":[]}}"#,
            r#"request 1 m {"a" : null}"#,
        );
        check(
            r#" {"jsonrpc" : "2.0", "id": 1, "method": "m", "params": null} "#,
            "request 1 m null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"\u006dethod":"\u0065cho"}"#,
            "request 1 echo -",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1,"error":null}"#,
            "request 1 m -",
        );
    }

    #[test]
    fn a_call_without_an_id_is_a_notification_and_a_null_id_is_not_without() {
        check(
            r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#,
            "notification m [1]",
        );
        check(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "request null m -");
    }

    #[test]
    fn answers_are_read_with_tolerance() {
        check(r#"{"jsonrpc":"2.0","id":0,"result":null}"#, "response 0 null");
        check(
            r#"{"jsonrpc":"2.0","id":0,"result":{"a":1},"error":null}"#,
            r#"response 0 {"a":1}"#,
        );
        check(r#"{"id":0,"result":1}"#, "response 0 1");
        check(
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m","data":null,"more":1}}"#,
            "error \"x\" -1 m null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":0,"result":1,"error":{"code":-1,"message":"m"}}"#,
            "error 0 -1 m -",
        );
        for (error, shown) in [
            (r#""boom""#, r#""\"boom\"""#),
            ("{}", r#""{}""#),
            (
                r#"{"code":1.5,"message":"m"}"#,
                r#""{\"code\":1.5,\"message\":\"m\"}""#,
            ),
        ] {
            check(
                &format!(r#"{{"jsonrpc":"2.0","id":0,"error":{error}}}"#),
                &format!(
                    r#"error 0 -32603 Internal error: the other side answered with a malformed error {{"error":{shown}}}"#
                ),
            );
        }
        check(
            r#"{"jsonrpc":"2.0","id":0,"error":null}"#,
            r#"error 0 -32603 Internal error: the other side answered with a malformed error {"error":"null"}"#,
        );
    }

    #[test]
    fn what_could_start_a_ping_pong_of_errors_is_not_answered() {
        check(r#"{"jsonrpc":"2.0","id":91}"#, "ignored");
        check(r#"{"jsonrpc":"2.0","id":null}"#, "ignored");
        check(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#, "ignored");
        check(r#"{"result":1}"#, "ignored");
        check(
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            "error null -32700 Parse error -",
        );
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for text in [
            "{not json",
            r#"{"jsonrpc":"2.0", "id": 77, oops"#,
            "{}{}",
            "[1,",
            "nul",
            "'x'",
            "{\"a\":\"\u{1}\"}",
            "\u{feff}{}",
        ] {
            check(text, "refused -32700 Parse error -");
        }
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request_with_the_value_as_data() {
        let values = [
            "null",
            "42",
            r#""x""#,
            "true",
            "{}",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"1.0","id":92,"method":"m","params":{}}"#,
            r#"{"id":93,"method":"m"}"#,
            r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
            r#"{"id":1}"#,
        ];
        for text in values {
            check(text, &format!("refused -32600 Invalid request {text}"));
        }
    }

    #[test]
    fn a_batch_is_refused_whole() {
        for text in ["[]", r#"[{"jsonrpc":"2.0","id":200,"method":"m"}]"#, "[1]"] {
            check(
                text,
                "refused -32600 Invalid request: JSON-RPC batches are not supported -",
            );
        }
    }

    #[test]
    fn huge_values_are_not_echoed_whole() {
        let value = format!("\"{}\"", "x".repeat(10_000));
        let Incoming::Refused(error) = read(&value) else {
            panic!("not refused")
        };
        assert!(error.data().expect("data").get().len() < 400);
        let request = format!(r#"{{"jsonrpc":"2.0","id":{value},"method":"m"}}"#);
        let Incoming::Refused(error) = read(&request) else {
            panic!("not refused")
        };
        assert_eq!(
            error.message(),
            "Invalid request: the request id is longer than the limit of 4096 bytes"
        );
    }

    proptest::proptest! {
        /// Whatever is refused says why; what is read came from JSON.
        #[test]
        fn any_text_is_read_without_a_panic(
            parts in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..12),
            noise in ".{0,6}",
        ) {
            let text = parts.concat() + &noise;
            match read(&text) {
                Incoming::Refused(error) => proptest::prop_assert!([-32700, -32600].contains(&error.code())),
                Incoming::Request { .. } | Incoming::Notification { .. } | Incoming::Response { .. } | Incoming::Ignored(_) => {
                    proptest::prop_assert!(serde_json::from_str::<IgnoredAny>(&text).is_ok());
                }
            }
        }
    }

    const PIECES: [&str; 16] = [
        "{",
        "}",
        r#""jsonrpc":"2.0""#,
        r#""id":1"#,
        r#""id":null"#,
        r#""method":"m""#,
        r#""params":{}"#,
        r#""result":null"#,
        r#""error":{"code":1,"message":"x"}"#,
        ",",
        ",",
        ",",
        "[",
        "]",
        "null",
        "\"\\ud800\"",
    ];

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        let Incoming::Request { .. } = read(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}"#
        )) else {
            panic!("not a request")
        };
        let Incoming::Refused(error) = read(&deep) else {
            panic!("not refused")
        };
        assert_eq!(error.code(), -32600);
    }
}
