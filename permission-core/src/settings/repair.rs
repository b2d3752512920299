//! The part of a broken JSON text that can still be read.
//!
//! Place in the flow: `parse` asks for it when a file is no JSON, such as one that an editor has written half of. The
//! result is a beginning of the text with its open brackets closed, so that all positions stay what they are.

use super::document::Node;

/// A readable text made of what stands before the error at `error_at`; `None` if nothing can be saved.
pub(super) fn readable_part(text: &str, error_at: usize) -> Option<String> {
    let before = text.get(..error_at)?;
    // An error may name the offending character or the one after it, hence the second end and the second cut.
    let [last_cut, earlier_cut] = last_cuts(before);
    let ends = [Some(error_at), error_at.checked_sub(1), last_cut, earlier_cut];
    ends.into_iter()
        .flatten()
        .filter_map(|end| before.get(..end))
        .filter_map(closed)
        .find(|candidate| Node::read(candidate).is_ok())
}

/// The last two places where the text can end without cutting into a value: before a comma, behind an opening bracket.
fn last_cuts(text: &str) -> [Option<usize>; 2] {
    let mut cuts = [None, None];
    for (at, byte) in structure(text) {
        let cut = match byte {
            b',' => at,
            b'{' | b'[' => at + 1,
            _ => continue,
        };
        cuts = [Some(cut), cuts[0]];
    }
    cuts
}

/// The text with its open brackets closed; `None` if they do not match.
fn closed(text: &str) -> Option<String> {
    let mut open = Vec::new();
    for (_, byte) in structure(text) {
        match byte {
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' if open.pop() != Some(char::from(byte)) => return None,
            _ => {}
        }
    }
    Some(text.chars().chain(open.into_iter().rev()).collect())
}

/// The bytes outside strings, with their places.
fn structure(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut in_string = false;
    let mut escaped = false;
    text.bytes().enumerate().filter(move |&(_, byte)| {
        if !in_string {
            in_string = byte == b'"';
            return !in_string;
        }
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        in_string = !ends;
        false
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::document::Lines;
    use super::*;

    fn saved(text: &str) -> Option<Value> {
        let error = Node::read(text).err().expect("the text must be broken");
        let part = readable_part(text, Lines::new(text).offset_of(&error))?;
        Some(serde_json::from_str(&part).unwrap())
    }

    #[test]
    fn what_stands_before_the_error_is_saved() {
        let rows = [
            (r#"{"a":1,"b":{"c":["x","y"#, Some(json!({"a":1,"b":{"c":["x"]}}))),
            (r#"{"a":["x"]"#, Some(json!({"a":["x"]}))),
            (r#"{"a":["x""#, Some(json!({"a":["x"]}))),
            (r#"{"a":1,"#, Some(json!({"a":1}))),
            (r#"{"a":1,"b"#, Some(json!({"a":1}))),
            (r#"{"a":1,"b":"#, Some(json!({"a":1}))),
            (r#"{"a":1,"b":tru"#, Some(json!({"a":1}))),
            (r#"{"a":"x\","#, Some(json!({}))),
            (r#"{"a":"[,{","b":}"#, Some(json!({"a":"[,{"}))),
            (r#"{"a":1 "b":2}"#, Some(json!({"a":1}))),
            (r#"{"a":1,}"#, Some(json!({"a":1}))),
            (r#"{"a":1,,"b":2}"#, Some(json!({"a":1}))),
            ("{\"a\":1,\n // why\n \"b\":2}", Some(json!({"a":1}))),
            (r#"{"a":[1,2}, "b":1}"#, Some(json!({"a":[1,2]}))),
            (r#"{"a":1}}"#, Some(json!({"a":1}))),
            (r#"{"a":1} trailing"#, Some(json!({"a":1}))),
            ("{", Some(json!({}))),
            ("not json", None),
        ];
        for (text, expected) in rows {
            assert_eq!(saved(text), expected, "{text}");
        }
    }

    #[test]
    fn an_abyss_of_brackets_costs_no_more_than_its_length() {
        let text = "[".repeat(300_000);
        let part = readable_part(&text, text.len()).unwrap();
        assert_eq!(part.len(), 2 * text.len());
    }

    proptest! {
        #[test]
        fn a_truncated_text_saves_only_what_it_said(cut in 0usize..62) {
            let text = r#"{"model":"opus","permissions":{"deny":["Read(a)","Edit(\"é\")"]}}"#;
            let whole: Value = serde_json::from_str(text).unwrap();
            let Some(part) = text.get(..cut).and_then(saved) else { return Ok(()) };
            prop_assert!(part["model"].is_null() || part["model"] == whole["model"]);
            let denied = part["permissions"]["deny"].as_array().cloned().unwrap_or_default();
            prop_assert!(whole["permissions"]["deny"].as_array().unwrap().starts_with(&denied));
        }
    }
}
