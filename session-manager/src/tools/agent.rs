//! Subagents (Agent, formerly Task): the prompt at the call, the report at the end, without the frame that the
//! harness puts around a report for the model.

use acp_proto::schema::{ToolCallContent, ToolKind};
use claude_sdk_bridge::messages::{Content, ContentBlock, FromWire};
use serde_json::Value;

use super::blocks::{plain_text, shown, starts_with, text_content};
use super::{Rendered, ToolCallRef, ToolResultRef, ToolView, input, wording};

/// How Claude tells the model of a launch.
const LAUNCHED: &str = "Async agent launched successfully";

pub(super) fn view(call: &ToolCallRef<'_>) -> ToolView {
    let mut title = input::text(call.input, "description")
        .unwrap_or(wording::TASK)
        .to_owned();
    if let Some(effort) = input::text(call.input, "effort") {
        title.push_str(&format!(" ({effort} effort)"));
    }
    let prompt = input::text(call.input, "prompt").map(text_content);
    ToolView::new(title, ToolKind::Think).content(prompt.into_iter().collect())
}

pub(super) fn success(result: &ToolResultRef<'_>) -> Rendered {
    let status = result
        .structured
        .and_then(|structured| input::text(structured, "status"));
    let content = match (status, result.structured) {
        (Some("completed"), Some(structured)) => report(structured),
        (Some("async_launched"), _) => vec![text_content(wording::AGENT_IN_BACKGROUND)],
        _ => unframed(result.content),
    };
    Rendered {
        content: (!content.is_empty()).then_some(content),
        ..Rendered::default()
    }
}

/// Whether this result only says that the agent now works in the background.
pub(super) fn in_background(result: &ToolResultRef<'_>) -> bool {
    result
        .structured
        .and_then(|structured| input::text(structured, "status"))
        == Some("async_launched")
        || starts_with(result.content, LAUNCHED)
}

fn report(structured: &Value) -> Vec<ToolCallContent> {
    match structured.get("content").cloned().map(Content::from_wire) {
        Some(Ok(Content::Blocks(mut blocks))) => {
            blocks.retain(|block| !is_tool_list(block));
            shown(&Content::Blocks(blocks))
        }
        Some(Ok(text)) => shown(&text),
        Some(Err(_)) | None => Vec::new(),
    }
}

fn is_tool_list(block: &ContentBlock) -> bool {
    block
        .as_text()
        .is_some_and(|text| text.trim_start().starts_with("<tools-used-before-summary>"))
}

/// Without the structured result there is only the model's text: drop the lines that are the harness's.
fn unframed(content: &Content) -> Vec<ToolCallContent> {
    let text = plain_text(content);
    if text.starts_with(LAUNCHED) {
        return vec![text_content(wording::AGENT_IN_BACKGROUND)];
    }
    let report = text
        .split_once("The report follows:\n")
        .map_or(text.as_str(), |(_, report)| report);
    let report = report
        .split_once("\n<usage>")
        .map_or(report, |(report, _)| report);
    let lines: Vec<_> = report
        .lines()
        .filter(|line| !line.starts_with("agentId: ") && !line.starts_with("<usage>"))
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    let report = lines.join("\n");
    let report = report.trim();
    if report.is_empty() {
        Vec::new()
    } else {
        vec![text_content(report)]
    }
}
