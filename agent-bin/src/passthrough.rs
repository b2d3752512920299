//! `--cli`: this process becomes the Claude CLI. Being replaced is the most faithful way of passing things through:
//! terminal, signals, exit code and everything else are the CLI's own from then on. Under a policy, which the CLI would
//! not keep to, only what logs in and out passes.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use claude_sdk_bridge::discovery::{Surroundings, discover};
use claude_sdk_bridge::launch::is_nesting_marker;

use crate::{exit, policy};

const REFUSED: &str = "under a policy, `--cli` passes on `auth login`, `auth logout`, `auth status` (each with its own options only), their `--help`, and `--version`: \
                       a Claude in the terminal would not be under the policy";

/// Runs the CLI with these arguments. Returns only when they are refused: with the exit code.
///
/// # Errors
/// When the policy has mistakes, there is no CLI, or the system does not start it.
pub(crate) fn run(arguments: Vec<OsString>, policy: Option<&Path>) -> anyhow::Result<u8> {
    if let Some(file) = policy {
        policy::load(file)?;
        if !passes_under_policy(&arguments) {
            // A reader who is gone cannot be told.
            let _ = writeln!(std::io::stderr(), "error: {REFUSED}");
            return Ok(exit::MISUSED);
        }
    }
    let found = discover(&Surroundings::of_this_process())?;
    // A name without a slash would be searched for in PATH.
    let executable = std::path::absolute(&found).unwrap_or(found);
    let mut command = Command::new(&executable);
    command.args(arguments);
    // A login started from inside Claude is not a Claude inside Claude.
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_nesting_marker(name)) {
        command.env_remove(name);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run the Claude CLI `{}`", executable.display()))
}

/// Whether the arguments only log in or out, or tell something. Every word is known: options of Claude's own would be
/// understood before and behind `auth`, too.
fn passes_under_policy(arguments: &[OsString]) -> bool {
    let words: Option<Vec<&str>> = arguments.iter().map(|argument| OsStr::to_str(argument)).collect();
    let Some(words) = words else {
        return false;
    };
    match words.as_slice() {
        ["--version" | "-v" | "-V"] | ["auth"] | ["auth", "--help" | "-h" | "help"] => true,
        ["auth", "help", "login" | "logout" | "status"] => true,
        ["auth", "login", options @ ..] => are_login_options(options),
        ["auth", "logout", options @ ..] => options.iter().all(|option| is_help(option)),
        ["auth", "status", options @ ..] => options
            .iter()
            .all(|option| is_help(option) || matches!(*option, "--json" | "--text")),
        _ => false,
    }
}

fn are_login_options(mut options: &[&str]) -> bool {
    loop {
        options = match options {
            [] => return true,
            ["--claudeai" | "--console" | "--sso" | "--help" | "-h", rest @ ..] => rest,
            ["--email", address, rest @ ..] if !address.starts_with('-') => rest,
            [option, rest @ ..] if option.starts_with("--email=") => rest,
            _ => return false,
        }
    }
}

fn is_help(option: &str) -> bool {
    matches!(option, "--help" | "-h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_a_policy_only_the_login_and_the_version_pass() {
        let passes = |line: &str| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            passes_under_policy(&arguments)
        };
        for line in [
            "--version",
            "-v",
            "auth",
            "auth --help",
            "auth help",
            "auth help login",
            "auth login",
            "auth login --claudeai",
            "auth login --console --sso",
            "auth login --email a@b.c --claudeai",
            "auth login --email=a@b.c",
            "auth login --help",
            "auth logout",
            "auth status",
            "auth status --json",
            "auth status --text",
        ] {
            assert!(passes(line), "{line}");
        }
        for line in [
            "",
            "-p hello",
            "/login",
            "setup-token",
            "doctor",
            "mcp add x",
            "--help",
            "--version -p hello",
            "-v --settings x",
            "--settings x auth login",
            "--managed-settings {} auth status",
            "-- auth login",
            "auth --settings x",
            "auth login --settings x",
            "auth login --email",
            "auth login --email --settings x",
            "auth login --email -p",
            "auth login hello",
            "auth login -- hello",
            "auth login --email a@b.c hello",
            "auth logout --all",
            "auth status --json -p hello",
            "auth help mcp",
            "auth setup",
            "Auth login",
        ] {
            assert!(!passes(line), "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_text_does_not_pass() {
        use std::os::unix::ffi::OsStringExt as _;

        let odd = OsString::from_vec(vec![0xff]);
        assert!(!passes_under_policy(&[
            "auth".into(),
            "login".into(),
            "--email".into(),
            odd
        ]));
    }
}
