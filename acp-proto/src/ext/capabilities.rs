//! Capabilities that stand in `_meta`: what a client asks for, and what we tell it.
//!
//! Place in the flow: read from and written to `initialize`. It must not decide what is built.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MetaRecord;
use crate::schema::Meta;

/// What a client asks for in the `_meta` of its capabilities. Only an explicit `true` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientExtensions {
    /// How the output of shell commands is wanted.
    pub terminal: TerminalDisplay,
    /// `terminal-auth`: login methods may carry the command to run.
    pub terminal_auth: bool,
}

/// How a client wants the output of shell commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalDisplay {
    /// As text content.
    #[default]
    None,
    /// `terminal_output`: as a display terminal, with [`super::TerminalOutput`].
    Output,
    /// `terminal_output_delta`: the same, with [`super::TerminalOutputDelta`].
    Delta,
}

/// On a login method: the command the client runs in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalAuth {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What the terminal is called.
    pub label: String,
}

/// On our capabilities: a prompt may be sent while another runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptQueueing {
    /// Whether it may.
    pub prompt_queueing: bool,
}

impl ClientExtensions {
    /// Reads the flags from the `_meta` of the client's capabilities.
    #[must_use]
    pub fn read(meta: Option<&Meta>) -> Self {
        let flag = |key: &str| meta.and_then(|meta| meta.get(key)) == Some(&Value::Bool(true));
        let terminal = match (flag("terminal_output_delta"), flag("terminal_output")) {
            (true, _) => TerminalDisplay::Delta,
            (false, true) => TerminalDisplay::Output,
            (false, false) => TerminalDisplay::None,
        };
        Self {
            terminal,
            terminal_auth: flag("terminal-auth"),
        }
    }
}

impl MetaRecord for TerminalAuth {
    const KEY: &'static str = "terminal-auth";
}

impl MetaRecord for PromptQueueing {
    const KEY: &'static str = "claudeCode";
}
