//! The keys of `_meta.claudeCode.options`: which there are, what each may be, and what it does to the session.
//!
//! Place in the flow: `apply` looks each key up here. A key that is not in the table is refused by name: a wish that nobody
//! heeds is worse than none. Must not know what an operator's policy says beyond which keys it leaves to clients.

use std::path::{Path, PathBuf};

use claude_sdk_bridge::launch::{SettingSource, Thinking, Tools, is_reserved};
use claude_sdk_bridge::messages::control::AgentDefinition;
use claude_sdk_bridge::messages::{FromWire, Table};
use claude_sdk_bridge::settings::read_file;
use permission_core::PermissionMode;
use serde_json::{Map, Value};

use super::Wanted;
use crate::system_prompt;

/// One key.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Whether clients may use it under a policy, because it only narrows or shows.
    pub(super) under_policy: bool,
    /// What the value must be.
    pub(super) expected: &'static str,
    /// Applies a value; `None` when it is of another shape.
    pub(super) apply: fn(&Value, &mut Wanted) -> Option<()>,
}

/// The key that can only be used to decline.
pub(super) const BYPASS: &str = "allowDangerouslySkipPermissions";

pub(super) const DIRECTORIES: &str = "a list of absolute paths";

const TEXT: &str = "a string that is not blank";
const TEXTS: &str = "a list of strings that are not blank";
const COUNT: &str = "a whole number above 0";
const FLAG: &str = "`true` or `false`";

macro_rules! keys {
    ($($name:literal, $policy:literal, $expected:expr, $apply:expr;)+) => {
        &[$(Key { name: $name, under_policy: $policy, expected: $expected, apply: $apply },)+]
    };
}

/// All keys.
pub(super) const KEYS: &[Key] = keys![
    "model", true, TEXT, |value, wanted| {
        wanted.options.model = Some(text(value)?);
        Some(())
    };
    "fallbackModel", false, TEXT, |value, wanted| {
        wanted.options.fallback_model = Some(text(value)?);
        Some(())
    };
    "effort", true, TEXT, |value, wanted| {
        wanted.options.effort = Some(text(value)?);
        Some(())
    };
    "agent", true, TEXT, |value, wanted| {
        wanted.options.agent = Some(text(value)?);
        Some(())
    };
    "maxTurns", true, COUNT, |value, wanted| {
        wanted.options.max_turns = Some(count(value)?);
        Some(())
    };
    "maxThinkingTokens", false, "a whole number", |value, wanted| {
        wanted.options.thinking = Some(budget(value)?);
        Some(())
    };
    "thinking", false, THINKING, |value, wanted| {
        wanted.options.thinking = Some(thinking(value)?);
        Some(())
    };
    "maxBudgetUsd", false, "a number above 0", |value, wanted| {
        let budget = value.as_f64().filter(|budget| *budget > 0.0)?;
        wanted.extra("max-budget-usd", budget.to_string());
        Some(())
    };
    "betas", false, TEXTS, |value, wanted| {
        wanted.extra("betas", texts(value)?.join(","));
        Some(())
    };
    "tools", true, TOOLS, |value, wanted| {
        wanted.options.tools = tools(value)?;
        Some(())
    };
    "allowedTools", false, TEXTS, |value, wanted| {
        wanted.options.allowed_tools.extend(texts(value)?);
        Some(())
    };
    "disallowedTools", true, TEXTS, |value, wanted| {
        wanted.options.disallowed_tools.extend(texts(value)?);
        Some(())
    };
    "additionalDirectories", true, DIRECTORIES, |value, wanted| {
        wanted.options.additional_directories.extend(directories(value)?);
        Some(())
    };
    "permissionMode", false, MODE, |value, wanted| {
        wanted.options.permission_mode = Some(PermissionMode::from_wire_id(value.as_str()?)?);
        Some(())
    };
    "allowDangerouslySkipPermissions", true, FLAG, |value, wanted| {
        wanted.bypass_declined = !value.as_bool()?;
        Some(())
    };
    "settingSources", false, "a list of `user`, `project` and `local`", |value, wanted| {
        let names = value.as_array()?.iter();
        let sources: Option<_> = names.map(|name| SettingSource::from_name(name.as_str()?)).collect();
        wanted.options.setting_sources = Some(sources?);
        Some(())
    };
    "settings", false, SETTINGS, |value, wanted| {
        let settings = settings(value, wanted)?;
        wanted.options.settings = Some(Value::Object(settings));
        Some(())
    };
    "env", false, ENV, |value, wanted| {
        wanted.options.env.extend(variables(value)?);
        Some(())
    };
    "mcpServers", false, SERVERS, |value, wanted| {
        wanted.servers.extend(value.as_object()?.clone());
        Some(())
    };
    "strictMcpConfig", false, FLAG, |value, wanted| {
        wanted.options.strict_mcp_config = value.as_bool()?;
        Some(())
    };
    "plugins", false, PLUGINS, |value, wanted| {
        for path in plugins(value)? {
            wanted.extra("plugin-dir", path);
        }
        Some(())
    };
    "agents", false, AGENTS, |value, wanted| {
        wanted.greeting.agents = agents(value)?.into();
        Some(())
    };
    "systemPrompt", true, system_prompt::EXPECTED, |value, wanted| {
        system_prompt::apply(value, &mut wanted.greeting)
    };
    // What only says how Claude's work is shown: what is built of it is always on.
    "includePartialMessages", true, FLAG, |value, _| value.as_bool().map(drop);
    "forwardSubagentText", true, FLAG, |value, _| value.as_bool().map(drop);
    "agentProgressSummaries", true, FLAG, |value, _| value.as_bool().map(drop);
    "promptSuggestions", true, FLAG, |value, _| value.as_bool().map(drop);
];

/// What to do instead of a key that cannot be heeded.
pub(super) fn instead(key: &str) -> &'static str {
    match key {
        "cwd" => "give it as the session's own `cwd`",
        "hooks" => "put hooks that are commands into `settings`",
        "sandbox" => "put it into `settings`",
        _ => "leave it out",
    }
}

const THINKING: &str = "`{\"type\": \"adaptive\"}`, `{\"type\": \"disabled\"}` or `{\"type\": \"enabled\", \"budgetTokens\": 1024}`";
const TOOLS: &str = "a list of tool names, or `{\"type\": \"preset\", \"preset\": \"claude_code\"}`";
const MODE: &str = "`default`, `acceptEdits`, `plan`, `auto`, `bypassPermissions` or `dontAsk`";
const SETTINGS: &str = "an object in the shape of Claude's settings, whose `env` is one as well, or the path of a file that holds it";
const ENV: &str = "an object of strings, without `HOME`, `CLAUDE_CONFIG_DIR` and the variables by which the agent drives Claude";
const SERVERS: &str = "an object of stdio, `http` and `sse` servers by their names";
const PLUGINS: &str =
    "a list of `{\"type\": \"local\", \"path\": \"/absolute\"}`, each of a folder that is there";
const AGENTS: &str = "an object of agents by their names, each with a `description` and a `prompt`";

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

fn count(value: &Value) -> Option<u32> {
    whole(value).filter(|count| *count > 0)
}

fn whole(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

pub(super) fn directories(value: &Value) -> Option<Vec<PathBuf>> {
    let directories: Vec<PathBuf> = texts(value)?.into_iter().map(PathBuf::from).collect();
    let absolute = directories.iter().all(|directory| directory.is_absolute());
    absolute.then_some(directories)
}

fn tools(value: &Value) -> Option<Tools> {
    if value.get("type").and_then(Value::as_str) == Some("preset") {
        return Some(Tools::Preset);
    }
    texts(value).map(Tools::Only)
}

fn thinking(value: &Value) -> Option<Thinking> {
    match value.get("type")?.as_str()? {
        "adaptive" => Some(Thinking::Adaptive),
        "disabled" => Some(Thinking::Disabled),
        "enabled" => match value.get("budgetTokens") {
            Some(tokens) => budget(tokens),
            None => Some(Thinking::Adaptive),
        },
        _ => None,
    }
}

fn budget(value: &Value) -> Option<Thinking> {
    whole(value).map(|tokens| Thinking::Budget { tokens })
}

/// Settings as such, or those of a file. A path is taken from the session's directory.
fn settings(value: &Value, wanted: &Wanted) -> Option<Map<String, Value>> {
    let read: Value;
    let settings = match value {
        Value::String(text) if text.trim_start().starts_with('{') => {
            read = serde_json::from_str(text).ok()?;
            &read
        }
        Value::String(path) => {
            let text = read_file(&wanted.options.cwd.join(path)).ok()??;
            read = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text)).ok()?;
            &read
        }
        other => other,
    };
    let settings = settings.as_object()?;
    // Ours are added to them.
    let fits = settings.get("env").is_none_or(Value::is_object);
    fits.then(|| settings.clone())
}

/// Variables for Claude. Those by which we drive it, and those that say where its settings are, are not a client's.
fn variables(value: &Value) -> Option<Vec<(String, String)>> {
    let entries = value.as_object()?.iter();
    let variable = |(name, value): (&String, &Value)| {
        let ours = is_reserved(name.as_ref()) || ["HOME", "CLAUDE_CONFIG_DIR"].contains(&name.as_str());
        let sound = !ours && !name.is_empty() && !name.contains(['=', '\0']);
        let value = value.as_str().filter(|value| sound && !value.contains('\0'))?;
        Some((name.clone(), value.to_owned()))
    };
    entries.map(variable).collect()
}

fn plugins(value: &Value) -> Option<Vec<String>> {
    let plugin = |plugin: &Value| {
        let path = text(plugin.get("path")?)?;
        let folder = Path::new(&path);
        let local = plugin.get("type")?.as_str()? == "local" && folder.is_absolute() && folder.is_dir();
        local.then_some(path)
    };
    value.as_array()?.iter().map(plugin).collect()
}

/// The agents as `initialize` takes them.
fn agents(value: &Value) -> Option<Table<AgentDefinition>> {
    let described = |agent: &Value| {
        let texts = ["description", "prompt"].map(|field| agent.get(field).and_then(text));
        texts.iter().all(Option::is_some)
    };
    let sound = value.as_object()?.values().all(described);
    sound.then(|| FromWire::from_wire(value.clone()).ok())?
}
