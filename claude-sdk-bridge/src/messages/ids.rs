//! A type for each kind of id on the Claude side, so that one cannot be passed for another.
//!
//! All are opaque strings chosen by Claude or by us; nothing here interprets them.

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident,)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The id as the wire spells it.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The id as the wire spells it, by move.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl crate::messages::FromWire for $name {
            fn fits(value: &serde_json::Value) -> bool {
                value.is_string()
            }

            fn from_wire(value: serde_json::Value) -> Result<Self, serde_json::Value> {
                <String as crate::messages::FromWire>::from_wire(value).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self)
            }
        }
    )*};
}

ids! {
    /// A tool call, as in `tool_use` blocks, `tool_result` blocks and `can_use_tool`.
    ToolUseId,
    /// A control request, in either direction; chosen by the side that asks.
    ControlId,
    /// A message of the model, the `id` of the Messages API.
    ApiMessageId,
    /// A Claude session; changes on `/clear` and on a fork.
    ClaudeSessionId,
    /// A message on the wire or in the transcript; for user messages chosen by us.
    MessageUuid,
    /// A background or subagent task.
    TaskId,
}
