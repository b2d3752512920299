//! The question about a tool call, as the CLI puts it.
//!
//! Place in the flow: `engine::tool` sends it and lists the open ones. What the script leaves out is taken from the call.

use claude_sdk_bridge::messages::control::{CanUseTool, IncomingControl, IncomingRequest};
use claude_sdk_bridge::messages::{ControlId, List};
use serde_json::{Map, Value, json};

use super::core::Core;
use super::tool::Call;
use crate::frames;

/// The question about a call.
pub(super) fn about(id: &ControlId, call: &Call, core: &Core) -> IncomingControl {
    let ask = call.step.ask.clone().unwrap_or_default();
    let name = call.step.name.as_str();
    let interactive = matches!(name, "ExitPlanMode" | "AskUserQuestion").then_some(true);
    let request = CanUseTool {
        tool_name: name.to_owned(),
        input: ask.input.unwrap_or_else(|| normalised_input(call, core)),
        tool_use_id: call.id.clone(),
        display_name: ask
            .display_name
            .unwrap_or_else(|| frames::display_name(name))
            .into(),
        title: ask.title.into(),
        description: ask.description.or_else(|| description(call, core)).into(),
        permission_suggestions: ask.suggestions.map(List::from_iter).into(),
        blocked_path: ask.blocked_path.into(),
        decision_reason: ask.decision_reason.into(),
        decision_reason_type: ask.decision_reason_type.into(),
        requires_user_interaction: ask.requires_user_interaction.or(interactive).into(),
        extra: ask.extra,
        ..CanUseTool::default()
    };
    let request = IncomingRequest::CanUseTool(Box::new(request));
    IncomingControl {
        request_id: id.clone(),
        request,
        extra: Map::new(),
    }
}

/// The input as a question shows it: that of `ExitPlanMode` is the plan file, whatever the model wrote.
fn normalised_input(call: &Call, core: &Core) -> Map<String, Value> {
    if call.step.name == "ExitPlanMode" {
        plan(core).unwrap_or_default()
    } else {
        call.step.input.clone()
    }
}

/// The input as the call's own frame shows it: that of `ExitPlanMode` is the plan file, if there is one.
pub(super) fn written_input(call: &Call, core: &Core) -> Map<String, Value> {
    let plan = if call.step.name == "ExitPlanMode" {
        plan(core)
    } else {
        None
    };
    plan.unwrap_or_else(|| call.step.input.clone())
}

fn plan(core: &Core) -> Option<Map<String, Value>> {
    let plan = core.plan()?;
    let fields = [("plan", &plan.content), ("planFilePath", &plan.path)];
    Some(
        fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect(),
    )
}

/// What a call is about, in the words of its input.
fn description(call: &Call, core: &Core) -> Option<String> {
    let field = |key: &str| {
        call.step
            .input
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    match call.step.name.as_str() {
        "Bash" => field("description"),
        "WebFetch" => field("url"),
        "Edit" | "Write" | "NotebookEdit" | "Read" => {
            let path = field("file_path").or_else(|| field("notebook_path"))?;
            let inside = path
                .strip_prefix(&core.setup.cwd)
                .and_then(|rest| rest.strip_prefix('/'));
            Some(inside.map_or_else(|| path.clone(), str::to_owned))
        }
        _ => None,
    }
}
