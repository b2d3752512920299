//! The binary's command line from outside: what it prints, where, and how it exits.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;

use super::harness::{BINARY, Finished, command, run};
use tempfile::TempDir;

async fn run_with(arguments: &[&str]) -> Finished {
    let home = tempfile::tempdir().unwrap();
    run(command(home.path(), arguments), "").await
}

/// A CLI that is a shell script.
fn fake_cli(home: &TempDir, script: &str) -> String {
    let path = home.path().join("fake-claude");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_version_goes_to_standard_output() {
    for flag in ["--version", "-V", "-v"] {
        let finished = run_with(&[flag]).await;
        assert_eq!(finished.status.code(), Some(0));
        assert_eq!(
            finished.stdout,
            format!("claude-acp {}\n", env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(finished.stderr, "");
    }
}

#[tokio::test]
async fn help_names_every_option_and_exit_code() {
    let finished = run_with(&["--help"]).await;
    assert_eq!((finished.status.code(), finished.stderr.as_str()), (Some(0), ""));
    for part in [
        "--listen",
        "--backend",
        "--cli",
        "--log-level",
        "--log-file",
        "chat",
        "Exit codes",
    ] {
        assert!(finished.stdout.contains(part), "{part}: {}", finished.stdout);
    }
}

#[tokio::test]
async fn a_mistake_is_explained_on_standard_error_only() {
    for arguments in [
        &["--bogus"][..],
        &["--listen", "tcp://0.0.0.0:1"],
        &["--backend=rehearsal", "chat", "hello"],
    ] {
        let finished = run_with(arguments).await;
        assert_eq!(
            (finished.status.code(), finished.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
        assert!(
            finished.stderr.starts_with("error: "),
            "{arguments:?}: {}",
            finished.stderr
        );
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_explained_and_fails() {
    let check = async |arguments: &[&str], message: &str| {
        let finished = run_with(arguments).await;
        assert_eq!(
            (finished.status.code(), finished.stdout.as_str()),
            (Some(1), ""),
            "{arguments:?}"
        );
        assert!(
            finished.stderr.starts_with("claude-acp: "),
            "{arguments:?}: {}",
            finished.stderr
        );
        assert!(
            finished.stderr.contains(message),
            "{arguments:?}: {}",
            finished.stderr
        );
    };
    check(&["--backend=rehearsal=nowhere.json"], "nowhere.json").await;
    check(&["--listen=unix:nowhere/a.sock"], "nowhere/a.sock").await;
    check(
        &["chat", "--connect=unix:nowhere.sock", "hello"],
        "is the agent running with",
    )
    .await;
    check(&["--log-file=nowhere/a.log"], "`--log-file`").await;
    check(&["chat", "--rehearse"], "the prompt is empty").await;
}

#[tokio::test]
async fn the_cli_gets_everything_and_its_exit_code_is_ours() {
    let home = tempfile::tempdir().unwrap();
    let cli = fake_cli(
        &home,
        r#"read line; echo "<$line>"; for a; do echo "[$a]"; done; echo "${CLAUDECODE-none}" >&2; exit 7"#,
    );
    let mut passing = command(
        home.path(),
        &["--cli", "--version", "-p", "a b", "--", "--cli", "chat"],
    );
    passing.env("CLAUDE_CODE_EXECUTABLE", cli).env("CLAUDECODE", "1");
    let finished = run(passing, "typed\n").await;
    assert_eq!(finished.status.code(), Some(7));
    assert_eq!(
        finished.stdout,
        "<typed>\n[--version]\n[-p]\n[a b]\n[--]\n[--cli]\n[chat]\n"
    );
    assert_eq!(finished.stderr, "none\n");
}

#[tokio::test]
async fn the_signal_that_kills_the_cli_is_ours() {
    let home = tempfile::tempdir().unwrap();
    let mut passing = command(home.path(), &["--cli"]);
    passing.env("CLAUDE_CODE_EXECUTABLE", fake_cli(&home, "kill -TERM $$"));
    assert_eq!(run(passing, "").await.status.signal(), Some(15));
}

#[tokio::test]
async fn a_cli_that_is_missing_is_explained() {
    let home = tempfile::tempdir().unwrap();
    let mut passing = command(home.path(), &["--cli", "auth", "login"]);
    passing.env("CLAUDE_CODE_EXECUTABLE", "/nowhere/claude");
    let finished = run(passing, "").await;
    assert_eq!((finished.status.code(), finished.stdout.as_str()), (Some(1), ""));
    assert!(
        finished
            .stderr
            .starts_with("claude-acp: CLAUDE_CODE_EXECUTABLE names"),
        "{}",
        finished.stderr
    );
}

#[tokio::test]
async fn called_as_claude_it_plays_the_cli() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("claude");
    symlink(BINARY, &link).unwrap();
    let mut played = tokio::process::Command::new(&link);
    played
        .arg("--version")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    played.stderr(std::process::Stdio::piped()).kill_on_drop(true);
    let finished = run(played, "").await;
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("(rehearsal)"), "{}", finished.stdout);
}

#[tokio::test]
async fn the_log_goes_to_the_file_alone_and_without_one_to_standard_error() {
    let home = tempfile::tempdir().unwrap();
    let arguments = ["--backend=rehearsal", "--log-level=debug", "--log-file=a.log"];
    let finished = run(command(home.path(), &arguments), "").await;
    let printed = (finished.stdout.as_str(), finished.stderr.as_str());
    assert_eq!((finished.status.code(), printed), (Some(0), ("", "")));
    let file = std::fs::read_to_string(home.path().join("a.log")).unwrap();
    assert!(file.contains("disconnected"), "{file}");
    let finished = run(command(home.path(), &arguments[..2]), "").await;
    assert!(finished.stderr.contains("disconnected"), "{}", finished.stderr);
}

#[tokio::test]
async fn the_log_shows_traffic_in_outline_at_trace_and_nothing_foreign() {
    let home = tempfile::tempdir().unwrap();
    let log = |level: &str| {
        let level = format!("--log-level={level}");
        let line = [
            "chat",
            "--rehearse=permissions",
            "my prompt",
            &level,
            "--log-file=a.log",
        ];
        let mut command = command(home.path(), &line);
        command.env("SECRET", "my secret");
        let file = home.path().join("a.log");
        async move {
            let finished = run(command, "").await;
            assert_eq!(finished.stderr, "");
            let log = std::fs::read_to_string(&file).unwrap();
            std::fs::remove_file(file).unwrap();
            log
        }
    };
    let debug = log("debug").await;
    assert!(
        debug.contains("connected") && !debug.contains("\"method\""),
        "{debug}"
    );
    let trace = log("trace").await;
    for part in [
        r#"client → {"jsonrpc":"2.0","id":0,"method":"initialize""#,
        r#""method":"session/prompt""#,
        r#""prompt":[{"type":"text","text":"(9 bytes)"}]"#,
        "client ← {",
        r#"claude ← {"type":"user""#,
        r#"claude → {"type":"stream_event""#,
    ] {
        assert!(trace.contains(part), "{part}: {trace:.2000}");
    }
    for log in [debug, trace] {
        for hidden in ["my prompt", "my secret", "./task", "brush_parser"] {
            assert!(!log.contains(hidden), "{hidden}");
        }
    }
}

#[tokio::test]
async fn an_error_of_the_system_is_said_once() {
    let home = tempfile::tempdir().unwrap();
    for line in [
        &["--listen=unix:nowhere/a.sock"][..],
        &["--log-file=nowhere/a.log"],
        &["--audit=nowhere/a.jsonl"],
        &["--backend=rehearsal=nowhere.json"],
        &["chat", "--connect=unix:nowhere.sock", "hello"],
        &["chat", "--rehearse=nowhere.json", "hello"],
    ] {
        let finished = run(command(home.path(), line), "").await;
        assert_eq!(finished.status.code(), Some(1), "{line:?}");
        let said = finished.stderr.matches("os error 2").count();
        assert_eq!(said, 1, "{line:?}: {}", finished.stderr);
    }
}
