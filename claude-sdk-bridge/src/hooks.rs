//! Runs the hook commands of settings: JSON on standard input, what it says on standard output.
//!
//! Place in the flow: permission-core says which hook runs and what its end means; this starts it, within its
//! limits, and reports how it ended. Must not read an outcome out of the output.

use std::path::Path;
use std::process::Command;

use permission_core::decide::hooks::{HOOK_OUTPUT_BYTES, HookCommand, HookRun};
use serde_json::Value;

use crate::backend::ExitStatus;
use crate::command::{End, Finished, Limits, run};

/// The shell that hook commands are written for.
const SHELL: &str = "/bin/sh";

/// The variable that tells a hook where the project is.
const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// Runs one hook in a project's directory to its end, or to its limit of time or output, at which it is killed with all it has started. Dropping the
/// future kills it, too. What went wrong with it is logged with its place in the settings.
pub async fn run_hook(hook: &HookCommand, payload: &Value, directory: &Path) -> HookRun {
    let Some(text) = &hook.command else {
        return HookRun::Failed("no command is configured".to_owned());
    };
    let mut command = Command::new(SHELL);
    command
        .arg("-c")
        .arg(text)
        .current_dir(directory)
        .env(PROJECT_DIR, directory);
    let limits = Limits {
        time: hook.timeout,
        output_bytes: HOOK_OUTPUT_BYTES,
    };
    let ended = HookRun::from(run(command, payload.to_string().as_bytes(), limits).await);
    log(hook, &ended);
    ended
}

impl From<Finished> for HookRun {
    fn from(Finished { end, stdout, stderr }: Finished) -> Self {
        match end {
            End::Status(ExitStatus::Code(code)) => Self::Exited { code, stdout, stderr },
            End::Status(status @ (ExitStatus::Signal(_) | ExitStatus::Unknown)) => {
                Self::Failed(format!("it ended with {status}"))
            }
            End::TimedOut => Self::TimedOut,
            End::Overflowed => Self::Overflowed,
            End::NotStarted(error) => Self::Failed(format!("it could not be started: {error}")),
        }
    }
}

fn log(hook: &HookCommand, run: &HookRun) {
    let file = hook.origin.file.display();
    let line = hook.origin.line;
    match run {
        // With 2 it denies, which is what it is there for.
        HookRun::Exited {
            code: code @ (0 | 2), ..
        } => tracing::debug!(%file, line, code, "a hook has run"),
        HookRun::Exited { code, .. } => tracing::warn!(%file, line, code, "a hook has failed"),
        HookRun::TimedOut => {
            tracing::warn!(%file, line, limit = ?hook.timeout, "a hook took too long and was killed")
        }
        HookRun::Overflowed => {
            tracing::warn!(%file, line, limit_bytes = HOOK_OUTPUT_BYTES, "a hook wrote too much and was killed");
        }
        HookRun::Failed(reason) => tracing::warn!(%file, line, reason, "a hook could not be run"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use permission_core::settings::{Origin, SettingsSource};
    use serde_json::json;

    use super::*;

    async fn hook(command: Option<&str>, timeout: Duration) -> HookRun {
        let dir = tempfile::tempdir().unwrap();
        let hook = HookCommand {
            command: command.map(str::to_owned),
            timeout,
            origin: Origin {
                source: SettingsSource::Managed,
                file: std::path::Path::new("policy.json").into(),
                line: 1,
            },
        };
        let payload = json!({"tool_name": "Bash"});
        let run = run_hook(&hook, &payload, dir.path());
        tokio::time::timeout(Duration::from_secs(30), run).await.unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    fn exited(code: i32, stdout: &str, stderr: &str) -> HookRun {
        HookRun::Exited {
            code,
            stdout: stdout.into(),
            stderr: stderr.into(),
        }
    }

    #[tokio::test]
    async fn every_end_is_reported_as_what_it_is() {
        let rows = [
            ("cat", exited(0, r#"{"tool_name":"Bash"}"#, "")),
            ("true", exited(0, "", "")),
            ("echo no >&2; exit 2", exited(2, "", "no\n")),
            ("./missing 2>/dev/null", exited(127, "", "")),
            ("touch f; ./f 2>/dev/null", exited(126, "", "")),
            (
                r#"test "$CLAUDE_PROJECT_DIR" = "$PWD" && echo here"#,
                exited(0, "here\n", ""),
            ),
            ("yes", HookRun::Overflowed),
            (
                "kill -9 $$",
                HookRun::Failed("it ended with signal `9`".to_owned()),
            ),
        ];
        for (command, expected) in rows {
            assert_eq!(hook(Some(command), LONG).await, expected, "{command}");
        }
        assert_eq!(
            hook(None, LONG).await,
            HookRun::Failed("no command is configured".to_owned())
        );
    }

    #[tokio::test]
    async fn a_hook_that_hangs_is_over_at_its_limit() {
        let limit = Duration::from_millis(100);
        assert_eq!(hook(Some("sleep 600"), limit).await, HookRun::TimedOut);
    }
}
