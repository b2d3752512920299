//! A tool as the pipeline sees it.
//!
//! Place in the flow: the first and the last stage are the tool's own. Hosts implement it; what they leave out passes
//! (validation) or allows (check).

use serde_json::Value;

use crate::{
    rules::Call,
    shell::{Analysis, Invocation, is_read_only, is_writer},
    tools::{self, ToolGroup},
};

/// A tool's part in the pipeline. An error says why not, for the model.
pub trait Tool: Send + Sync {
    /// Whether the input is well formed and within the tool's scope.
    fn validate_input(&self, input: &Value) -> Result<(), String>;

    /// Whether the call may run, after all other stages have agreed.
    fn check_permissions(&self, input: &Value) -> Result<(), String>;
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
                tools::Tool::of(self.tool).only_looks
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
