//! A conversation as one HTML page that needs nothing but itself: no script, no font, no picture from elsewhere.
//!
//! What the model and tools wrote is text here: markup in it is shown, and links lead only to the web and to mail.

use std::fmt::Write as _;

use acp_proto::schema::{Diff, ToolCall, ToolCallContent, ToolCallStatus};
use chat::Change;
use pulldown_cmark::html::push_html;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

use super::conversation::{Conversation, Item, Part, Span, block_text};
use super::timeline::{self, Stretch};
use super::{About, changed, wording};

const STYLE: &str = include_str!("page.css");
/// A browser that obeys it loads nothing and runs nothing, whatever stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// A pause has this share of the bar at most, so that the work can be seen beside a night.
const WIDEST_PAUSE: f64 = 0.05;

/// Writes the page.
pub(super) fn page(about: &About, conversation: &Conversation) -> String {
    let title = escaped(&about.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>{title}</h1>\n<p class=\"about\">{}</p>\n</header>\n",
        escaped(&about.line())
    );
    page.push_str(&timeline(conversation));
    for (number, item) in conversation.items.iter().enumerate() {
        page.push_str(&section(number, item));
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn section(number: usize, item: &Item) -> String {
    let nested = if item.nested { " nested" } else { "" };
    let (class, body) = match &item.part {
        Part::Prompt(text) => ("prompt", said(wording::YOU, text)),
        Part::Answer(text) => ("answer", said(wording::CLAUDE, text)),
        Part::Thought(text) => ("thought", folded(wording::THINKING, &prose(text))),
        Part::Call(call) => ("call", call_section(call)),
        Part::Plan(steps) => ("plan", plan(steps)),
        Part::Note(text) => ("note", format!("<p>{}</p>", escaped(text))),
    };
    format!("<section id=\"i{number}\" class=\"{class}{nested}\">{body}</section>\n")
}

fn said(speaker: &str, text: &str) -> String {
    format!("<h2>{speaker}</h2>{}", prose(text))
}

fn folded(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>{body}</details>", escaped(summary))
}

fn plan(steps: &[String]) -> String {
    let mut list = format!("<h2>{}</h2><ul>", wording::PLAN);
    for step in steps {
        // Writing to memory cannot fail.
        let _ = write!(list, "<li>{}</li>", escaped(step));
    }
    list.push_str("</ul>");
    list
}

/// Changes are open to be read, output is folded.
fn call_section(call: &ToolCall) -> String {
    let (class, outcome) = match call.status {
        ToolCallStatus::Completed => ("done", ""),
        ToolCallStatus::Failed => ("failed", wording::NOT_RUN),
        _ => ("open", wording::UNFINISHED),
    };
    let mut body = String::new();
    for content in &call.content {
        match content {
            ToolCallContent::Content(content) => body.push_str(&prose(&block_text(&content.content))),
            ToolCallContent::Diff(diff) => body.push_str(&diff_section(diff)),
            _ => {}
        }
    }
    let changes = call
        .content
        .iter()
        .any(|content| matches!(content, ToolCallContent::Diff(_)));
    let open = if changes { " open" } else { "" };
    let summary = format!(
        "<summary class=\"{class}\"><code>{}</code> <em>{outcome}</em></summary>",
        escaped(&call.title)
    );
    match body.is_empty() {
        true => format!(
            "<p class=\"{class}\"><code>{}</code> <em>{outcome}</em></p>",
            escaped(&call.title)
        ),
        false => format!("<details{open}>{summary}{body}</details>"),
    }
}

fn diff_section(diff: &Diff) -> String {
    let new = match diff.old_text {
        Some(_) => String::new(),
        None => format!(" ({})", wording::NEW_FILE),
    };
    let path = escaped(&diff.path.to_string_lossy());
    let mut lines = format!("<p class=\"path\">{path}{new}</p><pre class=\"diff\">");
    for (change, line) in changed(diff) {
        let class = match change {
            Change::Same => "same",
            Change::Removed => "removed",
            Change::Added => "added",
            Change::Gap => "remark",
        };
        let _ = write!(
            lines,
            "<span class=\"{class}\">{}{}</span>",
            change.sign(),
            escaped(&line)
        );
    }
    lines.push_str("</pre>");
    lines
}

/// The bar and what it adds up to; nothing where the transcript knows no times.
fn timeline(conversation: &Conversation) -> String {
    let stretches = timeline::stretches(&conversation.moments);
    let totals = timeline::totals(&stretches);
    if totals.is_empty() {
        return String::new();
    }
    let mut bar = format!(
        "<section class=\"timeline\"><h2>{}</h2><div class=\"bar\">",
        wording::TIMELINE
    );
    let work: i64 = stretches
        .iter()
        .filter(|stretch| stretch.span != Span::Idle)
        .map(|stretch| stretch.milliseconds)
        .sum();
    for stretch in &stretches {
        let (class, name) = kind(stretch.span);
        let _ = write!(
            bar,
            "<a href=\"#i{}\" class=\"{class}\" style=\"flex-grow:{:.4}\" title=\"{name}: {}\"></a>",
            stretch.item,
            width(stretch, work),
            wording::length(stretch.milliseconds),
        );
    }
    bar.push_str("</div><ul class=\"legend\">");
    for (span, milliseconds) in totals {
        let (class, name) = kind(span);
        let _ = write!(
            bar,
            "<li><i class=\"{class}\"></i>{name}: {}</li>",
            wording::length(milliseconds)
        );
    }
    bar.push_str("</ul></section>\n");
    bar
}

/// A stretch's share of the bar, of which all work together is 1.
fn width(stretch: &Stretch, work: i64) -> f64 {
    let whole = f64::from(i32::try_from(work.max(1)).unwrap_or(i32::MAX));
    let share = f64::from(i32::try_from(stretch.milliseconds).unwrap_or(i32::MAX)) / whole;
    match stretch.span {
        Span::Idle => share.min(WIDEST_PAUSE),
        Span::Model | Span::Tool | Span::Asked => share,
    }
}

fn kind(span: Span) -> (&'static str, &'static str) {
    match span {
        Span::Idle => ("idle", wording::IDLE),
        Span::Model => ("model", wording::MODEL),
        Span::Tool => ("tool", wording::TOOL),
        Span::Asked => ("asked", wording::ASKED),
    }
}

/// Markdown as HTML. HTML in it is text, pictures are their captions, and a link that could run something is none.
fn prose(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(markdown, options).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let dest_url = if is_safe(&dest_url) {
                dest_url
            } else {
                CowStr::Borrowed("#")
            };
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            })
        }
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        other => other,
    });
    let mut html = String::new();
    push_html(&mut html, events);
    html
}

fn is_safe(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    ["https://", "http://", "mailto:", "#"]
        .iter()
        .any(|start| address.starts_with(start))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
