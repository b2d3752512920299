//! Every sentence of ours that a user reads in a tool call or in the transcript. Titles and texts that merely
//! repeat Claude's input are built in the families; nothing here decides anything.

use std::time::Duration;

/// Titles of calls whose input has not arrived, and of calls without a better one.
pub(crate) const TERMINAL: &str = "Terminal";
pub(crate) const READ_FILE: &str = "Read File";
pub(crate) const PREPARING_FILE: &str = "Preparing file…";
pub(crate) const FETCH: &str = "Fetch";
pub(crate) const WEB_SEARCH: &str = "Web search";
pub(crate) const TASK: &str = "Task";
pub(crate) const LOAD_SKILL: &str = "Load skill";
pub(crate) const APPROVE_PLAN: &str = "Approve Plan";
pub(crate) const EXITED_PLAN_MODE: &str = "Exited Plan Mode";
pub(crate) const ENTERED_PLAN_MODE: &str = "Entered plan mode.";
pub(crate) const ASKING: &str = "Asking for your input";
pub(crate) const UPDATE_TODOS: &str = "Update TODOs";
pub(crate) const CREATE_TASK: &str = "Create task";
pub(crate) const UPDATE_TASK: &str = "Update task";
pub(crate) const LIST_TASKS: &str = "List tasks";
pub(crate) const GET_TASK: &str = "Get task";
pub(crate) const UNKNOWN_TOOL: &str = "Unknown Tool";
pub(crate) const COMPACT_CONVERSATION: &str = "Compact conversation";

/// Results that Claude's harness phrases for the model, rephrased for people.
pub(crate) const EMPTY_FILE: &str = "The file is empty.";
pub(crate) const ABORTED: &str = "[Command was aborted before completion]";
pub(crate) const AGENT_IN_BACKGROUND: &str = "The agent is working in the background.";
pub(crate) const REJECTED: &str = "The call did not run: it was rejected or cancelled.";
pub(crate) const STOPPED: &str =
    "Stopped while running. It may have run in part, and its changes may have been written.";
pub(crate) const NO_REASON: &str = "no reason was given";
pub(crate) const NO_ANSWER: &str = "No answer was given.";

/// Why a tool call that never got a result ended.
pub(crate) const SETTLED_CANCELLED: &str = "The turn was cancelled before this tool call returned a result.";
pub(crate) const SETTLED_ENDED: &str = "The turn ended before this tool call returned a result.";
pub(crate) const SETTLED_DIED: &str = "Claude stopped running before this tool call returned a result.";

pub(crate) fn in_background(task: Option<&str>, output: Option<&str>) -> String {
    let mut text = match task {
        Some(task) => format!("Running in the background as task {task}."),
        None => "Running in the background.".to_owned(),
    };
    if let Some(output) = output {
        text.push_str(&format!(" Output goes to {output}"));
    }
    text
}

pub(crate) fn output_saved(bytes: Option<u64>, path: &str) -> String {
    match bytes {
        Some(bytes) => format!("[Output truncated ({bytes} bytes total): full output saved to {path}]"),
        None => format!("[Output truncated: full output saved to {path}]"),
    }
}

pub(crate) fn file_truncated(shown: u64, total: u64) -> String {
    format!("[File truncated: showing {shown} of {total} lines]")
}

pub(crate) fn too_large_to_diff(path: &str) -> String {
    format!("Updated {path} (previous content too large to diff)")
}

pub(crate) fn document(media_type: &str, bytes: usize) -> String {
    format!("[document: {media_type}, {}]", size(bytes))
}

/// A line of a transcript that nobody can hold.
pub(crate) fn line_left_out(bytes: u64) -> String {
    let size = usize::try_from(bytes).map_or_else(|_| "huge".to_owned(), size);
    format!("A message of this conversation is not shown: it is too large ({size}).")
}

pub(crate) fn server_error(code: &str) -> String {
    format!("Error: {code}")
}

pub(crate) fn server_output(output: &str) -> String {
    format!("Output: {output}")
}

pub(crate) fn fetched(url: &str) -> String {
    format!("Fetched: {url}")
}

pub(crate) fn tool_reference(name: &str) -> String {
    format!("Tool: {name}")
}

pub(crate) fn permission_denied(reason: &str) -> String {
    format!("Permission denied: {reason}")
}

pub(crate) fn rejected_with(reason: &str) -> String {
    format!("The call did not run: it was rejected. The user said: {reason}")
}

pub(crate) fn question_not_shown(error: &str) -> String {
    format!(
        "A question of Claude's could not be shown, so what it asked for was denied. The editor said: {error}"
    )
}

pub(crate) fn compaction_failed(reason: &str) -> String {
    format!("Compaction failed: {reason}")
}

pub(crate) fn informational(level: &str, text: &str) -> String {
    let mut heading = String::new();
    let mut letters = level.chars();
    heading.extend(letters.next().map(|first| first.to_ascii_uppercase()));
    heading.extend(letters);
    // What follows it is a paragraph of its own.
    format!("**{heading}:** {text}\n\n")
}

/// `attempt`: which one follows, and of how many.
pub(crate) fn api_retry(
    kind: &str,
    status: Option<u64>,
    wait: Duration,
    attempt: (u64, Option<u64>),
) -> String {
    let status = status.map(|status| format!(", {status}")).unwrap_or_default();
    let (attempt, of) = attempt;
    let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
    let seconds = wait.as_secs();
    format!("The API failed ({kind}{status}). Try {attempt}{of} follows in {seconds} s.")
}

pub(crate) fn findings(count: usize) -> String {
    match count {
        0 => "Report findings: none found".to_owned(),
        1 => "Report 1 finding".to_owned(),
        many => format!("Report {many} findings"),
    }
}

fn size(bytes: usize) -> String {
    if bytes < 1024 {
        format!("{bytes} B")
    } else {
        format!("{} KB", bytes.div_ceil(1024))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_reads_well() {
        let sentences = [
            in_background(Some("b1"), Some("/tmp/b1.output")),
            in_background(None, None),
            output_saved(Some(70_000), "/tmp/o"),
            output_saved(None, "/tmp/o"),
            file_truncated(10, 20),
            too_large_to_diff("`a.txt`"),
            document("application/pdf", 12_000),
            document("application/pdf", 12),
            permission_denied("a rule says no"),
            rejected_with("use cargo instead"),
            question_not_shown("method not found"),
            compaction_failed("too_few_groups"),
            informational("warning", "text"),
            api_retry("overloaded", Some(529), Duration::from_secs(4), (3, Some(10))),
            api_retry("unknown", None, Duration::from_secs(2), (3, None)),
            findings(0),
            findings(1),
            findings(2),
        ];
        insta::assert_snapshot!(sentences.join("\n"));
    }
}
