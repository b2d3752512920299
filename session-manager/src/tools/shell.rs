//! Bash, PowerShell and Monitor: the title is the literal command, the output a console block or a display terminal.

use acp_proto::schema::{ContentBlock, ImageContent, Terminal, ToolCallContent, ToolKind};
use claude_sdk_bridge::messages::Content;
use serde_json::Value;

use super::blocks::{images, plain_text, starts_with, text_content};
use super::markdown::fenced;
use super::{
    Exit, Presenting, Rendered, TerminalEnd, TerminalSupport, ToolCallRef, ToolResultRef, ToolView, generic,
    input, wording,
};

/// Never the model's description as a title: it is what a person approves, so it has to be what runs.
pub(super) fn view(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    let title = input::text(call.input, "command").unwrap_or(wording::TERMINAL);
    let description = input::first_text(call.input, &["description", "command_description"]);
    let content = match ctx.terminal {
        TerminalSupport::Output | TerminalSupport::Delta => vec![terminal(call.id)],
        TerminalSupport::None => description.map(text_content).into_iter().collect(),
    };
    ToolView::new(title, ToolKind::Execute).content(content)
}

/// What Monitor runs and watches; what comes of it is told later, as notices.
pub(super) fn watched(call: &ToolCallRef<'_>) -> ToolView {
    let Some(command) = input::text(call.input, "command") else {
        return generic::view(call);
    };
    let description = input::text(call.input, "description").map(text_content);
    ToolView::new(command, ToolKind::Execute).content(description.into_iter().collect())
}

pub(super) fn success(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    let Output {
        text,
        mut images,
        background,
        interrupted,
    } = Output::of(result);
    if ctx.terminal == TerminalSupport::None {
        let console = (!text.is_empty()).then(|| text_content(fenced("console", &text)));
        let content: Vec<_> = console.into_iter().chain(images).collect();
        return Rendered {
            content: (!content.is_empty()).then_some(content),
            ..Rendered::default()
        };
    }
    let content = (!images.is_empty()).then(|| {
        images.insert(0, terminal(call.id));
        images
    });
    let exit = match (background, interrupted) {
        (true, _) => Exit::Later,
        (false, true) => Exit::Unknown,
        (false, false) => Exit::Code(0),
    };
    Rendered {
        content,
        terminal: Some(TerminalEnd { output: text, exit }),
        ..Rendered::default()
    }
}

pub(super) fn failure(result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    if ctx.terminal == TerminalSupport::None {
        return generic::failure(result);
    }
    let output = generic::failure_text(result);
    let exit = exit_code(&output).map_or(Exit::Unknown, Exit::Code);
    Rendered {
        terminal: Some(TerminalEnd { output, exit }),
        ..Rendered::default()
    }
}

/// Whether the command goes on after this result.
pub(super) fn in_background(result: &ToolResultRef<'_>) -> bool {
    match result.structured {
        Some(structured @ Value::Object(_)) => input::text(structured, "backgroundTaskId").is_some(),
        _ => starts_with(result.content, LAUNCHED),
    }
}

/// How Claude tells the model that a command runs in the background.
const LAUNCHED: &str = "Command running in background with ID: ";

fn terminal(id: &str) -> ToolCallContent {
    ToolCallContent::Terminal(Terminal::new(id.to_owned()))
}

#[derive(Default)]
struct Output {
    text: String,
    images: Vec<ToolCallContent>,
    background: bool,
    interrupted: bool,
}

impl Output {
    fn of(result: &ToolResultRef<'_>) -> Self {
        match result.structured {
            Some(structured @ Value::Object(_)) => Self::structured(structured, result.content),
            _ => Self::unstructured(result.content),
        }
    }

    fn structured(structured: &Value, content: &Content) -> Self {
        let mut output = Self {
            interrupted: input::flag(structured, "interrupted"),
            ..Self::default()
        };
        let mut parts = Vec::new();
        let stdout = input::any_text(structured, "stdout").unwrap_or_default();
        match data_url_image(structured, stdout) {
            Some(image) => output.images.push(image),
            None => parts.push(stdout.trim_end().to_owned()),
        }
        parts.push(
            input::any_text(structured, "stderr")
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
        );
        if output.images.is_empty() {
            output.images = images(content);
        }
        if let Some(path) = input::text(structured, "persistedOutputPath") {
            parts.push(wording::output_saved(
                input::number(structured, "persistedOutputSize"),
                path,
            ));
        }
        if output.interrupted {
            parts.push(wording::ABORTED.to_owned());
        }
        if let Some(task) = input::text(structured, "backgroundTaskId") {
            output.background = true;
            parts.push(wording::in_background(
                Some(task),
                output_file(&plain_text(content)),
            ));
        }
        parts.retain(|part| !part.is_empty());
        output.text = parts.join("\n");
        output
    }

    fn unstructured(content: &Content) -> Self {
        let text = plain_text(content);
        let images = images(content);
        if let Some(rest) = text.strip_prefix(LAUNCHED) {
            let task = rest
                .split(['.', ' ', '\n'])
                .next()
                .filter(|task| !task.is_empty());
            let text = wording::in_background(task, output_file(&text));
            return Self {
                text,
                images,
                background: true,
                interrupted: false,
            };
        }
        let silent = text.starts_with('(') && text.ends_with(" completed with no output)");
        let text = if silent {
            String::new()
        } else {
            text.trim_end().to_owned()
        };
        Self {
            text,
            images,
            ..Self::default()
        }
    }
}

/// The one useful part of the text that Claude writes for the model about a background command.
fn output_file(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Output is being written to: ")?;
    let path = rest.split_once(". ").map_or(rest, |(path, _)| path).trim();
    (!path.is_empty()).then_some(path)
}

/// A command whose output is an image arrives as a `data:` URL on its standard output.
fn data_url_image(structured: &Value, stdout: &str) -> Option<ToolCallContent> {
    if !input::flag(structured, "isImage") {
        return None;
    }
    let (media_type, data) = stdout.trim().strip_prefix("data:")?.split_once(";base64,")?;
    Some(ToolCallContent::from(ContentBlock::Image(ImageContent::new(
        data, media_type,
    ))))
}

fn exit_code(text: &str) -> Option<i32> {
    text.strip_prefix("Exit code ")?
        .lines()
        .next()?
        .trim()
        .parse()
        .ok()
}
