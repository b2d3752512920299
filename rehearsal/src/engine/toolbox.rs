//! What the engine knows about real tools by their names, and the results of those that it is itself.
//!
//! Place in the flow: `real` asks where a tool runs; `outcome` lets the tools of the session's own (task list, plan,
//! questions, subagents) say what came out. What is run stands in the ground.

use serde_json::{Map, Value, json};

use super::call::Call;
use super::core::Core;
use super::ground::ToolOutput;
use crate::frames::text;

/// Whether a tool is nothing without somebody's answer.
pub(super) fn needs_person(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "ExitPlanMode")
}

/// Whether a tool works on files or runs something.
pub(super) fn runs_outside(tool: &str) -> bool {
    matches!(tool, "Bash" | "Read" | "Write" | "Edit" | "Glob" | "Grep")
}

/// What leaving plan mode tells of the plan.
pub(super) fn plan(core: &Core) -> Value {
    let plan = core.plan();
    json!({
        "plan": plan.as_ref().map(|plan| &plan.content), "isAgent": false,
        "filePath": plan.as_ref().map(|plan| &plan.path),
    })
}

/// What comes out of a tool that is the session's own.
pub(super) fn own_output(call: &Call, input: &Map<String, Value>, core: &Core) -> ToolOutput {
    let field = |key: &str| input.get(key).cloned().unwrap_or_default();
    let (text, structured) = match call.step.name.as_str() {
        "TodoWrite" => (
            text::TODOS_WRITTEN.to_owned(),
            json!({ "oldTodos": [], "newTodos": field("todos") }),
        ),
        "EnterPlanMode" => (
            text::PLAN_ENTERED.to_owned(),
            json!({ "message": text::PLAN_ENTERED }),
        ),
        "ExitPlanMode" => (text::PLAN_APPROVED.to_owned(), plan(core)),
        "AskUserQuestion" => {
            let answers = field("answers");
            let said = answers
                .as_object()
                .into_iter()
                .flatten()
                .map(|(question, answer)| {
                    let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
                    format!("\"{question}\"=\"{answer}\"")
                });
            let said: Vec<String> = said.collect();
            (
                text::questions_answered(&said.join(", ")),
                json!({ "questions": field("questions"), "answers": answers }),
            )
        }
        _ => {
            let said = call.step.result.text.clone();
            let structured = Value::from(said.as_str());
            (said, structured)
        }
    };
    ToolOutput {
        text,
        structured,
        is_error: false,
    }
}
