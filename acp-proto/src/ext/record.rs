//! How a record gets into a `_meta` and out of it.
//!
//! Place in the flow: implemented by every record of [`crate::ext`]. It must not know any of them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::Meta;

/// A record with a fixed key in `_meta`.
pub trait MetaRecord: Serialize + DeserializeOwned {
    /// The key.
    const KEY: &'static str;

    /// A `_meta` that holds this record only.
    #[must_use]
    fn into_meta(self) -> Meta {
        let mut meta = Meta::new();
        self.merge_into(&mut meta);
        meta
    }

    /// Adds this record to a `_meta`. Members that a record with the same key has already stay, unless this one has
    /// them too.
    fn merge_into(self, meta: &mut Meta) {
        // Records are structs of plain members: making a value of one cannot fail.
        let Ok(value) = serde_json::to_value(self) else {
            return;
        };
        match (meta.get_mut(Self::KEY), value) {
            (Some(Value::Object(present)), Value::Object(added)) => present.extend(added),
            (_, value) => drop(meta.insert(Self::KEY.to_owned(), value)),
        }
    }

    /// Reads the record, if there is one of the right shape.
    #[must_use]
    fn read(meta: Option<&Meta>) -> Option<Self> {
        let value = meta?.get(Self::KEY)?;
        match serde_json::from_value(value.clone()) {
            Ok(record) => Some(record),
            Err(error) => {
                tracing::debug!(key = Self::KEY, %error, "ignored a record in _meta");
                None
            }
        }
    }
}
