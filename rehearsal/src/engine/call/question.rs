//! The question about a tool call, as the CLI puts it.
//!
//! Place in the flow: `steps` and `by_rules` send it. What the script leaves out is taken from the call.

use claude_sdk_bridge::messages::control::CanUseTool;
use claude_sdk_bridge::messages::{Field, List, TaskId};
use permission_core::is_for_a_person;
use serde_json::{Map, Value, json};

use super::Call;
use crate::engine::core::Core;
use crate::frames::text;

/// The question where the script says that there is one.
pub(crate) fn scripted(call: &Call, core: &Core) -> CanUseTool {
    let question = about(call, core);
    match &call.verdict.ask {
        Some(reason) => by_hook(question, reason),
        None => question,
    }
}

/// The question with what the script says of it.
pub(crate) fn about(call: &Call, core: &Core) -> CanUseTool {
    let name = call.step.name.as_str();
    let ask = call.step.ask.clone().unwrap_or_default();
    let changed = call.input != call.step.input;
    CanUseTool {
        tool_name: name.to_owned(),
        input: ask
            .input
            .filter(|_| !changed)
            .unwrap_or_else(|| shown_input(call, core)),
        tool_use_id: call.id.clone(),
        agent_id: call.agent().map(TaskId::from).into(),
        display_name: ask
            .display_name
            .map_or_else(|| text::display_name(name).into(), Field::Known),
        title: ask.title.into(),
        description: ask.description.or_else(|| description(call, core)).into(),
        permission_suggestions: ask.suggestions.map(List::from_iter).into(),
        blocked_path: ask.blocked_path.into(),
        decision_reason: ask.decision_reason.into(),
        decision_reason_type: ask.decision_reason_type.into(),
        requires_user_interaction: ask
            .requires_user_interaction
            .or_else(|| is_for_a_person(name).then_some(true))
            .into(),
        extra: ask.extra,
        ..CanUseTool::default()
    }
}

/// The question that a hook wants. Nothing is suggested for longer, because it would come again all the same.
pub(crate) fn by_hook(question: CanUseTool, reason: &str) -> CanUseTool {
    CanUseTool {
        permission_suggestions: Field::Absent,
        decision_reason: reason.into(),
        decision_reason_type: "hook".into(),
        decision_reason_hook_event: "PreToolUse".into(),
        decision_reason_hook_source: "settings".into(),
        ..question
    }
}

/// The input as a question shows it: that of `ExitPlanMode` is the plan file, whatever the model wrote.
fn shown_input(call: &Call, core: &Core) -> Map<String, Value> {
    if call.step.name != "ExitPlanMode" {
        return call.input.clone();
    }
    plan(core).unwrap_or_default()
}

/// The input as the call's own frame shows it: that of `ExitPlanMode` is the plan file, if there is one.
pub(crate) fn written_input(call: &Call, core: &Core) -> Map<String, Value> {
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
    let field = |key: &str| call.input.get(key).and_then(Value::as_str).map(str::to_owned);
    match call.step.name.as_str() {
        "Bash" => field("description"),
        "WebFetch" => field("url"),
        "Edit" | "Write" | "NotebookEdit" | "Read" => {
            let path = field("file_path").or_else(|| field("notebook_path"))?;
            let inside = path
                .strip_prefix(core.setup.cwd())
                .and_then(|rest| rest.strip_prefix('/'));
            Some(inside.map_or_else(|| path.clone(), str::to_owned))
        }
        _ => None,
    }
}
