//! How a Claude is started, in types: what the session wants of it (`options`), and for the backend that starts the
//! real CLI its arguments (`argv`, and `parse` for the rehearsal that plays the CLI), its environment and its MCP file.
//!
//! Nothing here starts anything. The system prompt and hooks are not launch options: they go with `initialize`.

mod options;

mod argv;
mod environment;
mod mcp;
mod parse;
mod private;

pub use argv::argv;
pub use environment::{environment, is_nesting_marker, is_reserved};
pub use mcp::{McpConfigError, McpConfigFile, McpServer, mcp_config, mcp_tool_name, read_mcp_config};
pub use options::{LaunchOptions, PermissionPrompts, SessionStart, SettingSource, Thinking, Tools};
pub use parse::{ArgvError, ParsedArgv, parse_argv};
pub use private::PrivateFile;

#[cfg(test)]
mod tests;
