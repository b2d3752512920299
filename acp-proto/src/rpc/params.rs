//! Typed params from JSON text, with errors that say where the fault is.
//!
//! Place in the flow: called by the [`crate::Router`]'s wrappers before a handler runs. It must not know any method.

use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{RpcError, errors};

/// Reads the params of a call. Absent and `null` params count as an empty object.
pub(crate) fn parse<P: DeserializeOwned>(text: Option<&str>) -> Result<P, RpcError> {
    match text {
        None | Some("null") => parse_absent(),
        Some(text) if text.starts_with('{') => read(text),
        Some(text) => {
            let kind = if text.starts_with('[') {
                "an array"
            } else {
                "a single value"
            };
            Err(errors::invalid_params(
                format_args!("expected an object with named fields, got {kind}"),
                None,
            ))
        }
    }
}

fn parse_absent<P: DeserializeOwned>() -> Result<P, RpcError> {
    // A handler without params takes `()`, which reads from `null` only.
    read("{}").or_else(|error| read("null").map_err(|_| error))
}

/// Reads one value and keeps the way to it, which is what an author of a client looks for.
fn read<P: DeserializeOwned>(text: &str) -> Result<P, RpcError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let params = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = match error.path().iter().len() {
            0 => String::new(),
            _ => error.path().to_string(),
        };
        refuse(&path, error.inner())
    })?;
    deserializer.end().map_err(|error| refuse("", &error))?;
    Ok(params)
}

fn refuse(path: &str, error: &serde_json::Error) -> RpcError {
    let full = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    // serde repeats the offending value, however long it is.
    let details = errors::cut(full.strip_suffix(&position).unwrap_or(&full));
    if path.is_empty() {
        return errors::invalid_params(&details, Some(json!({ "details": &details })));
    }
    let path = errors::cut(path);
    let message = format!("{details} (at `{path}`)");
    errors::invalid_params(message, Some(json!({ "path": path, "details": details })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::Value;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read from JSON")]
    struct Params {
        cwd: String,
        #[serde(default)]
        servers: Vec<Server>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read from JSON")]
    struct Server {
        name: String,
        args: Vec<u8>,
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_where() {
        let table = [
            ("{}", "missing field `cwd`", ""),
            (
                r#"{"cwd":5}"#,
                "invalid type: integer `5`, expected a string",
                "cwd",
            ),
            (r#"{"cwd":null}"#, "invalid type: null, expected a string", "cwd"),
            (
                r#"{ "x": [1,{"y":","}], "cwd" : [] }"#,
                "invalid type: sequence, expected a string",
                "cwd",
            ),
            (
                r#"{"cwd":"","servers":{}}"#,
                "invalid type: map, expected a sequence",
                "servers",
            ),
            (
                r#"{"cwd":"","servers":[{"name":"a","args":[]},{"args":[]}]}"#,
                "missing field `name`",
                "servers[1]",
            ),
            (
                r#"{"servers":[{"name":"a\"]}","args":[1,2,"x"]}]}"#,
                "invalid type: string \"x\", expected u8",
                "servers[0].args[2]",
            ),
            (
                r#"{"servers":[{"name":"a","args":[1,256,3]}]}"#,
                "invalid value: integer `256`, expected u8",
                "servers[0].args[1]",
            ),
            (
                "{\n \"cwd\": \"é\",\n \"servers\": [\n {\"name\": true}]}",
                "invalid type: boolean `true`, expected a string",
                "servers[0].name",
            ),
        ];
        for (text, details, path) in table {
            let error = parse::<Params>(Some(text)).expect_err(text);
            assert_eq!(error.code(), -32602);
            let data: Value = serde_json::from_str(error.data().expect(text).get()).unwrap();
            assert_eq!(
                data.get("details").and_then(Value::as_str),
                Some(details),
                "{text}"
            );
            assert_eq!(
                data.get("path").and_then(Value::as_str).unwrap_or(""),
                path,
                "{text}"
            );
            let message = match path {
                "" => format!("Invalid params: {details}"),
                path => format!("Invalid params: {details} (at `{path}`)"),
            };
            assert_eq!(error.message(), message);
        }
    }

    #[test]
    fn params_that_are_no_object_are_refused_even_where_a_struct_could_be_read_from_them() {
        for (text, kind) in [
            (r#"["/cwd",[]]"#, "an array"),
            ("5", "a single value"),
            (r#""x""#, "a single value"),
        ] {
            let error = parse::<Params>(Some(text)).expect_err(text);
            assert_eq!(
                error.message(),
                format!("Invalid params: expected an object with named fields, got {kind}")
            );
        }
    }

    #[test]
    fn absent_and_null_params_count_as_an_empty_object() {
        #[derive(Debug, Default, PartialEq, Deserialize)]
        struct AllOptional {
            cursor: Option<String>,
        }
        for text in [None, Some("null"), Some("{}")] {
            assert_eq!(parse::<AllOptional>(text).unwrap(), AllOptional::default());
            let error = parse::<Params>(text).expect_err("cwd is required");
            assert_eq!(error.message(), "Invalid params: missing field `cwd`");
        }
        parse::<()>(None).unwrap();
        parse::<()>(Some("null")).unwrap();
    }

    #[test]
    fn a_huge_wrong_value_is_not_repeated() {
        let error = parse::<Params>(Some(&format!(
            r#"{{"cwd":"","servers":"{}"}}"#,
            "x".repeat(100_000)
        )));
        let error = error.expect_err("a string is no list");
        assert!(error.message().len() < 500, "{}", error.message().len());
        assert!(error.message().ends_with("(at `servers`)"), "{}", error.message());
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        let text = format!("{{\"cwd\":{}", "[".repeat(100_000) + &"]".repeat(100_000) + "}");
        let error = parse::<serde_json::Value>(Some(&text)).expect_err("too deep");
        assert!(error.message().contains("recursion limit"), "{}", error.message());
    }
}
