//! JSON text whose values know their line.
//!
//! Place in the flow: `parse` walks it. `serde_json` does the reading: a raw value borrows from the text, so that its
//! place in the text is its position. Must not know any setting.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A text, and where its lines begin.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    /// In characters.
    pub(crate) column: u32,
}

/// One JSON value of a text.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a>(&'a RawValue);

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self {
            text,
            starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect(),
        }
    }

    /// The position of the byte at `offset`, or of the end of the text.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position {
            line: count(line),
            column: count(before.chars().count() + 1),
        }
    }

    /// The offset that a `serde_json` error names by line and byte column.
    pub(crate) fn offset_of(&self, error: &serde_json::Error) -> usize {
        let start = self
            .starts
            .get(error.line().saturating_sub(1))
            .copied()
            .unwrap_or(0);
        (start + error.column()).min(self.text.len())
    }

    /// The line on which `node` begins. `node` must have been read from this text.
    pub(crate) fn line_of(&self, node: Node<'_>) -> u32 {
        let offset = node
            .0
            .get()
            .as_ptr()
            .addr()
            .saturating_sub(self.text.as_ptr().addr());
        count(self.starts.partition_point(|&start| start <= offset))
    }
}

impl<'a> Node<'a> {
    /// The value that is the whole text.
    pub(crate) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Node)
    }

    /// The members in order, repeated names included; `None` if it is no object.
    pub(crate) fn members(self) -> Option<Vec<(String, Node<'a>)>> {
        let members: Members<'a> = serde_json::from_str(self.0.get()).ok()?;
        Some(members.0)
    }

    /// The elements; `None` if it is no array.
    pub(crate) fn elements(self) -> Option<Vec<Node<'a>>> {
        let elements: Vec<&'a RawValue> = serde_json::from_str(self.0.get()).ok()?;
        Some(elements.into_iter().map(Node).collect())
    }

    /// The value itself; `None` if it cannot be held, as half of a surrogate pair cannot.
    pub(crate) fn value(self) -> Option<Value> {
        serde_json::from_str(self.0.get()).ok()
    }
}

/// The members of an object, with their places.
struct Members<'a>(Vec<(String, Node<'a>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            members.push((name, Node(value)));
        }
        Ok(Members(members))
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_the_line_it_begins_on() {
        let text = "{\r\n  \"a\": [1,\n \"é\", true],\n\"b\":\n {}\n}";
        let lines = Lines::new(text);
        let members = Node::read(text).unwrap().members().unwrap();
        let places: Vec<_> = members
            .iter()
            .map(|(name, node)| (name.as_str(), lines.line_of(*node)))
            .collect();
        assert_eq!(places, [("a", 2), ("b", 5)]);
        let elements = members[0].1.elements().unwrap();
        let places: Vec<_> = elements.iter().map(|node| lines.line_of(*node)).collect();
        assert_eq!(places, [2, 3, 3]);
    }

    #[test]
    fn a_column_counts_characters() {
        let lines = Lines::new("a\néé\u{1f600}x");
        assert_eq!(lines.position(0), Position { line: 1, column: 1 });
        assert_eq!(lines.position(2), Position { line: 2, column: 1 });
        assert_eq!(lines.position(10), Position { line: 2, column: 4 });
        assert_eq!(lines.position(11), Position { line: 2, column: 5 });
    }

    #[test]
    fn what_cannot_be_held_is_none() {
        fn read(text: &str) -> Node<'_> {
            Node::read(text).unwrap()
        }
        assert!(read("5").members().is_none());
        assert!(read("{}").elements().is_none());
        assert!(read(r#""\ud800""#).value().is_none());
        let deep = "[".repeat(300) + &"]".repeat(300);
        assert!(read(&deep).value().is_none());
    }
}
