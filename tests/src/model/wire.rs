//! The Anthropic Messages API on the wire: turns a [`Reply`] into SSE events or one JSON message.
//!
//! Pure functions over the script; the server sends what they return and waits where they say so.

use std::time::Duration;

use serde_json::{Value, json};

use super::script::{Gate, Part, Reply};

/// One thing the server does while it streams a message.
#[derive(Debug)]
pub(super) enum Action {
    Send(String),
    Wait(Gate),
    Think(Duration),
    Hang,
}

/// The whole message as a list of actions.
pub(super) fn stream(reply: &Reply, message_id: &str, model: &str) -> Vec<Action> {
    let mut actions = vec![Action::Send(event(&start(reply, message_id, model)))];
    let mut index = 0;
    for part in &reply.parts {
        match part {
            Part::Gate(gate) => actions.push(Action::Wait(gate.clone())),
            Part::Hang => {
                actions.push(Action::Hang);
                return actions;
            }
            Part::Break => {
                let error = json!({"type": "overloaded_error", "message": "Overloaded"});
                actions.push(Action::Send(event(&json!({"type": "error", "error": error}))));
                return actions;
            }
            Part::Text(_) | Part::Thinking(_) | Part::Tool { .. } => {
                block_events(part, index, &mut actions);
                index += 1;
            }
        }
    }
    let delta = json!({"stop_reason": reply.stop_reason(), "stop_sequence": null});
    let usage = json!({"output_tokens": reply.output_tokens});
    actions.push(Action::Send(event(
        &json!({"type": "message_delta", "delta": delta, "usage": usage}),
    )));
    actions.push(Action::Send(event(&json!({"type": "message_stop"}))));
    actions
}

/// The whole message as one JSON body, for a request that does not stream.
pub(super) fn message(reply: &Reply, message_id: &str, model: &str) -> Value {
    let content: Vec<Value> = reply.parts.iter().filter_map(block).collect();
    json!({
        "id": message_id, "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": reply.stop_reason(), "stop_sequence": null, "usage": usage(reply),
    })
}

/// One SSE event; the API names each after the `type` of its data.
pub(super) fn event(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap_or_default()
    )
}

fn start(reply: &Reply, message_id: &str, model: &str) -> Value {
    let mut usage = usage(reply);
    usage["output_tokens"] = json!(1);
    json!({"type": "message_start", "message": {
        "id": message_id, "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    }})
}

fn usage(reply: &Reply) -> Value {
    json!({
        "input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    })
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(pieces) => Some(json!({"type": "text", "text": pieces.concat()})),
        Part::Thinking(pieces) => {
            Some(json!({"type": "thinking", "thinking": pieces.concat(), "signature": "c2ln"}))
        }
        Part::Tool { id, name, input, .. } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        Part::Gate(_) | Part::Break | Part::Hang => None,
    }
}

fn block_events(part: &Part, index: usize, actions: &mut Vec<Action>) {
    let (start, deltas) = match part {
        Part::Text(pieces) => (
            json!({"type": "text", "text": ""}),
            pieces
                .iter()
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect(),
        ),
        Part::Thinking(pieces) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            pieces
                .iter()
                .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
                .chain([json!({"type": "signature_delta", "signature": "c2ln"})])
                .collect(),
        ),
        Part::Tool {
            id,
            name,
            input,
            pace,
        } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            pieces(&input.to_string(), *pace)
                .into_iter()
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect(),
        ),
        Part::Gate(_) | Part::Break | Part::Hang => (Value::Null, Vec::new()),
    };
    let pace = match part {
        Part::Tool { pace, .. } => *pace,
        _ => None,
    };
    let send = |data: Value| Action::Send(event(&data));
    actions.push(send(
        json!({"type": "content_block_start", "index": index, "content_block": start}),
    ));
    for delta in deltas {
        actions.extend(pace.map(Action::Think));
        actions.push(send(
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
    }
    actions.push(send(json!({"type": "content_block_stop", "index": index})));
}

/// Cuts a JSON text in two, or in small pieces where it is written slowly, so that a tool's input arrives in pieces.
fn pieces(text: &str, pace: Option<Duration>) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = match pace {
        Some(_) => SMALL,
        None => characters.len().div_ceil(2),
    };
    characters.chunks(size.max(1)).map(String::from_iter).collect()
}

/// How many characters of a tool's input are written at once where it is written slowly.
const SMALL: usize = 40;

#[cfg(test)]
mod tests {
    use super::super::script::reply;
    use super::*;

    fn sent(reply: &Reply) -> Vec<Value> {
        stream(reply, "msg_1", "m")
            .iter()
            .filter_map(|action| match action {
                Action::Send(event) => event
                    .split_once("\ndata: ")
                    .map(|(_, data)| data.trim().to_owned()),
                Action::Wait(_) | Action::Think(_) | Action::Hang => None,
            })
            .map(|data| serde_json::from_str(&data).unwrap())
            .collect()
    }

    #[test]
    fn a_message_streams_every_block_between_start_and_stop() {
        let events = sent(
            &reply()
                .thinking("a b")
                .text("c d")
                .tool("t", "Bash", json!({"command": "é"})),
        );
        let types: Vec<&str> = events
            .iter()
            .map(|event| event["type"].as_str().unwrap())
            .collect();
        assert_eq!(types.first(), Some(&"message_start"));
        assert_eq!(types.last(), Some(&"message_stop"));
        assert_eq!(
            types
                .iter()
                .filter(|kind| **kind == "content_block_start")
                .count(),
            3
        );
        let input: String = events
            .iter()
            .filter_map(|event| event["delta"]["partial_json"].as_str())
            .collect();
        assert_eq!(input, r#"{"command":"é"}"#);
        assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    }

    #[test]
    fn a_broken_message_ends_with_the_error_event() {
        let events = sent(&reply().text("a").then_breaks());
        assert_eq!(events.last().unwrap()["type"], "error");
    }

    #[test]
    fn the_same_message_without_streaming_holds_the_same_blocks() {
        let message = message(&reply().text("a b").stops_with("max_tokens"), "msg_1", "m");
        assert_eq!(message["content"], json!([{"type": "text", "text": "a b"}]));
        assert_eq!(message["stop_reason"], "max_tokens");
    }
}
