//! What the CLI tells about the session: the answer to `initialize` and `system/init` before every turn.
//!
//! Place in the flow: `engine::answers` and `engine::turn` send these.

use claude_sdk_bridge::messages::{MessageUuid, SessionState};
use permission_core::PermissionMode;
use serde_json::{Value, json};

use super::outbox::Outbox;
use super::recorded::{RECORDED, with};
use super::system::add_prompts;
use super::text;
use crate::script;

/// The CLI version that is played.
pub(crate) const VERSION: &str = "2.1.318";

/// What a session that names no model has.
pub(crate) const DEFAULT_MODEL: &str = "default";

/// The command that picks a scene; the rehearsal's own.
pub(crate) const SCENE_COMMAND: &str = "rehearse";

/// Tools that are absent when nobody can be asked.
const ASKING_TOOLS: [&str; 3] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

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
    pub(crate) additional_directories: &'a [&'a str],
    pub(crate) commands: &'a [Value],
    pub(crate) pid: u32,
    pub(crate) prompts: &'a [MessageUuid],
}

pub(crate) fn init(out: &mut Outbox, facts: &InitFacts<'_>) {
    let servers = facts.mcp_servers.iter();
    let servers = servers.map(|name| json!({ "name": name, "status": "connected", "source": "dynamic" }));
    let commands = facts.commands.iter().map(|command| &command["name"]);
    let mut init = json!({
        "cwd": facts.cwd, "original_cwd": facts.cwd, "tools": tools(facts), "mcp_servers": servers.collect::<Vec<_>>(),
        "model": facts.model, "permissionMode": facts.mode.wire_id(), "slash_commands": commands.collect::<Vec<_>>(),
        "claude_code_version": VERSION, "additional_directories": facts.additional_directories,
        "messaging_socket_path": format!("/tmp/cc-socks/{}.sock", facts.pid),
    });
    add_prompts(&mut init, facts.prompts);
    out.send_recorded(&RECORDED.init, init);
}

/// The commands of the session: the script's, else the CLI's own; and the rehearsal's.
pub(crate) fn commands(scripted: Option<&[script::Command]>) -> Vec<Value> {
    let command = |name: &str, description: &str, argument_hint: &str| json!({ "name": name, "description": description, "argumentHint": argument_hint });
    let mut all: Vec<Value> = match scripted {
        Some(commands) => commands
            .iter()
            .map(|it| command(&it.name, &it.description, &it.argument_hint))
            .collect(),
        None => listed(&RECORDED.initialize, "commands").to_vec(),
    };
    if !all.iter().any(|command| command["name"] == SCENE_COMMAND) {
        all.push(command(
            SCENE_COMMAND,
            text::SCENE_COMMAND_ABOUT,
            text::SCENE_COMMAND_HINT,
        ));
    }
    all
}

pub(crate) fn models() -> &'static [Value] {
    listed(&RECORDED.initialize, "models")
}

/// The id a model alias stands for; every other name stands for itself.
pub(crate) fn resolve_model(name: &str) -> &str {
    let model = models().iter().find(|model| model["value"] == name);
    model
        .and_then(|model| model["resolvedModel"].as_str())
        .unwrap_or(name)
}

pub(crate) fn initialize_response(
    commands: &[Value],
    mode: PermissionMode,
    state: SessionState,
    pid: u32,
) -> Value {
    let facts = json!({
        "commands": commands, "current_permission_mode": mode.wire_id(), "session_state": state, "pid": pid,
        "claude_code_version": VERSION,
    });
    with(&RECORDED.initialize, facts)
}

fn tools(facts: &InitFacts<'_>) -> Vec<String> {
    let all = match facts.tools {
        Some(tools) => tools.to_vec(),
        None => {
            let recorded = listed(&RECORDED.init, "tools").iter();
            let names = recorded.filter_map(Value::as_str);
            let names = names.filter(|tool| facts.asks || !ASKING_TOOLS.contains(tool));
            names.map(str::to_owned).collect()
        }
    };
    let is_there = |tool: &String| !facts.disallowed_tools.contains(tool);
    all.into_iter().filter(is_there).collect()
}

/// A list of a recorded value.
fn listed(recorded: &'static Value, key: &str) -> &'static [Value] {
    let list = recorded.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}
