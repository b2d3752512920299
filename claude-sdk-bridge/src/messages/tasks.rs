//! `system` messages about tasks: subagents and shell commands, in the foreground or the background.

use super::{TaskId, ToolUseId};

wire! {
    /// A task began.
    pub struct TaskStarted {
        required { task_id: TaskId, }
        optional {
            tool_use_id: ToolUseId,
        }
    }
}

wire! {
    /// A task ended.
    pub struct TaskNotification {
        required { task_id: TaskId, }
        optional {
            tool_use_id: ToolUseId,
            status: TaskStatus,
            summary: String,
        }
    }
}

open_enum! {
    /// How a task ended.
    pub enum TaskStatus {
        Completed = "completed",
        Failed = "failed",
        Stopped = "stopped",
    }
}
