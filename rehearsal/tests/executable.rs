//! The rehearsal as a process of its own, started through the bridge's `ProcessBackend` like the real CLI.
//!
//! This test binary is the executable: called through a link named `claude`, its `main` plays the CLI.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use claude_sdk_bridge::backend::{Backend, Exit, ExitStatus, Grace, Running};
use claude_sdk_bridge::launch::{LaunchOptions, McpServer, SessionStart};
use claude_sdk_bridge::messages::control::{ControlRequest, InitializeRequest, NoFields};
use claude_sdk_bridge::messages::{Message, MessageUuid, OutgoingUserMessage, ResultMessage};
use claude_sdk_bridge::process::ProcessBackend;
use claude_sdk_bridge::query::{Query, QueryEvent, QueryTimings};
use libtest_mimic::{Arguments, Trial};
use rehearsal::argv;
use tempfile::TempDir;
use tokio::time::timeout;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const LIMIT: Duration = Duration::from_secs(60);

type Test = fn(&Stage);

fn main() -> ExitCode {
    if let Some(code) = argv::intercept(std::env::args_os(), |name| std::env::var_os(name)) {
        return code;
    }
    let trials: [(&str, Test); 10] = [
        ("version_is_printed_through_the_link", version),
        ("a_prompt_is_played_like_the_real_clis", prompt),
        (
            "the_end_of_input_ends_it_with_the_code_of_the_last_result",
            exit_codes,
        ),
        ("everything_is_written_before_it_ends", last_words),
        ("sigterm_ends_it_with_143", sigterm),
        ("what_resists_is_killed_with_its_grandchild", resists),
        ("another_process_resumes_a_session", resume),
        ("mcp_servers_of_the_configuration_are_listed", mcp),
        ("a_mistake_in_the_script_is_told_on_stderr", mistake),
        ("without_link_and_variable_it_is_itself", not_ours),
    ];
    let trials = trials.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test(&Stage::new());
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// A directory with the link, a script and the working directory.
struct Stage {
    directory: TempDir,
}

impl Stage {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        std::os::unix::fs::symlink(std::env::current_exe().unwrap(), directory.path().join("claude"))
            .unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn options(&self, script: &str, session: SessionStart) -> LaunchOptions {
        std::fs::write(self.path("script.json"), script).unwrap();
        let variable =
            |name: &str, file: &str| (name.to_owned(), self.path(file).to_str().unwrap().to_owned());
        LaunchOptions {
            env: vec![
                variable(argv::SCRIPT_VARIABLE, "script.json"),
                variable(argv::STATE_VARIABLE, "state"),
            ],
            ..LaunchOptions::new(self.directory.path(), session)
        }
    }

    fn new_session(&self, turns: &str) -> LaunchOptions {
        let script = format!("{{\"version\": 1, \"turns\": {turns}}}");
        self.options(&script, SessionStart::New { id: SESSION.into() })
    }

    async fn start(&self, options: &LaunchOptions) -> Query {
        let backend = ProcessBackend::at(self.path("claude"));
        let timings = QueryTimings::default();
        let started = Query::start(&backend, options, InitializeRequest::default(), &timings);
        timeout(LIMIT, started).await.unwrap().unwrap().0
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

fn send(query: &Query, text: &str) {
    query
        .handle()
        .send_user(&OutgoingUserMessage::prompt(MessageUuid::from(text), text))
        .unwrap();
}

async fn finish(query: &mut Query) -> ResultMessage {
    loop {
        match timeout(LIMIT, query.next()).await.unwrap() {
            QueryEvent::Message(message) => {
                if let Message::Result(result) = *message {
                    return *result;
                }
            }
            QueryEvent::Ended(exit) => panic!("ended: {exit}"),
            _ => {}
        }
    }
}

/// Waits until a turn has begun.
async fn has_begun(query: &mut Query) {
    while !matches!(
        timeout(LIMIT, query.next()).await.unwrap(),
        QueryEvent::Message(_)
    ) {}
}

fn version(stage: &Stage) {
    let output = Command::new(stage.path("claude"))
        .arg("--version")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "2.1.318 (rehearsal)\n");
    assert!(output.status.success());
}

fn prompt(stage: &Stage) {
    run(async {
        let options = stage.new_session(r#"[{"steps": [{"text": "one two three"}]}]"#);
        let mut query = stage.start(&options).await;
        send(&query, "hi");
        let (mut deltas, mut idle) = (String::new(), false);
        while !idle {
            match timeout(LIMIT, query.next()).await.unwrap() {
                QueryEvent::Delta(delta) => deltas.push_str(delta.literal()),
                QueryEvent::Message(message) => {
                    idle = serde_json::to_string(&message)
                        .unwrap()
                        .contains("\"state\":\"idle\"");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(deltas, r#""one ""two ""three""#);
        assert_eq!(
            query.close(false, &QueryTimings::default()).await.status,
            ExitStatus::Code(0)
        );
    });
}

fn exit_codes(stage: &Stage) {
    run(async {
        for (turns, code) in [("[]", 0), (r#"[{"steps": [{"error": "overloaded"}]}]"#, 1)] {
            let mut options = stage.new_session(turns);
            options.session = SessionStart::Unnamed;
            let mut query = stage.start(&options).await;
            send(&query, "hi");
            finish(&mut query).await;
            assert_eq!(
                query.close(false, &QueryTimings::default()).await.status,
                ExitStatus::Code(code),
                "{turns}"
            );
        }
    });
}

fn last_words(stage: &Stage) {
    let prompt = r#"{"type": "user", "message": {"role": "user", "content": "go"}}"#;
    std::fs::write(stage.path("input"), format!("{prompt}\n{prompt}\n")).unwrap();
    let script =
        r#"{"version": 1, "turns": [{"sticky": true, "steps": [{"text": {"text": "x ", "repeat": 2000}}]}]}"#;
    std::fs::write(stage.path("script.json"), script).unwrap();
    let mut child = Command::new(stage.path("claude"))
        .args([
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
        ])
        .arg("--include-partial-messages")
        .env(argv::SCRIPT_VARIABLE, stage.path("script.json"))
        .stdin(std::fs::File::open(stage.path("input")).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Reading in small bites keeps the pipe full, so that the end of the output is still on its way at the end.
    let mut output = BufReader::with_capacity(8, child.stdout.take().unwrap());
    let mut text = String::new();
    loop {
        let bite = output.fill_buf().unwrap().to_vec();
        if bite.is_empty() {
            break;
        }
        output.consume(bite.len());
        text.push_str(std::str::from_utf8(&bite).unwrap());
    }
    let deltas = text
        .lines()
        .filter(|line| line.contains("\"text_delta\""))
        .count();
    assert_eq!(deltas, 4000);
    let last = text.lines().last().unwrap();
    assert!(
        last.contains("\"type\":\"result\""),
        "the result is the last line"
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn sigterm(stage: &Stage) {
    run(async {
        let mut query = stage.start(&stage.new_session(r#"[{"steps": ["hang"]}]"#)).await;
        send(&query, "hi");
        has_begun(&mut query).await;
        assert_eq!(
            query.kill(&QueryTimings::default()).await.status,
            ExitStatus::Code(143)
        );
    });
}

fn resists(stage: &Stage) {
    let script = r#"{"version": 1, "turns": [], "process": {"ignore_term": true, "ignore_eof": true,
        "grandchild": {"ignore_term": true, "pid_file": "grandchild.pid"}}}"#;
    run(async {
        let options = stage.options(script, SessionStart::Unnamed);
        let backend = ProcessBackend::at(stage.path("claude"));
        let Running {
            stdin,
            stdout,
            mut life,
        } = backend.launch(&options).await.unwrap();
        let grandchild = wait_for_file(&stage.path("grandchild.pid")).await;
        assert!(is_alive(&grandchild), "the grandchild waits");
        let status = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap();
        let session = status
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .nth(3)
            .unwrap()
            .to_owned();
        assert_eq!(session, grandchild, "the grandchild leads a session of its own");
        drop((stdin, stdout));
        let grace = Grace {
            eof: Duration::from_millis(50),
            term: Duration::from_millis(200),
        };
        let exit = timeout(LIMIT, life.kill(&grace)).await.unwrap();
        assert_eq!(exit.status, ExitStatus::Signal(9));
        assert!(!is_alive(&grandchild), "nothing of it is left");
    });
}

/// Waits until the process has written its file; there is nothing else to wait for.
async fn wait_for_file(file: &Path) -> String {
    let waiting = async {
        loop {
            match std::fs::read_to_string(file) {
                Ok(text) => return text,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    timeout(LIMIT, waiting).await.expect("the grandchild has started")
}

fn is_alive(pid: &str) -> bool {
    // A zombie that nobody has reaped yet is dead.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| !rest.trim_start().starts_with('Z'))
    })
}

fn resume(stage: &Stage) {
    run(async {
        let turns = r#"[{"steps": ["hang"]}, {"steps": [{"text": "where were we"}]}]"#;
        let options = stage.new_session(turns);
        let mut query = stage.start(&options).await;
        send(&query, "hi");
        has_begun(&mut query).await;
        query.kill(&QueryTimings::default()).await;
        let resumed = LaunchOptions {
            session: SessionStart::Resume {
                id: SESSION.into(),
                at: None,
            },
            ..options
        };
        let mut query = stage.start(&resumed).await;
        send(&query, "go on");
        assert_eq!(finish(&mut query).await.text(), "where were we");
        query.close(false, &QueryTimings::default()).await;

        let unknown = SessionStart::Resume {
            id: "22222222-2222-4333-8444-555555555555".into(),
            at: None,
        };
        let exit = exit_of(
            stage,
            &LaunchOptions {
                session: unknown,
                ..resumed
            },
        )
        .await;
        assert_eq!(exit.status, ExitStatus::Code(1));
        assert!(exit.stderr_tail.contains("No conversation found"), "{exit}");
    });
}

fn mcp(stage: &Stage) {
    run(async {
        let mut options = stage.new_session("[]");
        options.mcp_servers = vec![McpServer::Stdio {
            name: "files".to_owned(),
            command: "true".to_owned(),
            args: Vec::new(),
            env: Vec::new(),
        }];
        let mut query = stage.start(&options).await;
        let mut call = Box::pin(
            query
                .handle()
                .request(ControlRequest::McpStatus(NoFields::default())),
        );
        let status = loop {
            tokio::select! {
                biased;
                status = &mut call => break status.unwrap(),
                event = query.next() => assert!(!matches!(event, QueryEvent::Ended(_))),
            }
        };
        assert_eq!(
            status
                .pointer("/mcpServers/0/name")
                .and_then(|name| name.as_str()),
            Some("files")
        );
        query.close(false, &QueryTimings::default()).await;
    });
}

fn mistake(stage: &Stage) {
    run(async {
        let options = stage.options(r#"{"version": 1, "truns": []}"#, SessionStart::Unnamed);
        let exit = exit_of(stage, &options).await;
        assert_eq!(exit.status, ExitStatus::Code(1));
        assert!(
            exit.stderr_tail
                .contains("line 1 column 22, at `truns`: unknown field `truns`"),
            "{exit}"
        );
    });
}

fn not_ours(_: &Stage) {
    let listed = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .env(argv::SCRIPT_VARIABLE, "default")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("without_link_and_variable_it_is_itself: test"));
    // With the variable and the CLI's arguments it plays, under whatever name; its input is empty, so it ends.
    let played = Command::new(std::env::current_exe().unwrap())
        .args([
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
        ])
        .env(argv::SCRIPT_VARIABLE, "default")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!((played.status.code(), played.stdout), (Some(0), Vec::new()));
}

async fn exit_of(stage: &Stage, options: &LaunchOptions) -> Exit {
    let backend = ProcessBackend::at(stage.path("claude"));
    let mut running = backend.launch(options).await.unwrap();
    timeout(LIMIT, running.life.ended()).await.unwrap()
}
