//! Write: a diff against what the file held before, as far as that is known; exact once Claude reports it.

use acp_proto::schema::{Diff, ToolCallContent, ToolCallLocation, ToolKind};

use super::blocks::text_content;
use super::{Presenting, Rendered, ToolCallRef, ToolResultRef, ToolView, edit, input, paths, wording};

const PATH: &[&str] = &["file_path", "path"];
const CONTENT: &[&str] = &["content", "file_text", "file_content"];

pub(super) fn view(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let text = CONTENT.iter().find_map(|key| input::any_text(call.input, key));
    let Some(path) = input::first_text(call.input, PATH) else {
        let content = text
            .filter(|text| !text.is_empty())
            .map(text_content)
            .into_iter()
            .collect();
        return ToolView::new(wording::PREPARING_FILE, ToolKind::Edit)
            .content(content)
            .locations(Vec::new());
    };
    let full = paths::absolute(path, ctx.cwd);
    let before = ctx.seen.and_then(|seen| seen.text(path)).map(str::to_owned);
    let diff = Diff::new(full.clone(), text.unwrap_or_default()).old_text(before);
    ToolView::new(format!("Write {}", paths::display(path, ctx.cwd)), ToolKind::Edit)
        .content(vec![ToolCallContent::Diff(diff)])
        .locations(vec![ToolCallLocation::new(full)])
}

pub(super) fn success(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    let Some(structured) = result.structured else {
        return Rendered::default();
    };
    match input::text(structured, "type") {
        Some("update") => edit::changed(structured, ctx),
        Some("create") if ctx.seen.is_some() => created(call, ctx),
        _ => Rendered::default(),
    }
}

/// A created file is what its call showed, unless we took it for a file that had been there.
fn created(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    let new = view(call, &Presenting { seen: None, ..*ctx }).content;
    let content = (new != view(call, ctx).content).then_some(new);
    Rendered {
        content,
        ..Rendered::default()
    }
}
