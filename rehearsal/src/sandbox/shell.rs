//! The shell of a sandbox: commands of Bash calls and of hooks, with next to nothing of the host's environment.
//!
//! Place in the flow: `run` calls these. A command runs in the project, with the sandbox as its home, within limits of time
//! and output; what it leaves running is killed. That is not confinement: it can name every file of the user.

use std::process::Command;
use std::time::Duration;

use claude_sdk_bridge::backend::ExitStatus;
use claude_sdk_bridge::command::{self, End, Finished, Limits};
use permission_core::pipeline::hooks::{HOOK_OUTPUT_BYTES, HookCommand, HookRun};
use serde_json::{Map, Value, json};

use crate::engine::{Places, ToolOutput};
use crate::frames::text;

/// How long a command may run, if it does not say, and at most.
const DEFAULT_TIME: Duration = Duration::from_secs(120);
pub(super) const MAX_MS: u64 = 600_000;

/// How much a command may write before it is killed, and how much of it is shown.
const OUTPUT_BYTES: usize = 1024 * 1024;
const SHOWN_CHARS: usize = 30_000;

const FALLBACK_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Runs the command of a Bash call.
pub(super) async fn bash(places: &Places, input: &Map<String, Value>) -> ToolOutput {
    let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
    let time = input
        .get("timeout")
        .and_then(Value::as_u64)
        .map_or(DEFAULT_TIME, |ms| Duration::from_millis(ms.min(MAX_MS)));
    let limits = Limits {
        time,
        output_bytes: OUTPUT_BYTES,
    };
    let mut finished = command::run(shell("bash", places, command), b"", limits).await;
    if matches!(&finished.end, End::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound) {
        finished = command::run(shell("sh", places, command), b"", limits).await;
    }
    told(&finished, time)
}

/// Runs a hook of the sandbox's settings.
pub(super) async fn hook(places: &Places, hook: &HookCommand, payload: &Value) -> HookRun {
    let Some(text) = &hook.command else {
        return HookRun::Failed("no command is configured".to_owned());
    };
    let limits = Limits {
        time: hook.timeout,
        output_bytes: HOOK_OUTPUT_BYTES,
    };
    command::run(shell("sh", places, text), payload.to_string().as_bytes(), limits)
        .await
        .into()
}

fn shell(shell: &str, places: &Places, text: &str) -> Command {
    let mut command = Command::new(shell);
    command
        .arg("-c")
        .arg(text)
        .current_dir(&places.project)
        .env_clear()
        .env(
            "PATH",
            std::env::var_os("PATH").unwrap_or_else(|| FALLBACK_PATH.into()),
        )
        .env("HOME", &places.home)
        .env("CLAUDE_PROJECT_DIR", &places.project);
    command
}

/// What the model reads about the end of a command, and what a host shows.
fn told(Finished { end, stdout, stderr }: &Finished, time: Duration) -> ToolOutput {
    let (stdout, stderr) = (shown(stdout), shown(stderr));
    let all = [stdout.as_str(), stderr.as_str()];
    let all: Vec<&str> = all.into_iter().filter(|text| !text.is_empty()).collect();
    let all = all.join("\n");
    let failed = |how: String| ToolOutput::error(format!("{how}\n{all}").trim_end());
    match end {
        End::Status(ExitStatus::Code(0)) => {
            let text = if all.is_empty() {
                text::NO_OUTPUT.to_owned()
            } else {
                all
            };
            let structured = json!({
                "stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false,
                "noOutputExpected": stdout.is_empty() && stderr.is_empty(),
            });
            ToolOutput {
                text,
                structured,
                is_error: false,
            }
        }
        End::Status(ExitStatus::Code(code)) => failed(format!("Exit code {code}")),
        End::Status(ExitStatus::Signal(signal)) => {
            failed(format!("The command was ended by signal {signal}"))
        }
        End::Status(ExitStatus::Unknown) => failed("How the command ended is not known".to_owned()),
        End::TimedOut => failed(format!("Command timed out after {} ms", time.as_millis())),
        End::Overflowed => failed(format!(
            "The command wrote more than {OUTPUT_BYTES} bytes and was ended"
        )),
        End::NotStarted(error) => failed(format!("The command could not be started: {error}")),
    }
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n… (shortened)", text.get(..end).unwrap_or_default()),
    }
}
