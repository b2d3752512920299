//! What the session and its process are like, in a script.
//!
//! Place in the flow: part of a `Script`; `engine` and `argv` read it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::settings;

/// What the session is like.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Session {
    /// The model, if the host does not choose one.
    pub model: Option<String>,
    /// The pause before each delta.
    pub delta_delay_ms: u64,
    /// The slash commands, instead of the CLI's.
    pub commands: Option<Vec<Command>>,
    /// The plan file that `get_plan` and `ExitPlanMode` show.
    pub plan: Option<Plan>,
    /// Fields of the initialize response to add or to replace.
    pub initialize: Map<String, Value>,
    /// The settings that the session has: rules, and the mode to start in.
    #[serde(deserialize_with = "settings::read")]
    pub settings: Map<String, Value>,
    /// So many denials of decided calls in a row make the next one that may do more than read a question; 0 for never, 3 when
    /// absent.
    pub denial_threshold: Option<u32>,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// What may follow it.
    #[serde(default)]
    pub argument_hint: String,
}

/// A plan file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Where it would be.
    pub path: String,
    /// Its text.
    pub content: String,
}

/// How the process behaves when the script is played by the executable.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Process {
    /// SIGTERM and SIGINT do nothing.
    pub ignore_term: bool,
    /// The end of stdin does not end the process.
    pub ignore_eof: bool,
    /// A child in a session of its own, which waits for ever.
    pub grandchild: Option<Grandchild>,
}

/// The child that the executable starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Grandchild {
    /// SIGTERM does nothing to it either.
    pub ignore_term: bool,
    /// A file, relative to the working directory, that its process id is written to.
    pub pid_file: Option<String>,
}
