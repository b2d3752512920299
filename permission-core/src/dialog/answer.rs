//! The client's answer to a permission request, and how an answer can fail.
//!
//! Place in the flow: the host decodes a response into an [`Answer`]; `request` settles it. Everything that is not
//! a plain selection counts as no answer. Must not know which options were offered.

use serde_json::Value;

/// What the client answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An option was selected, whether or not it was offered.
    Selected {
        /// The id as the client sent it.
        option_id: String,
        /// What the user said; counts only with a refusal.
        feedback: Option<String>,
    },
    /// The request was cancelled.
    Cancelled,
    /// A response that selects nothing we understand.
    Unknown,
}

/// Why an answer yields no result. The text travels to Claude as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettleError {
    /// Cancelled, or no selection at all.
    #[error("Tool use aborted")]
    Aborted,
    /// The id is none of this request's options.
    #[error("Permission option was not offered: {0}")]
    NotOffered(String),
}

impl Answer {
    /// A plain selection.
    pub fn selected(option_id: impl Into<String>) -> Self {
        Self::Selected {
            option_id: option_id.into(),
            feedback: None,
        }
    }

    /// Reads the result of `session/request_permission`. Never fails: what is not a selection is [`Answer::Unknown`].
    pub fn from_response(response: &Value) -> Self {
        let Some(outcome) = response.get("outcome") else {
            return Self::Unknown;
        };
        match outcome.get("outcome").and_then(Value::as_str) {
            Some("selected") => Self::Selected {
                option_id: outcome.get("optionId").map(option_text).unwrap_or_default(),
                feedback: feedback(response),
            },
            Some("cancelled") => Self::Cancelled,
            Some(_) | None => Self::Unknown,
        }
    }
}

/// An id that is no text selects nothing, but the error shows what was sent.
fn option_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn feedback(response: &Value) -> Option<String> {
    response
        .pointer("/_meta/permission/feedback")
        .and_then(Value::as_str)
        .map(str::to_owned)
}
