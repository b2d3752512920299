//! Typed params from JSON text, with errors that say where the fault is.
//!
//! Place in the flow: called by the [`crate::Router`]'s wrappers before a handler runs. It must not know any method.

use serde::de::DeserializeOwned;
use serde_json::json;

use crate::RpcError;
use crate::errors;

/// Reads the params of a call. Absent and `null` params count as an empty object.
pub(crate) fn parse<P: DeserializeOwned>(text: Option<&str>) -> Result<P, RpcError> {
    match text {
        None | Some("null") => parse_absent(),
        Some(text) if text.starts_with('{') => {
            serde_json::from_str(text).map_err(|error| refuse(text, &error))
        }
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
    serde_json::from_str("{}").or_else(|error| {
        // A handler without params takes `()`, which reads from `null` only.
        serde_json::from_str("null").map_err(|_| refuse("{}", &error))
    })
}

fn refuse(text: &str, error: &serde_json::Error) -> RpcError {
    let full = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    // serde repeats the offending value, however long it is.
    let details = errors::cut(full.strip_suffix(&position).unwrap_or(&full));
    let path = errors::cut(&path_at(text, offset(text, error)));
    if path.is_empty() {
        return errors::invalid_params(&details, Some(json!({ "details": &details })));
    }
    let message = format!("{details} (at `{path}`)");
    errors::invalid_params(message, Some(json!({ "path": path, "details": details })))
}

/// The number of bytes that had been read when the error was found.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let lines_before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    lines_before + error.column()
}

/// A container that is open at the place looked for, with the member that is being read.
enum Level {
    Object(Option<String>),
    Array(usize),
}

/// The path of the value that ends at or holds the byte before `offset`, such as `mcpServers[0].name`.
fn path_at(text: &str, offset: usize) -> String {
    let mut read = text.get(..offset.min(text.len())).unwrap_or(text);
    // A parser that looked one byte ahead has seen the comma, but the fault lies before it.
    read = read.strip_suffix(',').unwrap_or(read);
    let mut levels: Vec<Level> = Vec::new();
    let mut last_string: Option<&str> = None;
    let mut rest = read;
    while let Some(byte) = rest.bytes().next() {
        let mut step = 1;
        match byte {
            b'{' => levels.push(Level::Object(None)),
            b'[' => levels.push(Level::Array(0)),
            b'}' | b']' => drop(levels.pop()),
            b'"' => {
                step = string_length(rest);
                last_string = rest.get(..step);
            }
            b':' => name_member(&mut levels, last_string),
            b',' => next_member(&mut levels),
            _ => {
                step = rest
                    .find(['{', '[', '}', ']', '"', ':', ','])
                    .unwrap_or(rest.len())
            }
        }
        rest = rest.get(step..).unwrap_or("");
    }
    show(&levels)
}

/// The length of the string literal that `text` starts with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn name_member(levels: &mut [Level], name: Option<&str>) {
    if let Some(Level::Object(member)) = levels.last_mut() {
        *member = name.and_then(|literal| serde_json::from_str(literal).ok());
    }
}

fn next_member(levels: &mut [Level]) {
    match levels.last_mut() {
        Some(Level::Object(member)) => *member = None,
        Some(Level::Array(index)) => *index += 1,
        None => {}
    }
}

fn show(levels: &[Level]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object(Some(member)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(member);
            }
            Level::Object(None) => {}
            Level::Array(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
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

    proptest::proptest! {
        #[test]
        fn a_path_is_found_or_not_but_never_panics(text in r#"[\[\]{}",:é\\a1 ]{0,40}"#, offset in 0usize..50) {
            let _ = path_at(&text, offset);
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        let text = format!("{{\"cwd\":{}", "[".repeat(100_000) + &"]".repeat(100_000) + "}");
        let error = parse::<serde_json::Value>(Some(&text)).expect_err("too deep");
        assert!(error.message().contains("recursion limit"), "{}", error.message());
    }
}
