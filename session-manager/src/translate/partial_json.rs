//! The beginning of a JSON object, as far as it has been written, as a value: what is complete, and the beginning of the last
//! string. Knows nothing of tools.

use serde_json::Value;

/// `None` where nothing can be read of it.
pub(super) fn read(text: &str) -> Option<Value> {
    let mut scan = Scan::default();
    for (at, byte) in text.bytes().enumerate() {
        scan.take(at, byte);
    }
    let (end, quote) = match scan.string {
        // A key says nothing yet.
        Some(string) if !string.is_key => (string.escape.unwrap_or(text.len()), "\""),
        Some(_) | None => (scan.complete, ""),
    };
    let closing = scan.open.iter().rev().map(|opened| match opened {
        Opened::Object => '}',
        Opened::Array => ']',
    });
    let whole = format!("{}{quote}{}", text.get(..end)?, closing.collect::<String>());
    serde_json::from_str(&whole).ok().filter(Value::is_object)
}

#[derive(Default)]
struct Scan {
    open: Vec<Opened>,
    /// The string that has begun.
    string: Option<Open>,
    /// Whether the next string in an object is a key.
    key_next: bool,
    /// Up to here there are only whole members and opened brackets.
    complete: usize,
}

enum Opened {
    Object,
    Array,
}

struct Open {
    is_key: bool,
    /// Where an escape has begun that may not be whole.
    escape: Option<usize>,
}

impl Scan {
    fn take(&mut self, at: usize, byte: u8) {
        if let Some(string) = &mut self.string {
            match (string.escape, byte) {
                // The longest escape is `\uXXXX`, of which two may make one character.
                (Some(begun), _) if at.saturating_sub(begun) == 1 && byte != b'u' => string.escape = None,
                (Some(begun), _) if at.saturating_sub(begun) == 5 => string.escape = None,
                (Some(_), _) => {}
                (None, b'\\') => string.escape = Some(at),
                (None, b'"') => {
                    if !string.is_key {
                        self.complete = at.saturating_add(1);
                    }
                    self.string = None;
                }
                (None, _) => {}
            }
            return;
        }
        match byte {
            b'"' => {
                let in_object = matches!(self.open.last(), Some(Opened::Object));
                self.string = Some(Open {
                    is_key: in_object && self.key_next,
                    escape: None,
                });
            }
            b'{' | b'[' => {
                self.key_next = byte == b'{';
                self.open.push(if byte == b'{' {
                    Opened::Object
                } else {
                    Opened::Array
                });
                self.complete = at.saturating_add(1);
            }
            b'}' | b']' => {
                self.open.pop();
                self.complete = at.saturating_add(1);
            }
            b',' => {
                self.key_next = true;
                self.complete = at;
            }
            b':' => self.key_next = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_whole_and_the_beginning_of_the_last_text_can_be_read() {
        for (text, expected) in [
            ("", None),
            ("[1", None),
            ("nonsense", None),
            ("{", Some(json!({}))),
            (r#"{"file_pa"#, Some(json!({}))),
            (r#"{"file_path": "/a"#, Some(json!({"file_path": "/a"}))),
            (r#"{"a": "x\"#, Some(json!({"a": "x"}))),
            (r#"{"a": "x\n"#, Some(json!({"a": "x\n"}))),
            (r#"{"a": "x\u00e"#, Some(json!({"a": "x"}))),
            (r#"{"a": "x", "n": 12"#, Some(json!({"a": "x"}))),
            (r#"{"a": "x", "n": 12, "#, Some(json!({"a": "x", "n": 12}))),
            (
                r#"{"edits": [{"old": "a", "new": "b"}, {"old": "c"#,
                Some(json!({"edits": [{"old": "a", "new": "b"}, {"old": "c"}]})),
            ),
            (r#"{"a": true, "b": ["x""#, Some(json!({"a": true, "b": ["x"]}))),
            (r#"{"a": {"b": 1}}"#, Some(json!({"a": {"b": 1}}))),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Whether `part` is what stands of `whole` when it is written up to some point.
    fn begins(part: &Value, whole: &Value) -> bool {
        match (part, whole) {
            (Value::String(part), Value::String(whole)) => whole.starts_with(part),
            (Value::Array(part), Value::Array(whole)) => {
                part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| begins(part, whole))
            }
            (Value::Object(part), Value::Object(whole)) => part
                .iter()
                .all(|(key, part)| whole.get(key).is_some_and(|whole| begins(part, whole))),
            (part, whole) => part == whole,
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_always_a_beginning_of_the_whole(
            whole in prop::collection::vec((any::<String>(), any_value()), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            pretty in any::<bool>(),
        ) {
            let text = if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) }.unwrap();
            for written in (0..=text.len()).filter_map(|end| text.get(..end)) {
                let part = read(written);
                prop_assert_eq!(part.is_none(), written.is_empty(), "{}", written);
                prop_assert!(part.is_none_or(|part| begins(&part, &whole)), "{}", written);
            }
            prop_assert_eq!(read(&text), Some(whole));
        }

        #[test]
        fn nothing_that_is_written_breaks_it(text in any::<String>()) {
            read(&text);
        }
    }
}
