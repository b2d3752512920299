//! A conversation as Markdown.

use std::fmt::Write as _;

use acp_proto::schema::{Diff, ToolCall, ToolCallContent, ToolCallStatus};

use super::conversation::{Conversation, Part, block_text};
use super::{About, changed, wording};

/// Writes the conversation down.
pub(super) fn page(about: &About, conversation: &Conversation) -> String {
    let mut page = format!("# {}\n\n{}\n", heading(&about.title), heading(&about.line()));
    let mut speaker = "";
    for item in &conversation.items {
        let said_by = match item.part {
            Part::Prompt(_) => wording::YOU,
            _ => wording::CLAUDE,
        };
        if speaker != said_by {
            speaker = said_by;
            push(&mut page, &format!("## {speaker}"));
        }
        let text = match &item.part {
            Part::Prompt(text) | Part::Answer(text) => text.trim().to_owned(),
            Part::Thought(text) => quoted(&format!("*{}.* {}", wording::THINKING, text.trim())),
            Part::Call(call) => call_text(call),
            Part::Plan(steps) => {
                let steps: Vec<String> = steps.iter().map(|step| format!("- {step}")).collect();
                format!("**{}**\n\n{}", wording::PLAN, steps.join("\n"))
            }
            Part::Note(text) => format!("*{text}*"),
        };
        let text = if item.nested { quoted(&text) } else { text };
        push(&mut page, &text);
    }
    page
}

/// A paragraph of its own; nothing for nothing.
fn push(page: &mut String, text: &str) {
    if !text.is_empty() {
        // Writing to memory cannot fail.
        let _ = writeln!(page, "\n{text}");
    }
}

/// Text that stands in one line of Markdown's own.
fn heading(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

fn call_text(call: &ToolCall) -> String {
    let mut text = format!("**{}**{}", heading(&call.title), outcome(call.status));
    for content in &call.content {
        match content {
            ToolCallContent::Content(content) => {
                // What a tool gave is Markdown, as editors show it.
                let _ = write!(text, "\n\n{}", block_text(&content.content).trim_end());
            }
            ToolCallContent::Diff(diff) => {
                let _ = write!(text, "\n\n{}", diff_text(diff));
            }
            _ => {}
        }
    }
    text
}

/// How a call ended, where it did not simply end well.
pub(super) fn outcome(status: ToolCallStatus) -> String {
    match status {
        ToolCallStatus::Completed => String::new(),
        ToolCallStatus::Failed => format!(" ({})", wording::NOT_RUN),
        _ => format!(" ({})", wording::UNFINISHED),
    }
}

fn diff_text(diff: &Diff) -> String {
    let path = diff.path.display();
    let mut lines = vec![match diff.old_text {
        Some(_) => format!("--- {path}\n+++ {path}"),
        None => format!("+++ {path} ({})", wording::NEW_FILE),
    }];
    lines.extend(
        changed(diff)
            .into_iter()
            .map(|(change, line)| format!("{}{line}", change.sign())),
    );
    fenced("diff", &lines.join("\n"))
}

/// A fence is longer than any run of backticks in it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}
