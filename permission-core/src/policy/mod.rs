//! What an operator decides for all sessions of an agent.
//!
//! Place in the flow: the host makes it from the policy file, once; the machine of every session shares it. Nothing that a
//! project, the client or the model says changes it. Reading order: `file` with `rule_text`, `tool_names` and `examples`
//! (reading one), `protected` and `confine` (what comes with one); `wording` says what is wrong.

mod confine;
mod examples;
mod file;
mod protected;
mod rule_text;
mod tool_names;
mod wording;

use serde_json::{Map, Value, json};

pub(crate) use confine::Confined;
pub use examples::{Becomes, Example};
pub use file::PolicyMistake;
pub(crate) use protected::Protected;

use crate::decide::hooks::Hooks;
use crate::modes::PermissionMode;
use crate::rules::{RuleKind, RuleSet};
use crate::settings::SettingsFile;

/// An operator's policy.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Its rules.
    pub rules: RuleSet,
    /// Its hooks.
    pub hooks: Hooks,
    /// Working directories that it adds, absolute or below `~/`, as they are written.
    pub additional_directories: Vec<String>,
    /// `permissions.defaultMode`: the mode that sessions start in.
    pub default_mode: Option<PermissionMode>,
    /// `permissions.disableBypassPermissionsMode`.
    pub bypass_disabled: bool,
    /// `permissions.denialThreshold`; 0 for never.
    pub denial_threshold: u32,
    /// `permissions.headless`: nobody is asked, what would be asked is denied.
    pub headless: bool,
    /// `permissions.confine`: files outside the working directories are out of reach.
    pub confine: bool,
    /// `permissions.autoAllow`: an allow rule takes Claude's own question away.
    pub auto_allow: bool,
    /// `permissions.clientMcpServers`: a client may bring MCP servers.
    pub client_mcp_servers: bool,
    /// The same file as Claude's settings have it: what it says about rules and modes lies above all other settings.
    pub settings: Option<SettingsFile>,
    /// Calls, and what is to become of each.
    pub examples: Vec<Example>,
    /// Files that must not be changed besides Claude's settings: the policy itself, absolute.
    pub protected: Vec<String>,
}

impl Policy {
    /// The working directories that it adds, absolute. Those below `~/` need a home directory.
    pub fn directories(&self, home: Option<&str>) -> impl Iterator<Item = String> {
        self.additional_directories
            .iter()
            .filter_map(move |directory| match directory.strip_prefix("~/") {
                Some(rest) => Some(format!("{}/{rest}", home?)),
                None => Some(directory.clone()),
            })
    }

    /// What the CLI gets as managed settings, for what a hook callback does not see: mentions of files, hooks that others
    /// add.
    pub fn managed_settings(&self) -> Value {
        let texts = |kind| -> Vec<&str> {
            let rules = self.rules.iter().filter(|rule| rule.kind() == kind);
            rules.map(|rule| rule.text()).collect()
        };
        let mut permissions = json!({ "deny": texts(RuleKind::Deny), "ask": texts(RuleKind::Ask) });
        let mut add = |key: &str, value: Value| {
            if let Some(permissions) = permissions.as_object_mut() {
                permissions.insert(key.to_owned(), value);
            }
        };
        if self.bypass_disabled {
            add("disableBypassPermissionsMode", json!("disable"));
        }
        if self.confine {
            add("blockReadsOutsideWorkingDirectories", json!(true));
        }
        json!({
            "permissions": permissions,
            "allowManagedHooksOnly": true,
        })
    }

    /// The same again for settings that lie above the user's and the project's: Claude looks at no managed settings of
    /// ours on a machine that has a file of its own for them. The callbacks of the host's stay.
    pub fn flag_settings(&self) -> Map<String, Value> {
        let mut settings = match self.managed_settings() {
            Value::Object(settings) => settings,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        settings.remove("allowManagedHooksOnly");
        settings.insert("disableAllHooks".to_owned(), json!(true));
        settings
    }
}
