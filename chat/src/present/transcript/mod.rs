//! Turns a session's updates into the text of a transcript: thinking, answer, tool calls, plans and notices, each a
//! section of its own. A pure state machine: an update goes in, text to print comes out; what it keeps is where the
//! output stands and which tool calls are open. Must not write or wait.

use std::collections::HashMap;

use acp_proto::schema::{
    CompactionUpdate, ContentBlock, ContentChunk, MessageId, Meta, PlanEntry, PlanUpdateContent,
    RequestPermissionRequest, SessionModeState, SessionUpdate, StopReason, ToolCall, ToolCallId,
    ToolCallUpdate,
};

use super::style::Style;
use super::tools::{self, Tool};
use super::{question, sanitize, wording};

/// What the output's last lines belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Section {
    Prompt(Option<MessageId>),
    Thought,
    Answer(Option<MessageId>),
    Tool(ToolCallId),
    Note,
}

/// The transcript of one session.
#[derive(Debug)]
pub(crate) struct Transcript {
    style: Style,
    /// Nothing printed since the turn began when `None`.
    section: Option<Section>,
    /// Line breaks at the end of the output, as far as they matter (0 to 2).
    breaks: usize,
    tools: HashMap<ToolCallId, Tool>,
    /// Announced calls without a heading, oldest first.
    announced: Vec<ToolCallId>,
    plan: String,
    mode: String,
    mode_names: HashMap<String, String>,
    denial_explained: bool,
    prompts_shown: bool,
}

impl Transcript {
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style,
            section: None,
            breaks: 2,
            tools: HashMap::new(),
            announced: Vec::new(),
            plan: String::new(),
            mode: String::new(),
            mode_names: HashMap::new(),
            denial_explained: false,
            prompts_shown: false,
        }
    }

    /// The modes of the session, so that a change can be told by its name.
    pub(crate) fn set_modes(&mut self, modes: &SessionModeState) {
        self.mode = modes.current_mode_id.to_string();
        self.mode_names = modes
            .available_modes
            .iter()
            .map(|mode| (mode.id.to_string(), mode.name.clone()))
            .collect();
    }

    /// A prompt is on its way: what comes answers it, and needs no distance from what stood before.
    pub(crate) fn turn_begins(&mut self) {
        self.section = None;
    }

    /// The text an update adds.
    pub(crate) fn update(&mut self, update: &SessionUpdate) -> String {
        let mut out = String::new();
        match update {
            SessionUpdate::UserMessageChunk(chunk) if self.prompts_shown => self.prompt(chunk, &mut out),
            SessionUpdate::AgentThoughtChunk(chunk) => self.thought(chunk, &mut out),
            SessionUpdate::AgentMessageChunk(chunk) => self.answer(chunk, &mut out),
            SessionUpdate::ToolCall(call) => self.tool_call(call, &mut out),
            SessionUpdate::ToolCallUpdate(update) => self.tool_update(update, &mut out),
            SessionUpdate::Plan(plan) => self.plan(plan_lines(&plan.entries), &mut out),
            SessionUpdate::PlanUpdate(update) => self.plan(plan_update_lines(&update.plan), &mut out),
            SessionUpdate::CurrentModeUpdate(update) => {
                self.mode(&update.current_mode_id.to_string(), &mut out)
            }
            SessionUpdate::Notice(notice) => {
                let description = notice.description.as_deref().map(sanitize::line);
                let title = sanitize::line(&notice.title);
                let text = wording::notice(&notice.severity, &title, description.as_deref());
                self.note(&self.style.yellow(&text), &mut out);
            }
            SessionUpdate::CompactionUpdate(update) => {
                self.note(&self.style.dim(&compaction(update)), &mut out);
            }
            // Prompts of this chat, commands, options, titles and usage: nothing a reader of a terminal misses.
            _ => {}
        }
        out
    }

    /// Whether prompts are shown: those of a conversation that is told again are, live they stand on the screen already.
    pub(crate) fn show_prompts(&mut self, shown: bool) {
        self.prompts_shown = shown;
    }

    /// The question a permission request asks, up to and without the line that waits for the answer. It belongs to the
    /// tool call it is about.
    pub(crate) fn question(&mut self, request: &RequestPermissionRequest) -> String {
        let mut out = String::new();
        self.subject(&request.tool_call, &mut out);
        if let Some(tool) = self.tools.get_mut(&request.tool_call.tool_call_id) {
            tool.diffs_were_shown();
        }
        self.push(&question::render(request, self.style), &mut out);
        out
    }

    /// A permission request that could not be asked, with what the user could do about it the first time.
    pub(crate) fn denied(&mut self, request: &RequestPermissionRequest) -> String {
        let mut out = String::new();
        self.subject(&request.tool_call, &mut out);
        let hint = if std::mem::replace(&mut self.denial_explained, true) {
            None
        } else {
            Some(wording::DENIED_HINT)
        };
        for line in std::iter::once(wording::DENIED).chain(hint) {
            self.push(&format!("  {}\n", self.style.yellow(line)), &mut out);
        }
        out
    }

    /// A remark of the chat itself, on lines of its own.
    pub(crate) fn remark(&mut self, text: &str) -> String {
        let mut out = String::new();
        self.note(&self.style.dim(text), &mut out);
        out
    }

    /// Something that went wrong, on lines of its own.
    pub(crate) fn problem(&mut self, text: &str) -> String {
        let mut out = String::new();
        self.note(&self.style.red(text), &mut out);
        out
    }

    /// The user ended a line: the output stands at the start of the next one.
    pub(crate) fn line_is_over(&mut self) {
        self.breaks = 1;
    }

    /// Something that is not the transcript's stands on the last line.
    pub(crate) fn line_is_open(&mut self) {
        self.breaks = 0;
    }

    /// The end of a turn: what is still to be shown, and why it ended if it did not simply end.
    pub(crate) fn turn_ended(&mut self, reason: Option<StopReason>) -> String {
        let mut out = String::new();
        self.flush_announced(&mut out);
        if let Some(text) = reason.and_then(wording::stopped) {
            self.note(&self.style.yellow(text), &mut out);
        }
        if self.breaks == 0 {
            self.push("\n", &mut out);
        }
        self.section = None;
        self.tools.retain(|_, tool| !tool.is_over());
        out
    }

    fn prompt(&mut self, chunk: &ContentChunk, out: &mut String) {
        let text = chunk_text(chunk);
        if text.is_empty() || is_child(chunk.meta.as_ref()) {
            return;
        }
        self.flush_announced(out);
        let section = Section::Prompt(chunk.message_id.clone());
        if self.section.as_ref() != Some(&section) {
            self.begin(section, out);
        }
        for line in text.lines() {
            self.push(&format!("{}{line}\n", wording::PROMPT), out);
        }
    }

    fn thought(&mut self, chunk: &ContentChunk, out: &mut String) {
        let text = chunk_text(chunk);
        if text.is_empty() || is_child(chunk.meta.as_ref()) {
            return;
        }
        self.flush_announced(out);
        if self.section != Some(Section::Thought) {
            self.begin(Section::Thought, out);
            self.push(&self.style.dim(wording::THINKING), out);
        }
        self.push(&self.style.dim(&text), out);
    }

    fn answer(&mut self, chunk: &ContentChunk, out: &mut String) {
        let text = chunk_text(chunk);
        if text.is_empty() || is_child(chunk.meta.as_ref()) {
            return;
        }
        self.flush_announced(out);
        let same_message = match &self.section {
            Some(Section::Answer(message)) => *message == chunk.message_id,
            _ => false,
        };
        if !same_message {
            self.begin(Section::Answer(chunk.message_id.clone()), out);
        }
        self.push(&text, out);
    }

    fn tool_call(&mut self, call: &ToolCall, out: &mut String) {
        let has_input = match &call.raw_input {
            Some(serde_json::Value::Object(input)) => !input.is_empty(),
            Some(_) => true,
            None => false,
        };
        if !self.tools.contains_key(&call.tool_call_id) {
            self.announced.push(call.tool_call_id.clone());
        }
        self.merge(&ToolCallUpdate::from(call.clone()), has_input, out);
    }

    fn tool_update(&mut self, update: &ToolCallUpdate, out: &mut String) {
        if !self.tools.contains_key(&update.tool_call_id) && update.fields.title.is_none() {
            return; // the tail of a call that is over
        }
        self.merge(update, true, out);
    }

    fn merge(&mut self, update: &ToolCallUpdate, settled: bool, out: &mut String) {
        let id = &update.tool_call_id;
        let tool = self
            .tools
            .entry(id.clone())
            .or_insert_with(|| Tool::announced(update.meta.as_ref()));
        let printed = tool.merge(&update.fields, settled, self.style);
        let elsewhere = self.section.as_ref() != Some(&Section::Tool(id.clone()));
        if printed.heading || (elsewhere && !printed.lines.is_empty()) {
            self.heading(id, out);
        }
        for line in printed.lines {
            self.push(&line, out);
            self.push("\n", out);
        }
    }

    /// Makes a tool call the subject of what comes next, under a heading of its own.
    fn subject(&mut self, call: &ToolCallUpdate, out: &mut String) {
        let id = &call.tool_call_id;
        let tool = self
            .tools
            .entry(id.clone())
            .or_insert_with(|| Tool::announced(call.meta.as_ref()));
        tool.merge(&call.fields, true, self.style);
        if tool.is_heading_due() || self.section.as_ref() != Some(&Section::Tool(id.clone())) {
            self.heading(id, out);
        }
    }

    fn heading(&mut self, id: &ToolCallId, out: &mut String) {
        self.announced.retain(|announced| announced != id);
        let Some(heading) = self.tools.get_mut(id).map(|tool| tool.heading(self.style)) else {
            return;
        };
        self.begin(Section::Tool(id.clone()), out);
        self.push(&heading, out);
        self.push("\n", out);
    }

    /// Shows the calls that were announced and never completed, before anything that comes after them.
    fn flush_announced(&mut self, out: &mut String) {
        for id in std::mem::take(&mut self.announced) {
            if self.tools.get(&id).is_some_and(Tool::is_heading_due) {
                self.heading(&id, out);
            }
        }
    }

    /// Agents repeat plans; only a changed one is shown.
    fn plan(&mut self, lines: Vec<String>, out: &mut String) {
        let text = lines.join("\n");
        if text == self.plan {
            return;
        }
        self.plan.clone_from(&text);
        if text.is_empty() {
            return;
        }
        self.note(&format!("{}\n{text}", self.style.bold(wording::PLAN)), out);
    }

    fn mode(&mut self, mode: &str, out: &mut String) {
        if mode == self.mode {
            return;
        }
        mode.clone_into(&mut self.mode);
        let name = self.mode_names.get(mode).map_or(mode, String::as_str);
        self.note(&self.style.dim(&wording::mode(&sanitize::line(name))), out);
    }

    fn note(&mut self, text: &str, out: &mut String) {
        self.begin(Section::Note, out);
        self.push(text, out);
        self.push("\n", out);
    }

    /// Starts a section on a line of its own, an empty line apart from what came before unless both are short ones.
    fn begin(&mut self, section: Section, out: &mut String) {
        let close = matches!(
            (&self.section, &section),
            (None, _) | (Some(Section::Tool(_)), Section::Tool(_)) | (Some(Section::Note), Section::Note)
        );
        let wanted = if close { 1 } else { 2 };
        for _ in self.breaks..wanted {
            out.push('\n');
        }
        self.breaks = self.breaks.max(wanted);
        self.section = Some(section);
    }

    fn push(&mut self, text: &str, out: &mut String) {
        let trailing = text
            .chars()
            .rev()
            .take_while(|character| *character == '\n')
            .count();
        self.breaks = if trailing == text.chars().count() {
            self.breaks.saturating_add(trailing)
        } else {
            trailing
        };
        out.push_str(text);
    }
}

fn chunk_text(chunk: &ContentChunk) -> String {
    match &chunk.content {
        ContentBlock::Text(text) => sanitize::block(&text.text).into_owned(),
        other => sanitize::block(&tools::block_text(other)).into_owned(),
    }
}

/// A subagent's own words; the calls it makes are shown, indented, its words are not.
fn is_child(meta: Option<&Meta>) -> bool {
    tools::is_nested(meta)
}

fn plan_lines(entries: &[PlanEntry]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| {
            format!(
                "  {}",
                wording::plan_entry(&entry.status, &sanitize::line(&entry.content))
            )
        })
        .collect()
}

fn plan_update_lines(content: &PlanUpdateContent) -> Vec<String> {
    match content {
        PlanUpdateContent::Items(items) => plan_lines(&items.entries),
        PlanUpdateContent::Markdown(plan) => sanitize::block(&plan.content)
            .lines()
            .map(|line| format!("  {line}"))
            .collect(),
        _ => Vec::new(),
    }
}

fn compaction(update: &CompactionUpdate) -> String {
    let error = update.error.value().map(|error| sanitize::line(error));
    wording::compaction(&update.status, error.as_deref())
}

#[cfg(test)]
mod tests;
