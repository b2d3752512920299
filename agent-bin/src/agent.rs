//! Puts the agent together: the backend that was asked for, and a session manager that knows its surroundings.

use std::sync::Arc;

use claude_sdk_bridge::backend::Backend as Claude;
use claude_sdk_bridge::discovery::Surroundings;
use claude_sdk_bridge::process::ProcessBackend;
use rehearsal::script::DEFAULT;
use rehearsal::{RehearsalBackend, Script};
use session_manager::{
    AgentIdentity, Audit, LoginCommand, ManagerConfig, SessionManager, SettingsOrigin, Timings,
};

use crate::args::Backend;
use crate::policy::Oversight;
use crate::surroundings::{NAME, VERSION, has_browser, privileges, program, settings};
use crate::traffic;

const TITLE: &str = "Claude Agent";

/// A manager without sessions; no process is started.
///
/// # Errors
/// When the script of the rehearsal cannot be used.
pub(crate) fn manager(
    backend: Backend,
    oversight: Oversight,
    subscriptions: bool,
) -> anyhow::Result<Arc<SessionManager>> {
    let (claude, settings): (Arc<dyn Claude>, _) = match backend {
        Backend::Process => {
            let backend = ProcessBackend::new(Surroundings::of_this_process());
            (Arc::new(backend), SettingsOrigin::Files(settings()))
        }
        // Nothing of the user's has a part in a rehearsal.
        Backend::Rehearsal(script) => {
            let script = Script::find(script.as_deref().unwrap_or(DEFAULT))?;
            let settings = SettingsOrigin::Given(script.settings().into_iter().collect());
            (Arc::new(RehearsalBackend::new(Arc::new(script))), settings)
        }
    };
    let Oversight {
        policy,
        audit,
        arguments,
    } = oversight;
    let config = ManagerConfig {
        agent: AgentIdentity {
            name: NAME.to_owned(),
            title: TITLE.to_owned(),
            version: VERSION.to_owned(),
        },
        login: LoginCommand {
            program: program(),
            // Without a browser the login is a Claude of its own in a terminal, and no policy reaches that one.
            browser: policy.is_some() || has_browser(),
            arguments,
            subscriptions,
        },
        environment: std::env::vars_os().collect(),
        home: std::env::home_dir(),
        settings,
        policy,
        audit: audit.map(|audit| audit as Arc<dyn Audit>),
        privileges: privileges(),
        timings: Timings::default(),
    };
    Ok(SessionManager::new(traffic::of_claude(claude), config))
}
