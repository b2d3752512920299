//! What the manager is told about its surroundings, once, by whoever starts it. Nothing below reads the environment.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::query::QueryTimings;
use claude_sdk_bridge::settings::{SettingsSurroundings, SettingsTexts};
use claude_sdk_bridge::transcripts::TranscriptStore;
use permission_core::policy::Policy;

use crate::history::Records;
use crate::permission::Audit;

/// The manager's configuration.
#[derive(Debug, Clone)]
pub struct ManagerConfig {
    /// The agent's name and version, as `initialize` reports them.
    pub agent: AgentIdentity,
    /// How a client starts a login in a terminal.
    pub login: LoginCommand,
    /// The environment of this process, which Claude inherits.
    pub environment: Environment,
    /// The user's home directory, for paths that Claude writes with `~`.
    pub home: Option<PathBuf>,
    /// Where the settings of sessions come from.
    pub settings: SettingsOrigin,
    /// What an operator decides for all sessions.
    pub policy: Option<Arc<Policy>>,
    /// Where decisions about tool calls are written down.
    pub audit: Option<Arc<dyn Audit>>,
    /// What this process may do.
    pub privileges: Privileges,
    /// All waiting times.
    pub timings: Timings,
}

impl ManagerConfig {
    /// Has the policy protect Claude's own configuration, wherever it is.
    pub(crate) fn protect_claude(&mut self) {
        let directory = self.claude_directory();
        let directory = directory.as_deref().and_then(Path::to_str);
        if let (Some(policy), Some(directory)) = (&mut self.policy, directory) {
            Arc::make_mut(policy).protected.push(directory.to_owned());
        }
    }

    /// The directory of Claude's own configuration, where its plans are.
    pub(crate) fn claude_directory(&self) -> Option<PathBuf> {
        let told = match &self.settings {
            SettingsOrigin::Files(files) => files.claude_directory(),
            SettingsOrigin::Given(_) => None,
        };
        told.or_else(|| Some(self.home.as_ref()?.join(".claude")))
    }

    /// Where is kept what Claude does not keep of a session.
    pub(crate) fn records(&self) -> Option<Records> {
        match &self.settings {
            SettingsOrigin::Files(files) => Some(Records::new(&files.claude_directory()?)),
            SettingsOrigin::Given(_) => None,
        }
    }

    /// Where Claude keeps its conversations; none where it is not the real one.
    pub(crate) fn transcripts(&self) -> Option<TranscriptStore> {
        match &self.settings {
            SettingsOrigin::Files(files) => Some(TranscriptStore::new(&files.claude_directory()?)),
            SettingsOrigin::Given(_) => None,
        }
    }
}

/// Where settings come from.
#[derive(Debug, Clone)]
pub enum SettingsOrigin {
    /// From Claude's settings files, wherever they lie.
    Files(SettingsSurroundings),
    /// From what the backend brings along; nothing of the user's counts.
    Given(SettingsTexts),
}

/// Environment variables. Their values may be secrets, and are never shown by accident.
#[derive(Clone, Default)]
pub struct Environment(Arc<[(OsString, OsString)]>);

impl Environment {
    /// The variables.
    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.0
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

/// What decides whether permissions may be bypassed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Privileges {
    /// The effective user is root.
    pub root: bool,
    /// `IS_SANDBOX` is set and not empty.
    pub sandboxed: bool,
}

/// The agent's name and version.
#[derive(Debug, Clone)]
pub struct AgentIdentity {
    /// The machine-readable name.
    pub name: String,
    /// The name that a person reads.
    pub title: String,
    /// The version of the binary.
    pub version: String,
}

/// The command that a client runs in a terminal to log in: this binary with `--cli` and the login's arguments.
#[derive(Debug, Clone)]
pub struct LoginCommand {
    /// The program, as this process was started.
    pub program: String,
    /// This process's own arguments, to go before `--cli`.
    pub arguments: Vec<String>,
    /// Whether a browser on this machine can be expected to reach the user.
    pub browser: bool,
    /// Whether claude.ai subscriptions may be used; without, no session runs on one.
    pub subscriptions: bool,
}

impl LoginCommand {
    /// The command that logs in, for a person to type.
    pub(crate) fn typed(&self) -> String {
        let kind = if self.subscriptions { "" } else { " --console" };
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words: Vec<&str> = words.map(String::as_str).collect();
        format!("{} --cli auth login{kind}", words.join(" "))
    }
}

/// Every waiting time of a session; tests inject their own.
#[derive(Debug, Clone)]
pub struct Timings {
    /// How long an interrupted turn may go on before its process is ended.
    pub escalation: Duration,
    /// The waiting times towards one Claude process.
    pub query: QueryTimings,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            escalation: Duration::from_secs(5),
            query: QueryTimings::default(),
        }
    }
}
