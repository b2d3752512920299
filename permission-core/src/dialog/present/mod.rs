//! What the user reads: headings, reasons, option names, refusal texts.
//!
//! Place in the flow: `request` asks for a [`Presentation`]; `safe_text` holds the rules that all of it obeys;
//! `wording` holds every fixed sentence. Must not decide what is offered.

pub(crate) mod wording;

use serde::Serialize;

use crate::dialog::ask::AskContext;
use crate::dialog::family::ToolFamily;
use crate::safe_text;

const MAX_TITLE: usize = 4_000;
const MAX_REASON: usize = 4_000;
const MAX_BLOCKED_PATH: usize = 4_096;

/// The record under `_meta.permission` of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Presentation {
    /// Schema version, `1`.
    pub version: u32,
    /// The heading; never empty.
    pub title: String,
    /// `Reason: ` and Claude's reason, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether a client should preselect the refusal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub default_to_no: bool,
}

/// The presentation of a request whose tool call is titled `tool_title`.
pub(crate) fn presentation(ask: &AskContext<'_>, family: ToolFamily, tool_title: &str) -> Presentation {
    Presentation {
        version: 1,
        title: heading(family, tool_title),
        description: ask.decision_reason.and_then(|reason| {
            Some(format!(
                "{}{}",
                wording::REASON_PREFIX,
                safe_text::multi_line(reason, MAX_REASON)?
            ))
        }),
        default_to_no: ask.default_to_no,
    }
}

/// The title that replaces the renderer's, for the two families whose renderer has none of its own.
pub(crate) fn title_override(ask: &AskContext<'_>, family: ToolFamily) -> Option<String> {
    if family == ToolFamily::SandboxNetwork {
        ask.call.text("host").and_then(safe_text::compact)
    } else if family == ToolFamily::ComputerUse {
        ask.display_name.and_then(safe_text::compact)
    } else {
        None
    }
}

/// The input as a JSON block, for families whose renderer may have no content.
pub(crate) fn json_content(ask: &AskContext<'_>, family: ToolFamily, title: Option<&str>) -> Option<String> {
    let wanted =
        family == ToolFamily::ComputerUse || (family == ToolFamily::SandboxNetwork && title.is_some());
    wanted.then(|| format!("```json\n{:#}\n```", ask.call.input))
}

/// The blocked path, if it can be shown without changing it (other than by trimming).
pub(crate) fn blocked_path(ask: &AskContext<'_>) -> Option<String> {
    let path = ask.blocked_path?;
    safe_text::single_line(path, MAX_BLOCKED_PATH).filter(|cleaned| cleaned == safe_text::trim(path))
}

/// A shell command stands as it is, at any length: cleaning or cutting it would change what the user reads.
fn heading(family: ToolFamily, tool_title: &str) -> String {
    if family == ToolFamily::ExitPlanMode {
        return wording::READY_TO_CODE.to_owned();
    }
    let title = if family == ToolFamily::Shell {
        Some(tool_title.to_owned()).filter(|title| !safe_text::trim(title).is_empty())
    } else {
        safe_text::single_line(tool_title, MAX_TITLE)
    };
    title.unwrap_or_else(|| wording::NO_TITLE.to_owned())
}
