//! [`LaunchOptions`]: what a session wants of the Claude it starts. The same for every backend.

use std::path::PathBuf;

use permission_core::PermissionMode;
use serde_json::Value;

use super::McpServer;
use crate::messages::{ClaudeSessionId, MessageUuid};

/// What a session wants of its Claude. [`LaunchOptions::new`] gives what an editor session usually needs; the fields
/// are plain data to be changed from there.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchOptions {
    /// Working directory; also where settings, instructions and the transcript are looked for.
    pub cwd: PathBuf,
    /// Which session.
    pub session: SessionStart,
    /// The mode to start in; `None` leaves it to the settings.
    pub permission_mode: Option<PermissionMode>,
    /// Whether `bypassPermissions` can be switched to later.
    pub allow_bypass: bool,
    /// Who answers permission questions.
    pub permission_prompts: PermissionPrompts,
    /// Model name or alias.
    pub model: Option<String>,
    /// Model to use when the first is overloaded.
    pub fallback_model: Option<String>,
    /// Effort level.
    pub effort: Option<String>,
    /// How much to think.
    pub thinking: Option<Thinking>,
    /// Agent that leads the session.
    pub agent: Option<String>,
    /// Limit of rounds in a turn.
    pub max_turns: Option<u32>,
    /// Which tools exist.
    pub tools: Tools,
    /// Permission rules that allow. A comma outside parentheses would split a rule.
    pub allowed_tools: Vec<String>,
    /// Permission rules that deny, and tools that are taken away.
    pub disallowed_tools: Vec<String>,
    /// Which settings files count; `None` leaves out the choice (all), an empty list reads none.
    pub setting_sources: Option<Vec<SettingSource>>,
    /// A settings file whose values lie above those of user, project and local settings.
    pub settings_file: Option<PathBuf>,
    /// Settings that lie above those of user, project and local settings. They may hold secrets and go through a private
    /// file, which then stands for [`LaunchOptions::settings_file`].
    pub settings: Option<Value>,
    /// Settings that nothing below them can loosen; Claude takes only what restricts.
    pub managed_settings: Option<Value>,
    /// MCP servers of the client. They hold secrets and never stand in argv.
    pub mcp_servers: Vec<McpServer>,
    /// Whether the MCP servers of settings are left out.
    pub strict_mcp_config: bool,
    /// Directories beside `cwd` that Claude may work in.
    pub additional_directories: Vec<PathBuf>,
    /// Whether text arrives in pieces.
    pub partial_messages: bool,
    /// Whether every hook that runs is reported.
    pub hook_events: bool,
    /// Whether accepted user messages are echoed.
    pub replay_user_messages: bool,
    /// Whether the transcript is written.
    pub persist_session: bool,
    /// Where Claude writes its debug log.
    pub debug_file: Option<PathBuf>,
    /// Environment variables to set beside the inherited ones.
    pub env: Vec<(String, String)>,
    /// Other flags without their dashes, with or without a value.
    pub extra_args: Vec<(String, Option<String>)>,
}

impl LaunchOptions {
    /// What an editor session usually needs: permission questions come to us, text in pieces, all settings files.
    pub fn new(cwd: impl Into<PathBuf>, session: SessionStart) -> Self {
        LaunchOptions {
            cwd: cwd.into(),
            session,
            permission_mode: None,
            allow_bypass: false,
            permission_prompts: PermissionPrompts::Host,
            model: None,
            fallback_model: None,
            effort: None,
            thinking: None,
            agent: None,
            max_turns: None,
            tools: Tools::Preset,
            allowed_tools: Vec::new(),
            disallowed_tools: Vec::new(),
            setting_sources: Some(SettingSource::ALL.to_vec()),
            settings_file: None,
            settings: None,
            managed_settings: None,
            mcp_servers: Vec::new(),
            strict_mcp_config: false,
            additional_directories: Vec::new(),
            partial_messages: true,
            hook_events: false,
            replay_user_messages: false,
            persist_session: true,
            debug_file: None,
            env: Vec::new(),
            extra_args: Vec::new(),
        }
    }
}

/// Which session a Claude is started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionStart {
    /// A new session under an id (a UUID) that was never used.
    New {
        /// Its id.
        id: ClaudeSessionId,
    },
    /// A session that exists, found by `cwd`. Its history is not repeated.
    Resume {
        /// Its id.
        id: ClaudeSessionId,
        /// Forget everything after this transcript entry.
        at: Option<MessageUuid>,
    },
    /// A new session with the history of another.
    Fork {
        /// The session with the history.
        from: ClaudeSessionId,
        /// The new session's id; `None` lets Claude choose.
        id: Option<ClaudeSessionId>,
        /// Leave out everything after this transcript entry.
        at: Option<MessageUuid>,
    },
    /// A new session whose id Claude chooses.
    Unnamed,
}

/// Who answers when Claude would ask for permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionPrompts {
    /// We, over the control protocol.
    Host,
    /// A tool of an MCP server, by its full name.
    Tool(String),
    /// Nobody: what would be asked is denied.
    Nobody,
}

/// How much to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// As much as the model sees fit.
    Adaptive,
    /// Not at all.
    Disabled,
    /// Up to this many tokens.
    Budget {
        /// The limit.
        tokens: u32,
    },
}

/// Which tools exist for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Claude Code's own set.
    Preset,
    /// Exactly these built-in ones.
    Only(Vec<String>),
    /// Whatever the CLI does when not told.
    Unspecified,
}

/// A settings file by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSource {
    /// The user's own.
    User,
    /// The project's, shared.
    Project,
    /// The project's, private.
    Local,
}

impl SettingSource {
    /// All of them, weakest first.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    /// The source of a name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}
