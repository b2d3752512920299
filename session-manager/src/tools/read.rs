//! Read: numbered text in a fence, images as images, notebooks and documents as their blocks.

use acp_proto::schema::{ContentBlock, ImageContent, ToolCallContent, ToolCallLocation, ToolKind};
use serde_json::Value;

use super::blocks::{shown_verbatim, text_content};
use super::markdown::fenced;
use super::{Presenting, Rendered, ToolCallRef, ToolResultRef, ToolView, input, paths, wording};

pub(super) fn view(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let Some(path) = input::first_text(call.input, &["file_path", "path"]) else {
        return ToolView::new(wording::READ_FILE, ToolKind::Read).locations(Vec::new());
    };
    let offset = input::number(call.input, "offset").filter(|offset| *offset > 0);
    let limit = input::number(call.input, "limit").filter(|limit| *limit > 0);
    let first = offset.unwrap_or(1);
    let range = match (offset, limit) {
        (_, Some(limit)) => format!(" ({first} - {})", first.saturating_add(limit).saturating_sub(1)),
        (Some(offset), None) => format!(" (from line {offset})"),
        (None, None) => String::new(),
    };
    let location = ToolCallLocation::new(paths::absolute(path, ctx.cwd)).line(input::line(first));
    ToolView::new(
        format!("Read {}{range}", paths::display(path, ctx.cwd)),
        ToolKind::Read,
    )
    .locations(vec![location])
}

pub(super) fn success(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>) -> Rendered {
    let content = result
        .structured
        .and_then(|structured| structured_content(call, structured));
    let mut content = content.unwrap_or_else(|| shown_verbatim(result.content));
    if content.is_empty() {
        content.push(text_content(wording::EMPTY_FILE));
    }
    Rendered {
        content: Some(content),
        ..Rendered::default()
    }
}

/// From the structured result, which holds the file as it is; `None` for kinds that only have blocks.
fn structured_content(call: &ToolCallRef<'_>, structured: &Value) -> Option<Vec<ToolCallContent>> {
    let file = structured.get("file")?;
    match input::text(structured, "type")? {
        "text" => {
            let text = input::any_text(file, "content")?;
            if text.is_empty() {
                return Some(Vec::new());
            }
            let numbered = numbered(text, input::number(file, "startLine").unwrap_or(1));
            let mut content = vec![text_content(fenced("", &numbered))];
            content.extend(truncation(call, file).map(text_content));
            Some(content)
        }
        "image" => {
            let image = ImageContent::new(input::text(file, "base64")?, input::text(file, "type")?);
            Some(vec![ToolCallContent::from(ContentBlock::Image(image))])
        }
        _ => None,
    }
}

fn numbered(text: &str, first: u64) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<_> = (first..)
        .zip(text.split('\n'))
        .map(|(number, line)| format!("{number}\t{line}"))
        .collect();
    lines.join("\n")
}

/// A note when Claude cut the file by itself; a range that was asked for is no truncation.
fn truncation(call: &ToolCallRef<'_>, file: &Value) -> Option<String> {
    if call.input.get("limit").is_some() {
        return None;
    }
    let shown = input::number(file, "numLines")?;
    let total = input::number(file, "totalLines")?;
    let first = input::number(file, "startLine").unwrap_or(1).max(1);
    let last = first.saturating_sub(1).saturating_add(shown);
    (last < total).then(|| wording::file_truncated(shown, total))
}
