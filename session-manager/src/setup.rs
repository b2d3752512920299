//! Requests for sessions: checks what the client asks for and turns it into what a session is opened with.
//!
//! Everything a client can get wrong is refused here, before a process exists.

use std::path::{Path, PathBuf};

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::launch::{LaunchOptions, McpServer, SessionStart};
use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::ASK_USER_QUESTION;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::client_options::{self, ClientOptionError, OPTIONS, Wanted};
use crate::config::ManagerConfig;
use crate::initialize::ClientFacts;
use crate::options::OptionError;
use crate::system_prompt;

/// The parameters of a request for a session.
#[derive(Debug)]
pub(crate) struct NewSessionParams {
    request: schema::NewSessionRequest,
    /// MCP servers over transports that nobody here speaks: the session can do without them.
    left_out: Vec<LeftOut>,
}

#[derive(Debug, PartialEq)]
struct LeftOut {
    name: String,
    transport: String,
}

/// The parameters of a request for a session that exists. MCP servers may be missing: it can do without.
#[derive(Debug)]
pub(crate) struct StoredSessionParams {
    pub(crate) session_id: schema::SessionId,
    new: NewSessionParams,
}

/// What a session is opened with, as far as the client decides.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) id: ClaudeSessionId,
    pub(crate) wanted: Wanted,
    /// What the user has to know about it.
    pub(crate) notices: Vec<String>,
}

/// Why a session cannot be set up as asked.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SetupError {
    #[error("`cwd` must be an absolute path, but received: {}", shown(.0))]
    RelativeCwd(PathBuf),
    #[error("`cwd` does not exist on the machine running the agent: {}", shown(.0))]
    MissingCwd(PathBuf),
    #[error("`cwd` is not a directory: {}", shown(.0))]
    CwdNotDirectory(PathBuf),
    #[error("`additionalDirectories` entries must be absolute paths, but received: {}", shown(.0))]
    RelativeDirectory(PathBuf),
    #[error("two MCP servers are named `{0}`; give each its own name")]
    DuplicateServer(String),
    #[error("an MCP server has an empty name; give it one")]
    NamelessServer,
    #[error("`systemPrompt` must be {}", system_prompt::EXPECTED_OF_PROTOCOL)]
    SystemPrompt,
    #[error(transparent)]
    Option(#[from] ClientOptionError),
}

/// A choice that Claude turned out not to have.
impl From<OptionError> for SetupError {
    fn from(error: OptionError) -> Self {
        Self::Option(ClientOptionError::NotOffered {
            key: format!("{OPTIONS}{}", error.option()),
            reason: error.to_string(),
        })
    }
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
            SetupError::DuplicateServer(name) => json!({"mcpServers": [name]}),
            SetupError::SystemPrompt => json!({"systemPrompt": true}),
            SetupError::Option(ClientOptionError::Outside(path)) => json!({"additionalDirectories": [path]}),
            SetupError::Option(ClientOptionError::McpServers(_)) => json!({"mcpServers": true}),
            SetupError::Option(
                ClientOptionError::BadValue { key, .. }
                | ClientOptionError::Unsupported { key, .. }
                | ClientOptionError::NotOffered { key, .. }
                | ClientOptionError::Forbidden(key),
            ) => json!({"option": key.strip_prefix(OPTIONS).unwrap_or(key)}),
            SetupError::Option(ClientOptionError::LeftOut { .. }) => json!({"option": "settings"}),
            SetupError::NamelessServer => json!({"mcpServers": [""]}),
        };
        errors::invalid_params(error.to_string(), Some(data))
    }
}

impl<'de> Deserialize<'de> for NewSessionParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut params = Map::deserialize(deserializer)?;
        let left_out = match params.get_mut("mcpServers") {
            Some(Value::Array(servers)) => leave_out(servers),
            Some(_) | None => Vec::new(),
        };
        let request = serde_json::from_value(Value::Object(params)).map_err(D::Error::custom)?;
        Ok(Self { request, left_out })
    }
}

impl StoredSessionParams {
    pub(crate) fn cwd(&self) -> &Path {
        &self.new.request.cwd
    }

    pub(crate) fn meta(&self) -> Option<&schema::Meta> {
        self.new.request.meta.as_ref()
    }
}

impl<'de> Deserialize<'de> for StoredSessionParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut params = Map::deserialize(deserializer)?;
        let id = params.shift_remove("sessionId");
        let id = id.ok_or_else(|| D::Error::missing_field("sessionId"))?;
        params.entry("mcpServers").or_insert_with(|| json!([]));
        Ok(Self {
            session_id: serde_json::from_value(id).map_err(D::Error::custom)?,
            new: serde_json::from_value(Value::Object(params)).map_err(D::Error::custom)?,
        })
    }
}

/// Takes the servers out that name a transport which is none of ours; the schema would take them for something else.
fn leave_out(servers: &mut Vec<Value>) -> Vec<LeftOut> {
    let text = |server: &Value, key: &str| server.get(key).and_then(Value::as_str).map(str::to_owned);
    let foreign = |server: &mut Value| {
        let transport = text(server, "type");
        transport.is_some_and(|transport| !["stdio", "http", "sse"].contains(&transport.as_str()))
    };
    let left_out = servers.extract_if(.., foreign);
    left_out
        .map(|server| LeftOut {
            name: text(&server, "name").unwrap_or_default(),
            transport: text(&server, "type").unwrap_or_default(),
        })
        .collect()
}

/// What a new session is opened with, under a fresh id.
///
/// # Errors
/// The first thing about the request that cannot be done.
pub(crate) fn set_up(
    params: &NewSessionParams,
    client: ClientFacts,
    config: &ManagerConfig,
) -> Result<Setup, SetupError> {
    let request = &params.request;
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
    let mut wanted = Wanted::new(options);
    let policy = config.policy.as_deref();
    client_options::apply(request.meta.as_ref(), policy, &mut wanted)?;
    if let Some(prompt) = &request.system_prompt {
        system_prompt::apply_protocols(prompt, &mut wanted.greeting).ok_or(SetupError::SystemPrompt)?;
    }
    wanted.options.mcp_servers = mcp_servers(&request.mcp_servers, &wanted.servers)?;
    if let Some(policy) = policy {
        let home = config.home.as_deref().map(Path::to_string_lossy);
        client_options::limit(policy, home.as_deref(), &mut wanted.options)?;
    }
    if !client.forms {
        // Without the tool the model asks in its text instead.
        wanted.options.disallowed_tools.push(ASK_USER_QUESTION.to_owned());
    }
    let notices = params.left_out.iter().map(not_used).collect();
    Ok(Setup { id, wanted, notices })
}

/// What a stored session is opened with again: in the folder that it belongs to, whatever the client's is.
///
/// # Errors
/// As [`set_up`].
pub(crate) fn set_up_stored(
    mut params: StoredSessionParams,
    (folder, goes_on): (PathBuf, SessionStart),
    client: ClientFacts,
    config: &ManagerConfig,
) -> Result<Setup, SetupError> {
    let elsewhere = (folder != *params.cwd()).then(|| elsewhere(&folder));
    params.new.request.cwd = folder;
    let mut setup = set_up(&params.new, client, config)?;
    setup.id = ClaudeSessionId::from(params.session_id.to_string());
    setup.wanted.options.session = goes_on;
    setup.notices.extend(elsewhere);
    Ok(setup)
}

/// A path in a text: on one line, whatever it is called.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

fn elsewhere(folder: &Path) -> String {
    let folder = shown(folder);
    format!("This conversation belongs to the folder `{folder}` and goes on there.")
}

fn not_used(LeftOut { name, transport }: &LeftOut) -> String {
    let server = match name.as_str() {
        "" => "An MCP server without a name".to_owned(),
        name => format!("The MCP server `{name}`"),
    };
    format!("{server} is not used: its transport `{transport}` is not supported; use stdio, `http` or `sse`.")
}

/// # Errors
/// When a session cannot run there.
pub(crate) fn check_cwd(cwd: &Path) -> Result<(), SetupError> {
    if !cwd.is_absolute() {
        return Err(SetupError::RelativeCwd(cwd.to_owned()));
    }
    match std::fs::metadata(cwd) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(SetupError::CwdNotDirectory(cwd.to_owned())),
        Err(_) => Err(SetupError::MissingCwd(cwd.to_owned())),
    }
}

/// The servers of the request, and those of the options.
fn mcp_servers(
    servers: &[schema::McpServer],
    more: &Map<String, Value>,
) -> Result<Vec<McpServer>, SetupError> {
    let more = more.iter().map(|(name, config)| {
        McpServer::from_config(name, config).map_err(|_| {
            SetupError::Option(ClientOptionError::BadValue {
                key: format!("{OPTIONS}mcpServers.{name}"),
                expected: "a complete stdio, `http` or `sse` server",
            })
        })
    });
    let mut accepted: Vec<McpServer> = Vec::with_capacity(servers.len());
    for server in servers.iter().filter_map(mcp_server).map(Ok).chain(more) {
        let server = server?;
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

/// `None` for a transport that the schema may come to know; such servers have been left out by its name.
fn mcp_server(server: &schema::McpServer) -> Option<McpServer> {
    match server {
        schema::McpServer::Stdio(stdio) => Some(McpServer::Stdio {
            name: stdio.name.clone(),
            command: stdio.command.to_string_lossy().into_owned(),
            args: stdio.args.clone(),
            env: stdio
                .env
                .iter()
                .map(|pair| (pair.name.clone(), pair.value.clone()))
                .collect(),
        }),
        schema::McpServer::Http(http) => Some(McpServer::Http {
            name: http.name.clone(),
            url: http.url.clone(),
            headers: headers(&http.headers),
        }),
        schema::McpServer::Sse(sse) => Some(McpServer::Sse {
            name: sse.name.clone(),
            url: sse.url.clone(),
            headers: headers(&sse.headers),
        }),
        _ => None,
    }
}

fn headers(headers: &[schema::HttpHeader]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|header| (header.name.clone(), header.value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(params: Value) -> Result<NewSessionParams, String> {
        serde_json::from_value(params).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_stands_on_one_line_of_an_error() {
        let error = check_cwd(Path::new("/no\n\u{1b}[2Jüä")).unwrap_err().to_string();
        assert!(error.ends_with(r"/no\n\u{1b}[2Jüä"), "{error}");
    }

    #[test]
    fn a_server_over_a_foreign_transport_is_left_out_by_name_and_the_others_stay() {
        let servers = json!([
            {"type": "acp", "name": "over acp", "id": "1"},
            {"name": "plain", "command": "/bin/x", "args": [], "env": []},
            {"type": "stdio", "name": "said", "command": "/bin/y", "args": [], "env": []},
            {"type": "carrier-pigeon"},
            {"type": "http", "name": "web", "url": "http://localhost", "headers": []},
        ]);
        let params = params(json!({"cwd": "/", "mcpServers": servers})).unwrap();
        let kept = mcp_servers(&params.request.mcp_servers, &Map::new()).unwrap();
        let names: Vec<&str> = kept.iter().map(McpServer::name).collect();
        assert_eq!(names, ["plain", "said", "web"]);
        let notices: Vec<String> = params.left_out.iter().map(not_used).collect();
        insta::assert_snapshot!(notices.join("\n"), @r"
        The MCP server `over acp` is not used: its transport `acp` is not supported; use stdio, `http` or `sse`.
        An MCP server without a name is not used: its transport `carrier-pigeon` is not supported; use stdio, `http` or `sse`.
        ");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for wrong in [
            json!([]),
            json!({"mcpServers": []}),
            json!({"cwd": "/", "mcpServers": "none"}),
            json!({"cwd": "/", "mcpServers": [{"type": "http", "name": "no url"}]}),
        ] {
            assert!(params(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn servers_of_the_options_stand_beside_those_of_the_request() {
        let params = params(json!({"cwd": "/", "mcpServers": [
            {"name": "a", "command": "/bin/x", "args": [], "env": []},
        ]}));
        let servers = params.unwrap().request.mcp_servers;
        let with = |more: Value| {
            let all = mcp_servers(&servers, more.as_object().unwrap());
            all.map(|all| all.len()).map_err(|error| error.to_string())
        };
        assert_eq!(
            with(json!({"b": {"command": "y"}, "c": {"type": "sse", "url": "http://c"}})),
            Ok(3)
        );
        let refused = [
            with(json!({"a": {"command": "y"}})),
            with(json!({" ": {"command": "y"}})),
            with(json!({"b": {"type": "sdk", "name": "b"}})),
        ];
        let refused: Vec<String> = refused.into_iter().map(Result::unwrap_err).collect();
        insta::assert_snapshot!(refused.join("\n"), @r"
        two MCP servers are named `a`; give each its own name
        an MCP server has an empty name; give it one
        `_meta.claudeCode.options.mcpServers.b` must be a complete stdio, `http` or `sse` server
        ");
    }
}
