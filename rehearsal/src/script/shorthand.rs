//! Lets a script write a plain string where an object would say no more than its one field.
//!
//! Place in the flow: used by the serde types of `script`. Unlike an untagged enum it keeps serde's own error
//! (key, allowed values, position).

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::step::{Failure, FailureKind};

/// A type that has a short form.
pub(crate) trait Short: Sized {
    /// Reads the short form.
    fn from_short<E: de::Error>(text: &str) -> Result<Self, E>;
}

impl<T: From<String>> Short for T {
    fn from_short<E: de::Error>(text: &str) -> Result<Self, E> {
        Ok(Self::from(text.to_owned()))
    }
}

impl Short for Failure {
    fn from_short<E: de::Error>(text: &str) -> Result<Self, E> {
        let kind = FailureKind::deserialize(de::value::StrDeserializer::new(text))?;
        Ok(Self {
            kind,
            text: None,
            retries: 0,
        })
    }
}

/// Reads either the short form or the object.
pub(crate) fn string_or_struct<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Short + Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct StringOrStruct<T>(PhantomData<T>);
    impl<'de, T: Short + Deserialize<'de>> Visitor<'de> for StringOrStruct<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or an object")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            T::from_short(text)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_any(StringOrStruct(PhantomData))
}
