//! The rehearsal through the bridge's `Backend` trait, the way the session manager uses it. Time is paused, so no test
//! waits for real.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test code")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::backend::{Backend, Exit, ExitStatus, Grace, LaunchError, Running};
use claude_sdk_bridge::launch::{LaunchOptions, SessionStart};
use claude_sdk_bridge::messages::control::{ControlRequest, IncomingRequest, InitializeRequest, Interrupt};
use claude_sdk_bridge::messages::{Message, MessageUuid, OutgoingUserMessage, ResultMessage};
use claude_sdk_bridge::query::{Query, QueryEvent, QueryTimings};
use rehearsal::{RehearsalBackend, Script};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const LIMIT: Duration = Duration::from_secs(600);

fn backend(turns: &str) -> RehearsalBackend {
    of_script(&format!("{{\"version\": 1, \"turns\": {turns}}}"))
}

fn of_script(script: &str) -> RehearsalBackend {
    RehearsalBackend::new(Arc::new(Script::parse("test.json", script).unwrap()))
}

fn new_session() -> LaunchOptions {
    LaunchOptions::new(directory(), SessionStart::New { id: SESSION.into() })
}

fn resumed() -> LaunchOptions {
    LaunchOptions::new(
        directory(),
        SessionStart::Resume {
            id: SESSION.into(),
            at: None,
        },
    )
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

async fn start(backend: &RehearsalBackend, options: &LaunchOptions) -> Query {
    let timings = QueryTimings::default();
    let started = Query::start(backend, options, InitializeRequest::default(), &timings);
    let (query, response) = timeout(LIMIT, started).await.unwrap().unwrap();
    assert_eq!(response.claude_code_version.as_str(), Some("2.1.318"));
    query
}

fn send(query: &Query, uuid: &str, text: &str) {
    query
        .handle()
        .send_user(&OutgoingUserMessage::prompt(MessageUuid::from(uuid), text))
        .unwrap();
}

async fn next(query: &mut Query) -> QueryEvent {
    timeout(LIMIT, query.next()).await.unwrap()
}

/// Reads until the next result; gives the deltas' literals and the result.
async fn finish(query: &mut Query) -> (Vec<String>, ResultMessage) {
    let mut deltas = Vec::new();
    loop {
        match next(query).await {
            QueryEvent::Delta(delta) => deltas.push(delta.literal().to_owned()),
            QueryEvent::Message(message) => {
                if let Message::Result(result) = *message {
                    return (deltas, *result);
                }
            }
            QueryEvent::ControlRequest { .. } | QueryEvent::ControlCancel { .. } => {}
            QueryEvent::Ended(exit) => panic!("ended: {exit}"),
        }
    }
}

async fn ended(query: &mut Query) -> Exit {
    loop {
        if let QueryEvent::Ended(exit) = next(query).await {
            return exit;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_streamed_asked_about_and_answered() {
    let backend = RehearsalBackend::new(Arc::new(Script::builtin("default").unwrap()));
    assert_eq!(backend.name(), "rehearsal");
    let mut query = start(&backend, &new_session()).await;
    send(&query, "p1", "hello");
    let (mut deltas, mut asked) = (0, Vec::new());
    let result = loop {
        match next(&mut query).await {
            QueryEvent::Delta(_) => deltas += 1,
            QueryEvent::ControlRequest {
                id,
                request: IncomingRequest::CanUseTool(ask),
            } => {
                asked.push(ask.tool_name.clone());
                query
                    .handle()
                    .answer(&id, Ok(json!({"behavior": "allow", "updatedInput": ask.input})))
                    .unwrap();
            }
            QueryEvent::Message(message) => {
                if let Message::Result(result) = *message {
                    break result;
                }
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(deltas > 20, "{deltas}");
    assert_eq!(asked, ["Bash", "Edit"]);
    assert!(result.answers(&MessageUuid::from("p1")));
    let exit = query.close(false, &QueryTimings::default()).await;
    assert_eq!(
        exit,
        Exit {
            status: ExitStatus::Code(0),
            stderr_tail: String::new()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn two_hundred_thousand_deltas_arrive_in_order() {
    let backend = backend(r#"[{"steps": [{"text": {"text": "0 1 2 3 4 5 6 7 8 9 ", "repeat": 20000}}]}]"#);
    let mut query = start(&backend, &new_session()).await;
    send(&query, "p1", "go");
    let (deltas, result) = finish(&mut query).await;
    assert_eq!(deltas.len(), 200_000);
    assert!(
        deltas
            .iter()
            .enumerate()
            .all(|(place, literal)| *literal == format!("\"{} \"", place % 10))
    );
    assert_eq!(result.text().len(), 400_000);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_stops_the_script_but_is_still_heard() {
    let backend = RehearsalBackend::new(Arc::new(Script::builtin("stress").unwrap()));
    let Running {
        mut stdin,
        stdout,
        mut life,
    } = backend.launch(&new_session()).await.unwrap();
    stdin
        .write_all(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n")
        .await
        .unwrap();
    // The script has all the time in the world and can do nothing with it.
    assert!(timeout(LIMIT, life.ended()).await.is_err());
    let interrupt =
        b"{\"type\":\"control_request\",\"request_id\":\"i\",\"request\":{\"subtype\":\"interrupt\"}}\n";
    stdin.write_all(interrupt).await.unwrap();
    drop(stdin);
    let (mut lines, mut told) = (BufReader::new(stdout).lines(), Vec::new());
    while let Some(line) = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap() {
        told.push(line);
    }
    assert!(
        told.len() < 2000,
        "only what the pipe held was written, not {} lines",
        told.len()
    );
    assert!(told.iter().any(|line| line.contains("\"aborted_streaming\"")));
    assert_eq!(life.ended().await.status, ExitStatus::Code(1));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_turn_and_the_session_goes_on() {
    let backend = backend(
        r#"[{"steps": [{"text": {"text": "on and on and on", "delay_ms": 1000}}]}, {"steps": [{"text": "again"}]}]"#,
    );
    let mut query = start(&backend, &new_session()).await;
    send(&query, "p1", "go");
    while !matches!(next(&mut query).await, QueryEvent::Delta(_)) {}
    let mut call = Box::pin(
        query
            .handle()
            .request(ControlRequest::Interrupt(Interrupt::default())),
    );
    let receipt = loop {
        tokio::select! {
            biased;
            receipt = &mut call => break receipt.unwrap(),
            event = query.next() => assert!(!matches!(event, QueryEvent::Ended(_))),
        }
    };
    assert_eq!(receipt, json!({"still_queued": []}));
    let (_, result) = finish(&mut query).await;
    assert!(result.is_error.is_true());
    send(&query, "p2", "go");
    let (_, result) = finish(&mut query).await;
    assert_eq!(result.text(), "again");
}

#[tokio::test(start_paused = true)]
async fn an_exit_fault_gives_its_code_and_the_last_words() {
    let backend = backend(
        r#"[{"steps": [{"stderr": "first"}, {"text": "bye"}, {"half_line": "{\"type\":"}, {"exit": {"code": 42, "stderr": "last"}}]}]"#,
    );
    let mut query = start(&backend, &new_session()).await;
    send(&query, "p1", "go");
    let exit = ended(&mut query).await;
    assert_eq!(
        exit,
        Exit {
            status: ExitStatus::Code(42),
            stderr_tail: "first\nlast\n".to_owned()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_at_the_start_says_why() {
    let backend = of_script(
        r#"{"version": 1, "startup": [{"exit": {"code": 1, "stderr": "no licence"}}], "turns": []}"#,
    );
    let (options, timings) = (new_session(), QueryTimings::default());
    let started = Query::start(&backend, &options, InitializeRequest::default(), &timings);
    let error = timeout(LIMIT, started)
        .await
        .unwrap()
        .expect_err("it exits")
        .to_string();
    assert!(error.contains("no licence"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn kill_ends_what_hangs_and_a_resumed_session_goes_on() {
    let backend = backend(r#"[{"steps": ["hang"]}, {"steps": [{"text": "here again"}]}]"#);
    let mut query = start(&backend, &new_session()).await;
    send(&query, "p1", "go");
    while !matches!(next(&mut query).await, QueryEvent::Message(message) if message.kind() == Some("system"))
    {
    }
    let exit = query.kill(&QueryTimings::default()).await;
    assert_eq!(exit.status, ExitStatus::Code(143));
    let mut query = start(&backend, &resumed()).await;
    send(&query, "p2", "go on");
    assert_eq!(finish(&mut query).await.1.text(), "here again");
}

#[tokio::test(start_paused = true)]
async fn kill_forces_what_ignores_the_signal() {
    let backend =
        of_script(r#"{"version": 1, "process": {"ignore_term": true, "ignore_eof": true}, "turns": []}"#);
    let mut running = backend.launch(&new_session()).await.unwrap();
    let grace = Grace {
        eof: Duration::from_secs(1),
        term: Duration::from_secs(5),
    };
    let before = tokio::time::Instant::now();
    let exit = running.life.kill(&grace).await;
    assert_eq!(
        (exit.status, before.elapsed()),
        (ExitStatus::Signal(9), grace.term)
    );
    assert_eq!(running.life.kill(&grace).await, exit);
    assert_eq!(running.life.ended().await, exit);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_life_ends_the_script() {
    let backend =
        of_script(r#"{"version": 1, "process": {"ignore_term": true, "ignore_eof": true}, "turns": []}"#);
    let Running {
        stdin,
        mut stdout,
        life,
    } = backend.launch(&new_session()).await.unwrap();
    drop(life);
    let mut rest = Vec::new();
    timeout(LIMIT, stdout.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(rest, b"");
    drop(stdin);
}

#[tokio::test(start_paused = true)]
async fn every_new_session_plays_the_script_from_the_start() {
    let backend = backend(r#"[{"steps": [{"text": "one"}]}, {"steps": [{"text": "two"}]}]"#);
    for session in [SessionStart::New { id: SESSION.into() }, SessionStart::Unnamed] {
        let mut query = start(&backend, &LaunchOptions::new(directory(), session)).await;
        send(&query, "p1", "go");
        assert_eq!(finish(&mut query).await.1.text(), "one");
        send(&query, "p2", "go");
        assert_eq!(finish(&mut query).await.1.text(), "two");
    }
    let fork = SessionStart::Fork {
        from: SESSION.into(),
        id: Some("fork".into()),
        at: None,
    };
    let mut query = start(&backend, &LaunchOptions::new(directory(), fork)).await;
    send(&query, "p1", "go");
    let (_, result) = finish(&mut query).await;
    assert!(result.text().contains("over"), "{}", result.text());
    assert_eq!(
        result.session_id.get().map(|id| id.as_str().to_owned()),
        Some("fork".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn frames_of_a_resumed_session_have_ids_of_their_own() {
    let backend = backend(r#"[{"sticky": true, "steps": [{"text": "x"}]}]"#);
    let mut seen = std::collections::HashSet::new();
    for options in [new_session(), resumed(), resumed()] {
        let mut query = start(&backend, &options).await;
        send(&query, "p1", "go");
        let id = finish(&mut query).await.1.uuid.into_known().unwrap();
        assert!(seen.insert(id.clone()), "{id} came twice");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_that_are_unknown_or_taken_are_refused_as_the_cli_does() {
    let backend = backend(r#"[{"sticky": true, "steps": [{"text": "x"}]}]"#);
    let refused = async |options: &LaunchOptions| {
        let mut running = backend.launch(options).await.unwrap();
        timeout(LIMIT, running.life.ended()).await.unwrap()
    };
    let told = |text: &str| Exit {
        status: ExitStatus::Code(1),
        stderr_tail: format!("{text}\n"),
    };
    let unknown = told(&format!("No conversation found with session ID: {SESSION}"));
    assert_eq!(refused(&resumed()).await, unknown);

    let unsaved = LaunchOptions {
        persist_session: false,
        ..new_session()
    };
    let mut query = start(&backend, &unsaved).await;
    send(&query, "p1", "go");
    finish(&mut query).await;
    assert_eq!(refused(&resumed()).await, unknown);

    let mut query = start(&backend, &new_session()).await;
    send(&query, "p1", "go");
    finish(&mut query).await;
    assert_eq!(
        refused(&new_session()).await,
        told(&format!("Error: Session ID {SESSION} is already in use."))
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_working_directory_is_told_as_such() {
    let options = LaunchOptions::new("/nowhere/at/all", SessionStart::Unnamed);
    let error = backend("[]")
        .launch(&options)
        .await
        .expect_err("there is no such directory");
    assert!(matches!(error, LaunchError::DirectoryMissing { cwd } if cwd == Path::new("/nowhere/at/all")));
}
