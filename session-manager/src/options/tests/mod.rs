//! The options as a whole: what is offered, what a choice asks for, what Claude's own changes come to.

mod lists;
mod observed;
mod properties;
mod relaunch;

use acp_proto::schema::{SessionConfigKind, SessionConfigOption, SessionConfigOptionValue};
use claude_sdk_bridge::messages::control::InitializeResponse;
use permission_core::PermissionMode;
use serde_json::{Value, json};

use super::*;

/// What all tests know: models that differ in everything that matters, and two custom agents.
pub(super) fn info() -> InitializeResponse {
    let all = json!(["low", "medium", "high", "xhigh", "max"]);
    let model = |value: &str, resolved: &str, name: &str, extra: Value| {
        let mut model = json!({
            "value": value, "resolvedModel": resolved, "displayName": name,
            "description": format!("About {name}"), "supportsAutoMode": true,
        });
        let fields = model.as_object_mut().unwrap();
        fields.extend(extra.as_object().unwrap().clone());
        model
    };
    let full = json!({"supportsEffort": true, "supportedEffortLevels": all, "supportsFastMode": true});
    let no_fast = json!({"supportsEffort": true, "supportedEffortLevels": all});
    let few = json!({"supportsEffort": true, "supportedEffortLevels": ["low", "high"]});
    let none = json!({"supportsAutoMode": false});
    from(json!({
        "models": [
            model("default", "claude-opus-5-5", "Default (recommended)", full.clone()),
            model("opus", "claude-opus-5-5", "Opus", full),
            model("fable", "claude-fable-5-1", "Fable", no_fast.clone()),
            model("sonnet", "claude-sonnet-5-5", "Sonnet", few.clone()),
            model("sonnet[1m]", "claude-sonnet-5-5[1m]", "Sonnet (1M context)", few),
            model("haiku", "claude-haiku-4-5", "Haiku", none),
            model("gw-x", "gw-x", "GW X", no_fast),
        ],
        "agents": [
            {"name": "claude", "description": "Catch-all"},
            {"name": "Explore", "description": "Finds"},
            {"name": "rev", "description": "Reviews"},
            {"name": "statusline-setup"},
            {"name": "kit:doc", "description": "Documents"},
        ],
        "fast_mode_state": "off",
    }))
}

pub(super) fn from(response: Value) -> InitializeResponse {
    serde_json::from_value(response).unwrap()
}

/// The options of a session whose `get_settings` answered `settings`.
fn options(settings: Value) -> Options {
    Options::new(&info(), SettingsFacts::read(&settings), Switches::AsSelect)
}

/// The modes of a session in its usual state.
fn modes() -> Modes<'static> {
    Modes {
        current: PermissionMode::Default,
        offered: &[
            PermissionMode::Default,
            PermissionMode::AcceptEdits,
            PermissionMode::Plan,
        ],
    }
}

/// The value of an option, `None` when the session does not have it.
fn value(options: &Options, id: &str) -> Option<String> {
    let list = options.list(modes());
    let option = list.iter().find(|option| &*option.id.0 == id)?;
    Some(match &option.kind {
        SessionConfigKind::Select(select) => select.current_value.0.to_string(),
        SessionConfigKind::Boolean(boolean) => boolean.current_value.to_string(),
        _ => panic!("an unknown kind"),
    })
}

/// The values that can be chosen.
fn choices(option: &SessionConfigOption) -> Vec<String> {
    let option = serde_json::to_value(option).unwrap();
    let choices = option.get("options").and_then(Value::as_array);
    choices
        .into_iter()
        .flatten()
        .map(|choice| choice["value"].as_str().unwrap().to_owned())
        .collect()
}

/// Chooses, and has Claude take everything.
fn choose(options: &mut Options, id: &str, value: &str) {
    let change = options
        .change(id, &SessionConfigOptionValue::from(value), modes())
        .unwrap();
    options.applied(&change.request);
    if let Some(then) = &change.then {
        options.applied(then);
    }
}
