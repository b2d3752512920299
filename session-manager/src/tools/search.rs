//! Glob, Grep and LS: what is searched, as one would type it. Results are shown as they come.

use acp_proto::schema::{ToolCallLocation, ToolKind};
use serde_json::Value;

use super::markdown::inline_code;
use super::{Presenting, ToolCallRef, ToolView, input, paths};

pub(super) fn glob(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let path = input::text(call.input, "path");
    let mut title = "Find".to_owned();
    for part in [path, input::text(call.input, "pattern")].into_iter().flatten() {
        title.push(' ');
        title.push_str(&inline_code(part));
    }
    ToolView::new(title, ToolKind::Search).locations(location(path, ctx))
}

pub(super) fn list(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let path = input::text(call.input, "path");
    let title = path.map_or_else(
        || "List files".to_owned(),
        |path| format!("List {}", paths::display(path, ctx.cwd)),
    );
    ToolView::new(title, ToolKind::Search).locations(location(path, ctx))
}

/// The command line that would do the same.
pub(super) fn grep(call: &ToolCallRef<'_>) -> ToolView {
    let args = call.input;
    let mut line = vec!["grep".to_owned()];
    let switch = |line: &mut Vec<String>, set: bool, text: &str| {
        if set {
            line.push(text.to_owned());
        }
    };
    for name in ["-i", "-n"] {
        switch(&mut line, input::flag(args, name), name);
    }
    for name in ["-A", "-B", "-C"] {
        line.extend(input::number(args, name).map(|lines| format!("{name} {lines}")));
    }
    let mode = input::text(args, "output_mode");
    switch(
        &mut line,
        mode == Some("files_with_matches") || input::flag(args, "-l"),
        "-l",
    );
    switch(&mut line, mode == Some("count") || input::flag(args, "-c"), "-c");
    line.extend(input::number(args, "head_limit").map(|lines| format!("| head -{lines}")));
    line.extend(input::text(args, "glob").map(|glob| format!("--include=\"{glob}\"")));
    line.extend(input::text(args, "type").map(|kind| format!("--type={kind}")));
    switch(&mut line, input::flag(args, "multiline"), "-P");
    line.extend(
        args.get("pattern")
            .and_then(Value::as_str)
            .map(|pattern| format!("\"{pattern}\"")),
    );
    line.extend(input::first_text(args, &["path", "file_path"]).map(str::to_owned));
    ToolView::new(line.join(" "), ToolKind::Search)
}

fn location(path: Option<&str>, ctx: &Presenting<'_>) -> Vec<ToolCallLocation> {
    path.map(|path| ToolCallLocation::new(paths::absolute(path, ctx.cwd)))
        .into_iter()
        .collect()
}
