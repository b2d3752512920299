//! The official ACP v1 types, re-exported from the protocol's own crate.
//!
//! Place in the flow: the vocabulary of every message above the JSON-RPC envelope. Nothing is added or changed here:
//! what the protocol does not have stands in [`crate::ext`].

pub use agent_client_protocol_schema::ProtocolVersion;
pub use agent_client_protocol_schema::v1::*;
