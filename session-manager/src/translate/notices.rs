//! What Claude Code tells the user outside of the model's messages, as text in the transcript.

use std::time::Duration;

use acp_proto::ext::{ClaudeCodeMeta, MetaRecord};
use acp_proto::schema::{ContentBlock, ContentChunk, SessionUpdate};
use claude_sdk_bridge::messages::{ApiErrorKind, ApiRetry, Informational};

use crate::tools::wording;

/// One whole text of the agent.
pub(super) fn text(text: impl Into<String>, message_id: Option<&str>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(chunk(text.into(), message_id))
}

/// One whole thought of the agent.
pub(super) fn thought(text: impl Into<String>, message_id: Option<&str>) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(chunk(text.into(), message_id))
}

/// A message for the user. The lowest levels are chatter of the terminal surface and are not shown.
pub(super) fn informational(message: &Informational) -> Option<SessionUpdate> {
    let level = message.level.as_str().unwrap_or("info");
    let content = message
        .content
        .as_str()
        .filter(|content| !content.trim().is_empty())?;
    if matches!(level, "info" | "suggestion") {
        return None;
    }
    Some(notice(level, content))
}

/// The API did not do what it was asked, and is asked again. Nothing is said of a wait that nobody notices.
pub(super) fn retry(retry: &ApiRetry) -> Option<SessionUpdate> {
    let wait = Duration::from_millis(retry.retry_delay_ms.get().copied()?);
    let attempt = retry.attempt.get().copied()?;
    if wait < NOTICED {
        return None;
    }
    let kind = retry.error.get().map_or("unknown", ApiErrorKind::as_str);
    let status = retry.error_status.get().copied();
    let text = wording::api_retry(kind, status, wait, (attempt, retry.max_retries.get().copied()));
    Some(notice("warning", &text))
}

/// How long a wait has to be.
const NOTICED: Duration = Duration::from_secs(2);

/// A text of some level, marked as not being the model's.
pub(super) fn notice(level: &str, content: &str) -> SessionUpdate {
    let record = ClaudeCodeMeta {
        kind: Some("informational".to_owned()),
        level: Some(level.to_owned()),
        ..ClaudeCodeMeta::default()
    };
    let chunk = chunk(wording::informational(level, content), None).meta(record.into_meta());
    SessionUpdate::AgentMessageChunk(chunk)
}

/// The text of a local command's output, without the tags it is stored under.
pub(super) fn command_output(content: &str) -> &str {
    let unwrapped = ["stdout", "stderr"].iter().find_map(|stream| {
        let inner = content
            .trim()
            .strip_prefix(&format!("<local-command-{stream}>"))?;
        inner.strip_suffix(&format!("</local-command-{stream}>"))
    });
    unwrapped.unwrap_or(content).trim()
}

fn chunk(text: String, message_id: Option<&str>) -> ContentChunk {
    let chunk = ContentChunk::new(ContentBlock::from(text));
    match message_id {
        Some(id) => chunk.message_id(id),
        None => chunk,
    }
}
