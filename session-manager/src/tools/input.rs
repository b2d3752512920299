//! Lenient access to a tool's input and to its structured result: Claude's JSON is untrusted, so a field of
//! the wrong type reads as absent. Every tool family goes through here; nothing in this file fails.

use serde_json::Value;

/// The non-empty string at `key`.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// The first non-empty string among `keys`: several tools accept aliases.
pub(super) fn first_text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| text(value, key))
}

/// The string at `key`, also when it is empty.
pub(super) fn any_text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A non-negative whole number at `key`; models also send `2.0` and `"2"`.
pub(super) fn number(value: &Value, key: &str) -> Option<u64> {
    let value = value.get(key)?;
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    if let Some(float) = value.as_f64() {
        return whole(float);
    }
    value.as_str()?.trim().parse().ok()
}

/// The first number among `keys`.
pub(super) fn first_number(value: &Value, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| number(value, key))
}

/// A boolean at `key`; anything else is false.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The elements of the array at `key`, none when there is no array.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A line number as the protocol wants it: 1-based, 32 bits.
pub(super) fn line(number: u64) -> u32 {
    u32::try_from(number.max(1)).unwrap_or(u32::MAX)
}

fn whole(float: f64) -> Option<u64> {
    let in_range = float >= 0.0 && float <= f64::from(u32::MAX) && float.fract() == 0.0;
    // Nothing is lost: the range and the fraction were just checked.
    in_range.then_some(float as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_the_wrong_type_read_as_absent() {
        let odd = json!({"a": 1, "b": "", "c": [1], "n": -3, "f": 2.5, "s": " 7 ", "big": 1e300, "w": 4.0});
        assert_eq!(text(&odd, "a"), None);
        assert_eq!(text(&odd, "b"), None);
        assert_eq!(any_text(&odd, "b"), Some(""));
        assert_eq!(number(&odd, "n"), None);
        assert_eq!(number(&odd, "f"), None);
        assert_eq!(number(&odd, "big"), None);
        assert_eq!(number(&odd, "s"), Some(7));
        assert_eq!(number(&odd, "w"), Some(4));
        assert_eq!(items(&odd, "c"), [json!(1)]);
        assert!(items(&odd, "a").is_empty());
        assert!(!flag(&odd, "a"));
        for value in [json!(null), json!(3), json!("x"), json!([])] {
            assert_eq!(first_text(&value, &["x", "y"]), None);
            assert_eq!(number(&value, "x"), None);
        }
    }
}
