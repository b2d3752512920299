//! The environment of the CLI: everything inherited, minus what would make it believe that it runs inside another
//! Claude, plus what says who drives it.
//!
//! Pure: the inherited environment comes in, the complete new one goes out. Values are passed on untouched, newlines
//! and all.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::LaunchOptions;

/// What a Claude puts into the environment of the commands it runs. An agent started from there must not pass it on:
/// the new Claude would take itself for a child of that session.
const NESTING_MARKERS: [&str; 13] = [
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
    "AI_AGENT",
];

/// What changes the CLI's own runtime rather than its work, or has it make no callbacks.
const RUNTIME_SWITCHES: [&str; 3] = ["NODE_OPTIONS", "DEBUG", "CLAUDE_CODE_SIMPLE"];

/// What we set, unless the session's own variables say otherwise.
const IDENTITY: [(&str, &str); 3] = [
    // The CLI knows a closed set of drivers; this one has the behaviour the protocol was observed with.
    ("CLAUDE_CODE_ENTRYPOINT", "sdk-ts"),
    (
        "CLAUDE_AGENT_SDK_CLIENT_APP",
        concat!("claude-acp/", env!("CARGO_PKG_VERSION")),
    ),
    // Makes the CLI report when it is idle.
    ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
];

/// The complete environment for a CLI started with `options` by a process whose environment is `inherited`.
pub fn environment(
    options: &LaunchOptions,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut variables: BTreeMap<OsString, OsString> = inherited
        .into_iter()
        .filter(|(name, _)| !is_nesting_marker(name) && !is_runtime_switch(name))
        .collect();
    for (name, value) in IDENTITY {
        variables.insert(name.into(), value.into());
    }
    variables.insert("PWD".into(), options.cwd.clone().into());
    for (name, value) in &options.env {
        variables.insert(name.into(), value.into());
    }
    variables.into_iter().collect()
}

/// Whether a variable says that its process runs inside a Claude session.
pub fn is_nesting_marker(name: &OsStr) -> bool {
    NESTING_MARKERS.iter().any(|marker| name == *marker)
}

/// Whether a variable is ours alone to set: it says who drives Claude, or changes what Claude is.
pub fn is_reserved(name: &OsStr) -> bool {
    is_nesting_marker(name) || is_runtime_switch(name) || IDENTITY.iter().any(|(ours, _)| name == *ours)
}

fn is_runtime_switch(name: &OsStr) -> bool {
    RUNTIME_SWITCHES.iter().any(|switch| name == *switch)
}
