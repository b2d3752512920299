//! A prepared permission request: what to show, which options to offer, and what each answer yields.
//!
//! Place in the flow: [`prepare`] runs once before `session/request_permission` leaves, `settle` once when its
//! answer is in. Must not change between the two: what the user read is what happens.

use serde_json::Value;

use crate::dialog::answer::{Answer, SettleError};
use crate::dialog::ask::AskContext;
use crate::dialog::effect::{Call, Settlement};
use crate::dialog::family::ToolFamily;
use crate::dialog::options::{self, PermissionOption};
use crate::dialog::present::{self, Presentation};

/// Everything about one permission request, fixed before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedRequest {
    tool_use_id: String,
    input: Value,
    presentation: Presentation,
    tool_title_override: Option<String>,
    synthesized_json_content: Option<String>,
    blocked_path: Option<String>,
    options: Vec<PermissionOption>,
}

/// Why no permission request can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// AskUserQuestion is no permission question.
    #[error("`AskUserQuestion` must be handled by elicitation, disable the tool for clients without it")]
    MustBeElicited,
}

/// Decides what is shown and offered for a permission question.
pub fn prepare(ask: &AskContext<'_>) -> Result<PreparedRequest, PrepareError> {
    let family = ToolFamily::of_call(ask.call.tool, ask.call.input);
    let title = present::title_override(ask, family);
    Ok(PreparedRequest {
        tool_use_id: ask.tool_use_id.to_owned(),
        input: ask.call.input.clone(),
        presentation: present::presentation(ask, family, title.as_deref().unwrap_or(ask.tool_title)),
        synthesized_json_content: present::json_content(ask, family, title.as_deref()),
        tool_title_override: title,
        blocked_path: present::blocked_path(ask),
        options: options::offered(ask, family)?,
    })
}

impl PreparedRequest {
    /// The record for `_meta.permission`.
    pub fn presentation(&self) -> &Presentation {
        &self.presentation
    }

    /// The title of the tool call in the request, where it is not the renderer's.
    pub fn tool_title_override(&self) -> Option<&str> {
        self.tool_title_override.as_deref()
    }

    /// The text block to use where the renderer has no content.
    pub fn synthesized_json_content(&self) -> Option<&str> {
        self.synthesized_json_content.as_deref()
    }

    /// The blocked path, unless it is among the renderer's locations.
    pub fn extra_location<'a>(&self, mut rendered: impl Iterator<Item = &'a str>) -> Option<&str> {
        let blocked = self.blocked_path.as_deref()?;
        (!rendered.any(|path| path == blocked)).then_some(blocked)
    }

    /// The options, in the order in which they are offered.
    pub fn options(&self) -> &[PermissionOption] {
        &self.options
    }

    /// Looks the answer up among the options of this request.
    pub fn settle(&self, answer: &Answer) -> Result<Settlement, SettleError> {
        let (option_id, feedback) = match answer {
            Answer::Selected { option_id, feedback } => (option_id, feedback.as_deref()),
            Answer::Cancelled | Answer::Unknown => return Err(SettleError::Aborted),
        };
        let option = self
            .options
            .iter()
            .find(|option| option.id.as_str() == option_id)
            .ok_or_else(|| SettleError::NotOffered(option_id.clone()))?;
        let call = Call {
            tool_use_id: &self.tool_use_id,
            input: &self.input,
        };
        Ok(option.effect.settle(&call, feedback))
    }
}
