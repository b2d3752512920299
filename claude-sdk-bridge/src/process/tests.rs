//! Process life against scripts that resist: whatever the end, nothing of the tree is left. Linux only, where the process
//! table can be read.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{interval, timeout};

use super::ProcessBackend;
use super::start::start;
use super::table::{self, ProcessState};
use crate::backend::{Backend, Exit, ExitStatus, Grace, LaunchError, Running};
use crate::discovery::Surroundings;
use crate::launch::{LaunchOptions, McpServer, SessionStart, argv, mcp_config};

const LINGER: Duration = Duration::from_millis(50);
const SHORT: Grace = Grace {
    eof: Duration::from_millis(50),
    term: Duration::from_millis(50),
};
const LONG: Grace = Grace {
    eof: Duration::from_secs(60),
    term: Duration::from_secs(60),
};

/// A shell that ignores SIGTERM (and so does what it starts) in a session of its own, and says its number.
const DETACHED: &str = r#"setsid sh -c 'trap "" TERM; echo $$; exec sleep 600'"#;

async fn within<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(120), future)
        .await
        .expect("took too long")
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script);
    command
}

async fn run(script: &str) -> Running {
    within(start(shell(script), LINGER, Box::new(()))).await.unwrap()
}

struct Pids(Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>);

impl Pids {
    fn of(stdout: Box<dyn AsyncRead + Send + Unpin>) -> Self {
        Self(BufReader::new(stdout).lines())
    }

    /// The stream behind the first number, of a process that lives.
    async fn after_one(stdout: Box<dyn AsyncRead + Send + Unpin>) -> Box<dyn AsyncRead + Send + Unpin> {
        let mut pids = Self::of(stdout);
        pids.next().await;
        pids.0.into_inner().into_inner()
    }

    /// The next number the script said, of a process that lives.
    async fn next(&mut self) -> i32 {
        let line = within(self.0.next_line())
            .await
            .unwrap()
            .expect("the script said its number");
        let pid = line.parse().unwrap();
        assert_eq!(
            table::row(pid).map(|row| row.state),
            Some(ProcessState::Living),
            "{pid} lives"
        );
        pid
    }
}

/// Waits until a process has ended. What was orphaned is reaped by whoever adopted it, in its own time.
async fn gone(pid: i32) {
    let mut looks = interval(Duration::from_millis(2));
    within(async {
        while table::row(pid).is_some_and(|row| row.state == ProcessState::Living) {
            looks.tick().await;
        }
    })
    .await;
}

fn reaped(pid: i32) {
    assert_eq!(table::row(pid), None, "{pid} was reaped");
}

fn signalled(signal: i32) -> Exit {
    Exit {
        status: ExitStatus::Signal(signal),
        stderr_tail: String::new(),
    }
}

#[tokio::test]
async fn a_leader_that_resists_is_killed_with_its_detached_grandchild() {
    let mut running = run(&format!("trap '' TERM; echo $$; {DETACHED} & sleep 600")).await;
    let mut pids = Pids::of(running.stdout);
    let (leader, grandchild) = (pids.next().await, pids.next().await);
    assert_eq!(within(running.life.kill(&SHORT)).await, signalled(9));
    reaped(leader);
    gone(grandchild).await;
    assert_eq!(within(running.life.kill(&SHORT)).await, signalled(9));
    assert_eq!(within(running.life.ended()).await, signalled(9));
}

#[tokio::test]
async fn a_descendant_without_our_mark_is_found_through_its_parents() {
    let mut running = run(&format!(
        "trap '' TERM; env -i PATH=\"$PATH\" {DETACHED} & sleep 600"
    ))
    .await;
    let grandchild = Pids::of(running.stdout).next().await;
    assert_eq!(within(running.life.kill(&SHORT)).await, signalled(9));
    gone(grandchild).await;
}

#[tokio::test]
async fn an_orphan_in_a_session_of_its_own_does_not_outlive_a_leader_that_exits() {
    let mut running = run(&format!("({DETACHED} &); read line; exit 3")).await;
    let orphan = Pids::of(running.stdout).next().await;
    drop(running.stdin);
    let exit = within(running.life.ended()).await;
    assert_eq!(exit.status, ExitStatus::Code(3));
    gone(orphan).await;
}

#[tokio::test]
async fn a_process_of_the_group_does_not_outlive_a_leader_that_exits() {
    let mut running = run("sh -c 'trap \"\" TERM; echo $$; exec sleep 600' & read line").await;
    let orphan = Pids::of(running.stdout).next().await;
    drop(running.stdin);
    within(running.life.ended()).await;
    gone(orphan).await;
}

#[tokio::test]
async fn all_that_obey_get_the_time_to_clean_up_and_nobody_waits_longer() {
    let dir = TempDir::new().unwrap();
    let mut command = shell(
        r#"setsid sh -c 'trap "echo done >grandchild; exit" TERM; echo $$; while :; do sleep 0.01; done' &
           trap "echo done >leader; exit 143" TERM; echo $$; while :; do sleep 0.01; done"#,
    );
    command.current_dir(dir.path());
    let mut running = within(start(command, LINGER, Box::new(()))).await.unwrap();
    let mut pids = Pids::of(running.stdout);
    let (first, second) = (pids.next().await, pids.next().await);
    assert_eq!(
        within(running.life.kill(&LONG)).await.status,
        ExitStatus::Code(143)
    );
    gone(first).await;
    gone(second).await;
    for name in ["leader", "grandchild"] {
        assert_eq!(
            std::fs::read_to_string(dir.path().join(name)).unwrap(),
            "done\n",
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_exit_carries_the_status_and_the_last_words() {
    let mut running = run("echo fatal: no such thing >&2; exit 3").await;
    let expected = Exit {
        status: ExitStatus::Code(3),
        stderr_tail: "fatal: no such thing\n".to_owned(),
    };
    assert_eq!(within(running.life.ended()).await, expected);
    assert_eq!(running.life.stderr_tail(), expected.stderr_tail);
    assert_eq!(within(running.life.ended()).await, expected);
    let shown = "exit code `3`; its last words were `fatal: no such thing`";
    assert_eq!(expected.to_string(), shown);
}

#[tokio::test]
async fn a_second_kill_does_not_lengthen_the_grace_of_the_first() {
    // A shell that waits hears a signal at once; one that runs a command only after it.
    let mut running = run("trap 'echo 1' TERM; echo $$; while :; do sleep 600 & wait; done").await;
    let mut said = Pids::of(running.stdout);
    let leader = said.next().await;
    assert!(
        timeout(Duration::from_millis(1), running.life.kill(&SHORT))
            .await
            .is_err()
    );
    // The first has asked it to end before the second comes.
    said.next().await;
    let exit = within(running.life.kill(&LONG)).await;
    assert_eq!(exit.status, ExitStatus::Signal(9));
    reaped(leader);
}

#[tokio::test]
async fn dropping_the_life_ends_the_tree() {
    let running = run(&format!("trap '' TERM; echo $$; {DETACHED} & sleep 600")).await;
    let mut pids = Pids::of(running.stdout);
    let (leader, grandchild) = (pids.next().await, pids.next().await);
    drop(running.life);
    gone(leader).await;
    gone(grandchild).await;
}

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn a_cli_outlives_the_worker_that_started_it() {
    let first = runtime();
    let started = first.spawn(async {
        let mut running = run("trap 'exit 66' TERM; echo $$; read line; exit 5").await;
        running.stdout = Pids::after_one(running.stdout).await;
        running
    });
    let mut running = first.block_on(started).unwrap();
    // Ends the worker: had the process been bound to it, it would have got its SIGTERM before its input ends.
    drop(first);
    drop(running.stdin);
    let exit = runtime().block_on(within(running.life.ended()));
    assert_eq!(exit.status, ExitStatus::Code(5));
}

#[test]
fn dropping_the_life_ends_the_tree_without_a_runtime_too() {
    let first = runtime();
    let (life, leader, grandchild) = first.block_on(async {
        let running = run(&format!("trap '' TERM; echo $$; {DETACHED} & sleep 600")).await;
        let mut pids = Pids::of(running.stdout);
        (running.life, pids.next().await, pids.next().await)
    });
    drop(first);
    drop(life);
    runtime().block_on(async {
        gone(leader).await;
        gone(grandchild).await;
    });
}

#[tokio::test]
async fn a_start_nobody_waits_for_leaves_nothing_behind() {
    let name = uuid::Uuid::new_v4().to_string();
    let mut command = shell("trap '' TERM; sleep 600; exit");
    command.arg(&name);
    let mut abandoned = Box::pin(start(command, LINGER, Box::new(())));
    // Once is enough to ask for it. Should it be there already, it is dropped here.
    drop(futures::poll!(&mut abandoned));
    drop(abandoned);
    // Starts are served in order: once the second is there, the first has been started and given up.
    let mut second = run("read line").await;
    drop(second.stdin);
    within(second.life.ended()).await;
    let named = |pid: i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&name))
    };
    for row in table::read().into_iter().filter(|row| named(row.id.pid)) {
        gone(row.id.pid).await;
    }
}

/// Starts `command` and returns why it could not be.
async fn refusal(command: Command) -> LaunchError {
    within(start(command, LINGER, Box::new(()))).await.unwrap_err()
}

#[tokio::test]
async fn a_refused_start_says_what_is_wrong() {
    let dir = TempDir::new().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    let here = |program: &Path, cwd: &Path| {
        let mut command = Command::new(program);
        command.current_dir(cwd);
        command
    };
    let absent = dir.path().join("absent");
    let sh = Path::new("/bin/sh");
    let missing = refusal(here(&absent, dir.path())).await;
    assert!(
        matches!(&missing, LaunchError::ExecutableMissing { executable } if *executable == absent),
        "{missing:?}"
    );
    let forbidden = refusal(here(&plain, dir.path())).await;
    assert!(
        matches!(&forbidden, LaunchError::NotExecutable { executable } if *executable == plain),
        "{forbidden:?}"
    );
    let nowhere = refusal(here(sh, &absent)).await;
    assert!(
        matches!(&nowhere, LaunchError::DirectoryMissing { cwd } if *cwd == absent),
        "{nowhere:?}"
    );
    let file = refusal(here(sh, &plain)).await;
    assert!(
        matches!(&file, LaunchError::DirectoryUnusable { cwd, .. } if *cwd == plain),
        "{file:?}"
    );
}

/// A script in a file of its own that can be executed. Another program writes the file: a process that is forked
/// while we held it open for writing would make it "busy" for a moment.
fn executable(dir: &TempDir, script: &str) -> PathBuf {
    let (text, program) = (dir.path().join("text"), dir.path().join("claude"));
    std::fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
    let installed = Command::new("install")
        .arg("-m755")
        .arg(&text)
        .arg(&program)
        .status()
        .unwrap();
    assert!(installed.success());
    program
}

async fn lines_of(stdout: Box<dyn AsyncRead + Send + Unpin>) -> Vec<String> {
    let mut lines = BufReader::new(stdout).lines();
    let mut read = Vec::new();
    while let Some(line) = within(lines.next_line()).await.unwrap() {
        read.push(line);
    }
    read
}

#[tokio::test]
async fn options_reach_the_cli_as_arguments_environment_and_working_directory() {
    let dir = TempDir::new().unwrap();
    let program = executable(&dir, r#"printf '%s\n' "$PWD" "$MINE" "$CLAUDE_ACP_QUERY" "$@""#);
    let mut options = LaunchOptions::new(dir.path(), SessionStart::New { id: "s1".into() });
    options.env = vec![("MINE".to_owned(), "a value".to_owned())];
    let running = within(ProcessBackend::at(&program).launch(&options))
        .await
        .unwrap();
    let lines = lines_of(running.stdout).await;
    let (head, arguments) = lines.split_at(3);
    assert_eq!(head[..2], [dir.path().to_str().unwrap(), "a value"]);
    assert!(uuid::Uuid::parse_str(&head[2]).is_ok(), "{head:?}");
    let expected: Vec<_> = argv(&options, None)
        .into_iter()
        .map(|argument| argument.into_string().unwrap())
        .collect();
    assert_eq!(arguments, expected);
    let Running { mut life, .. } = running;
    assert_eq!(within(life.ended()).await.status, ExitStatus::Code(0));
}

#[tokio::test]
async fn private_files_are_there_as_long_as_the_life_of_the_cli() {
    let dir = TempDir::new().unwrap();
    let program = executable(
        &dir,
        r#"for a; do case "$a" in --mcp-config=*|--settings=*) cat "${a#*=}"; echo; echo "${a#*=}";; esac; done"#,
    );
    let mut options = LaunchOptions::new(dir.path(), SessionStart::Unnamed);
    let server = McpServer::Http {
        name: "a".to_owned(),
        url: "http://localhost".to_owned(),
        headers: Vec::new(),
    };
    options.mcp_servers = vec![server.clone()];
    options.settings = Some(serde_json::json!({"env": {"TOKEN": "secret"}}));
    let running = within(ProcessBackend::at(&program).launch(&options))
        .await
        .unwrap();
    let lines = lines_of(running.stdout).await;
    let config: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(config, mcp_config(&[server]).unwrap());
    assert_eq!(lines[2], r#"{"env":{"TOKEN":"secret"}}"#);
    for file in [&lines[1], &lines[3]] {
        let mode = std::fs::metadata(file).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }
    drop(running.life);
    assert!(!Path::new(&lines[1]).exists() && !Path::new(&lines[3]).exists());
}

#[tokio::test]
async fn a_machine_without_a_cli_is_told_where_it_was_looked_for() {
    let dir = TempDir::new().unwrap();
    let surroundings = Surroundings {
        path: Some(dir.path().into()),
        ..Surroundings::default()
    };
    let options = LaunchOptions::new(dir.path(), SessionStart::Unnamed);
    let error = within(ProcessBackend::new(surroundings).launch(&options))
        .await
        .unwrap_err();
    assert!(matches!(error, LaunchError::NoExecutable(_)), "{error:?}");
    assert!(
        error.to_string().contains(dir.path().to_str().unwrap()),
        "{error}"
    );
}

/// In the environment of the test binary when it plays the parent that is killed.
const PARENT_ROLE: &str = "CLAUDE_ACP_TEST_DYING_PARENT";

#[tokio::test]
async fn a_child_ends_with_a_parent_that_is_killed() {
    if std::env::var_os(PARENT_ROLE).is_some() {
        let mut running = run("echo $$; exec sleep 600").await;
        let pid = Pids::of(running.stdout).next().await;
        println!("\nchild {pid}");
        running.life.ended().await;
        return;
    }
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    let test = "process::tests::a_child_ends_with_a_parent_that_is_killed";
    command
        .args(["--exact", test, "--nocapture"])
        .env(PARENT_ROLE, "1");
    let mut parent = command
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let child: i32 = loop {
        let line = within(lines.next_line())
            .await
            .unwrap()
            .expect("the parent names its child");
        if let Some(pid) = line.strip_prefix("child ") {
            break pid.parse().unwrap();
        }
    };
    assert_eq!(table::row(child).map(|row| row.state), Some(ProcessState::Living));
    within(parent.kill()).await.unwrap();
    gone(child).await;
}
