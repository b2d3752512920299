//! What an engine is started with: the facts of one launch.
//!
//! Place in the flow: `backend` and `argv` make a `Setup` from the bridge's launch options; `engine` only reads it.

use std::path::Path;

use claude_sdk_bridge::launch::{LaunchOptions, McpServer, PermissionPrompts, SettingSource, Tools};
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::PermissionMode;
use serde_json::Value;

use crate::frames::Clock;

/// The facts of one launch.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The session that is played.
    pub session_id: ClaudeSessionId,
    /// The working directory.
    pub cwd: String,
    /// The permission mode to begin with.
    pub mode: PermissionMode,
    /// The model the host asks for.
    pub model: Option<String>,
    /// Whether `bypassPermissions` may be switched to.
    pub allow_bypass: bool,
    /// Whether the host takes permission questions; nobody is asked otherwise.
    pub asks: bool,
    /// Whether the host wants the stream events of a message.
    pub partial_messages: bool,
    /// Whether the host wants its own messages echoed.
    pub replay_user_messages: bool,
    /// Whether the host reads the session's state.
    pub tells_state: bool,
    /// The tools the host restricts the session to.
    pub tools: Option<Vec<String>>,
    /// The tools the host has taken out of the session.
    pub disallowed_tools: Vec<String>,
    /// The names of the MCP servers.
    pub mcp_servers: Vec<String>,
    /// Directories beside the working directory.
    pub additional_directories: Vec<String>,
    /// Rules that allow, beside those of settings.
    pub allowed_tools: Vec<String>,
    /// Which settings files count; all of them when absent.
    pub setting_sources: Option<Vec<SettingSource>>,
    /// Settings above all others.
    pub managed_settings: Option<Value>,
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
    pub fn new(session_id: impl Into<ClaudeSessionId>, cwd: impl Into<String>) -> Self {
        Self {
            session_id: session_id.into(),
            cwd: cwd.into(),
            mode: PermissionMode::Default,
            model: None,
            allow_bypass: false,
            asks: true,
            partial_messages: true,
            replay_user_messages: false,
            tells_state: true,
            tools: None,
            disallowed_tools: Vec::new(),
            mcp_servers: Vec::new(),
            additional_directories: Vec::new(),
            allowed_tools: Vec::new(),
            setting_sources: None,
            managed_settings: None,
            pid: 1,
            seed: 1,
            clock: Clock::default(),
            refusal: None,
        }
    }

    /// A session as launch options ask for it.
    #[must_use]
    pub fn of_launch(options: &LaunchOptions, session_id: impl Into<ClaudeSessionId>) -> Self {
        Self {
            mode: options.permission_mode.unwrap_or(PermissionMode::Default),
            model: options.model.clone(),
            allow_bypass: options.allow_bypass,
            asks: options.permission_prompts == PermissionPrompts::Host,
            partial_messages: options.partial_messages,
            replay_user_messages: options.replay_user_messages,
            tools: match &options.tools {
                Tools::Only(names) => Some(names.clone()),
                Tools::Preset | Tools::Unspecified => None,
            },
            // A rule with a content refuses some calls of a tool; of scripted ones the script does that itself.
            disallowed_tools: options.disallowed_tools.clone(),
            allowed_tools: options.allowed_tools.clone(),
            setting_sources: options.setting_sources.clone(),
            managed_settings: options.managed_settings.clone(),
            mcp_servers: options
                .mcp_servers
                .iter()
                .map(|server| McpServer::name(server).to_owned())
                .collect(),
            additional_directories: options
                .additional_directories
                .iter()
                .map(|path| text(path))
                .collect(),
            ..Self::new(session_id, text(&options.cwd))
        }
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

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
