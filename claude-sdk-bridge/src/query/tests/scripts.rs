//! Queries over real processes that misbehave.

use std::process::Command;

use super::*;
use crate::process;

const ANSWER: &str =
    r#"read line; echo '{"type":"control_response","response":{"subtype":"success","request_id":"req_1"}}';"#;

/// Starts a shell with a script in place of the CLI.
struct Script(&'static str);

#[async_trait]
impl Backend for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    async fn launch(&self, _options: &LaunchOptions) -> Result<Running, LaunchError> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(self.0);
        process::start_command(command, Duration::from_millis(20), Box::new(())).await
    }
}

fn quick() -> QueryTimings {
    let short = Duration::from_millis(100);
    QueryTimings {
        initialize: Duration::from_secs(120),
        control: Duration::from_secs(120),
        interrupted_result: short,
        exit_after_output: short,
        drain: short,
        grace: Grace {
            eof: short,
            term: short,
        },
    }
}

async fn within_seconds<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(120), future)
        .await
        .expect("took too long")
}

async fn start(script: &'static str) -> Result<Query, StartError> {
    let backend = Script(script);
    let (options, timings) = (options(), quick());
    let started = Query::start(&backend, &options, InitializeRequest::default(), &timings);
    within_seconds(started).await.map(|(query, _)| query)
}

/// Everything a script says once it is greeted, until its end.
async fn story(script: String) -> Vec<String> {
    let mut query = start(String::leak(format!("{ANSWER} {script}"))).await.unwrap();
    let mut story = Vec::new();
    loop {
        let event = within_seconds(query.next()).await;
        story.push(shown(&event));
        if matches!(event, QueryEvent::Ended(_)) {
            return story;
        }
    }
}

#[tokio::test]
async fn an_exit_before_the_greeting_is_an_error_with_its_reason() {
    for script in [
        "echo bad session id >&2; exit 1",
        "read line; echo bad session id >&2; exit 1",
    ] {
        let error = start(script).await.unwrap_err();
        let expected =
            "claude ended before it was ready, with exit code `1`; its last words were `bad session id`";
        assert_eq!(error.to_string(), expected, "{script}");
    }
    let error = start("read line; kill -9 $$").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "claude ended before it was ready, with signal `9`"
    );
}

#[tokio::test]
async fn garbage_and_half_a_line_cost_those_lines() {
    let script = r#"echo warning: something; echo '{"type":"keep_alive"}'; printf '{"type":"assist'; exit 7"#;
    let expected = [r#"message {"type":"keep_alive"}"#, "ended with exit code `7`"];
    assert_eq!(story(script.to_owned()).await, expected);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_does_not_keep_the_query() {
    let script = r#"setsid sh -c 'trap "" TERM; exec sleep 600' & echo '{"type":"keep_alive"}'; exit 0"#;
    let expected = [r#"message {"type":"keep_alive"}"#, "ended with exit code `0`"];
    assert_eq!(story(script.to_owned()).await, expected);
}

#[tokio::test]
async fn a_process_that_closes_its_output_and_stays_is_ended() {
    let script = r#"trap '' TERM; exec >/dev/null; exec sleep 600"#;
    assert_eq!(story(script.to_owned()).await, ["ended with signal `9`"]);
}

#[tokio::test]
async fn a_process_that_closes_its_input_and_stays_can_be_heard() {
    let script = r#"exec </dev/null; echo '{"type":"keep_alive"}'; exit 0"#;
    assert_eq!(story(script.to_owned()).await.len(), 2);
}

#[tokio::test]
async fn close_ends_a_script_that_obeys_and_one_that_resists() {
    let query = start(String::leak(format!("{ANSWER} read line; exit 5")))
        .await
        .unwrap();
    // What obeys gets all the time that a busy machine may need for it.
    let long = Duration::from_secs(120);
    let mut timings = quick();
    timings.grace = Grace {
        eof: long,
        term: long,
    };
    assert_eq!(within_seconds(query.close(false, &timings)).await, exited(5));
    let query = start(String::leak(format!("{ANSWER} exec sleep 600")))
        .await
        .unwrap();
    timings.grace.eof = quick().grace.eof;
    assert_eq!(
        within_seconds(query.close(true, &timings)).await.status,
        ExitStatus::Signal(15)
    );
    let query = start(String::leak(format!("trap '' TERM; {ANSWER} exec sleep 600")))
        .await
        .unwrap();
    assert_eq!(
        within_seconds(query.close(true, &quick())).await.status,
        ExitStatus::Signal(9)
    );
}

#[tokio::test]
async fn a_line_of_twenty_megabytes_passes() {
    let script =
        r#"printf '{"type":"keep_alive","x":"'; head -c 20000000 /dev/zero | tr '\0' x; echo '"}'; exit 0"#;
    let story = story(script.to_owned()).await;
    let expected = format!(
        r#"message {{"type":"keep_alive","x":"{}"}}"#,
        "x".repeat(20_000_000)
    );
    // Not `assert_eq`, which would print both.
    assert!(story == [expected.as_str(), "ended with exit code `0`"]);
}
