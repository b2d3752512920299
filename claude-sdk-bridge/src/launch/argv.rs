//! Launch options to command-line arguments, in the order in which the official SDK gives them.
//!
//! Every value is joined to its flag by `=`: a value of its own that began with a dash would be taken for a flag.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{LaunchOptions, PermissionPrompts, SessionStart, SettingSource, Thinking, Tools};

/// The arguments for `options`, without the program. `mcp_config` is the file that holds `options.mcp_servers`.
pub fn argv(options: &LaunchOptions, mcp_config: Option<&Path>) -> Vec<OsString> {
    let mut args = Args(
        [
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
        ]
        .map(OsString::from)
        .to_vec(),
    );
    model(&mut args, options);
    permission_prompts(&mut args, options);
    if let SessionStart::Resume { id, .. } | SessionStart::Fork { from: id, .. } = &options.session {
        args.value("resume", id.as_str());
    }
    tools(&mut args, options);
    args.optional("mcp-config", mcp_config);
    if let Some(sources) = &options.setting_sources {
        args.list(
            "setting-sources",
            sources.iter().map(|source| SettingSource::name(*source)),
        );
    }
    args.flag("strict-mcp-config", options.strict_mcp_config);
    args.optional(
        "permission-mode",
        options.permission_mode.map(|mode| mode.wire_id()),
    );
    args.flag("allow-dangerously-skip-permissions", options.allow_bypass);
    args.optional("fallback-model", options.fallback_model.as_deref());
    args.flag("include-hook-events", options.hook_events);
    args.flag("include-partial-messages", options.partial_messages);
    for directory in &options.additional_directories {
        args.value("add-dir", directory);
    }
    session(&mut args, &options.session);
    args.flag("no-session-persistence", !options.persist_session);
    args.flag("replay-user-messages", options.replay_user_messages);
    for (name, value) in &options.extra_args {
        match value {
            Some(value) => args.value(name, value),
            None => args.flag(name, true),
        }
    }
    args.optional("settings", options.settings_file.as_deref());
    args.optional(
        "managed-settings",
        options.managed_settings.as_ref().map(ToString::to_string),
    );
    args.0
}

fn model(args: &mut Args, options: &LaunchOptions) {
    match options.thinking {
        Some(Thinking::Adaptive) => args.value("thinking", "adaptive"),
        Some(Thinking::Disabled) => args.value("thinking", "disabled"),
        Some(Thinking::Budget { tokens }) => args.value("max-thinking-tokens", tokens.to_string()),
        None => {}
    }
    args.optional("effort", options.effort.as_deref());
    args.optional("max-turns", options.max_turns.map(|turns| turns.to_string()));
    args.optional("model", options.model.as_deref());
    args.optional("agent", options.agent.as_deref());
    args.optional("debug-file", options.debug_file.as_deref());
}

fn permission_prompts(args: &mut Args, options: &LaunchOptions) {
    match &options.permission_prompts {
        PermissionPrompts::Host => args.value("permission-prompt-tool", "stdio"),
        PermissionPrompts::Tool(name) => args.value("permission-prompt-tool", name),
        PermissionPrompts::Nobody => args.value("permission-prompts", "none"),
    }
}

fn tools(args: &mut Args, options: &LaunchOptions) {
    for (flag, rules) in [
        ("allowedTools", &options.allowed_tools),
        ("disallowedTools", &options.disallowed_tools),
    ] {
        if !rules.is_empty() {
            args.list(flag, rules.iter().map(String::as_str));
        }
    }
    match &options.tools {
        Tools::Preset => args.value("tools", "default"),
        Tools::Only(names) => args.list("tools", names.iter().map(String::as_str)),
        Tools::Unspecified => {}
    }
}

fn session(args: &mut Args, session: &SessionStart) {
    match session {
        SessionStart::New { id } => args.value("session-id", id.as_str()),
        SessionStart::Resume { id: _, at } => {
            args.optional("resume-session-at", at.as_ref().map(|at| at.as_str()));
        }
        SessionStart::Fork { from: _, id, at } => {
            args.flag("fork-session", true);
            args.optional("resume-session-at", at.as_ref().map(|at| at.as_str()));
            args.optional("session-id", id.as_ref().map(|id| id.as_str()));
        }
        SessionStart::Unnamed => {}
    }
}

struct Args(Vec<OsString>);

impl Args {
    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.0.push(format!("--{name}").into());
        }
    }

    fn value(&mut self, name: &str, value: impl AsRef<OsStr>) {
        let mut arg = OsString::from(format!("--{name}="));
        arg.push(value);
        self.0.push(arg);
    }

    fn optional(&mut self, name: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    fn list<'a>(&mut self, name: &str, items: impl Iterator<Item = &'a str>) {
        self.value(name, items.collect::<Vec<_>>().join(","));
    }
}
