//! What the suite finds on the machine: the agent's binary, the Claude CLI and Node tools, named by variables
//! that `cargo xtask e2e` sets.

use std::path::PathBuf;

/// The agent under test: `E2E_AGENT`, or the binary beside the tests in the target folder.
pub fn agent_binary() -> PathBuf {
    path_in("E2E_AGENT").unwrap_or_else(|| beside_tests("claude-acp"))
}

/// A binary of this crate.
pub fn own_binary(name: &str) -> PathBuf {
    beside_tests(name)
}

/// The real Claude CLI: `E2E_CLAUDE_CLI`.
pub fn claude_cli() -> Option<PathBuf> {
    path_in("E2E_CLAUDE_CLI")
}

/// Whether that CLI calls back before the shell lines of commands and skills: from 2.1.332 on.
pub fn claude_asks_before_shell_lines() -> bool {
    let cli = claude_cli().expect("the Claude CLI");
    let output = std::process::Command::new(cli).arg("--version").output();
    let text = String::from_utf8(output.expect("the CLI runs").stdout).expect("its version is text");
    let version = text.split([' ', '.']).map_while(|part| part.parse::<u64>().ok());
    version.collect::<Vec<_>>() >= vec![2, 1, 332]
}

/// The driver built on the official client crate: `E2E_OFFICIAL_CLIENT`.
pub fn official_client() -> Option<PathBuf> {
    path_in("E2E_OFFICIAL_CLIENT")
}

/// Node and the script of npm's acpx: `E2E_NODE` and `E2E_ACPX`.
pub fn acpx() -> Option<(PathBuf, PathBuf)> {
    path_in("E2E_NODE").zip(path_in("E2E_ACPX"))
}

fn path_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.exists())
}

/// Test binaries live in `target/<profile>/deps`, ordinary ones in `target/<profile>`.
fn beside_tests(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("the path of the test binary");
    let profile = tests.ancestors().nth(2).expect("the profile's folder");
    profile.join(name)
}
