//! What may happen in `plan` besides reading.
//!
//! Place in the flow: the pipeline's third stage and the guard over the real CLI ask. Must not depend on any rule.

use crate::{
    paths::normalized,
    rules::Call,
    tools::{Tool, ToolGroup},
};

/// Whether the call is planning: a tool of its own, or the plan's file.
pub(crate) fn is_exempt(call: &Call<'_>, plan_file: Option<&str>) -> bool {
    if Tool::of(call.tool).plans {
        return true;
    }
    match ToolGroup::of(call.tool) {
        ToolGroup::Edits => plan_file.is_some_and(|file| {
            let same = |path: &str| path == normalized(file);
            file.starts_with('/')
                && call
                    .subject()
                    .is_some_and(|subject| same(subject.given()) && subject.is_no_link())
        }),
        ToolGroup::Command
        | ToolGroup::Reads
        | ToolGroup::Fetch
        | ToolGroup::Skill
        | ToolGroup::Agent
        | ToolGroup::Other => false,
    }
}
