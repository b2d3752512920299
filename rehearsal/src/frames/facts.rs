//! Constants of the session that the rehearsal pretends to be: version, models, tools, commands.
//!
//! Place in the flow: used by `session` for the initialize response and `system/init`. Data only.

/// The CLI version that is played.
pub(crate) const VERSION: &str = "2.1.318";

/// The model of a session that names none.
pub(crate) const DEFAULT_MODEL: &str = "claude-opus-5-5";

pub(crate) struct ModelFact {
    pub(crate) value: &'static str,
    pub(crate) resolved: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

pub(crate) const MODELS: &[ModelFact] = &[
    ModelFact {
        value: "default",
        resolved: DEFAULT_MODEL,
        name: "Default (recommended)",
        about: "The session's own model",
    },
    ModelFact {
        value: "opus",
        resolved: DEFAULT_MODEL,
        name: "Opus",
        about: "For hard problems",
    },
    ModelFact {
        value: "sonnet",
        resolved: "claude-sonnet-5-5",
        name: "Sonnet",
        about: "For everyday work",
    },
    ModelFact {
        value: "haiku",
        resolved: "claude-haiku-5-5",
        name: "Haiku",
        about: "For quick answers",
    },
];

/// Name, description and argument hint of each slash command.
pub(crate) const COMMANDS: &[(&str, &str, &str)] = &[
    ("clear", "Start a new conversation", ""),
    ("compact", "Summarise the conversation so far", "[what to keep]"),
    ("context", "Show how full the context is", ""),
    ("init", "Write a CLAUDE.md for this project", ""),
    ("model", "Choose the model", "[model]"),
    ("usage", "Show what was used", ""),
];

/// The command that picks a scene; the rehearsal's own.
pub(crate) const SCENE_COMMAND: &str = "rehearse";

pub(crate) const AGENTS: &[(&str, &str)] = &[
    ("general-purpose", "For tasks of several steps"),
    ("Explore", "For finding one's way in a codebase"),
    ("Plan", "For planning before writing"),
];

pub(crate) const TOOLS: &[&str] = &[
    "Task",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "NotebookEdit",
    "Read",
    "Skill",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// Tools that are absent when nobody can be asked.
pub(crate) const ASKING_TOOLS: &[&str] = &["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

pub(crate) const INIT_CAPABILITIES: &[&str] = &[
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "request_marker_lists_v1",
];

pub(crate) const INITIALIZE_CAPABILITIES: &[&str] = &["ui_surface_v1"];

/// The id a model alias stands for; every other name stands for itself.
pub(crate) fn resolve_model(name: &str) -> &str {
    MODELS
        .iter()
        .find(|model| model.value == name)
        .map_or(name, |model| model.resolved)
}

/// The name of a tool for people: the last part of an MCP tool's name, with a capital; else the name.
pub(crate) fn display_name(tool: &str) -> String {
    let Some((_, last)) = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return tool.to_owned();
    };
    let mut letters = last.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
