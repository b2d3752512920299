//! `PermissionResult`: what goes back to Claude, in the shape of the wire.
//!
//! Place in the flow: made by `effect` and `question`, written by the bridge; read back by whatever plays Claude.
//! Must not hold anything that Claude does not read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to `can_use_tool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "behavior", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionResult {
    /// The tool runs.
    Allow {
        /// Replaces the whole input; the original stands when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
        /// What else changes, verbatim.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<Vec<Value>>,
        /// The tool use that was asked about.
        #[serde(default, rename = "toolUseID", skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// How the user decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision_classification: Option<DecisionClassification>,
    },
    /// The tool does not run.
    Deny {
        /// What the model reads.
        message: String,
        /// Ends the turn when true; the key is absent otherwise.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupt: bool,
        /// The tool use that was asked about.
        #[serde(default, rename = "toolUseID", skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// How the user decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision_classification: Option<DecisionClassification>,
    },
}

/// How the user decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionClassification {
    /// Allowed for this call.
    UserTemporary,
    /// Allowed for good.
    UserPermanent,
    /// Refused.
    UserReject,
}

impl PermissionResult {
    /// A refusal that no user took: nothing but its message.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            interrupt: false,
            tool_use_id: None,
            decision_classification: None,
        }
    }

    /// Whether the tool runs.
    pub fn is_allow(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_shapes_survive_the_wire() {
        let results = [
            json!({ "behavior": "allow" }),
            json!({
                "behavior": "allow",
                "updatedInput": { "a": 1 },
                "updatedPermissions": [{ "type": "setMode", "mode": "plan", "destination": "session", "x": 1 }],
                "toolUseID": "toolu_1",
                "decisionClassification": "user_permanent",
            }),
            json!({ "behavior": "deny", "message": "no" }),
            json!({
                "behavior": "deny",
                "message": "no",
                "interrupt": true,
                "toolUseID": "toolu_1",
                "decisionClassification": "user_reject",
            }),
        ];
        for wire in results {
            let typed: PermissionResult = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(&typed).unwrap(), wire);
        }
        assert_eq!(
            serde_json::to_value(PermissionResult::deny("no")).unwrap(),
            json!({ "behavior": "deny", "message": "no" })
        );
    }

    #[test]
    fn a_result_without_a_known_behavior_is_refused() {
        for wire in [
            json!({ "behavior": "maybe" }),
            json!({}),
            json!({ "behavior": "deny" }),
            json!("allow"),
        ] {
            assert!(serde_json::from_value::<PermissionResult>(wire).is_err());
        }
    }
}
