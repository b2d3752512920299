//! What this program knows of itself and of where it runs: its name, its privileges, and where Claude's settings lie.
//! Must not read any of those files.

use std::ffi::OsStr;
use std::path::PathBuf;

use claude_sdk_bridge::settings::{SettingsSurroundings, system_managed_file};
use session_manager::Privileges;

/// The machine-readable name of the agent, and of the program.
pub(crate) const NAME: &str = "claude-acp";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A browser on this machine does not reach the user when one of these is set.
const REMOTE_VARIABLES: [&str; 5] = [
    "NO_BROWSER",
    "SSH_CONNECTION",
    "SSH_CLIENT",
    "SSH_TTY",
    "CLAUDE_CODE_REMOTE",
];

/// Whether a browser that this program opens would be the user's.
pub(crate) fn has_browser() -> bool {
    !REMOTE_VARIABLES.into_iter().any(is_set)
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
