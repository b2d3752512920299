//! What an engine is started with: the facts of one launch.
//!
//! Place in the flow: `backend` and `argv` make a `Setup` of the bridge's launch options; `engine` only reads it.

use claude_sdk_bridge::launch::{LaunchOptions, PermissionPrompts, SessionStart, Tools};
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::PermissionMode;

use crate::frames::Clock;

/// The facts of one launch.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The session that is played.
    pub session_id: ClaudeSessionId,
    /// What the host asks for.
    pub options: LaunchOptions,
    /// The permission mode to begin with.
    pub mode: PermissionMode,
    /// Whether the host reads the session's state.
    pub tells_state: bool,
    /// What is shown as the process id.
    pub pid: u32,
    /// What ids of frames are made from.
    pub seed: u64,
    /// The time of day at the start.
    pub clock: Clock,
    /// Why the session cannot start at all.
    pub refusal: Option<Refusal>,
}

impl Setup {
    /// A plain session, the way a host of ours starts one.
    #[must_use]
    pub fn new(session_id: impl Into<ClaudeSessionId>, cwd: &str) -> Self {
        let id = session_id.into();
        let options = LaunchOptions {
            permission_prompts: PermissionPrompts::Host,
            partial_messages: true,
            ..LaunchOptions::new(cwd, SessionStart::New { id: id.clone() })
        };
        Self::of_launch(options, id)
    }

    /// A session as launch options ask for it.
    #[must_use]
    pub fn of_launch(options: LaunchOptions, session_id: impl Into<ClaudeSessionId>) -> Self {
        Self {
            session_id: session_id.into(),
            mode: options.permission_mode.unwrap_or(PermissionMode::Default),
            options,
            tells_state: true,
            pid: 1,
            seed: 1,
            clock: Clock::default(),
            refusal: None,
        }
    }

    /// The working directory.
    pub(crate) fn cwd(&self) -> &str {
        self.options.cwd.to_str().unwrap_or_default()
    }

    /// Directories beside the working directory.
    pub(crate) fn additional_directories(&self) -> Vec<&str> {
        let directories = self.options.additional_directories.iter();
        directories.filter_map(|directory| directory.to_str()).collect()
    }

    /// Whether the host takes permission questions; nobody is asked otherwise.
    pub(crate) fn asks(&self) -> bool {
        self.options.permission_prompts == PermissionPrompts::Host
    }

    /// Whether `bypassPermissions` may be switched to.
    pub(crate) fn allows_bypass(&self) -> bool {
        self.options.allow_bypass || self.mode == PermissionMode::BypassPermissions
    }

    /// The tools the host restricts the session to.
    pub(crate) fn tools(&self) -> Option<&[String]> {
        match &self.options.tools {
            Tools::Only(names) => Some(names),
            Tools::Preset | Tools::Unspecified => None,
        }
    }

    /// The names of the MCP servers.
    pub(crate) fn mcp_servers(&self) -> Vec<String> {
        let servers = self.options.mcp_servers.iter();
        servers.map(|server| server.name().to_owned()).collect()
    }
}

/// Why a session cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is to be resumed and does not exist.
    NoConversation,
    /// It is to be created and exists.
    SessionInUse,
}
