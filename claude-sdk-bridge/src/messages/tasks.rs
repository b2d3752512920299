//! `system` messages about tasks: subagents and shell commands, in the foreground or the background.

use super::{List, TaskId, ToolUseId};

wire! {
    /// A task began.
    pub struct TaskStarted {
        required { task_id: TaskId, }
        optional {
            tool_use_id: ToolUseId,
        }
    }
}

open_enum! {
    /// What a task runs.
    pub enum TaskType {
        LocalAgent = "local_agent",
        LocalBash = "local_bash",
    }
}

wire! {
    /// The whole set of background tasks, replacing what was known.
    pub struct BackgroundTasksChanged {
        optional { tasks: List<BackgroundTask>, }
    }
}

wire! {
    /// One background task.
    pub struct BackgroundTask {
        required { task_id: TaskId, }
        optional { task_type: TaskType, }
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
