//! The three shapes a wire type has, as macros, so that every record reads like its row in the protocol:
//! `wire!` for records, `tagged!` for kinds told apart by one key, `open_enum!` for strings out of an open set.
//!
//! Every type they make keeps what it does not know and writes it back.

/// The key of a field: its name, or the literal after `as`.
macro_rules! wire_key {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $key:literal) => {
        $key
    };
}

/// A record: `required` fields make it what it is (without them the value is handed back whole), `optional` ones are
/// [`Field`](crate::messages::Field)s, everything else lands in `extra`.
macro_rules! wire {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(required { $($(#[$rmeta:meta])* $rname:ident $(as $rkey:literal)? : $rty:ty,)* })?
            $(optional { $($(#[$ometa:meta])* $oname:ident $(as $okey:literal)? : $oty:ty,)* })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(
                $(#[$rmeta])*
                #[doc = concat!("Wire field `", wire_key!($rname $($rkey)?), "`.")]
                pub $rname: $rty,
            )*)?
            $($(
                $(#[$ometa])*
                #[doc = concat!("Wire field `", wire_key!($oname $($okey)?), "`.")]
                pub $oname: $crate::messages::Field<$oty>,
            )*)?
            /// What this version does not know, kept as it came.
            pub extra: serde_json::Map<String, serde_json::Value>,
        }

        impl $crate::messages::FromWire for $name {
            fn fits(value: &serde_json::Value) -> bool {
                let serde_json::Value::Object(_map) = value else { return false };
                true $($(&& _map
                    .get(wire_key!($rname $($rkey)?))
                    .is_some_and(<$rty as $crate::messages::FromWire>::fits))*)?
            }

            fn from_wire(mut value: serde_json::Value) -> Result<Self, serde_json::Value> {
                if !Self::fits(&value) {
                    return Err(value);
                }
                let serde_json::Value::Object(map) = &mut value else { return Err(value) };
                $($(
                    let key = wire_key!($rname $($rkey)?);
                    let taken = map.shift_remove(key).unwrap_or_default();
                    let $rname = match <$rty as $crate::messages::FromWire>::from_wire(taken) {
                        Ok(taken) => taken,
                        Err(taken) => {
                            map.insert(key.to_owned(), taken);
                            return Err(value);
                        }
                    };
                )*)?
                Ok(Self {
                    $($($rname,)*)?
                    $($($oname: $crate::messages::Field::read(map.shift_remove(wire_key!($oname $($okey)?))),)*)?
                    extra: std::mem::take(map),
                })
            }
        }

        impl $crate::messages::WireFields for $name {
            fn write_fields<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $($(map.serialize_entry(wire_key!($rname $($rkey)?), &self.$rname)?;)*)?
                $($(if !self.$oname.is_absent() {
                    map.serialize_entry(wire_key!($oname $($okey)?), &self.$oname)?;
                })*)?
                for (key, value) in &self.extra {
                    map.serialize_entry(key, value)?;
                }
                Ok(())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $crate::messages::WireFields::write_fields(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::messages::wire::deserialize_wire(deserializer, stringify!($name))
            }
        }
    };
}

/// Kinds told apart by one key. A value of an unknown kind, or of a known kind without what makes it that kind, is
/// kept whole in `Unknown`; reading never fails.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $($(#[$vmeta:meta])* $kind:literal => $variant:ident($ty:ty),)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $(
                $(#[$vmeta])*
                #[doc = concat!("Kind `", $kind, "`.")]
                $variant($ty),
            )*
            /// Anything else, whole.
            Unknown(serde_json::Value),
        }

        impl $name {
            /// The kind as the wire spells it; `None` when an unknown value does not say.
            pub fn kind(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(_) => Some($kind),)*
                    Self::Unknown(value) => value.get($tag).and_then(serde_json::Value::as_str),
                }
            }
        }

        impl $crate::messages::FromWire for $name {
            fn fits(_: &serde_json::Value) -> bool {
                true
            }

            fn from_wire(value: serde_json::Value) -> Result<Self, serde_json::Value> {
                let read = match value.get($tag).and_then(serde_json::Value::as_str) {
                    $(Some($kind) if <$ty as $crate::messages::FromWire>::fits(&value) => {
                        let mut value = value;
                        if let serde_json::Value::Object(map) = &mut value {
                            map.shift_remove($tag);
                        }
                        <$ty as $crate::messages::FromWire>::from_wire(value).map(Self::$variant)
                    })*
                    _ => Err(value),
                };
                Ok(read.unwrap_or_else(Self::Unknown))
            }
        }

        impl $crate::messages::WireFields for $name {
            fn write_fields<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    $(Self::$variant(inner) => {
                        map.serialize_entry($tag, $kind)?;
                        $crate::messages::WireFields::write_fields(inner, map)
                    })*
                    Self::Unknown(serde_json::Value::Object(fields)) => {
                        for (key, value) in fields {
                            map.serialize_entry(key, value)?;
                        }
                        Ok(())
                    }
                    Self::Unknown(_) => Ok(()),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if let Self::Unknown(value) = self {
                    return value.serialize(serializer);
                }
                let mut map = serializer.serialize_map(None)?;
                $crate::messages::WireFields::write_fields(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::messages::wire::deserialize_wire(deserializer, stringify!($name))
            }
        }
    };
}

/// Strings out of an open set: the known ones are variants, any other is kept in `Other`.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$vmeta:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(
                $(#[$vmeta])*
                #[doc = concat!("Wire value `", $text, "`.")]
                $variant,
            )*
            /// A value this version does not know.
            Other(String),
        }

        impl $name {
            /// The value as the wire spells it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        /// Nothing said, which is none of the known values.
        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)*
                    _ => Self::Other(text),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::messages::FromWire for $name {
            fn fits(value: &serde_json::Value) -> bool {
                value.is_string()
            }

            fn from_wire(value: serde_json::Value) -> Result<Self, serde_json::Value> {
                <String as $crate::messages::FromWire>::from_wire(value).map(Self::from)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}
