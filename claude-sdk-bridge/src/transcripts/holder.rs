//! Which process has a session open, by the registry that Claude's processes keep of themselves.
//!
//! Entries of processes that were killed stay; a number that is used again is told apart by when its process started.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::messages::ClaudeSessionId;
use crate::process;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    pid: i32,
    session_id: String,
    proc_start: String,
}

/// The number of the process that has the session open.
pub(super) fn holder(registry: &Path, session: &ClaudeSessionId) -> Option<i32> {
    let entries = fs::read_dir(registry)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    // What lies beside the entries is secret.
    let is_entry = |path: &Path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let number = stem.is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()));
        number && path.extension() == Some("json".as_ref())
    };
    let paths = entries.map(|entry| entry.path()).filter(|path| is_entry(path));
    let mut read = paths.filter_map(|path| serde_json::from_slice::<Entry>(&fs::read(path).ok()?).ok());
    let holds = |entry: &Entry| {
        let started = || process::started(entry.pid).map(|started| started.to_string());
        entry.session_id == session.as_str() && started().as_ref() == Some(&entry.proc_start)
    };
    read.find(holds).map(|entry| entry.pid)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_held_by_a_process_that_lives_and_is_the_one() {
        let registry = tempfile::tempdir().unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        let started = process::started(pid).unwrap().to_string();
        let held = ClaudeSessionId::from("held");
        let holds = |pid: i32, started: &str, session: &str| {
            let entry =
                json!({"pid": pid, "sessionId": session, "procStart": started, "kind": "interactive"});
            fs::write(registry.path().join(format!("{pid}.json")), entry.to_string()).unwrap();
            holder(registry.path(), &held)
        };
        fs::write(registry.path().join("1.deadbeef.key"), "secret").unwrap();
        fs::write(registry.path().join("2.json"), "broken").unwrap();
        assert_eq!(holds(pid, &started, "held"), Some(pid));
        assert_eq!(holds(pid, &started, "another"), None);
        assert_eq!(holds(pid, "1", "held"), None);
        assert_eq!(holder(Path::new("/nowhere"), &held), None);
    }
}
