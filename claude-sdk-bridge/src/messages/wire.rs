//! How wire records are read tolerantly and written back exactly: the building blocks every file in `messages` uses.
//!
//! Reading takes a [`Value`] apart by moving, so a large string is never copied, and never loses anything: a field
//! that does not fit stays raw, a field nobody knows stays in `extra`, and a record that cannot be read at all is
//! handed back whole. Writing puts every part back. Nothing here knows what a message means.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Number, Value};

/// A type that is read out of a JSON value without copying it.
pub trait FromWire: Sized {
    /// Whether `value` has the shape that [`FromWire::from_wire`] accepts.
    fn fits(value: &Value) -> bool;

    /// Takes the value, or hands it back whole when it does not fit.
    fn from_wire(value: Value) -> Result<Self, Value>;
}

/// A record that can write its fields into an object that is already open, which is how tagged enums write theirs.
pub trait WireFields {
    /// Writes every field that is present, known or not.
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// An optional field as the wire had it. Absent and null differ, because some requests give them different meanings.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Field<T> {
    /// The key was not there.
    #[default]
    Absent,
    /// The key was there with `null`.
    Null,
    /// The value had the expected shape.
    Known(T),
    /// The value had another shape and is kept as it came.
    Raw(Value),
}

impl<T> Field<T> {
    /// The value, when there is one of the expected shape.
    pub fn get(&self) -> Option<&T> {
        match self {
            Field::Known(value) => Some(value),
            Field::Absent | Field::Null | Field::Raw(_) => None,
        }
    }

    /// The value by move, when there is one of the expected shape.
    pub fn into_known(self) -> Option<T> {
        match self {
            Field::Known(value) => Some(value),
            Field::Absent | Field::Null | Field::Raw(_) => None,
        }
    }

    /// Whether the key is missing.
    pub fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }
}

impl<T: Copy> Field<T> {
    /// The value by copy, when there is one of the expected shape.
    pub fn copied(&self) -> Option<T> {
        self.get().copied()
    }
}

impl Field<bool> {
    /// Whether the flag is there and set.
    pub fn is_true(&self) -> bool {
        self.copied() == Some(true)
    }
}

impl Field<String> {
    /// The text, when there is one.
    pub fn as_str(&self) -> Option<&str> {
        self.get().map(String::as_str)
    }
}

impl<T> Field<List<T>> {
    /// The elements that have the expected shape; none when the list is missing.
    pub fn known(&self) -> impl Iterator<Item = &T> {
        self.get().into_iter().flat_map(List::known)
    }
}

impl<T> From<T> for Field<T> {
    fn from(value: T) -> Self {
        Field::Known(value)
    }
}

impl From<&str> for Field<String> {
    fn from(value: &str) -> Self {
        Field::Known(value.to_owned())
    }
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Field::Absent, Field::Known)
    }
}

impl<T: FromWire> Field<T> {
    /// Reads the value found under a key; `None` is an absent key.
    pub(crate) fn read(found: Option<Value>) -> Self {
        match found {
            None => Field::Absent,
            Some(Value::Null) => Field::Null,
            Some(value) => T::from_wire(value).map_or_else(Field::Raw, Field::Known),
        }
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Absent | Field::Null => serializer.serialize_unit(),
            Field::Known(value) => value.serialize(serializer),
            Field::Raw(value) => value.serialize(serializer),
        }
    }
}

/// An element of a list or table: of the expected shape, or kept as it came.
#[derive(Clone, Debug, PartialEq)]
pub enum Lenient<T> {
    /// The element had the expected shape.
    Known(T),
    /// The element had another shape.
    Raw(Value),
}

impl<T> Lenient<T> {
    /// The element, when it has the expected shape.
    pub fn get(&self) -> Option<&T> {
        match self {
            Lenient::Known(value) => Some(value),
            Lenient::Raw(_) => None,
        }
    }
}

impl<T: FromWire> Lenient<T> {
    fn read(value: Value) -> Self {
        T::from_wire(value).map_or_else(Lenient::Raw, Lenient::Known)
    }
}

impl<T: Serialize> Serialize for Lenient<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Lenient::Known(value) => value.serialize(serializer),
            Lenient::Raw(value) => value.serialize(serializer),
        }
    }
}

/// A list in which an element of the wrong shape costs that element only.
#[derive(Clone, Debug, PartialEq)]
pub struct List<T>(pub Vec<Lenient<T>>);

impl<T> List<T> {
    /// The elements that have the expected shape.
    pub fn known(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(Lenient::get)
    }

    /// How many elements there are, of whatever shape.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no element at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        List(items.into_iter().map(Lenient::Known).collect())
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: FromWire> FromWire for List<T> {
    fn fits(value: &Value) -> bool {
        value.is_array()
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        match value {
            Value::Array(items) => Ok(List(items.into_iter().map(Lenient::read).collect())),
            other => Err(other),
        }
    }
}

/// An object whose keys are names chosen by someone (models, servers, agents) and whose values are alike.
pub type Table<T> = BTreeMap<String, Lenient<T>>;

impl<T: FromWire> FromWire for Table<T> {
    fn fits(value: &Value) -> bool {
        value.is_object()
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        match value {
            Value::Object(map) => Ok(map
                .into_iter()
                .map(|(key, value)| (key, Lenient::read(value)))
                .collect()),
            other => Err(other),
        }
    }
}

impl<T: FromWire> FromWire for Box<T> {
    fn fits(value: &Value) -> bool {
        T::fits(value)
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        T::from_wire(value).map(Box::new)
    }
}

impl<T: WireFields> WireFields for Box<T> {
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        T::write_fields(self, map)
    }
}

impl FromWire for Value {
    fn fits(_: &Value) -> bool {
        true
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        Ok(value)
    }
}

impl FromWire for u64 {
    fn fits(value: &Value) -> bool {
        value.is_u64()
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        value.as_u64().ok_or(value)
    }
}

impl FromWire for i64 {
    fn fits(value: &Value) -> bool {
        value.is_i64()
    }

    fn from_wire(value: Value) -> Result<Self, Value> {
        value.as_i64().ok_or(value)
    }
}

macro_rules! from_variant {
    ($($type:ty: $variant:ident),* $(,)?) => {$(
        impl FromWire for $type {
            fn fits(value: &Value) -> bool {
                matches!(value, Value::$variant(_))
            }

            fn from_wire(value: Value) -> Result<Self, Value> {
                match value {
                    Value::$variant(inner) => Ok(inner),
                    other => Err(other),
                }
            }
        }
    )*};
}

from_variant!(String: String, bool: Bool, Number: Number, Map<String, Value>: Object);

/// Reads `value` as a `T`, for serde: the error says which type it was not.
pub(crate) fn deserialize_wire<'de, T, D>(deserializer: D, what: &'static str) -> Result<T, D::Error>
where
    T: FromWire,
    D: serde::Deserializer<'de>,
{
    let value = <Value as serde::Deserialize>::deserialize(deserializer)?;
    T::from_wire(value).map_err(|_| serde::de::Error::custom(format_args!("value is not a `{what}`")))
}
