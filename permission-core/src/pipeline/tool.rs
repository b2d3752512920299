//! A tool as the pipeline sees it.
//!
//! Place in the flow: the first and the last stage are the tool's own. Hosts implement it; what they leave out passes
//! (validation) or allows (check).

use serde_json::Value;

use crate::{
    rules::{Call, ToolGroup},
    shell::{Analysis, Invocation, is_read_only, is_writer},
};

/// A tool's part in the pipeline.
pub trait Tool: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Whether the input is well formed and within the tool's scope.
    fn validate_input(&self, call: &ToolInput<'_>) -> Result<(), InvalidInput> {
        let _ = call;
        Ok(())
    }

    /// Whether the call may run, after all other stages have agreed.
    fn check_permissions(&self, call: &ToolInput<'_>) -> Check {
        let _ = call;
        Check::Allow { updated_input: None }
    }

    /// Whether this call only reads, so that it may run in `plan`. By default, what is known by the tool's name.
    fn reads_only(&self, call: &ToolInput<'_>) -> bool {
        call.call.only_reads()
    }
}

/// The call that a tool is asked about.
pub struct ToolInput<'a> {
    pub(super) call: &'a Call<'a>,
}

/// A refused input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidInput {
    /// Why, for the model.
    pub message: String,
    /// The tool's code for it.
    pub code: i64,
}

/// What a tool's own check says.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// It may run.
    Allow {
        /// Replaces the input, if given.
        updated_input: Option<Value>,
    },
    /// It may not.
    Deny {
        /// Why, for the model.
        message: String,
    },
    /// It wants a question. There is none after the fourth stage, so this denies.
    Ask {
        /// Why.
        message: String,
    },
}

impl ToolInput<'_> {
    /// The input.
    pub fn input(&self) -> &Value {
        self.call.input
    }
}

impl Call<'_> {
    /// Whether the call certainly changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        match ToolGroup::of(self.tool) {
            ToolGroup::Reads => true,
            ToolGroup::Command => match self.analysis() {
                Some(Analysis::Commands(commands)) => {
                    let certain = commands
                        .invocations
                        .iter()
                        .filter(|invocation| invocation.certain);
                    let writes = commands.redirections.iter().any(|file| file.access.writes());
                    !writes && certain.into_iter().all(is_read_only)
                }
                Some(Analysis::Unanalysable(_)) | None => false,
            },
            ToolGroup::Edits => false,
            // A working tree of its own is a change.
            ToolGroup::Agent
                if self
                    .input
                    .get("isolation")
                    .is_some_and(|isolation| !isolation.is_null()) =>
            {
                false
            }
            ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                READERS.contains(&self.tool)
            }
        }
    }

    /// Whether the call changes a file for certain. A command of which nobody can tell may.
    pub(crate) fn certainly_writes(&self) -> bool {
        match ToolGroup::of(self.tool) {
            ToolGroup::Edits => true,
            ToolGroup::Command => match self.analysis() {
                Some(Analysis::Commands(commands)) => {
                    let mut invocations = commands.invocations.iter();
                    let writes = |invocation: &Invocation| invocation.certain && is_writer(&invocation.words);
                    commands.redirections.iter().any(|file| file.access.writes()) || invocations.any(writes)
                }
                Some(Analysis::Unanalysable(_)) | None => false,
            },
            ToolGroup::Reads | ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                false
            }
        }
    }
}

/// Tools that only look something up, keep the model's own notes, or start an agent whose calls come here themselves.
const READERS: [&str; 18] = [
    "WebSearch",
    "WebFetch",
    "TodoWrite",
    "TodoRead",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskOutput",
    "Agent",
    "Task",
    "BashOutput",
    "ToolSearch",
    "CronList",
    "ListAgents",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "ReportFindings",
];
