//! Real tools behind the bridge's `Backend` trait: real processes and files, real time, bounded waits.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::backend::Grace;
use claude_sdk_bridge::launch::{LaunchOptions, SessionStart};
use claude_sdk_bridge::messages::control::{ControlRequest, IncomingRequest, InitializeRequest, Interrupt};
use claude_sdk_bridge::messages::{Message, MessageUuid, OutgoingUserMessage};
use claude_sdk_bridge::query::{Query, QueryEvent, QueryTimings};
use rehearsal::{RehearsalBackend, Script};
use serde_json::{Value, json};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(60);

/// What one turn was like.
#[derive(Debug, Default)]
struct Turn {
    /// The suggestions of each question.
    asked: Vec<Value>,
    /// What the model read after each call.
    results: Vec<String>,
    result: Value,
}

fn backend(session: &Value, steps: &Value) -> RehearsalBackend {
    let script = json!({"version": 1, "session": session, "turns": [{"sticky": true, "steps": steps}]});
    RehearsalBackend::new(Arc::new(Script::parse("test.json", &script.to_string()).unwrap()))
}

fn bash(command: &str) -> Value {
    json!({"tool": {"name": "Bash", "input": {"command": command}, "real": true}})
}

async fn start(backend: &RehearsalBackend, cwd: &Path, number: u32) -> Query {
    let id = format!("11111111-2222-4333-8444-{number:012}").as_str().into();
    let options = LaunchOptions::new(cwd, SessionStart::New { id });
    let (timings, request) = (QueryTimings::default(), InitializeRequest::default());
    let started = Query::start(backend, &options, request, &timings);
    timeout(LIMIT, started).await.unwrap().unwrap().0
}

fn send(query: &Query) {
    let message = OutgoingUserMessage::prompt(MessageUuid::from("p1"), "go");
    query.handle().send_user(&message).unwrap();
}

async fn next(query: &mut Query) -> QueryEvent {
    timeout(LIMIT, query.next()).await.unwrap()
}

/// Plays to the result; every question is allowed, for as long as it suggests if `always`.
async fn finish(query: &mut Query, always: bool) -> Turn {
    let mut turn = Turn::default();
    loop {
        match next(query).await {
            QueryEvent::ControlRequest {
                id,
                request: IncomingRequest::CanUseTool(ask),
            } => {
                let suggested = json!(ask.permission_suggestions);
                let updates = if always { suggested.clone() } else { json!([]) };
                turn.asked.push(suggested);
                let reply =
                    json!({"behavior": "allow", "updatedInput": ask.input, "updatedPermissions": updates});
                query.handle().answer(&id, Ok(reply)).unwrap();
            }
            QueryEvent::Message(message) => {
                let frame = serde_json::to_value(&*message).unwrap();
                let blocks = frame["message"]["content"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                let results = blocks.iter().filter(|block| block["type"] == "tool_result");
                turn.results
                    .extend(results.map(|block| block["content"].as_str().unwrap_or_default().to_owned()));
                if matches!(*message, Message::Result(_)) {
                    turn.result = frame;
                    return turn;
                }
            }
            QueryEvent::Ended(exit) => panic!("ended: {exit}"),
            QueryEvent::Delta(_) | QueryEvent::ControlRequest { .. } | QueryEvent::ControlCancel { .. } => {}
        }
    }
}

async fn turn(query: &mut Query, always: bool) -> Turn {
    send(query);
    finish(query, always).await
}

/// Waits until a file is there; gives what it says.
async fn written(file: &Path) -> String {
    let there = async {
        loop {
            match std::fs::read_to_string(file) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(LIMIT, there).await.unwrap()
}

/// Waits until the session's command has written its process id to a file; gives that id.
async fn started(query: &mut Query, file: &Path) -> String {
    let running = async {
        loop {
            next(query).await;
        }
    };
    tokio::select! {
        pid = written(file) => pid,
        () = running => panic!("it has ended"),
    }
}

/// Waits until a process is gone.
async fn gone(pid: &str) {
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    let is_there = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z"));
    let gone = async {
        while is_there() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, gone).await.unwrap();
}

#[tokio::test]
async fn tools_work_in_a_sandbox_and_never_in_the_users_directory() {
    let cwd = tempfile::tempdir().unwrap();
    let steps = json!([
        bash("pwd"),
        {"tool": {"name": "Write", "input": {"file_path": "made.txt", "content": "made\n"}, "real": true}},
        {"tool": {"name": "Edit", "input": {"file_path": "{project}/made.txt", "old_string": "made", "new_string": "changed"}, "real": true}},
        bash("cat made.txt"),
    ]);
    let backend = backend(&json!({}), &steps);
    let mut query = start(&backend, cwd.path(), 1).await;
    let told = turn(&mut query, true).await;
    assert_eq!(
        told.asked.len(),
        1,
        "the edit is accepted with the file: {told:?}"
    );
    assert_eq!(told.results[3], "changed");
    let project = PathBuf::from(&told.results[0]);
    assert!(!project.starts_with(cwd.path()));
    assert_eq!(
        std::fs::read_to_string(project.join("made.txt")).unwrap(),
        "changed\n"
    );
    assert_eq!(std::fs::read_dir(cwd.path()).unwrap().count(), 0);
    drop(query);
    drop(backend);
    let root = project.parent().unwrap();
    let removed = async {
        while root.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, removed).await.unwrap();
}

#[tokio::test]
async fn what_is_allowed_for_the_project_is_allowed_in_later_sessions_of_the_directory() {
    let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(
        &json!({}),
        &json!([bash("mkdir -p build"), bash("mkdir -p build")]),
    );
    let mut first = start(&backend, here.path(), 1).await;
    let told = turn(&mut first, true).await;
    assert_eq!(told.asked.len(), 1, "{told:?}");
    assert_eq!(told.asked[0][0]["destination"], "localSettings");
    let mut second = start(&backend, here.path(), 2).await;
    assert_eq!(turn(&mut second, false).await.asked.len(), 0);
    let mut other = start(&backend, elsewhere.path(), 3).await;
    assert_eq!(turn(&mut other, false).await.asked.len(), 2, "another project");
}

#[tokio::test]
async fn an_interrupt_ends_the_command_with_all_it_has_started() {
    let (cwd, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pid = out.path().join("pid");
    let command = format!("sleep 600 & echo $! > {}; wait", pid.display());
    let backend = backend(
        &json!({"settings": {"permissions": {"allow": ["Bash"]}}}),
        &json!([bash(&command)]),
    );
    let mut query = start(&backend, cwd.path(), 1).await;
    send(&query);
    let pid = started(&mut query, &pid).await;
    let call = query
        .handle()
        .request(ControlRequest::Interrupt(Interrupt::default()));
    let interrupted = async { tokio::join!(call, finish(&mut query, false)).1 };
    let told = timeout(LIMIT, interrupted).await.unwrap();
    assert_eq!(told.result["terminal_reason"], "aborted_tools");
    assert!(told.results[0].contains("stopped while running"), "{told:?}");
    gone(&pid).await;
}

#[tokio::test]
async fn the_end_of_claude_ends_the_command() {
    let (cwd, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pid = out.path().join("pid");
    let hook = format!("sleep 600 & echo $! > {}; wait", pid.display());
    let session =
        json!({"settings": {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": hook}]}]}}});
    let backend = backend(&session, &json!([bash("true")]));
    let mut query = start(&backend, cwd.path(), 1).await;
    send(&query);
    let pid = started(&mut query, &pid).await;
    let timings = QueryTimings {
        grace: Grace {
            eof: Duration::from_millis(1),
            term: Duration::from_secs(5),
        },
        ..QueryTimings::default()
    };
    timeout(LIMIT, query.kill(&timings)).await.unwrap();
    gone(&pid).await;
}

#[tokio::test]
async fn hooks_of_the_settings_run_and_decide() {
    let cwd = tempfile::tempdir().unwrap();
    let guard = r#"case "$(cat)" in *bad*) echo 'not this' >&2; exit 2;; *loud*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo quiet"}}}';; esac"#;
    let hooks = |command: &str| json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": command, "timeout": 10}]}]);
    let session = json!({"settings": {
        "permissions": {"allow": ["Bash"]},
        "hooks": {"PreToolUse": hooks(guard), "PostToolUse": hooks("grep -q '\"stdout\":\"quiet\"' || exit 0; echo 'speak up' >&2; exit 2")},
    }});
    let backend = backend(
        &session,
        &json!([bash("echo bad"), bash("echo loud"), bash("echo good")]),
    );
    let mut query = start(&backend, cwd.path(), 1).await;
    let told = turn(&mut query, false).await;
    assert_eq!(
        told.results,
        [
            "PreToolUse:Bash hook error: not this",
            "quiet\n\nPostToolUse hook feedback: speak up",
            "good",
        ]
    );
}

#[tokio::test]
async fn the_permission_dialogs_can_be_walked_whatever_is_answered() {
    let backend = RehearsalBackend::new(Arc::new(Script::builtin("permissions").unwrap()));
    for (number, always) in [(1, false), (2, true), (3, true)] {
        let cwd = tempfile::tempdir().unwrap();
        let mut query = start(&backend, cwd.path(), number).await;
        let told = turn(&mut query, always).await;
        assert_eq!(told.result["subtype"], "success");
        let last = told.result["result"].as_str().unwrap();
        assert!(last.starts_with("Those were all the dialogs"), "{last}");
        assert!(told.asked.len() > 20, "{}", told.asked.len());
    }
}
