//! `initialize`: what this agent can do, what the client can do, and how to log in.
//!
//! Nothing is advertised here that is not built. No process is started for an answer.

use acp_proto::ext::{ClientExtensions, MetaRecord, PromptQueueing, TerminalAuth};
use acp_proto::{RpcError, errors, schema};

use crate::config::{LoginCommand, ManagerConfig};
use crate::options::Switches;
use crate::steering::Steering;

/// What a client said about itself in `initialize`, reduced to what changes our behaviour.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClientFacts {
    pub(crate) extensions: ClientExtensions,
    /// Whether the client shows forms, which Claude's questions to the user need.
    pub(crate) forms: bool,
    /// How it shows a switch among the config options.
    pub(crate) switches: Switches,
    /// Whether it takes `$/cancel_request`.
    pub(crate) cancellations: bool,
    /// Whether it has been offered a login.
    pub(crate) login_offered: bool,
}

impl ClientFacts {
    /// Reads the capabilities; unknown ones are ignored.
    pub(crate) fn read(request: &schema::InitializeRequest, login: &LoginCommand) -> Self {
        let capabilities = &request.client_capabilities;
        Self {
            extensions: ClientExtensions::read(capabilities.meta.as_ref()),
            switches: Switches::read(capabilities),
            cancellations: takes_cancellations(capabilities),
            login_offered: !auth_methods(request, login).is_empty(),
            forms: capabilities
                .elicitation
                .as_ref()
                .is_some_and(|elicitation| elicitation.form.is_some()),
        }
    }
}

/// Whether a client takes `$/cancel_request`. The protocol has no capability for it: everybody may ignore it, but there are
/// clients that knew nothing of it and complain. It became part of the protocol before each of these capabilities did, so a
/// client that has one of them has heard of it.
fn takes_cancellations(capabilities: &schema::ClientCapabilities) -> bool {
    capabilities.elicitation.is_some()
        || capabilities.session.is_some()
        || capabilities.subagents.is_some()
        || capabilities.plan.is_some()
        || capabilities.auth.terminal
}

/// Answers `initialize`. Every version from 1 on is answered with 1, the one we speak.
///
/// # Errors
/// `-32022` for version 0, which was never released.
pub(crate) fn respond(
    request: &schema::InitializeRequest,
    config: &ManagerConfig,
) -> Result<schema::InitializeResponse, RpcError> {
    if request.protocol_version < schema::ProtocolVersion::V1 {
        return Err(errors::unsupported_protocol_version(
            request.protocol_version.as_u16(),
            &[1],
        ));
    }
    let prompt = schema::PromptCapabilities::new()
        .image(true)
        .embedded_context(true);
    let mcp = schema::McpCapabilities::new().http(true).sse(true);
    let stored = config.transcripts().is_some();
    let sessions = schema::SessionCapabilities::new()
        .list(stored.then(schema::SessionListCapabilities::new))
        .fork(stored.then(schema::SessionForkCapabilities::new))
        .delete(stored.then(schema::SessionDeleteCapabilities::new))
        .resume(stored.then(schema::SessionResumeCapabilities::new))
        .additional_directories(schema::SessionAdditionalDirectoriesCapabilities::new())
        .close(schema::SessionCloseCapabilities::new())
        .system_prompt(
            schema::SessionSystemPromptCapabilities::new().mode(
                schema::SessionSystemPromptModeCapabilities::new()
                    .override_(schema::SessionSystemPromptOverrideCapabilities::new()),
            ),
        );
    let capabilities = schema::AgentCapabilities::new()
        .load_session(stored)
        .prompt_capabilities(prompt)
        .mcp_capabilities(mcp)
        .session_capabilities(sessions)
        .meta(
            PromptQueueing {
                prompt_queueing: true,
            }
            .into_meta(),
        );
    let identity = schema::Implementation::new(config.agent.name.clone(), config.agent.version.clone())
        .title(config.agent.title.clone());
    Ok(schema::InitializeResponse::new(schema::ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(identity)
        .meta(Steering { supported: true }.into_meta())
        .auth_methods(auth_methods(request, &config.login)))
}

/// The logins a client can offer: all of them run in a terminal, so only to clients that have one.
fn auth_methods(request: &schema::InitializeRequest, login: &LoginCommand) -> Vec<schema::AuthMethod> {
    let capabilities = &request.client_capabilities;
    let by_meta = ClientExtensions::read(capabilities.meta.as_ref()).terminal_auth;
    if !capabilities.auth.terminal && !by_meta {
        return Vec::new();
    }
    let methods: &[Login] = match (login.subscriptions, login.browser) {
        (false, _) => &[CONSOLE],
        (true, true) => &[SUBSCRIPTION, CONSOLE],
        (true, false) => &[REMOTE],
    };
    methods
        .iter()
        .map(|method| method.to_schema(login, by_meta))
        .collect()
}

struct Login {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    arguments: &'static [&'static str],
}

const SUBSCRIPTION: Login = Login {
    id: "claude-ai-login",
    name: "Claude Subscription",
    description: "Use your Claude subscription",
    arguments: &["--cli", "auth", "login", "--claudeai"],
};
const CONSOLE: Login = Login {
    id: "console-login",
    name: "Anthropic Console",
    description: "Use the Anthropic Console (billed by API usage)",
    arguments: &["--cli", "auth", "login", "--console"],
};
/// Without a browser at hand the CLI's own `/login` shows an address to open elsewhere.
const REMOTE: Login = Login {
    id: "claude-login",
    name: "Log in with Claude",
    description: "Run `claude /login` in the terminal",
    arguments: &["--cli"],
};

impl Login {
    fn to_schema(&self, login: &LoginCommand, by_meta: bool) -> schema::AuthMethod {
        let arguments: Vec<String> = self.arguments.iter().map(ToString::to_string).collect();
        let mut method = schema::AuthMethodTerminal::new(self.id, self.name)
            .description(self.description.to_owned())
            .args(arguments.clone());
        if by_meta {
            let command = TerminalAuth {
                command: login.program.clone(),
                args: login.arguments.iter().cloned().chain(arguments).collect(),
                label: self.name.to_owned(),
            };
            method = method.meta(command.into_meta());
        }
        schema::AuthMethod::Terminal(method)
    }
}
