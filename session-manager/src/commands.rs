//! Claude's slash commands as ACP's available commands. Left out is what cannot work or means nothing here: the
//! login, what only draws in Claude's own terminal, and names that no client can type.

use acp_proto::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionUpdate, UnstructuredCommandInput,
};
use claude_sdk_bridge::messages::control::SlashCommand;
use claude_sdk_bridge::messages::{Field, List};

/// Commands of Claude's own surface, and those that it can only run in its own terminal.
const NOT_HERE: &[&str] = &[
    "clear",
    "color",
    "cost",
    "doctor",
    "focus",
    "keybindings-help",
    "login",
    "logout",
    "output-style:new",
    "release-notes",
    "reload-plugins",
    "todos",
];

/// The suffix of prompts that come from MCP servers.
const MCP_SUFFIX: &str = " (MCP)";

/// The list of commands, from Claude's initialize response or from its later change.
pub(crate) fn update(commands: &Field<List<SlashCommand>>) -> SessionUpdate {
    let mut available: Vec<AvailableCommand> = Vec::new();
    for command in commands
        .known()
        .filter(|command| !NOT_HERE.contains(&command.name.as_str()))
    {
        let Some(name) = typed_name(&command.name) else {
            continue;
        };
        if !available.iter().any(|known| known.name == name) {
            available.push(shown(command, name));
        }
    }
    SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(available))
}

/// What a user types; `None` for names that are internal or cannot be typed as one word.
fn typed_name(name: &str) -> Option<String> {
    let typed = match name.strip_suffix(MCP_SUFFIX) {
        Some(prompt) => format!("mcp:{prompt}"),
        None => name.to_owned(),
    };
    let usable = !name.is_empty() && !name.starts_with("__") && !typed.contains(char::is_whitespace);
    usable.then_some(typed)
}

fn shown(command: &SlashCommand, name: String) -> AvailableCommand {
    let hint = command
        .argument_hint
        .as_str()
        .filter(|hint| !hint.trim().is_empty());
    let input = hint.map(|hint| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
    AvailableCommand::new(name, command.description.as_str().unwrap_or_default()).input(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_sdk_bridge::messages::control::InitializeResponse;
    use serde_json::{Value, json};

    fn check(commands: Value, expected: Value) {
        let response: InitializeResponse = serde_json::from_value(json!({"commands": commands})).unwrap();
        assert_eq!(
            serde_json::to_value(update(&response.commands)).unwrap()["availableCommands"],
            expected
        );
    }

    #[test]
    fn usable_commands_are_listed_once_with_their_hint() {
        check(
            json!([
                {"name": "hello", "description": "Say hello (project)", "argumentHint": "name"},
                {"name": "compact", "description": "Free up context", "argumentHint": ""},
                {"name": "hello", "description": "again"},
                {"name": "tiny:greet (MCP)", "description": "Greet"},
                {"name": "bare"},
            ]),
            json!([
                {"name": "hello", "description": "Say hello (project)", "input": {"hint": "name"}},
                {"name": "compact", "description": "Free up context"},
                {"name": "mcp:tiny:greet", "description": "Greet"},
                {"name": "bare", "description": ""},
            ]),
        );
    }

    #[test]
    fn commands_that_cannot_work_here_are_not_advertised() {
        check(
            json!([
                {"name": "login"}, {"name": "clear"}, {"name": "doctor"}, {"name": "two words"}, {"name": ""},
                {"name": "__internal"}, {"description": "nameless"}, "odd", null,
                "… more dropped in recording", {"name": "init", "description": 3, "argumentHint": ["a"]},
            ]),
            json!([{"name": "init", "description": ""}]),
        );
        check(json!(null), json!([]));
    }
}
