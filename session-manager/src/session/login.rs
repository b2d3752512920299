//! Which account a session runs on: how its user logs in, and what is not to be used.
//!
//! Place in the flow: made when a session is opened; asked for each process that came up, and for each turn that failed for
//! want of a login. It must not start anything.

use acp_proto::{RpcError, errors};
use claude_sdk_bridge::messages::control::InitializeResponse;

use crate::config::LoginCommand;
use crate::initialize::ClientFacts;

/// How the user of a session logs in.
#[derive(Clone)]
pub(crate) struct Login {
    /// The command to type; none for a client that has been offered a login of its own.
    hint: Option<String>,
    /// Whether a claude.ai subscription may be used.
    subscriptions: bool,
}

impl Login {
    pub(crate) fn new(command: &LoginCommand, client: ClientFacts) -> Self {
        Self {
            hint: (!client.login_offered).then(|| command.typed()),
            subscriptions: command.subscriptions,
        }
    }

    /// Whether sessions may run on this account.
    pub(crate) fn takes(&self, info: &InitializeResponse) -> bool {
        let account = info.account.get();
        let plan = account.and_then(|account| account.subscription_type.as_str());
        self.subscriptions || plan.is_none_or(str::is_empty)
    }

    /// The error of a turn that needs a login.
    pub(crate) fn required(&self) -> RpcError {
        match &self.hint {
            Some(command) => errors::auth_required_by(format_args!(
                "run `{command}` in a terminal, then send the prompt again"
            )),
            None => errors::auth_required(),
        }
    }

    /// The error of a session that may not run on its account.
    pub(crate) fn refused(&self) -> RpcError {
        errors::auth_required_by(format_args!(
            "this agent is started with `--hide-claude-auth` and uses no claude.ai subscription; log in to the Anthropic Console instead{}",
            self.hint
                .as_ref()
                .map(|command| format!(": `{command}`"))
                .unwrap_or_default()
        ))
    }
}
