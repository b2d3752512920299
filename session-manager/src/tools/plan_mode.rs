//! EnterPlanMode and ExitPlanMode. The plan is the content of the call that asks for its approval; it stays
//! visible when it is rejected.

use acp_proto::schema::ToolKind;

use super::blocks::text_content;
use super::{Rendered, ToolCallRef, ToolResultRef, ToolView, input, wording};

pub(super) fn enter(call: &ToolCallRef<'_>) -> ToolView {
    ToolView::new(call.name, ToolKind::SwitchMode)
}

pub(super) fn exit(call: &ToolCallRef<'_>) -> ToolView {
    let plan = input::text(call.input, "plan")
        .filter(|plan| !plan.trim().is_empty())
        .map(text_content);
    ToolView::new(wording::APPROVE_PLAN, ToolKind::SwitchMode).content(plan.into_iter().collect())
}

/// The result is a page of instructions for the model; its first sentence is the news.
pub(super) fn entered() -> Rendered {
    Rendered {
        content: Some(vec![text_content(wording::ENTERED_PLAN_MODE)]),
        ..Rendered::default()
    }
}

pub(super) fn exited(result: &ToolResultRef<'_>) -> Rendered {
    let structured = result
        .structured
        .filter(|structured| input::flag(structured, "planWasEdited"));
    let edited = structured.and_then(|structured| input::text(structured, "plan"));
    Rendered {
        title: Some(wording::EXITED_PLAN_MODE.to_owned()),
        content: edited.map(|plan| vec![text_content(plan)]),
        ..Rendered::default()
    }
}
