//! WebFetch and WebSearch.

use acp_proto::schema::ToolKind;
use serde_json::Value;

use super::blocks::{link, text_content};
use super::markdown::for_people;
use super::{Rendered, ToolCallRef, ToolResultRef, ToolView, generic, input, wording};

pub(super) fn fetch(call: &ToolCallRef<'_>) -> ToolView {
    let from = input::first_text(call.input, &["url"]).map(|url| {
        let offset = input::first_number(call.input, &["offset", "start_index"]).filter(|offset| *offset > 0);
        let from = offset
            .map(|offset| format!(" (from char {offset})"))
            .unwrap_or_default();
        format!("{} {url}{from}", wording::FETCH)
    });
    let prompt = input::text(call.input, "prompt").map(text_content);
    ToolView::new(from.unwrap_or_else(|| wording::FETCH.to_owned()), ToolKind::Fetch)
        .content(prompt.into_iter().collect())
}

pub(super) fn search(call: &ToolCallRef<'_>) -> ToolView {
    let query = input::text(call.input, "query").map(|query| format!("Search \"{query}\""));
    ToolView::new(
        query.unwrap_or_else(|| wording::WEB_SEARCH.to_owned()),
        ToolKind::Fetch,
    )
}

/// The structured list: what the model gets also holds instructions for the model.
pub(super) fn search_success(result: &ToolResultRef<'_>) -> Rendered {
    let lines: Vec<_> = result.structured.map(result_lines).unwrap_or_default();
    if lines.is_empty() {
        return generic::success(result);
    }
    Rendered {
        content: Some(vec![text_content(lines.join("\n"))]),
        ..Rendered::default()
    }
}

fn result_lines(structured: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in input::items(structured, "results") {
        match entry {
            Value::String(text) => lines.push(for_people(text).to_owned()),
            _ => lines.extend(
                input::items(entry, "content")
                    .iter()
                    .filter_map(|hit| link(hit, "title", "url")),
            ),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}
