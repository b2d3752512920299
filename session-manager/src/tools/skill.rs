//! Skill: only its name. What a skill tells the model is not for the transcript.

use acp_proto::schema::ToolKind;

use super::{ToolCallRef, ToolView, input, wording};

pub(super) fn view(call: &ToolCallRef<'_>) -> ToolView {
    let name = input::first_text(call.input, &["skill", "command", "name"]);
    let title = name.map(|name| format!("{}: {name}", wording::LOAD_SKILL));
    ToolView::new(
        title.unwrap_or_else(|| wording::LOAD_SKILL.to_owned()),
        ToolKind::Other,
    )
}
