//! Every tool without a form of its own (MCP tools, tools of later versions), and the parts that all families
//! share: a result as it came, and a failure's text.

use acp_proto::schema::ToolKind;

use super::blocks::{images, plain_text, shown, text_content};
use super::markdown::fenced;
use super::{Rendered, ToolCallRef, ToolResultRef, ToolView, input, wording};

pub(super) fn view(call: &ToolCallRef<'_>) -> ToolView {
    ToolView::new(
        if call.name.is_empty() {
            wording::UNKNOWN_TOOL
        } else {
            call.name
        },
        ToolKind::Other,
    )
}

/// ReportFindings: a list of places in files, each with a summary.
pub(super) fn findings(call: &ToolCallRef<'_>) -> ToolView {
    let findings = input::items(call.input, "findings");
    let content = findings.iter().filter_map(|finding| {
        let summary = input::first_text(finding, &["summary", "title", "description"])?;
        let line = input::number(finding, "line")
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        Some(match input::first_text(finding, &["file", "path", "file_path"]) {
            Some(file) => text_content(format!("**{file}{line}** — {summary}")),
            None => text_content(summary),
        })
    });
    ToolView::new(wording::findings(findings.len()), ToolKind::Think).content(content.collect())
}

pub(super) fn success(result: &ToolResultRef<'_>) -> Rendered {
    let content = shown(result.content);
    Rendered {
        content: (!content.is_empty()).then_some(content),
        ..Rendered::default()
    }
}

pub(super) fn failure(result: &ToolResultRef<'_>) -> Rendered {
    let said = match rejection(&plain_text(result.content)) {
        Some(ours) => Some(ours),
        None => Some(failure_text(result))
            .filter(|text| !text.is_empty())
            .map(|text| fenced("", &text)),
    };
    let content = said
        .map(text_content)
        .into_iter()
        .chain(images(result.content))
        .collect();
    Rendered {
        content: Some(content),
        ..Rendered::default()
    }
}

/// The text of a failed result. Refusals are phrased for the model, partly as orders to it; those are replaced.
pub(super) fn failure_text(result: &ToolResultRef<'_>) -> String {
    let text = plain_text(result.content);
    rejection(&text).unwrap_or_else(|| own_part(&text).trim_end().to_owned())
}

/// The part of a denial's text that says what was denied and why; advice to the model on how to go on follows.
pub(crate) fn own_part(text: &str) -> &str {
    text.split(" IMPORTANT: You *may* attempt")
        .next()
        .unwrap_or_default()
}

/// What Claude's standard text about a rejected or interrupted call comes down to.
fn rejection(text: &str) -> Option<String> {
    if !text.starts_with("The user doesn't want to ") {
        return None;
    }
    if text.contains("this call was stopped while running") {
        return Some(wording::STOPPED.to_owned());
    }
    let reason = ["the user said:", "reason for the rejection:"]
        .iter()
        .find_map(|lead| text.split_once(lead))
        .map(|(_, reason)| reason.trim())
        .filter(|reason| !reason.is_empty());
    Some(reason.map_or_else(|| wording::REJECTED.to_owned(), wording::rejected_with))
}
