//! `_meta.claudeCode.options` of `session/new`: what a client may choose of its Claude, beside the session's own options.
//!
//! Place in the flow: `setup` applies it to the launch options. Under an operator's policy a client may narrow what Claude can
//! do and choose how it works and is shown; every other key is refused by name. Without one, keys that mean nothing here
//! are left alone.

use std::path::PathBuf;

use claude_sdk_bridge::{
    launch::{LaunchOptions, Tools},
    paths::FileSystemPaths,
};
use permission_core::{PathResolver as _, guard::Policy};
use serde_json::{Map, Value};

/// Why a client's choice cannot be taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ClientOptionError {
    #[error("`_meta.claudeCode.options.{key}` must be {expected}")]
    BadValue { key: String, expected: &'static str },
    #[error(
        "the operator's policy does not let clients set `_meta.claudeCode.options.{0}`; leave it out, or ask the operator"
    )]
    Forbidden(String),
    #[error(
        "the operator's policy keeps additional directories inside the workspace, and `{}` is outside; leave it out, or ask the operator to add it to `permissions.additionalDirectories`",
        .0.display()
    )]
    Outside(PathBuf),
    #[error(
        "the operator's policy does not let clients bring MCP servers ({0}); leave them out, or ask the operator to set `permissions.clientMcpServers`"
    )]
    McpServers(String),
}

/// Keys that only say how Claude's work is shown. What is built of it is always on.
const DISPLAY: [&str; 4] = [
    "agentProgressSummaries",
    "forwardSubagentText",
    "includePartialMessages",
    "promptSuggestions",
];

/// Applies a client's choices.
///
/// # Errors
/// The first one that cannot be taken.
pub(crate) fn apply(
    chosen: &Map<String, Value>,
    policy: Option<&Policy>,
    options: &mut LaunchOptions,
) -> Result<(), ClientOptionError> {
    for (key, value) in chosen {
        let bad = |expected| ClientOptionError::BadValue {
            key: key.clone(),
            expected,
        };
        match key.as_str() {
            "model" => options.model = Some(text(value).ok_or_else(|| bad(TEXT))?),
            "effort" => options.effort = Some(text(value).ok_or_else(|| bad(TEXT))?),
            "agent" => options.agent = Some(text(value).ok_or_else(|| bad(TEXT))?),
            "maxTurns" => options.max_turns = Some(count(value).ok_or_else(|| bad(COUNT))?),
            "tools" => options.tools = tools(value).ok_or_else(|| bad(TOOLS))?,
            "disallowedTools" => options
                .disallowed_tools
                .extend(texts(value).ok_or_else(|| bad(TEXTS))?),
            "additionalDirectories" => {
                let directories = texts(value).ok_or_else(|| bad(DIRECTORIES))?;
                let directories: Vec<PathBuf> = directories.into_iter().map(PathBuf::from).collect();
                if directories.iter().any(|directory| !directory.is_absolute()) {
                    return Err(bad(DIRECTORIES));
                }
                options.additional_directories.extend(directories);
            }
            // It can only be switched off, which the modes of the session heed.
            "allowDangerouslySkipPermissions" if value == &Value::Bool(false) => {}
            known if DISPLAY.contains(&known) => {}
            _ if policy.is_some() => return Err(ClientOptionError::Forbidden(key.clone())),
            _ => tracing::debug!(key, "an option of the client's means nothing here"),
        }
    }
    Ok(())
}

/// Holds what the client wants against the policy, and adds what the policy brings.
///
/// # Errors
/// The first thing that the policy does not allow.
pub(crate) fn limit(
    policy: &Policy,
    home: Option<&str>,
    options: &mut LaunchOptions,
) -> Result<(), ClientOptionError> {
    if !policy.client_mcp_servers && !options.mcp_servers.is_empty() {
        let names = options
            .mcp_servers
            .iter()
            .map(|server| format!("`{}`", server.name()));
        return Err(ClientOptionError::McpServers(
            names.collect::<Vec<_>>().join(", "),
        ));
    }
    let own: Vec<PathBuf> = policy.directories(home).map(PathBuf::from).collect();
    let workspace: Vec<PathBuf> = std::iter::once(&options.cwd)
        .chain(&own)
        .filter_map(|directory| resolved(directory))
        .collect();
    let inside = |directory: &PathBuf| {
        resolved(directory).is_some_and(|directory| workspace.iter().any(|base| directory.starts_with(base)))
    };
    if let Some(outside) = options
        .additional_directories
        .iter()
        .find(|directory| !inside(directory))
    {
        return Err(ClientOptionError::Outside(outside.clone()));
    }
    options
        .additional_directories
        .extend(own.into_iter().filter(|directory| directory.is_dir()));
    Ok(())
}

const TEXT: &str = "a string that is not blank";
const TEXTS: &str = "a list of strings";
const COUNT: &str = "a whole number above 0";
const TOOLS: &str = "a list of tool names, or `{\"type\": \"preset\", \"preset\": \"claude_code\"}`";
const DIRECTORIES: &str = "a list of absolute paths";

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
    value
        .as_u64()
        .and_then(|count| u32::try_from(count).ok())
        .filter(|count| *count > 0)
}

fn tools(value: &Value) -> Option<Tools> {
    if value.get("type").and_then(Value::as_str) == Some("preset") {
        return Some(Tools::Preset);
    }
    texts(value).map(Tools::Only)
}

fn resolved(path: &std::path::Path) -> Option<PathBuf> {
    FileSystemPaths.resolve(path.to_str()?).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use claude_sdk_bridge::launch::{McpServer, SessionStart};
    use serde_json::json;

    use super::*;

    fn options() -> LaunchOptions {
        LaunchOptions::new("/", SessionStart::Unnamed)
    }

    fn applied(chosen: Value, policy: Option<&Policy>) -> Result<LaunchOptions, String> {
        let mut options = options();
        let applied = apply(chosen.as_object().unwrap(), policy, &mut options);
        applied.map(|()| options).map_err(|error| error.to_string())
    }

    #[test]
    fn what_narrows_or_only_shows_passes_with_and_without_a_policy() {
        let chosen = json!({
            "model": "opus", "effort": "high", "agent": "rev", "maxTurns": 3, "tools": ["Read"], "disallowedTools": ["Bash"],
            "additionalDirectories": ["/srv"], "promptSuggestions": false, "allowDangerouslySkipPermissions": false,
        });
        for policy in [None, Some(&Policy::default())] {
            let expected = LaunchOptions {
                model: Some("opus".to_owned()),
                effort: Some("high".to_owned()),
                agent: Some("rev".to_owned()),
                max_turns: Some(3),
                tools: Tools::Only(vec!["Read".to_owned()]),
                disallowed_tools: vec!["Bash".to_owned()],
                additional_directories: vec!["/srv".into()],
                ..options()
            };
            assert_eq!(applied(chosen.clone(), policy), Ok(expected));
        }
        let preset = json!({"tools": {"type": "preset", "preset": "claude_code"}});
        assert_eq!(applied(preset, None).unwrap().tools, Tools::Preset);
    }

    #[test]
    fn case_99_every_other_key_is_refused_by_name_under_a_policy() {
        let keys = [
            "settings",
            "env",
            "extraArgs",
            "allowedTools",
            "permissionMode",
            "hooks",
            "mcpServers",
            "cwd",
            "resume",
            "allowDangerouslySkipPermissions",
            "managedSettings",
            "pathToClaudeCodeExecutable",
        ];
        for key in keys {
            let chosen = json!({ key: true });
            assert_eq!(applied(chosen.clone(), None), Ok(options()), "{key}");
            let refused = applied(chosen, Some(&Policy::default())).unwrap_err();
            assert!(
                refused.contains(&format!("`_meta.claudeCode.options.{key}`")),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_value_of_another_shape_is_refused_with_what_is_expected() {
        let rows = [
            json!({"model": 5}),
            json!({"agent": " "}),
            json!({"maxTurns": 0}),
            json!({"tools": "Read"}),
            json!({"disallowedTools": [1]}),
            json!({"additionalDirectories": ["relative"]}),
        ];
        let refused: Vec<String> = rows
            .into_iter()
            .map(|row| applied(row, None).unwrap_err())
            .collect();
        insta::assert_snapshot!(refused.join("\n"), @r#"
        `_meta.claudeCode.options.model` must be a string that is not blank
        `_meta.claudeCode.options.agent` must be a string that is not blank
        `_meta.claudeCode.options.maxTurns` must be a whole number above 0
        `_meta.claudeCode.options.tools` must be a list of tool names, or `{"type": "preset", "preset": "claude_code"}`
        `_meta.claudeCode.options.disallowedTools` must be a list of strings
        `_meta.claudeCode.options.additionalDirectories` must be a list of absolute paths
        "#);
    }

    #[test]
    fn a_policy_keeps_directories_inside_and_servers_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        for name in ["repo/sub", "shared", "elsewhere"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join("repo/link")).unwrap();
        let policy = Policy {
            additional_directories: vec!["~/shared".to_owned(), "/nowhere/at/all".to_owned()],
            ..Policy::default()
        };
        let limited = |directories: &[&str]| {
            let mut options = LaunchOptions::new(root.join("repo"), SessionStart::Unnamed);
            options.additional_directories = directories.iter().map(|name| root.join(name)).collect();
            limit(&policy, root.to_str(), &mut options).map(|()| options)
        };
        let inside = limited(&["repo/sub", "shared/new"]).unwrap();
        let expected = ["repo/sub", "shared/new", "shared"].map(|name| root.join(name));
        assert_eq!(inside.additional_directories, expected);
        for outside in ["elsewhere", "repo/link", "repo/../elsewhere", "."] {
            assert!(
                matches!(limited(&[outside]), Err(ClientOptionError::Outside(_))),
                "{outside}"
            );
        }
        let mut options = options();
        options.mcp_servers = vec![McpServer::Sse {
            name: "s".to_owned(),
            url: "http://localhost".to_owned(),
            headers: Vec::new(),
        }];
        let refused = limit(&policy, None, &mut options.clone())
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("`s`") && refused.contains("`permissions.clientMcpServers`"),
            "{refused}"
        );
        let policy = Policy {
            client_mcp_servers: true,
            ..Policy::default()
        };
        assert_eq!(limit(&policy, None, &mut options), Ok(()));
    }
}
