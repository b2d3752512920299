//! Task lists: TodoWrite, and TaskCreate/TaskUpdate/TaskList/TaskGet. They are shown as the session's plan; the
//! view here is only for the rare call that needs a permission.

use acp_proto::schema::{PlanEntry, PlanEntryPriority, PlanEntryStatus, ToolKind};
use serde_json::Value;

use super::{ToolCallRef, ToolView, input, wording};

pub(super) fn view(call: &ToolCallRef<'_>) -> ToolView {
    let subject = || input::text(call.input, "subject");
    let task = || input::first_text(call.input, &["taskId", "id"]).map(|id| format!("#{id}"));
    let titled = |lead: &str, detail: Option<String>| {
        detail.map_or_else(|| lead.to_owned(), |detail| format!("{lead}: {detail}"))
    };
    let title = match call.name {
        "TodoWrite" => titled(wording::UPDATE_TODOS, todo_names(call.input)),
        "TaskCreate" => titled(wording::CREATE_TASK, subject().map(str::to_owned)),
        "TaskUpdate" => titled(wording::UPDATE_TASK, subject().map(str::to_owned).or_else(task)),
        "TaskList" => wording::LIST_TASKS.to_owned(),
        "TaskGet" => titled(wording::GET_TASK, task()),
        other => other.to_owned(),
    };
    ToolView::new(title, ToolKind::Think)
}

/// The plan that a TodoWrite call states; `None` when the input has no list of todos.
pub(crate) fn entries(todo_write: &Value) -> Option<Vec<PlanEntry>> {
    let todos = todo_write.get("todos")?.as_array()?;
    let entry = |todo: &Value| {
        let text = input::first_text(todo, &["content", "activeForm"])?;
        Some(plan_entry(
            text,
            input::text(todo, "activeForm"),
            status(input::text(todo, "status")),
        ))
    };
    Some(todos.iter().filter_map(entry).collect())
}

/// One line of the plan; what is being done is shown in its active form.
pub(crate) fn plan_entry(text: &str, active: Option<&str>, status: PlanEntryStatus) -> PlanEntry {
    let shown = if status == PlanEntryStatus::InProgress {
        active.unwrap_or(text)
    } else {
        text
    };
    PlanEntry::new(shown, PlanEntryPriority::Medium, status)
}

/// Claude's word for a status; unknown ones count as still to do.
pub(crate) fn status(word: Option<&str>) -> PlanEntryStatus {
    match word {
        Some("in_progress") => PlanEntryStatus::InProgress,
        Some("completed") => PlanEntryStatus::Completed,
        _ => PlanEntryStatus::Pending,
    }
}

fn todo_names(value: &Value) -> Option<String> {
    let names: Vec<_> = input::items(value, "todos")
        .iter()
        .filter_map(|todo| input::text(todo, "content"))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}
