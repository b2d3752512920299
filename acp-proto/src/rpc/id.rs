//! The id of a request, exactly as the other side wrote it.
//!
//! Place in the flow: read from the envelope, kept while the request is in flight, echoed in the answer. It must not
//! be normalized: `1`, `1.0` and `1e0` are different texts and are echoed as they came.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON-RPC id: the raw JSON text of a string, a number or `null`.
///
/// Two string ids are equal when they mean the same string (`"\u00e9"` is `"é"`); all others when their texts are.
#[derive(Clone, Debug)]
pub struct RpcId {
    raw: Box<RawValue>,
    /// The JSON text of the same string without needless escapes, where that differs from `raw`.
    canonical: Option<Box<str>>,
}

/// The text is not a JSON string, number or `null`.
#[derive(Debug, thiserror::Error)]
#[error("a request id must be a JSON string, a number or null")]
pub struct InvalidRpcId;

impl RpcId {
    /// Takes the JSON text of an id.
    ///
    /// # Errors
    /// When the text is anything but a JSON string, number or `null`.
    pub fn parse(text: &str) -> Result<Self, InvalidRpcId> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| InvalidRpcId)?;
        Self::from_raw(raw)
    }

    /// The JSON text, as it was read.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.raw.get()
    }

    pub(crate) fn from_raw(raw: &RawValue) -> Result<Self, InvalidRpcId> {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"' | b'-' | b'0'..=b'9') => {}
            Some(b'n') => {}
            _ => return Err(InvalidRpcId),
        }
        Ok(Self {
            raw: raw.to_owned(),
            canonical: canonical(text),
        })
    }

    fn identity(&self) -> &str {
        self.canonical.as_deref().unwrap_or_else(|| self.raw.get())
    }
}

impl PartialEq for RpcId {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for RpcId {}

impl Hash for RpcId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Display for RpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl Serialize for RpcId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

/// A string with escapes, rewritten with the fewest. A lone surrogate has no meaning as a string: its text stands.
fn canonical(text: &str) -> Option<Box<str>> {
    if !text.contains('\\') {
        return None;
    }
    let meaning: String = serde_json::from_str(text).ok()?;
    serde_json::to_string(&meaning).ok().map(String::into_boxed_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_json_string_number_and_null_is_an_id_and_keeps_its_text() {
        for text in [
            "0",
            "-1",
            "1.5",
            "1e2",
            "18446744073709551616",
            "null",
            r#""""#,
            r#""a""#,
            "\"\u{fc}\"",
            r#""\ud83d""#,
        ] {
            assert_eq!(RpcId::parse(text).expect(text).as_json(), text);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["true", "false", "[1]", "{}", "", "nul", "01", "\"a", "1 2"] {
            assert!(RpcId::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn strings_compare_by_meaning_and_numbers_by_text() {
        let same = [
            (r#""\u00e9""#, "\"é\""),
            (r#""a\/b""#, r#""a/b""#),
            ("1", "1"),
            ("null", "null"),
            (r#""\n""#, r#""\u000a""#),
        ];
        for (left, right) in same {
            let (left, right) = (RpcId::parse(left).unwrap(), RpcId::parse(right).unwrap());
            assert_eq!(left, right);
            assert!(HashSet::from([left]).contains(&right));
        }
        for (left, right) in [
            ("1", "1.0"),
            ("1", r#""1""#),
            ("null", r#""null""#),
            ("100", "1e2"),
        ] {
            assert_ne!(RpcId::parse(left).unwrap(), RpcId::parse(right).unwrap());
        }
    }
}
