//! The session's plan, from Claude's task lists: TodoWrite states it whole, TaskCreate, TaskUpdate and TaskList
//! build it up. Sent when it differs from what the client has, and again with a prompt that finds it unfinished.

use acp_proto::schema::{Plan, PlanEntry, PlanEntryStatus, SessionUpdate};
use serde_json::Value;

use crate::tools::{ToolCallRef, ToolResultRef, blocks, todo};

#[derive(Debug, Default)]
pub(super) struct PlanBoard {
    tasks: Vec<Task>,
    sent: Vec<PlanEntry>,
}

#[derive(Debug)]
struct Task {
    id: String,
    subject: String,
    active: Option<String>,
    status: String,
}

impl PlanBoard {
    /// A call of the main thread with its complete input.
    pub(super) fn called(&mut self, call: &ToolCallRef<'_>) -> Option<SessionUpdate> {
        if call.name != "TodoWrite" {
            return None;
        }
        self.send(todo::entries(call.input)?)
    }

    /// A call of the main thread that succeeded.
    pub(super) fn succeeded(
        &mut self,
        call: &ToolCallRef<'_>,
        result: &ToolResultRef<'_>,
    ) -> Option<SessionUpdate> {
        match call.name {
            "TaskCreate" => self.create(call.input, result)?,
            "TaskUpdate" => self.update(call.input)?,
            "TaskList" => self.list(result.structured?)?,
            _ => return None,
        }
        let entry = |task: &Task| {
            todo::plan_entry(
                &task.subject,
                task.active.as_deref(),
                todo::status(Some(&task.status)),
            )
        };
        self.send(self.tasks.iter().map(entry).collect())
    }

    /// The plan as the client has it, while something of it is still to be done: a client may show it with the turn that it
    /// came in.
    pub(super) fn unfinished(&self) -> Option<SessionUpdate> {
        let open = |entry: &PlanEntry| entry.status != PlanEntryStatus::Completed;
        let unfinished = self.sent.iter().any(open);
        unfinished.then(|| SessionUpdate::Plan(Plan::new(self.sent.clone())))
    }

    /// The conversation starts anew.
    pub(super) fn reset(&mut self) -> Option<SessionUpdate> {
        self.tasks.clear();
        self.send(Vec::new())
    }

    fn send(&mut self, entries: Vec<PlanEntry>) -> Option<SessionUpdate> {
        if self.sent == entries {
            return None;
        }
        self.sent.clone_from(&entries);
        Some(SessionUpdate::Plan(Plan::new(entries)))
    }

    fn create(&mut self, input: &Value, result: &ToolResultRef<'_>) -> Option<()> {
        let structured = result
            .structured
            .and_then(|structured| structured.get("task")?.get("id"));
        let id = structured
            .and_then(id_text)
            .or_else(|| created_id(&blocks::plain_text(result.content)))?;
        self.tasks.retain(|task| task.id != id);
        self.tasks.push(Task {
            id,
            subject: text(input, "subject")?,
            active: text(input, "activeForm"),
            status: "pending".to_owned(),
        });
        Some(())
    }

    fn update(&mut self, input: &Value) -> Option<()> {
        let id = input.get("taskId").and_then(id_text)?;
        let status = text(input, "status");
        if status.as_deref() == Some("deleted") {
            self.tasks.retain(|task| task.id != id);
            return Some(());
        }
        let task = self.tasks.iter_mut().find(|task| task.id == id)?;
        task.subject = text(input, "subject").unwrap_or_else(|| std::mem::take(&mut task.subject));
        task.active = text(input, "activeForm").or_else(|| task.active.take());
        task.status = status.unwrap_or_else(|| std::mem::take(&mut task.status));
        Some(())
    }

    fn list(&mut self, structured: &Value) -> Option<()> {
        let mut known = std::mem::take(&mut self.tasks);
        let listed = structured.get("tasks").and_then(Value::as_array);
        let Some(listed) = listed else {
            self.tasks = known;
            return None;
        };
        self.tasks = listed
            .iter()
            .filter_map(|task| {
                let id = id_text(task.get("id")?)?;
                let active = known
                    .iter_mut()
                    .find(|known| known.id == id)
                    .and_then(|known| known.active.take());
                Some(Task {
                    id,
                    subject: text(task, "subject")?,
                    active: text(task, "activeForm").or(active),
                    status: text(task, "status").unwrap_or_default(),
                })
            })
            .collect();
        Some(())
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value
        .get(key)?
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// Task ids are numbers or strings.
fn id_text(id: &Value) -> Option<String> {
    id.as_str()
        .map(str::to_owned)
        .or_else(|| id.as_u64().map(|number| number.to_string()))
}

/// The id in `Task #3 created successfully: …`.
fn created_id(text: &str) -> Option<String> {
    let (id, _) = text.strip_prefix("Task #")?.split_once(' ')?;
    Some(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_sdk_bridge::messages::Content;
    use serde_json::json;

    fn call(name: &'static str, input: &Value) -> ToolCallRef<'static> {
        ToolCallRef {
            id: "t",
            name,
            input: Box::leak(Box::new(input.clone())),
            parent: None,
        }
    }

    fn entries(update: Option<SessionUpdate>) -> Option<Value> {
        update.map(|update| serde_json::to_value(update).unwrap()["entries"].clone())
    }

    fn succeeded(
        board: &mut PlanBoard,
        name: &'static str,
        input: Value,
        text: &str,
        structured: Option<Value>,
    ) -> Option<Value> {
        let content = Content::from(text);
        let result = ToolResultRef {
            content: &content,
            is_error: false,
            structured: structured.as_ref(),
            non_execution: None,
        };
        entries(board.succeeded(&call(name, &input), &result))
    }

    #[test]
    fn todo_write_states_the_plan_and_repeats_are_not_sent() {
        let mut board = PlanBoard::default();
        let todos = json!({"todos": [
            {"content": "First", "activeForm": "Doing first", "status": "in_progress"},
            {"content": "Second", "activeForm": "Doing second", "status": "pending"},
            {"content": "Third", "status": "completed"}, {"status": "pending"}, 3,
        ]});
        assert_eq!(
            entries(board.called(&call("TodoWrite", &todos))).unwrap(),
            json!([
                {"content": "Doing first", "priority": "medium", "status": "in_progress"},
                {"content": "Second", "priority": "medium", "status": "pending"},
                {"content": "Third", "priority": "medium", "status": "completed"},
            ])
        );
        assert!(board.called(&call("TodoWrite", &todos)).is_none());
        assert!(
            board
                .called(&call("TodoWrite", &json!({"todos": "odd"})))
                .is_none()
        );
        assert_eq!(
            entries(board.unfinished()).unwrap().as_array().unwrap().len(),
            3,
            "all of it, for the next prompt"
        );
        let done = json!({"todos": [{"content": "First", "status": "completed"}]});
        board.called(&call("TodoWrite", &done));
        assert!(board.unfinished().is_none());
        assert_eq!(entries(board.reset()).unwrap(), json!([]));
        assert!(board.unfinished().is_none());
        assert!(board.reset().is_none());
    }

    #[test]
    fn task_calls_build_the_plan_up() {
        let mut board = PlanBoard::default();
        let first = succeeded(
            &mut board,
            "TaskCreate",
            json!({"subject": "A", "activeForm": "Doing A"}),
            "Task #1 created successfully: A",
            None,
        );
        assert_eq!(
            first.unwrap(),
            json!([{"content": "A", "priority": "medium", "status": "pending"}])
        );
        let second = succeeded(
            &mut board,
            "TaskCreate",
            json!({"subject": "B"}),
            "",
            Some(json!({"task": {"id": 2, "subject": "B"}})),
        );
        assert_eq!(second.unwrap().as_array().unwrap().len(), 2);
        let started = succeeded(
            &mut board,
            "TaskUpdate",
            json!({"taskId": "1", "status": "in_progress"}),
            "",
            None,
        );
        assert_eq!(
            started.unwrap()[0],
            json!({"content": "Doing A", "priority": "medium", "status": "in_progress"})
        );
        let listed = json!({"tasks": [{"id": "1", "subject": "A", "status": "in_progress"}, {"id": "2", "subject": "B", "status": "pending"}]});
        assert!(
            succeeded(&mut board, "TaskList", json!({}), "", Some(listed)).is_none(),
            "nothing changed"
        );
        assert!(
            succeeded(&mut board, "TaskUpdate", json!({"taskId": "9"}), "", None).is_none(),
            "unknown task"
        );
        let deleted = succeeded(
            &mut board,
            "TaskUpdate",
            json!({"taskId": "2", "status": "deleted"}),
            "",
            None,
        );
        assert_eq!(deleted.unwrap().as_array().unwrap().len(), 1);
        assert!(succeeded(&mut board, "TaskList", json!({}), "", Some(json!({"tasks": 3}))).is_none());
    }
}
