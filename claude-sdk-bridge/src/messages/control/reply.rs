//! Payloads of our answers to Claude's control requests.
//!
//! Written by the host; read by the rehearsal, which gets whatever a host sends and must not trip over it.

use serde_json::{Map, Value};

use crate::messages::List;

tagged! {
    /// The answer to `can_use_tool`.
    pub enum PermissionReply by "behavior" {
        "allow" => Allow(Box<AllowReply>),
        "deny" => Deny(Box<DenyReply>),
    }
}

wire! {
    /// The tool call may run.
    pub struct AllowReply {
        optional {
            /// Replaces the whole input; absent keeps it.
            updated_input as "updatedInput": Map<String, Value>,
            updated_permissions as "updatedPermissions": List<Value>,
            decision_classification as "decisionClassification": String,
        }
    }
}

wire! {
    /// The tool call may not run.
    pub struct DenyReply {
        optional {
            /// Becomes the tool's error result, word for word.
            message: String,
            /// Ends the turn as an interrupt does.
            interrupt: bool,
        }
    }
}
