//! The system prompt that a client wants: as the protocol's `systemPrompt`, or as the SDK's option of that name.
//!
//! Place in the flow: `setup` and `client_options` write it into the greeting of the session's processes. It steers the
//! model and allows nothing, so a policy has no say in it. Must not know of launch options.

use acp_proto::schema::{ContentBlock, SystemPrompt, SystemPromptMode};
use claude_sdk_bridge::messages::control::InitializeRequest;
use claude_sdk_bridge::messages::{Field, List};
use serde_json::Value;

/// What the SDK's option must be.
pub(crate) const EXPECTED: &str = "a string, a list of strings, or `{\"type\": \"preset\", \"preset\": \"claude_code\", \"append\": \"…\"}`";

/// What the protocol's `systemPrompt` must be.
pub(crate) const EXPECTED_OF_PROTOCOL: &str = "of the mode `append` or `override`, and hold text blocks only";

/// Applies the SDK's option: a text replaces Claude Code's prompt, an object adds to it. `None` for another shape.
/// Whatever an older spelling said before gives way.
pub(crate) fn apply(value: &Value, greeting: &mut InitializeRequest) -> Option<()> {
    forget(greeting);
    match value {
        Value::String(text) => replace(greeting, vec![text.clone()]),
        Value::Array(texts) => {
            let texts: Option<Vec<String>> = texts
                .iter()
                .map(|text| text.as_str().map(str::to_owned))
                .collect();
            replace(greeting, texts?);
        }
        Value::Object(preset) => {
            for (key, value) in preset {
                match key.as_str() {
                    "type" if value == "preset" => {}
                    "preset" if value == "claude_code" => {}
                    "append" => greeting.append_system_prompt = value.as_str()?.into(),
                    "excludeDynamicSections" => greeting.exclude_dynamic_sections = value.as_bool()?.into(),
                    _ => return None,
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    }
    Some(())
}

/// Applies the protocol's own parameter. `None` for a mode or a content that is not ours.
pub(crate) fn apply_protocols(prompt: &SystemPrompt, greeting: &mut InitializeRequest) -> Option<()> {
    forget(greeting);
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    let texts: Vec<String> = prompt.content.iter().map(text).collect::<Option<_>>()?;
    match prompt.mode {
        SystemPromptMode::Append => greeting.append_system_prompt = texts.join("\n\n").as_str().into(),
        SystemPromptMode::Override => replace(greeting, texts),
        _ => return None,
    }
    Some(())
}

fn forget(greeting: &mut InitializeRequest) {
    greeting.system_prompt = Field::Absent;
    greeting.append_system_prompt = Field::Absent;
    greeting.exclude_dynamic_sections = Field::Absent;
}

/// Without any text there is to be no prompt, which Claude is told by an empty one.
fn replace(greeting: &mut InitializeRequest, mut texts: Vec<String>) {
    if texts.is_empty() {
        texts.push(String::new());
    }
    greeting.system_prompt = texts.into_iter().collect::<List<_>>().into();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_replaces_or_adds_in_every_spelling() {
        let append = json!({"appendSystemPrompt": "a"});
        let rows = [
            (json!("whole"), Some(json!({"systemPrompt": ["whole"]}))),
            (
                json!(["one", "two"]),
                Some(json!({"systemPrompt": ["one", "two"]})),
            ),
            (json!([]), Some(json!({"systemPrompt": [""]}))),
            (json!({"append": "a"}), Some(append.clone())),
            (
                json!({"type": "preset", "preset": "claude_code", "append": "a"}),
                Some(append),
            ),
            (
                json!({"excludeDynamicSections": true}),
                Some(json!({"excludeDynamicSections": true})),
            ),
            (json!({"type": "preset", "preset": "other"}), None),
            (json!({"append": 5}), None),
            (json!({"prepend": "a"}), None),
            (json!([1]), None),
            (json!(5), None),
            (json!(null), None),
        ];
        for (value, expected) in rows {
            let mut greeting = InitializeRequest {
                system_prompt: List::from_iter(["older".to_owned()]).into(),
                append_system_prompt: "older".into(),
                ..InitializeRequest::default()
            };
            let applied = apply(&value, &mut greeting).map(|()| serde_json::to_value(&greeting).unwrap());
            assert_eq!(applied, expected, "{value}");
        }
    }

    #[test]
    fn the_protocols_prompt_replaces_or_adds() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let rows = [
            (
                json!({"mode": "append", "content": [text("a"), text("b")]}),
                Some(json!({"appendSystemPrompt": "a\n\nb"})),
            ),
            (
                json!({"mode": "override", "content": [text("a"), text("b")]}),
                Some(json!({"systemPrompt": ["a", "b"]})),
            ),
            (
                json!({"mode": "override", "content": []}),
                Some(json!({"systemPrompt": [""]})),
            ),
            (json!({"mode": "prepend", "content": [text("a")]}), None),
            (
                json!({"mode": "append", "content": [{"type": "image", "mimeType": "image/png", "data": ""}]}),
                None,
            ),
        ];
        for (value, expected) in rows {
            let prompt: SystemPrompt = serde_json::from_value(value.clone()).unwrap();
            let mut greeting = InitializeRequest::default();
            let applied = apply_protocols(&prompt, &mut greeting);
            assert_eq!(
                applied.map(|()| serde_json::to_value(&greeting).unwrap()),
                expected,
                "{value}"
            );
        }
    }
}
