//! How a tool call looks in the transcript: its one-line heading, its status lines, its diffs and the beginning of
//! its result. Pure.

use acp_proto::schema::{
    ContentBlock, Diff, EmbeddedResourceResource, Meta, ToolCallContent, ToolCallStatus,
    ToolCallUpdateFields, ToolKind,
};

use super::style::Style;
use super::{diff, sanitize, wording};

const RESULT_LINES: usize = 8;
const RESULT_COLUMNS: usize = 200;
const TITLE_COLUMNS: usize = 160;
const DIFF_LINES: usize = 120;

/// What the transcript knows of a tool call.
#[derive(Debug, Default)]
pub(crate) struct Tool {
    title: String,
    name: Option<String>,
    kind: ToolKind,
    status: ToolCallStatus,
    diffs: Vec<Diff>,
    diffs_shown: bool,
    /// Before every line: calls of a subagent stand below the call that started it.
    indent: &'static str,
    heading_due: bool,
}

/// What an update asks to be printed for a tool call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The heading is due (first time, or the tool was announced before its input was complete).
    pub(crate) heading: bool,
    /// What goes below the heading.
    pub(crate) lines: Vec<String>,
}

impl Tool {
    /// A call that was just announced; its heading is still to be printed.
    pub(crate) fn announced(meta: Option<&Meta>) -> Self {
        Self {
            heading_due: true,
            indent: if is_nested(meta) { "  " } else { "" },
            ..Self::default()
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.status, ToolCallStatus::Completed | ToolCallStatus::Failed)
    }

    /// Announced, but not shown yet.
    pub(crate) fn is_heading_due(&self) -> bool {
        self.heading_due && !self.title.is_empty()
    }

    /// The heading, without a line break. From now on it counts as printed.
    pub(crate) fn heading(&mut self, style: Style) -> String {
        self.heading_due = false;
        let indent = self.indent;
        format!(
            "{indent}{} {}",
            style.cyan(wording::TOOL),
            style.bold(&self.label())
        )
    }

    /// Its diffs were shown elsewhere, in a question.
    pub(crate) fn diffs_were_shown(&mut self) {
        self.diffs_shown = !self.diffs.is_empty();
    }

    /// Takes in what is known of the call by now. `settled` says that the input is complete.
    pub(crate) fn merge(&mut self, fields: &ToolCallUpdateFields, settled: bool, style: Style) -> Printed {
        if let Some(title) = &fields.title {
            self.title.clone_from(title);
        }
        if let Some(name) = &fields.name {
            self.name = Some(name.clone());
        }
        if let Some(kind) = fields.kind {
            self.kind = kind;
        }
        if let Some(content) = &fields.content {
            self.diffs = content.iter().filter_map(as_diff).cloned().collect();
        }
        let changed = fields.status.filter(|status| *status != self.status);
        if let Some(status) = changed {
            self.status = status;
        }
        let lines = changed
            .map(|status| self.status_lines(status, fields, style))
            .unwrap_or_default();
        let heading = self.is_heading_due() && (settled || !lines.is_empty());
        Printed { heading, lines }
    }

    fn status_lines(
        &mut self,
        status: ToolCallStatus,
        fields: &ToolCallUpdateFields,
        style: Style,
    ) -> Vec<String> {
        let Some(word) = wording::tool_status(status) else {
            return Vec::new();
        };
        let indent = self.indent;
        let mut lines = vec![match status {
            ToolCallStatus::Completed => format!("{indent}  {}", style.green(word)),
            ToolCallStatus::Failed => format!("{indent}  {}", style.red(word)),
            _ => format!("{indent}  {}", style.dim(word)),
        }];
        if !self.is_over() {
            return lines;
        }
        let below = if status == ToolCallStatus::Completed && !self.diffs.is_empty() {
            self.take_diffs(style)
        } else if status == ToolCallStatus::Completed && self.kind == ToolKind::Read {
            Vec::new()
        } else {
            result_lines(fields, style)
        };
        lines.extend(below.into_iter().map(|line| format!("{indent}    {line}")));
        lines
    }

    fn take_diffs(&mut self, style: Style) -> Vec<String> {
        if std::mem::replace(&mut self.diffs_shown, true) {
            return Vec::new();
        }
        self.diffs
            .iter()
            .flat_map(|change| diff::lines(change, style, DIFF_LINES))
            .collect()
    }

    /// `Bash: ls`, but not `Read: Read a.txt`.
    fn label(&self) -> String {
        let title = shorten(&sanitize::line(&self.title), TITLE_COLUMNS);
        match self.name.as_deref().map(sanitize::line) {
            Some(name)
                if !name.is_empty()
                    && !title.is_empty()
                    && !title.to_lowercase().contains(&name.to_lowercase()) =>
            {
                format!("{name}: {title}")
            }
            Some(name) if title.is_empty() => name,
            _ if title.is_empty() => wording::UNTITLED_TOOL.to_owned(),
            _ => title,
        }
    }
}

/// Whether a subagent made the call.
#[must_use]
pub fn is_nested(meta: Option<&Meta>) -> bool {
    meta.and_then(|meta| meta.get("claudeCode"))
        .and_then(|claude| claude.get("parentToolUseId"))
        .is_some_and(serde_json::Value::is_string)
}

/// The diffs among a call's contents.
pub(crate) fn as_diff(content: &ToolCallContent) -> Option<&Diff> {
    match content {
        ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    }
}

/// Content as text, the way it is meant to be read.
pub(crate) fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => wording::not_text("image", &image.mime_type),
        ContentBlock::Audio(audio) => wording::not_text("audio", &audio.mime_type),
        ContentBlock::ResourceLink(link) => wording::not_text("link", &link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            EmbeddedResourceResource::BlobResourceContents(blob) => wording::not_text("file", &blob.uri),
            _ => wording::not_text("resource", ""),
        },
        _ => wording::not_text("content", ""),
    }
}

/// The text among a call's contents, without the Markdown fence that editors need around it.
pub(crate) fn content_text(content: &[ToolCallContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        ToolCallContent::Content(content) => Some(unfenced(&block_text(&content.content)).to_owned()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn result_lines(fields: &ToolCallUpdateFields, style: Style) -> Vec<String> {
    let text = match (&fields.content, &fields.raw_output) {
        (Some(content), _) if !content.is_empty() => content_text(content),
        (_, Some(serde_json::Value::String(output))) => output.clone(),
        _ => String::new(),
    };
    let safe = sanitize::block(text.trim_matches('\n'));
    let mut lines: Vec<String> = safe
        .lines()
        .map(|line| style.dim(&shorten(line, RESULT_COLUMNS)))
        .collect();
    if lines.len() > RESULT_LINES {
        let left_out = lines.len().saturating_sub(RESULT_LINES);
        lines.truncate(RESULT_LINES);
        lines.push(style.dim(&wording::more_lines(left_out)));
    }
    lines
}

fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let ticks = trimmed.chars().take_while(|character| *character == '`').count();
    if ticks < 3 {
        return text;
    }
    let fence = "`".repeat(ticks);
    let body = trimmed
        .split_once('\n')
        .and_then(|(_, rest)| rest.strip_suffix(fence.as_str()));
    body.map_or(text, |body| body.strip_suffix('\n').unwrap_or(body))
}

/// At most so many characters, the last one a mark when there were more.
pub(crate) fn shorten(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(columns.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_goes_only_when_it_wraps_the_whole_text() {
        let check = |text: &str, expected: &str| assert_eq!(unfenced(text), expected, "{text:?}");
        check("```console\na\nb\n```", "a\nb");
        check("````\n```\ninner\n```\n````", "```\ninner\n```");
        check("text ```a``` text", "text ```a``` text");
        check("```\nnever closed", "```\nnever closed");
        check("plain", "plain");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(shorten("ääää", 3), "ää…");
        assert_eq!(shorten("äää", 3), "äää");
    }

    #[test]
    fn the_heading_names_the_tool_once() {
        let check = |name: &str, title: &str, expected: &str| {
            let mut tool = Tool {
                title: title.into(),
                name: Some(name.into()),
                ..Tool::default()
            };
            assert_eq!(tool.heading(Style::Plain), expected);
        };
        check("Bash", "ls -la", "● Bash: ls -la");
        check("Read", "Read src/a.rs", "● Read src/a.rs");
        check("Grep", "grep \"x\" src", "● grep \"x\" src");
        check("Bash", "echo a\necho \u{1b}[2J", "● Bash: echo a ⏎ echo ␛[2J");
    }
}
