//! A permission request as a question on the terminal, and what may be answered. Shows everything the decision is
//! about, in full: a command is never cut, and agent text cannot leave its margin to imitate an option. Pure; it
//! recommends nothing and knows no default.

use acp_proto::ext::{MetaRecord as _, PermissionPresentation};
use acp_proto::schema::{PermissionOption, PermissionOptionKind, RequestPermissionRequest};

use super::style::Style;
use super::tools::{as_diff, content_text, shorten};
use super::{diff, sanitize, wording};

const DIFF_LINES: usize = 400;
const TITLE_COLUMNS: usize = 100;

/// The whole question, ended by a line break.
pub(crate) fn render(request: &RequestPermissionRequest, style: Style) -> String {
    let command = command(request);
    // Only a title that repeats the command may be cut: a command that is not the heading itself stands below it.
    let heading = match command {
        Some(_) => shorten(&title(request), TITLE_COLUMNS),
        None => title(request),
    };
    let details = details(request, command.filter(|command| *command != heading), style);
    let mut lines = vec![style.yellow(&style.bold(&wording::question(&heading)))];
    let margin = style.dim(wording::COMMAND_MARGIN);
    lines.extend(details.iter().map(|detail| format!("  {margin}{detail}")));
    for (index, option) in request.options.iter().enumerate() {
        lines.push(format!(
            "  {}",
            wording::option(index.saturating_add(1), &sanitize::line(&option.name))
        ));
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// One line that says what is asked for.
pub(crate) fn title(request: &RequestPermissionRequest) -> String {
    let fields = &request.tool_call.fields;
    let presented = presentation(request).map(|presented| presented.title);
    let title = presented
        .as_deref()
        .or(fields.title.as_deref())
        .map(sanitize::line)
        .unwrap_or_default();
    if title.is_empty() {
        let name = fields.name.as_deref().map(sanitize::line);
        wording::untitled_question(name.as_deref())
    } else {
        title
    }
}

/// The option a line of input chooses.
pub(crate) fn chosen<'a>(line: &str, options: &'a [PermissionOption]) -> Option<&'a PermissionOption> {
    let number: usize = line.trim().parse().ok()?;
    options.get(number.checked_sub(1)?)
}

/// The option that denies, the least lasting one first.
pub(crate) fn rejection(options: &[PermissionOption]) -> Option<&PermissionOption> {
    let of_kind = |kind| options.iter().find(|option| option.kind == kind);
    of_kind(PermissionOptionKind::RejectOnce).or_else(|| of_kind(PermissionOptionKind::RejectAlways))
}

fn presentation(request: &RequestPermissionRequest) -> Option<PermissionPresentation> {
    PermissionPresentation::read(request.meta.as_ref())
}

fn command(request: &RequestPermissionRequest) -> Option<&str> {
    request
        .tool_call
        .fields
        .raw_input
        .as_ref()?
        .get("command")?
        .as_str()
}

/// The reason, the command, the texts and the diffs; the raw input when none of them says what is done.
fn details(request: &RequestPermissionRequest, command: Option<&str>, style: Style) -> Vec<String> {
    let fields = &request.tool_call.fields;
    let content = fields.content.as_deref().unwrap_or_default();
    let mut subject = block_lines(command.unwrap_or_default());
    subject.extend(block_lines(&content_text(content)));
    let diffs = content.iter().filter_map(as_diff);
    subject.extend(diffs.flat_map(|change| diff::lines(change, style, DIFF_LINES)));
    if self::command(request).is_none()
        && subject.is_empty()
        && let Some(input) = fields.raw_input.as_ref().filter(|input| !is_empty(input))
        && let Ok(text) = serde_json::to_string_pretty(input)
    {
        subject.extend(block_lines(&text));
    }
    let description = presentation(request).and_then(|presented| presented.description);
    let mut lines = block_lines(description.as_deref().unwrap_or_default());
    lines.append(&mut subject);
    lines
}

fn is_empty(input: &serde_json::Value) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

fn block_lines(text: &str) -> Vec<String> {
    sanitize::block(text.trim_matches('\n'))
        .lines()
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
