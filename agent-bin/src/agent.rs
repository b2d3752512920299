//! Puts the agent together: the backend that was asked for, and a session manager that knows its surroundings.

use std::{ffi::OsStr, path::PathBuf, sync::Arc};

use claude_sdk_bridge::{
    backend::Backend as Claude,
    discovery::Surroundings,
    process::ProcessBackend,
    settings::{SettingsSurroundings, system_managed_file},
};
use rehearsal::{RehearsalBackend, Script, script::DEFAULT};
use session_manager::{
    AgentIdentity, Audit, LoginCommand, ManagerConfig, Privileges, SessionManager, SettingsOrigin, Timings,
};

use crate::{args::Backend, policy::Oversight, traffic};

/// The machine-readable name of the agent, and of the program.
pub(crate) const NAME: &str = "claude-acp";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
const TITLE: &str = "Claude Agent";

/// A browser on this machine does not reach the user when one of these is set.
const REMOTE_VARIABLES: [&str; 5] = [
    "NO_BROWSER",
    "SSH_CONNECTION",
    "SSH_CLIENT",
    "SSH_TTY",
    "CLAUDE_CODE_REMOTE",
];

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
            browser: policy.is_some() || !REMOTE_VARIABLES.into_iter().any(is_set),
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

/// What this process may do.
pub(crate) fn privileges() -> Privileges {
    Privileges {
        root: rustix::process::geteuid().is_root(),
        sandboxed: is_set("IS_SANDBOX"),
    }
}

/// Where Claude's settings files lie.
pub(crate) fn settings() -> SettingsSurroundings {
    SettingsSurroundings {
        home: std::env::home_dir(),
        claude_config_dir: directory("CLAUDE_CONFIG_DIR"),
        managed: system_managed_file(),
    }
}

/// A directory that an environment variable names; a relative one counts as none.
fn directory(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// The command that starts this program again, from any directory.
pub(crate) fn program() -> String {
    let own = std::env::current_exe().ok().map(PathBuf::into_os_string);
    let own = own.or_else(|| std::env::args_os().next());
    own.as_deref()
        .map_or(NAME.into(), OsStr::to_string_lossy)
        .into_owned()
}
