//! Every sentence of our own that a user of the chat gets to read. Arguments are printable already (see
//! `sanitize`); no styling, no indentation.

use std::fmt::Display;

use acp_proto::schema::{CompactionStatus, NoticeSeverity, PlanEntryStatus, StopReason, ToolCallStatus};

pub(crate) const PROMPT: &str = "> ";
pub(crate) const CONTINUED: &str = "… ";
pub(crate) const THINKING: &str = "thinking: ";
pub(crate) const TOOL: &str = "●";
pub(crate) const UNTITLED_TOOL: &str = "a tool call";
pub(crate) const PLAN: &str = "plan";
pub(crate) const COMMAND_MARGIN: &str = "│ ";

pub(crate) const EMPTY_PROMPT: &str =
    "nothing to send: the prompt is empty; give it as an argument or on standard input";
pub(crate) const CANCELLING: &str = "cancelling… (Ctrl-C again ends the program)";
pub(crate) const LEAVING: &str = "Ctrl-C again ends the chat";
pub(crate) const WITHDRAWN: &str = "the question was withdrawn";
pub(crate) const REJECTED_AT_END: &str = "no answer (end of input): rejected";
pub(crate) const DENIED: &str = "denied: there is no terminal to ask on";
pub(crate) const DENIED_HINT: &str =
    "run the chat in a terminal to be asked, or allow it in Claude's settings";
pub(crate) const NO_OPTIONS: &str = "the agent offered no options to choose from: cancelled";
pub(crate) const TYPED_TOO_EARLY: &str = "what was typed before the question does not answer it";
pub(crate) const RETRY: &str = "the session is still there: send the prompt again, or another one";

pub(crate) fn greeting(agent: &str, cwd: &str) -> String {
    format!(
        "{agent} in {cwd}\nCtrl-C cancels a turn, Ctrl-D ends; a backslash at the end of a line continues it"
    )
}

pub(crate) const CANNOT_GO_BACK: &str = "the agent does not say which conversations it keeps, or keeps none: start a new one, without `--resume` and `--continue`";
pub(crate) const NOBODY_CHOOSES: &str = "there is no terminal to choose a conversation on: name one with `--resume ID`, or take the newest with `--continue`";
pub(crate) const OLDER_ONES: &str = "older ones: `claude-acp sessions list`, then `--resume ID`";

pub(crate) fn no_conversation(cwd: &str) -> String {
    format!("no conversation in {cwd} to go on with: start one without `--resume` and `--continue`")
}

/// A row of the list to choose from; `when` is empty where the agent does not tell.
pub(crate) fn conversation(number: usize, title: &str, when: &str) -> String {
    match when {
        "" => format!("{number:>3}. {title}"),
        when => format!("{number:>3}. {title}    {when}"),
    }
}

pub(crate) fn which_conversation(count: usize) -> String {
    format!("go on with (1-{count}): ")
}

pub(crate) fn pasted(count: usize) -> String {
    format!("{} pasted: Enter sends them", lines(count, ""))
}

pub(crate) fn agent(name: Option<&str>, version: Option<&str>) -> String {
    match (name, version) {
        (Some(name), Some(version)) if !version.is_empty() => format!("{name} {version}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => "agent".to_owned(),
    }
}

pub(crate) fn tool_status(status: ToolCallStatus) -> Option<&'static str> {
    match status {
        ToolCallStatus::InProgress => Some("… running"),
        ToolCallStatus::Completed => Some("✓ done"),
        ToolCallStatus::Failed => Some("✗ failed"),
        _ => None,
    }
}

/// A step of a plan with its mark.
#[must_use]
pub fn plan_entry(status: &PlanEntryStatus, content: &str) -> String {
    let mark = match status {
        PlanEntryStatus::Completed => "[x]",
        PlanEntryStatus::InProgress => "[~]",
        _ => "[ ]",
    };
    format!("{mark} {content}")
}

pub(crate) fn mode(name: &str) -> String {
    format!("mode: {name}")
}

pub(crate) fn notice(severity: &NoticeSeverity, title: &str, description: Option<&str>) -> String {
    let label = match severity {
        NoticeSeverity::Error => "error",
        NoticeSeverity::Warning => "warning",
        _ => "note",
    };
    match description {
        Some(description) => format!("{label}: {title}: {description}"),
        None => format!("{label}: {title}"),
    }
}

pub(crate) fn compaction(status: &CompactionStatus, error: Option<&str>) -> String {
    match (status, error) {
        (CompactionStatus::InProgress, _) => "compacting the conversation…".to_owned(),
        (CompactionStatus::Completed, _) => "the conversation was compacted".to_owned(),
        (CompactionStatus::Cancelled, _) => "compacting was cancelled".to_owned(),
        (_, Some(error)) => format!("compacting failed: {error}"),
        (_, None) => "compacting failed".to_owned(),
    }
}

/// Stands for content a terminal cannot show.
pub(crate) fn not_text(kind: &str, detail: &str) -> String {
    if detail.is_empty() {
        format!("[{kind}]")
    } else {
        format!("[{kind}: {detail}]")
    }
}

pub(crate) fn more_lines(count: usize) -> String {
    format!("… {}", lines(count, "more "))
}

pub(crate) fn diff_new_file(path: &str) -> String {
    format!("new file {path}")
}

pub(crate) fn diff_changed_file(path: &str) -> String {
    format!("changed {path}")
}

pub(crate) fn diff_too_large(before: usize, after: usize) -> String {
    format!(
        "{} before, {} after: too large to show",
        lines(before, ""),
        lines(after, "")
    )
}

fn lines(count: usize, kind: &str) -> String {
    if count == 1 {
        format!("1 {kind}line")
    } else {
        format!("{count} {kind}lines")
    }
}

pub(crate) fn question(title: &str) -> String {
    format!("permission needed: {title}")
}

pub(crate) fn untitled_question(tool: Option<&str>) -> String {
    tool.map_or_else(|| UNTITLED_TOOL.to_owned(), |tool| format!("use {tool}"))
}

pub(crate) fn option(number: usize, name: &str) -> String {
    format!("{number}. {name}")
}

pub(crate) fn choose(options: usize) -> String {
    if options == 1 {
        "answer (1): ".to_owned()
    } else {
        format!("answer (1-{options}): ")
    }
}

pub(crate) fn not_an_option(options: usize) -> String {
    if options == 1 {
        "type 1".to_owned()
    } else {
        format!("type a number from 1 to {options}")
    }
}

/// Why a turn ended, when it did not simply end.
pub(crate) fn stopped(reason: StopReason) -> Option<&'static str> {
    match reason {
        StopReason::EndTurn => None,
        StopReason::Cancelled => Some("cancelled"),
        StopReason::MaxTokens => Some("stopped at the limit of tokens: ask to go on"),
        StopReason::MaxTurnRequests => Some("stopped at the limit of requests in one turn: ask to go on"),
        StopReason::Refusal => Some("the model refused to go on: ask differently, or start a new session"),
        _ => Some("stopped for a reason this chat does not know"),
    }
}

pub(crate) fn agent_error(message: &str, detail: Option<&str>, hint: Option<&str>) -> String {
    let mut text = format!("the agent reported an error: {message}");
    if let Some(detail) = detail {
        text.push_str(&format!(" ({detail})"));
    }
    if let Some(hint) = hint {
        text.push('\n');
        text.push_str(hint);
    }
    text
}

/// What to do about an API error, by the kind the agent names.
pub(crate) fn error_hint(kind: &str) -> Option<&'static str> {
    match kind {
        "rate_limit" => Some("wait a little, then send the prompt again"),
        "server_error" | "overloaded" => Some("the service has a problem: send the prompt again in a while"),
        "billing_error" => Some("check the account's credit and plan"),
        "model_not_found" => Some("choose another model in Claude's settings or with ANTHROPIC_MODEL"),
        "invalid_request" => Some("if the conversation is too long, send /compact or start a new chat"),
        "max_output_tokens" => Some("ask for a shorter answer, or to go on"),
        _ => None,
    }
}

/// `commands` are the logins the agent offers; `program` is what to run when it offers none.
pub(crate) fn login_needed(program: &str, commands: &[(String, String)]) -> String {
    let mut text = "Claude is not logged in. Log in, then send the prompt again:".to_owned();
    if commands.is_empty() {
        text.push_str(&format!("\n  {program} --cli auth login"));
    }
    for (name, command) in commands {
        text.push_str(&format!("\n  {command}    ({name})"));
    }
    text
}

pub(crate) fn connection_closed() -> String {
    "the agent closed the connection: look at its log for the reason, then start the chat again".to_owned()
}

pub(crate) fn wrong_version(version: &str) -> String {
    format!("the agent speaks ACP version {version}, this chat only version 1: use another client for it")
}

pub(crate) fn bad_answer(method: &str, error: &dyn Display) -> String {
    format!(
        "the agent's answer to `{method}` cannot be read: {error}; it may be another version of the protocol"
    )
}

pub(crate) fn output_failed(error: &dyn Display) -> String {
    format!("cannot write the output: {error}")
}

pub(crate) fn input_failed(error: &dyn Display) -> String {
    format!("cannot read the prompt: {error}")
}

pub(crate) fn prompt_too_long(limit_bytes: u64) -> String {
    format!(
        "it is longer than {} MiB; put it into a file and name the file in the prompt",
        limit_bytes >> 20
    )
}

pub(crate) fn setup_failed(error: &dyn Display) -> String {
    format!("the chat cannot be set up: {error}")
}

#[cfg(test)]
mod tests;
