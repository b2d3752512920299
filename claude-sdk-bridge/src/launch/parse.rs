//! Command-line arguments back to launch options: what the rehearsal does when it is started in the CLI's place.
//!
//! Flags this version does not know are kept in `extra_args`. Working directory, environment and the MCP servers are not
//! in argv; the caller fills them in.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

use permission_core::PermissionMode;
use serde_json::Value;

use super::{LaunchOptions, PermissionPrompts, SessionStart, SettingSource, Thinking, Tools};
use crate::messages::{ClaudeSessionId, MessageUuid};

/// What argv says.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedArgv {
    /// The options; `cwd`, `env`, `settings` and `mcp_servers` are empty.
    pub options: LaunchOptions,
    /// Files with MCP servers, to be read with [`read_mcp_config`](super::read_mcp_config).
    pub mcp_configs: Vec<PathBuf>,
}

/// Why argv makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgvError {
    /// A flag without its value.
    #[error("`--{flag}` needs a value, give it as `--{flag}=VALUE`")]
    ValueMissing {
        /// The flag, without dashes.
        flag: String,
    },
    /// A value that the flag does not take.
    #[error("`--{flag}` does not take `{value}`")]
    BadValue {
        /// The flag, without dashes.
        flag: String,
        /// The value.
        value: String,
    },
    /// Flags that contradict each other.
    #[error("`--{flag}` cannot be used {with}")]
    Conflict {
        /// The flag, without dashes.
        flag: &'static str,
        /// With what.
        with: &'static str,
    },
    /// Something that is no flag.
    #[error("unexpected argument `{argument}`, only flags are understood here")]
    Unexpected {
        /// The argument.
        argument: String,
    },
}

/// Reads the arguments behind the program's name.
pub fn parse_argv(args: impl IntoIterator<Item = OsString>) -> Result<ParsedArgv, ArgvError> {
    let mut parser = Parser::new();
    let mut args = args.into_iter().peekable();
    while let Some(arg) = args.next() {
        let (flag, mut value) = split(&arg)?;
        if value.is_none() && !SWITCHES.contains(&flag.as_str()) {
            value = args.next_if(|next| !next.as_bytes().starts_with(b"-"));
        }
        parser.take(flag, value)?;
    }
    parser.finish()
}

/// `--flag` or `--flag=value`.
fn split(arg: &OsStr) -> Result<(String, Option<OsString>), ArgvError> {
    let unexpected = || ArgvError::Unexpected {
        argument: arg.to_string_lossy().into_owned(),
    };
    let body = arg
        .as_bytes()
        .strip_prefix(b"--")
        .filter(|body| !body.is_empty())
        .ok_or_else(unexpected)?;
    let mut halves = body.splitn(2, |byte| *byte == b'=');
    let flag = halves.next().unwrap_or_default();
    let flag = std::str::from_utf8(flag).map_err(|_| unexpected())?.to_owned();
    Ok((
        flag,
        halves.next().map(|value| OsStr::from_bytes(value).to_owned()),
    ))
}

/// Flags without a value. Any other takes the next argument for its value unless that is a flag.
const SWITCHES: [&str; 9] = [
    "verbose",
    "strict-mcp-config",
    "allow-dangerously-skip-permissions",
    "include-hook-events",
    "include-partial-messages",
    "fork-session",
    "no-session-persistence",
    "replay-user-messages",
    "continue",
];

struct Parser {
    options: LaunchOptions,
    mcp_configs: Vec<PathBuf>,
    resume: Option<ClaudeSessionId>,
    fork: bool,
    at: Option<MessageUuid>,
    session_id: Option<ClaudeSessionId>,
}

impl Parser {
    fn new() -> Self {
        let bare = LaunchOptions {
            permission_prompts: PermissionPrompts::Nobody,
            tools: Tools::Unspecified,
            setting_sources: None,
            partial_messages: false,
            ..LaunchOptions::new(PathBuf::new(), SessionStart::Unnamed)
        };
        Parser {
            options: bare,
            mcp_configs: Vec::new(),
            resume: None,
            fork: false,
            at: None,
            session_id: None,
        }
    }

    fn take(&mut self, flag: String, value: Option<OsString>) -> Result<(), ArgvError> {
        let options = &mut self.options;
        let given = Given {
            flag: &flag,
            value: value.as_deref(),
        };
        match flag.as_str() {
            "output-format" | "input-format" => given.only("stream-json")?,
            "permission-prompts" => given.only("none")?,
            "verbose" => given.bare()?,
            "thinking" => options.thinking = Some(given.thinking()?),
            "max-thinking-tokens" => {
                options.thinking = Some(Thinking::Budget {
                    tokens: given.number()?,
                })
            }
            "effort" => options.effort = Some(given.text()?),
            "max-turns" => options.max_turns = Some(given.number()?),
            "model" => options.model = Some(given.text()?),
            "agent" => options.agent = Some(given.text()?),
            "debug-file" => options.debug_file = Some(given.path()?),
            "permission-prompt-tool" => options.permission_prompts = given.prompt_tool()?,
            "resume" => self.resume = Some(given.text()?.into()),
            "allowedTools" => options.allowed_tools = given.rules()?,
            "disallowedTools" => options.disallowed_tools = given.rules()?,
            "tools" => options.tools = given.tools()?,
            "mcp-config" => self.mcp_configs.push(given.path()?),
            "setting-sources" => options.setting_sources = Some(given.setting_sources()?),
            "strict-mcp-config" => options.strict_mcp_config = given.set()?,
            "permission-mode" => options.permission_mode = Some(given.mode()?),
            "allow-dangerously-skip-permissions" => options.allow_bypass = given.set()?,
            "fallback-model" => options.fallback_model = Some(given.text()?),
            "include-hook-events" => options.hook_events = given.set()?,
            "include-partial-messages" => options.partial_messages = given.set()?,
            "add-dir" => options.additional_directories.push(given.path()?),
            "fork-session" => self.fork = given.set()?,
            "resume-session-at" => self.at = Some(given.text()?.into()),
            "session-id" => self.session_id = Some(given.text()?.into()),
            "no-session-persistence" => options.persist_session = !given.set()?,
            "replay-user-messages" => options.replay_user_messages = given.set()?,
            "settings" => options.settings_file = Some(given.path()?),
            "managed-settings" => options.managed_settings = Some(given.json()?),
            _ => {
                let value = given.value.map(|_| given.text()).transpose()?;
                options.extra_args.push((flag, value));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ParsedArgv, ArgvError> {
        let without_resume = "without `--resume`";
        self.options.session = match (self.resume, self.fork, self.session_id, self.at) {
            (Some(from), true, id, at) => SessionStart::Fork { from, id, at },
            (Some(id), false, None, at) => SessionStart::Resume { id, at },
            (Some(_), false, Some(_), _) => {
                let with = "with `--resume` unless `--fork-session` is given";
                return Err(ArgvError::Conflict {
                    flag: "session-id",
                    with,
                });
            }
            (None, true, _, _) => {
                return Err(ArgvError::Conflict {
                    flag: "fork-session",
                    with: without_resume,
                });
            }
            (None, false, _, Some(_)) => {
                return Err(ArgvError::Conflict {
                    flag: "resume-session-at",
                    with: without_resume,
                });
            }
            (None, false, Some(id), None) => SessionStart::New { id },
            (None, false, None, None) => SessionStart::Unnamed,
        };
        Ok(ParsedArgv {
            options: self.options,
            mcp_configs: self.mcp_configs,
        })
    }
}

/// A flag with the value that came with it.
struct Given<'a> {
    flag: &'a str,
    value: Option<&'a OsStr>,
}

impl Given<'_> {
    fn os(&self) -> Result<&OsStr, ArgvError> {
        self.value.ok_or_else(|| ArgvError::ValueMissing {
            flag: self.flag.to_owned(),
        })
    }

    fn bad(&self) -> ArgvError {
        let value = self.value.unwrap_or_default().to_string_lossy().into_owned();
        ArgvError::BadValue {
            flag: self.flag.to_owned(),
            value,
        }
    }

    fn bare(&self) -> Result<(), ArgvError> {
        if self.value.is_some() {
            Err(self.bad())
        } else {
            Ok(())
        }
    }

    fn set(&self) -> Result<bool, ArgvError> {
        self.bare().map(|()| true)
    }

    fn path(&self) -> Result<PathBuf, ArgvError> {
        self.os().map(PathBuf::from)
    }

    fn text(&self) -> Result<String, ArgvError> {
        self.os()?.to_str().map(str::to_owned).ok_or_else(|| self.bad())
    }

    fn number<N: FromStr>(&self) -> Result<N, ArgvError> {
        self.text()?.parse().map_err(|_| self.bad())
    }

    fn only(&self, value: &str) -> Result<(), ArgvError> {
        if self.text()? == value {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    fn json(&self) -> Result<Value, ArgvError> {
        serde_json::from_str(&self.text()?).map_err(|_| self.bad())
    }

    fn thinking(&self) -> Result<Thinking, ArgvError> {
        match self.text()?.as_str() {
            "adaptive" => Ok(Thinking::Adaptive),
            "disabled" => Ok(Thinking::Disabled),
            _ => Err(self.bad()),
        }
    }

    fn prompt_tool(&self) -> Result<PermissionPrompts, ArgvError> {
        Ok(match self.text()? {
            name if name == "stdio" => PermissionPrompts::Host,
            name => PermissionPrompts::Tool(name),
        })
    }

    fn mode(&self) -> Result<PermissionMode, ArgvError> {
        match self.text()?.as_str() {
            // The CLI's help has this name for it.
            "manual" => Ok(PermissionMode::Default),
            id => PermissionMode::from_wire_id(id).ok_or_else(|| self.bad()),
        }
    }

    fn rules(&self) -> Result<Vec<String>, ArgvError> {
        Ok(split_rules(&self.text()?))
    }

    fn tools(&self) -> Result<Tools, ArgvError> {
        Ok(match self.text()?.as_str() {
            "default" => Tools::Preset,
            names => Tools::Only(split_rules(names)),
        })
    }

    fn setting_sources(&self) -> Result<Vec<SettingSource>, ArgvError> {
        split_rules(&self.text()?)
            .iter()
            .map(|name| SettingSource::from_name(name).ok_or_else(|| self.bad()))
            .collect()
    }
}

/// Splits at commas outside parentheses.
fn split_rules(text: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match rules.last_mut() {
            Some(rule) if character != ',' || depth > 0 => rule.push(character),
            _ => rules.push(String::new()),
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}
