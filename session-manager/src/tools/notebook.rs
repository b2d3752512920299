//! NotebookEdit: which cell of which notebook, and the new source. Claude sends the old source only to the
//! model, so there is no honest diff to show.

use acp_proto::schema::{ToolCallLocation, ToolKind};

use super::blocks::text_content;
use super::markdown::fenced;
use super::{Presenting, ToolCallRef, ToolView, input, paths, wording};

pub(super) fn view(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let Some(path) = input::first_text(call.input, &["notebook_path", "file_path", "path"]) else {
        let title = if call.name.is_empty() {
            wording::UNKNOWN_TOOL
        } else {
            call.name
        };
        return ToolView::new(title, ToolKind::Edit).locations(Vec::new());
    };
    let verb = match input::text(call.input, "edit_mode") {
        Some("insert") => "Insert cell in",
        Some("delete") => "Delete cell in",
        _ => "Edit",
    };
    let cell = input::text(call.input, "cell_id")
        .map(|cell| format!(" (cell {cell})"))
        .unwrap_or_default();
    let language = if input::text(call.input, "cell_type") == Some("markdown") {
        "markdown"
    } else {
        ""
    };
    let source = input::text(call.input, "new_source").map(|source| text_content(fenced(language, source)));
    ToolView::new(
        format!("{verb} {}{cell}", paths::display(path, ctx.cwd)),
        ToolKind::Edit,
    )
    .content(source.into_iter().collect())
    .locations(vec![ToolCallLocation::new(paths::absolute(path, ctx.cwd))])
}
