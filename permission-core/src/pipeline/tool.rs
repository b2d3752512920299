//! A tool as the pipeline sees it.
//!
//! Place in the flow: the first and the last stage are the tool's own. Hosts implement it; what they leave out passes
//! (validation) or allows (check).

use serde_json::Value;

/// A tool's part in the pipeline. An error says why not, for the model.
pub trait Tool: Send + Sync {
    /// Whether the input is well formed and within the tool's scope.
    fn validate_input(&self, input: &Value) -> Result<(), String>;

    /// Whether the call may run, after all other stages have agreed.
    fn check_permissions(&self, input: &Value) -> Result<(), String>;
}
