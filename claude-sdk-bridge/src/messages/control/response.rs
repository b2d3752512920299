//! The answer to a control request and its cancellation; the same shape in both directions.

use serde_json::Value;

use super::IncomingControl;
use crate::messages::{ControlId, Field, List};

wire! {
    /// An answer.
    pub struct ControlResponse {
        required { response: ResponseBody, }
    }
}

impl ControlResponse {
    /// A success; `None` for a plain acknowledgement.
    pub fn success(id: &ControlId, payload: Option<Value>) -> Self {
        let body = SuccessBody {
            request_id: id.clone().into(),
            response: payload.into(),
            ..SuccessBody::default()
        };
        ControlResponse {
            response: ResponseBody::Success(Box::new(body)),
            ..ControlResponse::default()
        }
    }

    /// A failure with a text for the other side.
    pub fn error(id: &ControlId, text: impl Into<String>) -> Self {
        let body = ErrorBody {
            request_id: id.clone().into(),
            error: text.into().into(),
            ..ErrorBody::default()
        };
        ControlResponse {
            response: ResponseBody::Error(Box::new(body)),
            ..ControlResponse::default()
        }
    }

    /// The request this answers; a request without an id gets an answer without one.
    pub fn request_id(&self) -> Option<&ControlId> {
        match &self.response {
            ResponseBody::Success(body) => body.request_id.get(),
            ResponseBody::Error(body) => body.request_id.get(),
            ResponseBody::Unknown(_) => None,
        }
    }

    /// The payload, null when there is none, or the failure.
    pub fn into_result(self) -> Result<Value, ControlFailure> {
        match self.response {
            ResponseBody::Success(body) => Ok(match body.response {
                Field::Absent | Field::Null => Value::Null,
                Field::Known(value) | Field::Raw(value) => value,
            }),
            ResponseBody::Error(body) => Err(ControlFailure {
                text: body.error.into_known().unwrap_or_default(),
                code: body.error_code.into_known(),
            }),
            ResponseBody::Unknown(value) => Err(ControlFailure {
                text: value.to_string(),
                code: None,
            }),
        }
    }
}

/// A control request that was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ControlFailure {
    /// What the other side says about it.
    pub text: String,
    /// A code for some failures, such as `invalid_mode`.
    pub code: Option<String>,
}

tagged! {
    /// Success or failure.
    pub enum ResponseBody by "subtype" {
        "success" => Success(Box<SuccessBody>),
        "error" => Error(Box<ErrorBody>),
    }
}

impl Default for ResponseBody {
    fn default() -> Self {
        ResponseBody::Unknown(Value::Null)
    }
}

wire! {
    /// It worked.
    pub struct SuccessBody {
        optional {
            request_id: ControlId,
            response: Value,
            /// Asks that were open when `initialize` was repeated.
            pending_permission_requests: List<IncomingControl>,
            pending_user_dialog_requests: List<IncomingControl>,
        }
    }
}

wire! {
    /// It did not work.
    pub struct ErrorBody {
        optional {
            request_id: ControlId,
            error: String,
            error_code: String,
        }
    }
}

wire! {
    /// The side that asked no longer wants an answer.
    pub struct ControlCancel {
        required { request_id: ControlId, }
    }
}
