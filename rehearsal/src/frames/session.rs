//! What the CLI tells about the session: the answer to `initialize` and `system/init` before every turn.
//!
//! Place in the flow: `engine::answers` and `engine::turn` send these.

use claude_sdk_bridge::messages::control::{Account, AgentInfo, InitializeResponse, ModelInfo, SlashCommand};
use claude_sdk_bridge::messages::{List, McpServerState, MessageUuid, SessionState, SystemEvent, SystemInit};
use permission_core::PermissionMode;
use serde_json::{Map, Value, json};

use super::facts::{self, COMMANDS, MODELS, SCENE_COMMAND, VERSION};
use super::object;
use super::outbox::Outbox;
use super::system;
use super::text;
use crate::script;

/// What `system/init` depends on.
pub(crate) struct InitFacts<'a> {
    pub(crate) cwd: &'a str,
    pub(crate) model: &'a str,
    pub(crate) mode: PermissionMode,
    pub(crate) tools: Option<&'a [String]>,
    pub(crate) disallowed_tools: &'a [String],
    /// Whether the host can be asked for permission.
    pub(crate) asks: bool,
    pub(crate) mcp_servers: &'a [String],
    pub(crate) additional_directories: &'a [String],
    pub(crate) commands: &'a [SlashCommand],
    pub(crate) pid: u32,
    pub(crate) prompts: &'a [MessageUuid],
}

pub(crate) fn init(out: &mut Outbox, facts: &InitFacts<'_>) {
    let init = SystemInit {
        cwd: facts.cwd.into(),
        tools: tools(facts).into(),
        mcp_servers: facts
            .mcp_servers
            .iter()
            .map(|name| server(name))
            .collect::<List<_>>()
            .into(),
        model: facts.model.into(),
        permission_mode: facts.mode.wire_id().into(),
        slash_commands: facts
            .commands
            .iter()
            .map(|command| command.name.clone())
            .collect::<List<_>>()
            .into(),
        terminal_slash_commands: List::default().into(),
        api_key_source: "none".into(),
        claude_code_version: VERSION.into(),
        output_style: "default".into(),
        agents: strings(facts::AGENTS.iter().map(|(name, _)| *name)).into(),
        skills: List::default().into(),
        plugins: List::default().into(),
        capabilities: strings(facts::INIT_CAPABILITIES.iter().copied()).into(),
        fast_mode_state: "off".into(),
        original_cwd: facts.cwd.into(),
        additional_directories: facts
            .additional_directories
            .iter()
            .cloned()
            .collect::<List<_>>()
            .into(),
        user_message_uuids: system::uuids(facts.prompts),
        extra: init_extra(facts.pid),
    };
    system::send(out, SystemEvent::Init(Box::new(init)));
}

/// The commands of the session: the script's, else the CLI's own; and the rehearsal's.
pub(crate) fn commands(scripted: Option<&[script::Command]>) -> Vec<SlashCommand> {
    let mut all: Vec<SlashCommand> = match scripted {
        Some(commands) => commands
            .iter()
            .map(|command| slash_command(&command.name, &command.description, &command.argument_hint))
            .collect(),
        None => COMMANDS
            .iter()
            .map(|(name, about, hint)| SlashCommand {
                builtin: true.into(),
                ..slash_command(name, about, hint)
            })
            .collect(),
    };
    if !all.iter().any(|command| command.name == SCENE_COMMAND) {
        all.push(slash_command(
            SCENE_COMMAND,
            text::SCENE_COMMAND_ABOUT,
            text::SCENE_COMMAND_HINT,
        ));
    }
    all
}

pub(crate) fn models() -> List<ModelInfo> {
    MODELS
        .iter()
        .map(|model| ModelInfo {
            value: model.value.to_owned(),
            resolved_model: model.resolved.into(),
            display_name: model.name.into(),
            description: model.about.into(),
            supports_effort: true.into(),
            supported_effort_levels: strings(["low", "medium", "high"].into_iter()).into(),
            supports_adaptive_thinking: true.into(),
            supports_fast_mode: false.into(),
            supports_auto_mode: true.into(),
            supports_thinking_off: false.into(),
            ..ModelInfo::default()
        })
        .collect()
}

pub(crate) fn initialize_response(
    commands: &[SlashCommand],
    mode: PermissionMode,
    state: SessionState,
    pid: u32,
) -> InitializeResponse {
    let agents = facts::AGENTS.iter().map(|(name, about)| AgentInfo {
        name: (*name).to_owned(),
        description: (*about).into(),
        ..AgentInfo::default()
    });
    let account = Account {
        token_source: "none".into(),
        api_key_source: "none".into(),
        api_provider: "firstParty".into(),
        ..Account::default()
    };
    InitializeResponse {
        commands: commands.iter().cloned().collect::<List<_>>().into(),
        agents: agents.collect::<List<_>>().into(),
        models: models().into(),
        account: account.into(),
        output_style: "default".into(),
        available_output_styles: strings(["default"].into_iter()).into(),
        current_permission_mode: mode.wire_id().into(),
        session_state: state.into(),
        pid: u64::from(pid).into(),
        claude_code_version: VERSION.into(),
        capabilities: strings(facts::INITIALIZE_CAPABILITIES.iter().copied()).into(),
        fast_mode_state: "off".into(),
        hook_on_failure_supported: true.into(),
        extra: object(json!({
            "user_output_styles_dir": "",
            "feedback_mode": { "kind": "disabled" },
            "analytics_disabled": true,
            "remote_control_auto_enable": false,
            "remote_control_auto_connect_default": false,
            "remote_control_available": false,
            "remote_control_auto_on_by_default": false,
            "ide_rc_auto_enable_gate": false,
            "fast_mode_disabled_reason": "sdk_opt_in_required",
        })),
        ..InitializeResponse::default()
    }
}

fn tools(facts: &InitFacts<'_>) -> List<String> {
    let all: Vec<&str> = match facts.tools {
        Some(tools) => tools.iter().map(String::as_str).collect(),
        None => facts::TOOLS
            .iter()
            .copied()
            .filter(|tool| facts.asks || !facts::ASKING_TOOLS.contains(tool))
            .collect(),
    };
    let is_there = |tool: &&str| !facts.disallowed_tools.iter().any(|gone| gone == tool);
    strings(all.into_iter().filter(is_there))
}

fn server(name: &str) -> McpServerState {
    McpServerState {
        name: name.to_owned(),
        status: "connected".into(),
        source: "dynamic".into(),
        extra: Map::new(),
    }
}

fn slash_command(name: &str, description: &str, argument_hint: &str) -> SlashCommand {
    SlashCommand {
        name: name.to_owned(),
        description: description.into(),
        argument_hint: argument_hint.into(),
        ..SlashCommand::default()
    }
}

fn init_extra(pid: u32) -> Map<String, Value> {
    object(json!({
        "analytics_disabled": true,
        "product_feedback_disabled": true,
        "memory_paths": { "auto": "" },
        "messaging_socket_path": format!("/tmp/cc-socks/{pid}.sock"),
        "fast_mode_disabled_reason": "sdk_opt_in_required",
        "per_turn_effort_active": true,
        "ultrathink_available": false,
        "ultrathink_typed_raises": false,
        "view_mode": "default",
    }))
}

fn strings<'a>(items: impl Iterator<Item = &'a str>) -> List<String> {
    items.map(str::to_owned).collect()
}
