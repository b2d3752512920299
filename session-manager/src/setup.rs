//! `session/new`: checks what the client asks for and turns it into launch options.
//!
//! Everything a client can get wrong is refused here, before a process exists.

use std::path::{Path, PathBuf};

use acp_proto::{
    RpcError, errors,
    ext::{ClaudeCodeOptions, MetaRecord},
    schema,
};
use claude_sdk_bridge::{
    launch::{LaunchOptions, McpServer, SessionStart},
    messages::ClaudeSessionId,
};
use permission_core::ASK_USER_QUESTION;
use serde_json::{Map, Value, json};

use crate::{
    client_options::{self, ClientOptionError},
    config::ManagerConfig,
    initialize::ClientFacts,
};

/// Why a session cannot be set up as asked.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SetupError {
    #[error("`cwd` must be an absolute path, but received: {}", .0.display())]
    RelativeCwd(PathBuf),
    #[error("`cwd` does not exist on the machine running the agent: {}", .0.display())]
    MissingCwd(PathBuf),
    #[error("`cwd` is not a directory: {}", .0.display())]
    CwdNotDirectory(PathBuf),
    #[error("`additionalDirectories` entries must be absolute paths, but received: {}", .0.display())]
    RelativeDirectory(PathBuf),
    #[error("two MCP servers are named `{0}`; give each its own name")]
    DuplicateServer(String),
    #[error("an MCP server has an empty name; give it one")]
    NamelessServer,
    #[error("the transport of MCP server `{0}` is not supported; use stdio, `http` or `sse`")]
    UnsupportedTransport(String),
    #[error(transparent)]
    Option(#[from] ClientOptionError),
}

impl From<SetupError> for RpcError {
    fn from(error: SetupError) -> Self {
        let data = match &error {
            SetupError::RelativeCwd(path)
            | SetupError::MissingCwd(path)
            | SetupError::CwdNotDirectory(path) => {
                json!({"cwd": path})
            }
            SetupError::RelativeDirectory(path) => json!({"additionalDirectories": [path]}),
            SetupError::DuplicateServer(name) | SetupError::UnsupportedTransport(name) => {
                json!({"mcpServers": [name]})
            }
            SetupError::Option(ClientOptionError::Outside(path)) => json!({"additionalDirectories": [path]}),
            SetupError::Option(ClientOptionError::McpServers(_)) => json!({"mcpServers": true}),
            SetupError::Option(
                ClientOptionError::BadValue { key, .. } | ClientOptionError::Forbidden(key),
            ) => json!({"option": key}),
            SetupError::NamelessServer => json!({"mcpServers": [""]}),
        };
        errors::invalid_params(error.to_string(), Some(data))
    }
}

/// The launch options of a new session, under a fresh id.
///
/// # Errors
/// The first thing about the request that cannot be done.
pub(crate) fn launch_options(
    request: &schema::NewSessionRequest,
    client: ClientFacts,
    config: &ManagerConfig,
) -> Result<(ClaudeSessionId, LaunchOptions), SetupError> {
    check_cwd(&request.cwd)?;
    if let Some(relative) = request
        .additional_directories
        .iter()
        .find(|path| !path.is_absolute())
    {
        return Err(SetupError::RelativeDirectory(relative.clone()));
    }
    let id = ClaudeSessionId::from(uuid::Uuid::new_v4().to_string());
    let mut options = LaunchOptions::new(request.cwd.clone(), SessionStart::New { id: id.clone() });
    options
        .additional_directories
        .clone_from(&request.additional_directories);
    options.mcp_servers = mcp_servers(&request.mcp_servers)?;
    let policy = config.policy.as_deref();
    if let Some(chosen) = chosen(request) {
        client_options::apply(&chosen, policy, &mut options)?;
    }
    if let Some(policy) = policy {
        let home = config.home.as_deref().map(Path::to_string_lossy);
        client_options::limit(policy, home.as_deref(), &mut options)?;
    }
    if !client.forms {
        // Without the tool the model asks in its text instead.
        options.disallowed_tools.push(ASK_USER_QUESTION.to_owned());
    }
    Ok((id, options))
}

/// Whether the client does not want permissions to be bypassed in this session.
pub(crate) fn bypass_declined(request: &schema::NewSessionRequest) -> bool {
    chosen(request)
        .is_some_and(|options| options.get("allowDangerouslySkipPermissions") == Some(&Value::Bool(false)))
}

/// The client's choices in `_meta.claudeCode.options`.
fn chosen(request: &schema::NewSessionRequest) -> Option<Map<String, Value>> {
    ClaudeCodeOptions::read(request.meta.as_ref())?.options
}

fn check_cwd(cwd: &Path) -> Result<(), SetupError> {
    if !cwd.is_absolute() {
        return Err(SetupError::RelativeCwd(cwd.to_owned()));
    }
    match std::fs::metadata(cwd) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(SetupError::CwdNotDirectory(cwd.to_owned())),
        Err(_) => Err(SetupError::MissingCwd(cwd.to_owned())),
    }
}

fn mcp_servers(servers: &[schema::McpServer]) -> Result<Vec<McpServer>, SetupError> {
    let mut accepted: Vec<McpServer> = Vec::with_capacity(servers.len());
    for server in servers {
        let server = mcp_server(server)?;
        if server.name().trim().is_empty() {
            return Err(SetupError::NamelessServer);
        }
        if accepted.iter().any(|other| other.name() == server.name()) {
            return Err(SetupError::DuplicateServer(server.name().to_owned()));
        }
        accepted.push(server);
    }
    Ok(accepted)
}

fn mcp_server(server: &schema::McpServer) -> Result<McpServer, SetupError> {
    match server {
        schema::McpServer::Stdio(stdio) => Ok(McpServer::Stdio {
            name: stdio.name.clone(),
            command: stdio.command.to_string_lossy().into_owned(),
            args: stdio.args.clone(),
            env: stdio
                .env
                .iter()
                .map(|pair| (pair.name.clone(), pair.value.clone()))
                .collect(),
        }),
        schema::McpServer::Http(http) => Ok(McpServer::Http {
            name: http.name.clone(),
            url: http.url.clone(),
            headers: headers(&http.headers),
        }),
        schema::McpServer::Sse(sse) => Ok(McpServer::Sse {
            name: sse.name.clone(),
            url: sse.url.clone(),
            headers: headers(&sse.headers),
        }),
        other => Err(SetupError::UnsupportedTransport(name_of(other))),
    }
}

fn headers(headers: &[schema::HttpHeader]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|header| (header.name.clone(), header.value.clone()))
        .collect()
}

/// The name of a server whose transport the schema knows and we do not.
fn name_of(server: &schema::McpServer) -> String {
    serde_json::to_value(server)
        .ok()
        .and_then(|value| {
            value
                .get("name")
                .and_then(|name| name.as_str())
                .map(str::to_owned)
        })
        .unwrap_or_default()
}
