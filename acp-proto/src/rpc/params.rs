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
    let details = full.strip_suffix(&position).unwrap_or(&full);
    let path = path_at(text, offset(text, error));
    if path.is_empty() {
        return errors::invalid_params(details, Some(json!({ "details": details })));
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
