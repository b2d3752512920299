//! Edit and MultiEdit: the proposed replacement before it runs, then a diff for each hunk of Claude's patch.

use std::path::Path;

use acp_proto::schema::{Diff, ToolCallContent, ToolCallLocation, ToolKind};
use serde_json::Value;

use super::blocks::text_content;
use super::markdown::inline_code;
use super::{Presenting, Rendered, ToolCallRef, ToolResultRef, ToolView, input, paths, wording};

pub(super) fn view(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let Some(path) = input::first_text(call.input, &["file_path", "path"]) else {
        let title = if call.name.is_empty() {
            wording::UNKNOWN_TOOL
        } else {
            call.name
        };
        return ToolView::new(title, ToolKind::Edit).locations(Vec::new());
    };
    let full = paths::absolute(path, ctx.cwd);
    let several = input::items(call.input, "edits").iter();
    let content = std::iter::once(call.input)
        .chain(several)
        .filter_map(|edit| replacement(edit, &full))
        .collect();
    ToolView::new(format!("Edit {}", paths::display(path, ctx.cwd)), ToolKind::Edit)
        .content(content)
        .locations(vec![ToolCallLocation::new(full)])
}

pub(super) fn success(_call: &ToolCallRef<'_>, result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    match result.structured {
        Some(structured) if !input::items(structured, "structuredPatch").is_empty() => {
            changed(structured, ctx)
        }
        _ => Rendered::default(),
    }
}

/// A changed file, from a structured result with `filePath`, `structuredPatch` and perhaps the whole texts.
pub(super) fn changed(structured: &Value, ctx: &Presenting<'_>) -> Rendered {
    let Some(path) = input::text(structured, "filePath") else {
        return Rendered::default();
    };
    let full = paths::absolute(path, ctx.cwd);
    let hunks: Vec<_> = input::items(structured, "structuredPatch")
        .iter()
        .filter_map(Hunk::of)
        .collect();
    if hunks.is_empty() {
        return Rendered {
            content: Some(vec![without_hunks(structured, path, &full, ctx)]),
            ..Rendered::default()
        };
    }
    let locations = hunks
        .iter()
        .map(|hunk| ToolCallLocation::new(full.clone()).line(input::line(hunk.line)))
        .collect();
    let content = hunks.into_iter().map(|hunk| hunk.diff(&full)).collect();
    Rendered {
        content: Some(content),
        locations: Some(locations),
        ..Rendered::default()
    }
}

fn replacement(edit: &Value, path: &Path) -> Option<ToolCallContent> {
    let old = input::text(edit, "old_string");
    let new = input::text(edit, "new_string");
    if old.is_none() && new.is_none() {
        return None;
    }
    let diff = Diff::new(path.to_path_buf(), new.unwrap_or_default()).old_text(old.map(str::to_owned));
    Some(ToolCallContent::Diff(diff))
}

fn without_hunks(structured: &Value, path: &str, full: &Path, ctx: &Presenting<'_>) -> ToolCallContent {
    match (
        input::any_text(structured, "originalFile"),
        input::any_text(structured, "content"),
    ) {
        (Some(before), Some(after)) => {
            ToolCallContent::Diff(Diff::new(full.to_path_buf(), after).old_text(before.to_owned()))
        }
        _ => text_content(wording::too_large_to_diff(&inline_code(&paths::display(
            path, ctx.cwd,
        )))),
    }
}

struct Hunk {
    old: Option<String>,
    new: String,
    line: u64,
}

impl Hunk {
    fn of(hunk: &Value) -> Option<Self> {
        let lines: Vec<_> = input::items(hunk, "lines")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if lines.is_empty() {
            return None;
        }
        let side = |marker: char| -> Vec<&str> {
            lines
                .iter()
                .filter_map(|line| line.strip_prefix(' ').or_else(|| line.strip_prefix(marker)))
                .collect()
        };
        let (old, new) = (side('-'), side('+'));
        let old = (!old.is_empty()).then(|| old.join("\n"));
        Some(Self {
            old,
            new: new.join("\n"),
            line: input::number(hunk, "newStart").unwrap_or(1),
        })
    }

    fn diff(self, path: &Path) -> ToolCallContent {
        ToolCallContent::Diff(Diff::new(path.to_path_buf(), self.new).old_text(self.old))
    }
}
