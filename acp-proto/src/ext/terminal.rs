//! `_meta.terminal_*`: a command's output as a terminal that the client only displays.
//!
//! Place in the flow: on the tool call of a shell command, for clients that asked for it with
//! `_meta.terminal_output` in their capabilities. It must not be sent to others.

use serde::{Deserialize, Serialize};

use super::MetaRecord;

/// With the `tool_call`: a terminal of this id exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalInfo {
    /// The id that the content of the tool call names.
    pub terminal_id: String,
}

/// The output of the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalOutput {
    /// The terminal.
    pub terminal_id: String,
    /// What the command wrote.
    pub data: String,
}

/// The same for clients that asked for `terminal_output_delta`: what was written since the last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalOutputDelta {
    /// The terminal.
    pub terminal_id: String,
    /// What the command wrote.
    pub data: String,
}

/// With the final status: the command ended. Both members are always written, as `null` when unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalExit {
    /// The terminal.
    pub terminal_id: String,
    /// The exit code.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    #[serde(default)]
    pub signal: Option<String>,
}

impl MetaRecord for TerminalInfo {
    const KEY: &'static str = "terminal_info";
}

impl MetaRecord for TerminalOutput {
    const KEY: &'static str = "terminal_output";
}

impl MetaRecord for TerminalOutputDelta {
    const KEY: &'static str = "terminal_output_delta";
}

impl MetaRecord for TerminalExit {
    const KEY: &'static str = "terminal_exit";
}
