//! Tables of rules against calls.
//!
//! Place in the flow: tests only.

mod claude;
mod commands;
mod files;
mod grammar;
mod shell_files;
mod shell_more;
mod slip;
mod values;

use serde_json::{Value, json};

use super::*;
use crate::testing::{Links, rule_set as rules};
use crate::{LexicalPaths, PathResolver, Workspace};

/// What rules say about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Deny,
    Ask,
    Allow,
    Nothing,
}

use Said::{Allow, Ask, Deny, Nothing};

fn workspace(paths: &dyn PathResolver) -> Workspace<'_> {
    Workspace {
        cwd: "/repo/app",
        current: "/repo/app",
        project_root: "/repo",
        home: Some("/home/u"),
        additional: &[],
        paths,
    }
}

fn say_with(rules: &RuleSet, tool: &str, input: &Value, paths: &dyn PathResolver) -> Said {
    let call = ToolCall::new(tool, input, workspace(paths));
    if rules.denies(&call).is_some() {
        Deny
    } else if rules.asks(&call).is_some() {
        Ask
    } else if rules.allows(&call, false).is_some() {
        Allow
    } else {
        Nothing
    }
}

fn say(text: &str, tool: &str, input: &Value) -> Said {
    say_with(&rules(text), tool, input, &LexicalPaths)
}

/// What rules say about a command.
fn bash(text: &str, command: &str) -> Said {
    say(text, "Bash", &json!({ "command": command }))
}

/// What rules say about a file.
fn file(text: &str, tool: &str, path: &str) -> Said {
    let key = if tool == "Grep" || tool == "LS" {
        "path"
    } else {
        "file_path"
    };
    say(text, tool, &json!({ key: path }))
}

fn links() -> Links {
    Links::new(&[
        ("/repo/app/notes.txt", Some("/repo/app/.env")),
        ("/repo/app/nowhere", None),
        ("/repo/app/out", Some("/etc")),
    ])
}
