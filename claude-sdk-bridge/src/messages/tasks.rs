//! `system` messages about tasks: subagents and shell commands, in the foreground or the background.

use serde_json::Number;

use super::{List, TaskId, TaskUsage, ToolUseId};

wire! {
    /// A task began.
    pub struct TaskStarted {
        required { task_id: TaskId, }
        optional {
            run_id: String,
            tool_use_id: ToolUseId,
            description: String,
            task_type: TaskType,
            is_backgrounded: bool,
            subagent_type: String,
            spawn_depth: u64,
            parent_task_id: TaskId,
            prompt: String,
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
    /// A task went on.
    pub struct TaskProgress {
        required { task_id: TaskId, }
        optional {
            run_id: String,
            tool_use_id: ToolUseId,
            description: String,
            subagent_type: String,
            usage: TaskUsage,
            last_tool_name: String,
            summary: String,
        }
    }
}

wire! {
    /// Something about a task changed.
    pub struct TaskUpdated {
        required { task_id: TaskId, }
        optional {
            run_id: String,
            patch: TaskPatch,
        }
    }
}

wire! {
    /// What changed; absent fields did not.
    pub struct TaskPatch {
        optional {
            status: String,
            end_time: Number,
            is_backgrounded: bool,
        }
    }
}

wire! {
    /// A task ended.
    pub struct TaskNotification {
        required { task_id: TaskId, }
        optional {
            run_id: String,
            tool_use_id: ToolUseId,
            status: TaskStatus,
            output_file: String,
            summary: String,
            usage: TaskUsage,
            reason: String,
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
        optional {
            run_id: String,
            task_type: TaskType,
            subagent_type: String,
            description: String,
        }
    }
}
