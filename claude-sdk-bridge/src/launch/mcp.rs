//! MCP servers of the client, and the private file that carries them to the CLI.
//!
//! Their environment and headers hold secrets, and argv can be read by every user of the machine: the configuration goes
//! through a file only we can read, which is gone when its [`McpConfigFile`] is dropped.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::PrivateFile;

/// An MCP server the client asks for. The name may hold anything, spaces and dots too.
#[derive(Clone, PartialEq, Eq)]
pub enum McpServer {
    /// A program that speaks over its standard streams.
    Stdio {
        /// Its name.
        name: String,
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables to set for it.
        env: Vec<(String, String)>,
    },
    /// A server behind a URL.
    Http {
        /// Its name.
        name: String,
        /// Where it is.
        url: String,
        /// Headers to send.
        headers: Vec<(String, String)>,
    },
    /// A server behind a URL that speaks the older, event-stream form.
    Sse {
        /// Its name.
        name: String,
        /// Where it is.
        url: String,
        /// Headers to send.
        headers: Vec<(String, String)>,
    },
}

impl McpServer {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            McpServer::Stdio { name, .. } | McpServer::Http { name, .. } | McpServer::Sse { name, .. } => {
                name
            }
        }
    }

    fn config(&self) -> Value {
        match self {
            McpServer::Stdio {
                name: _,
                command,
                args,
                env,
            } => {
                json!({"type": "stdio", "command": command, "args": args, "env": object(env)})
            }
            McpServer::Http {
                name: _,
                url,
                headers,
            } => json!({"type": "http", "url": url, "headers": object(headers)}),
            McpServer::Sse {
                name: _,
                url,
                headers,
            } => json!({"type": "sse", "url": url, "headers": object(headers)}),
        }
    }

    /// The server that a configuration like the CLI's describes.
    ///
    /// # Errors
    /// When it is of an unknown kind, or a part of it is missing or of another shape.
    pub fn from_config(name: &str, config: &Value) -> Result<Self, McpConfigError> {
        let text = |key: &str| config.get(key).and_then(Value::as_str).map(str::to_owned);
        let server = || match config.get("type").map_or(Some("stdio"), Value::as_str)? {
            "stdio" => Some(McpServer::Stdio {
                name: name.to_owned(),
                command: text("command")?,
                args: strings(config.get("args"))?,
                env: pairs(config.get("env"))?,
            }),
            "http" => Some(McpServer::Http {
                name: name.to_owned(),
                url: text("url")?,
                headers: pairs(config.get("headers"))?,
            }),
            "sse" => Some(McpServer::Sse {
                name: name.to_owned(),
                url: text("url")?,
                headers: pairs(config.get("headers"))?,
            }),
            _ => None,
        };
        server().ok_or_else(|| McpConfigError::UnknownServer {
            name: name.to_owned(),
        })
    }
}

/// Shows names and places, never what may be secret.
impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, name, place) = match self {
            McpServer::Stdio { name, command, .. } => ("Stdio", name, command),
            McpServer::Http { name, url, .. } => ("Http", name, url),
            McpServer::Sse { name, url, .. } => ("Sse", name, url),
        };
        f.debug_struct(kind)
            .field("name", name)
            .field("place", place)
            .finish_non_exhaustive()
    }
}

/// Why an MCP configuration could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum McpConfigError {
    /// Two servers of one name, of which Claude would only start one.
    #[error("two MCP servers are called `{name}`, give them different names")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Two servers whose tools would have the same full names; Claude would only offer one of each.
    #[error(
        "the tools of the MCP servers `{first}` and `{second}` would both be called `mcp__{prefix}__…`, rename one of the servers"
    )]
    SameToolNames {
        /// One server.
        first: String,
        /// The other.
        second: String,
        /// What both names become.
        prefix: String,
    },
    /// A server of a kind this version does not know, or without what its kind needs.
    #[error("the MCP server `{name}` is of an unknown kind or incomplete")]
    UnknownServer {
        /// The name.
        name: String,
    },
    /// The configuration is no JSON object with `mcpServers`.
    #[error("the MCP configuration is not an object with `mcpServers`: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// The file could not be written or read.
    #[error("the MCP configuration file could not be used: {0}")]
    File(#[from] io::Error),
}

/// The configuration as the CLI reads it: `{"mcpServers": {name: …}}`.
pub fn mcp_config(servers: &[McpServer]) -> Result<Value, McpConfigError> {
    let mut by_name = Map::new();
    let mut by_prefix: BTreeMap<String, &str> = BTreeMap::new();
    for server in servers {
        let name = server.name();
        if by_name.insert(name.to_owned(), server.config()).is_some() {
            return Err(McpConfigError::DuplicateName {
                name: name.to_owned(),
            });
        }
        let prefix = tool_prefix(name);
        if let Some(first) = by_prefix.insert(prefix.clone(), name) {
            let (first, second) = (first.to_owned(), name.to_owned());
            return Err(McpConfigError::SameToolNames {
                first,
                second,
                prefix,
            });
        }
    }
    Ok(json!({"mcpServers": by_name}))
}

/// The name that a server's tool goes by in Claude.
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", tool_prefix(server), tool_prefix(tool))
}

/// Reads servers back from a configuration file.
pub fn read_mcp_config(path: &Path) -> Result<Vec<McpServer>, McpConfigError> {
    let text = std::fs::read_to_string(path)?;
    let malformed = |reason: String| McpConfigError::Malformed { reason };
    let config: Value = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    let servers = config.get("mcpServers").and_then(Value::as_object);
    let servers = servers.ok_or_else(|| malformed("the key is missing".to_owned()))?;
    servers
        .iter()
        .map(|(name, config)| McpServer::from_config(name, config))
        .collect()
}

/// The configuration in a private file; removed on drop, so keep it until the CLI has ended.
#[derive(Debug)]
pub struct McpConfigFile(PrivateFile);

impl McpConfigFile {
    /// Writes the file; without servers there is none to write.
    pub fn write(servers: &[McpServer]) -> Result<Option<Self>, McpConfigError> {
        if servers.is_empty() {
            return Ok(None);
        }
        let file = PrivateFile::write("mcp", &mcp_config(servers)?)?;
        Ok(Some(Self(file)))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// What the CLI makes of a server's name in the full names of its tools: one `_` for each UTF-16 unit of a character
/// that tool names may not have.
fn tool_prefix(name: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    let spell = |character: char| match allowed(character) {
        true => String::from(character),
        false => "_".repeat(character.len_utf16()),
    };
    name.chars().map(spell).collect()
}

fn object(pairs: &[(String, String)]) -> Map<String, Value> {
    pairs
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect()
}

/// `None` when it is there and something else.
fn pairs(value: Option<&Value>) -> Option<Vec<(String, String)>> {
    let Some(value) = value else {
        return Some(Vec::new());
    };
    let entries = value.as_object()?.iter();
    entries
        .map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// `None` when it is there and something else.
fn strings(value: Option<&Value>) -> Option<Vec<String>> {
    let Some(value) = value else {
        return Some(Vec::new());
    };
    let items = value.as_array()?.iter();
    items.map(|item| Some(item.as_str()?.to_owned())).collect()
}
