//! `_meta.claudeCode` of `session/new` and its older relatives: what a client may choose of its Claude, beside the session's
//! own options.
//!
//! Place in the flow: `setup` has it applied to what the session is set up with. What is not known here, or cannot be
//! heeded, is refused by name. Under an operator's policy a client may narrow what Claude can do and choose how it works
//! and is shown. `keys` holds the single keys.

mod keys;

use std::path::PathBuf;

use acp_proto::schema::Meta;
use claude_sdk_bridge::launch::{LaunchOptions, Tools};
use claude_sdk_bridge::messages::control::InitializeRequest;
use claude_sdk_bridge::paths::FileSystemPaths;
use permission_core::PathResolver as _;
use permission_core::policy::Policy;
use serde_json::{Map, Value};

use crate::system_prompt;
use keys::{BYPASS, KEYS};

/// What a client decides about the Claude of its session.
#[derive(Debug, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) options: LaunchOptions,
    /// What its processes are greeted with.
    pub(crate) greeting: InitializeRequest,
    /// MCP servers as the SDK writes them, by their names.
    pub(crate) servers: Map<String, Value>,
    /// Permissions are not to be bypassed.
    pub(crate) bypass_declined: bool,
}

/// Why a client's choice cannot be taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ClientOptionError {
    #[error("`{key}` must be {expected}")]
    BadValue { key: String, expected: &'static str },
    #[error("`{key}` is not supported; {instead}")]
    Unsupported { key: String, instead: &'static str },
    #[error("`{key}`: {reason}")]
    NotOffered { key: String, reason: String },
    #[error("Claude counts nothing of `{OPTIONS}settings`, because of `{setting}`: {reason}")]
    LeftOut { setting: String, reason: String },
    #[error("the operator's policy does not let clients set `{0}`; leave it out, or ask the operator")]
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

/// What stands before every key of the options.
pub(crate) const OPTIONS: &str = "_meta.claudeCode.options.";

impl Wanted {
    /// What a session is set up with whose client chooses nothing.
    pub(crate) fn new(options: LaunchOptions) -> Self {
        Self {
            options,
            greeting: InitializeRequest::default(),
            servers: Map::new(),
            bypass_declined: false,
        }
    }

    fn extra(&mut self, flag: &str, value: String) {
        self.options.extra_args.push((flag.to_owned(), Some(value)));
    }
}

/// Applies the `_meta` of a request: the options, and the keys that older clients set beside them, which give way.
///
/// # Errors
/// The first choice that cannot be taken.
pub(crate) fn apply(
    meta: Option<&Meta>,
    policy: Option<&Policy>,
    wanted: &mut Wanted,
) -> Result<(), ClientOptionError> {
    let Some(meta) = meta else { return Ok(()) };
    let bad = |key: &str, expected| ClientOptionError::BadValue {
        key: format!("_meta.{key}"),
        expected,
    };
    match meta.get("disableBuiltInTools") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => wanted.options.tools = Tools::Only(Vec::new()),
        Some(_) => return Err(bad("disableBuiltInTools", "`true` or `false`")),
    }
    let roots = meta.get("additionalRoots").filter(|roots| !roots.is_null());
    if let Some(roots) = roots.filter(|_| wanted.options.additional_directories.is_empty()) {
        let roots = keys::directories(roots);
        wanted.options.additional_directories =
            roots.ok_or_else(|| bad("additionalRoots", keys::DIRECTORIES))?;
    }
    if let Some(prompt) = meta.get("systemPrompt").filter(|prompt| !prompt.is_null()) {
        system_prompt::apply(prompt, &mut wanted.greeting)
            .ok_or_else(|| bad("systemPrompt", system_prompt::EXPECTED))?;
    }
    for (key, value) in members(meta.get("claudeCode")).ok_or_else(|| bad("claudeCode", OBJECT))? {
        match (key.as_str(), value) {
            ("options", options) => {
                let options = members(Some(options)).ok_or_else(|| bad("claudeCode.options", OBJECT))?;
                take(options, policy, wanted)?;
            }
            (_, Value::Null | Value::Bool(false)) => {}
            (other, _) => {
                return Err(ClientOptionError::Unsupported {
                    key: format!("_meta.claudeCode.{other}"),
                    instead: "leave it out",
                });
            }
        }
    }
    Ok(())
}

const OBJECT: &str = "an object";

/// The members of an object that may be missing; `None` when it is none.
fn members(value: Option<&Value>) -> Option<impl Iterator<Item = (&String, &Value)>> {
    match value {
        None | Some(Value::Null) => Some(None),
        Some(Value::Object(members)) => Some(Some(members)),
        Some(_) => None,
    }
    .map(|members| members.into_iter().flatten())
}

fn take<'o>(
    chosen: impl Iterator<Item = (&'o String, &'o Value)>,
    policy: Option<&Policy>,
    wanted: &mut Wanted,
) -> Result<(), ClientOptionError> {
    for (name, value) in chosen {
        let full = || format!("{OPTIONS}{name}");
        let key = KEYS.iter().find(|key| key.name == name);
        let narrows = name != BYPASS || value == &Value::Bool(false);
        match key {
            _ if policy.is_some() && !key.is_some_and(|key| key.under_policy && narrows) => {
                return Err(ClientOptionError::Forbidden(full()));
            }
            Some(key) => {
                let applied = (key.apply)(value, wanted);
                applied.ok_or_else(|| ClientOptionError::BadValue {
                    key: full(),
                    expected: key.expected,
                })?;
            }
            None => {
                return Err(ClientOptionError::Unsupported {
                    key: full(),
                    instead: keys::instead(name),
                });
            }
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

fn resolved(path: &std::path::Path) -> Option<PathBuf> {
    FileSystemPaths.resolve(path.to_str()?).map(PathBuf::from)
}

#[cfg(test)]
mod tests;
