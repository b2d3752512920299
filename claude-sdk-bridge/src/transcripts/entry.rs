//! One line of a transcript as what the live stream would have said: typed messages, and the prompts that people sent.
//!
//! What only the model was to read (reminders, expanded commands, nudges, fillers) and what a host did is hidden here.

use serde_json::{Map, Value, json};

use crate::messages::{Content, ContentBlock, FromWire, Message, MessageUuid, SYNTHETIC_MODEL, ToolUseId};

/// A piece of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// What a person sent.
    Prompt(Prompt),
    /// What Claude said, did or told.
    Message(Box<Message>),
    /// What the model keeps of the conversation before a compaction, which has been told just before.
    Summary(String),
    /// A line that is too long to be shown.
    LeftOut {
        /// How long it is.
        bytes: u64,
    },
}

/// What a person sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The id that it was sent with.
    pub uuid: Option<MessageUuid>,
    /// When it was sent, as the transcript writes it.
    pub at: Option<String>,
    /// Its blocks; a slash command is one text.
    pub content: Vec<ContentBlock>,
}

/// What a line means for the view.
#[derive(Debug)]
pub(super) enum Meaning {
    Entries(Vec<Entry>),
    Hidden,
    /// Output of a command in the user's place: the host has done it, or Claude has compacted.
    HostOutput,
}

/// Text that stands for a user's without being one.
const NOT_SAID: [&str; 5] = [
    "[Request interrupted by user",
    "<local-command-caveat>",
    "<system-reminder>",
    "<bash-stdout>",
    "<bash-stderr>",
];

/// What an editor puts beside a prompt.
const FROM_EDITOR: &str = "<ide_";

/// What the CLI has the model say where it said nothing.
const FILLER: &str = "No response requested.";

/// Reads a line of the transcript of the main thread, or of the subagent that `parent` called.
pub(super) fn meaning(line: Value, parent: Option<&ToolUseId>) -> Meaning {
    let Value::Object(mut line) = line else {
        return Meaning::Hidden;
    };
    match text(&line, "type") {
        "assistant" => assistant(&mut line, parent),
        "user" => user(&mut line, parent),
        "attachment" if parent.is_none() => attachment(&mut line),
        "system" if parent.is_none() => system(&mut line),
        _ => Meaning::Hidden,
    }
}

impl Meaning {
    fn message(value: Value) -> Self {
        let message = Message::from_wire(value).unwrap_or_else(Message::Unknown);
        Self::Entries(vec![Entry::Message(Box::new(message))])
    }

    fn prompt(line: &Map<String, Value>, uuid: &str, content: Vec<ContentBlock>) -> Self {
        let uuid = (!uuid.is_empty()).then(|| MessageUuid::from(uuid));
        let at = line.get("timestamp").and_then(Value::as_str).map(str::to_owned);
        match content.is_empty() {
            true => Self::Hidden,
            false => Self::Entries(vec![Entry::Prompt(Prompt { uuid, at, content })]),
        }
    }
}

impl Prompt {
    /// Whether this is a slash command of that name.
    pub(super) fn is_command(&self, name: &str) -> bool {
        matches!(self.content.as_slice(), [ContentBlock::Text(block)]
            if block.text.split_whitespace().next() == Some(name))
    }
}

fn assistant(line: &mut Map<String, Value>, parent: Option<&ToolUseId>) -> Meaning {
    let message = take(line, "message");
    let says = |text: &str| message.pointer("/content/0/text").and_then(Value::as_str) == Some(text);
    let error = take(line, "isApiErrorMessage");
    let synthetic = message.get("model").and_then(Value::as_str) == Some(SYNTHETIC_MODEL);
    if synthetic && error != true && says(FILLER) {
        return Meaning::Hidden;
    }
    let mut frame = json!({"type": "assistant", "message": message, "parent_tool_use_id": parent});
    for (live, stored) in [
        ("uuid", "uuid"),
        ("timestamp", "timestamp"),
        ("session_id", "sessionId"),
        ("error", "error"),
        ("api_error_status", "apiErrorStatus"),
        ("aborted", "isAbortedMidStream"),
    ] {
        carry(line, stored, &mut frame, live);
    }
    if error == true {
        put(&mut frame, "is_api_error_message", error);
    }
    Meaning::message(frame)
}

fn user(line: &mut Map<String, Value>, parent: Option<&ToolUseId>) -> Meaning {
    let mut message = take(line, "message");
    let content = Content::from_wire(take_in(&mut message, "content")).unwrap_or_default();
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    if content.blocks().iter().any(is_result) {
        return results(line, content, parent);
    }
    let said = content.text();
    if line
        .get("isCompactSummary")
        .is_some_and(|summary| *summary == true)
    {
        return Meaning::Entries(vec![Entry::Summary(said)]);
    }
    // The prompt of a subagent stands in the call.
    let not_typed = line.get("isMeta").is_some_and(|meta| *meta == true) || parent.is_some();
    if not_typed {
        return Meaning::Hidden;
    }
    let start = said.trim_start();
    if start.starts_with("<local-command-std") {
        return Meaning::HostOutput;
    }
    if start.starts_with("<task-notification>") {
        return notification(start);
    }
    let origin = line.get("origin").and_then(|origin| origin.get("kind"));
    let origin = origin.and_then(Value::as_str);
    if origin.is_some_and(|kind| kind != "human") {
        return Meaning::Hidden;
    }
    let typed = typed(content, origin.is_some());
    Meaning::prompt(line, text(line, "uuid"), typed)
}

/// What a person typed of a prompt's content. Where the line says that it is a person's, it may begin as it likes.
fn typed(content: Content, by_person: bool) -> Vec<ContentBlock> {
    let said = content.text();
    if let Some(command) = command(&said) {
        return vec![ContentBlock::text(command)];
    }
    let blocks = match content {
        Content::Text(text) => vec![ContentBlock::text(text)],
        Content::Blocks(blocks) => blocks,
    };
    let is_typed = |block: &ContentBlock| {
        block.as_text().is_none_or(|text| {
            let text = text.trim_start();
            let not_said = !by_person && NOT_SAID.iter().any(|other| text.starts_with(other));
            !(text.is_empty() || not_said || text.starts_with(FROM_EDITOR))
        })
    };
    blocks.into_iter().filter(is_typed).collect()
}

/// The command that its markup stands for: `/name args`, or `!command` of a terminal.
fn command(said: &str) -> Option<String> {
    let start = said.trim_start();
    if start.starts_with("<bash-input>") {
        return Some(format!("!{}", between(said, "bash-input")?));
    }
    if !start.starts_with("<command-") {
        return None;
    }
    let (name, arguments) = (between(said, "command-name")?, between(said, "command-args"));
    let command = format!("{} {}", name.trim(), arguments.unwrap_or_default().trim());
    Some(command.trim_end().to_owned())
}

/// Results of calls, with what the CLI notes about their permission.
fn results(line: &mut Map<String, Value>, content: Content, parent: Option<&ToolUseId>) -> Meaning {
    let calls: Vec<&ToolUseId> = content
        .blocks()
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(&result.tool_use_id),
            _ => None,
        })
        .collect();
    let decision = take(line, "permissionDecision");
    let field = |name: &str| decision.get(name).cloned().unwrap_or_default();
    let denial = take(line, "toolDenialKind");
    let notes: Vec<Value> = calls
        .iter()
        .map(|call| {
            let mut note = json!({"id": call, "permission_decision": {
                "decision": field("decision"), "source": field("source"), "reason_type": field("reasonType"),
            }});
            if !denial.is_null() {
                put(&mut note, "non_execution_kind", denial.clone());
            }
            note
        })
        .collect();
    // Without a reason of its own it was the user's answer.
    let unasked = field("decision") == "reject" && field("reasonType").is_string();
    let denied = calls.first().filter(|_| unasked && parent.is_none()).map(|call| {
        json!({"type": "system", "subtype": "permission_denied", "tool_use_id": call,
            "decision_reason_type": field("reasonType"), "message": result_text(&content)})
    });
    let mut frame = json!({"type": "user", "message": {"role": "user", "content": content},
        "parent_tool_use_id": parent, "tool_result_meta": notes});
    carry(line, "uuid", &mut frame, "uuid");
    carry(line, "timestamp", &mut frame, "timestamp");
    carry(line, "toolUseResult", &mut frame, "tool_use_result");
    let messages = denied.into_iter().chain([frame]);
    let entry = |message| {
        let message = Message::from_wire(message).unwrap_or_else(Message::Unknown);
        Entry::Message(Box::new(message))
    };
    Meaning::Entries(messages.map(entry).collect())
}

fn result_text(content: &Content) -> String {
    let results = content.blocks().iter().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.content.get()?.text()),
        _ => None,
    });
    results.collect::<Vec<_>>().join("\n")
}

/// How work in the background ended.
fn notification(said: &str) -> Meaning {
    let mut frame = json!({"type": "system", "subtype": "task_notification"});
    for (field, tag) in [
        ("task_id", "task-id"),
        ("tool_use_id", "tool-use-id"),
        ("output_file", "output-file"),
        ("status", "status"),
        ("summary", "summary"),
    ] {
        if let Some(value) = between(said, tag) {
            put(&mut frame, field, json!(value.trim()));
        }
    }
    Meaning::message(frame)
}

fn attachment(line: &mut Map<String, Value>) -> Meaning {
    let mut attachment = take(line, "attachment");
    let kind = attachment.get("type").and_then(Value::as_str);
    let human = attachment.pointer("/origin/kind").and_then(Value::as_str) == Some("human");
    if kind != Some("queued_command") || !human {
        return Meaning::Hidden;
    }
    // A prompt that was folded into the running turn stands nowhere else.
    let content = Content::from_wire(take_in(&mut attachment, "prompt")).unwrap_or_default();
    let uuid = attachment.get("source_uuid").and_then(Value::as_str);
    Meaning::prompt(line, uuid.unwrap_or_default(), typed(content, true))
}

fn system(line: &mut Map<String, Value>) -> Meaning {
    match text(line, "subtype") {
        "compact_boundary" => {
            // What it says of kept messages is not passed on: they stand before it, once.
            let metadata = take(line, "compactMetadata");
            let number = |key: &str| metadata.get(key).cloned().unwrap_or_default();
            let metadata = json!({"trigger": number("trigger"), "pre_tokens": number("preTokens"),
                "post_tokens": number("postTokens"), "duration_ms": number("durationMs")});
            let uuid = take(line, "uuid");
            Meaning::message(
                json!({"type": "system", "subtype": "compact_boundary", "uuid": uuid,
                "compact_metadata": metadata}),
            )
        }
        "informational" => {
            let (content, level) = (take(line, "content"), take(line, "level"));
            Meaning::message(
                json!({"type": "system", "subtype": "informational", "content": content, "level": level}),
            )
        }
        "local_command" => local_command(line),
        _ => Meaning::Hidden,
    }
}

/// A command that Claude Code did itself: the words of the user, or its output.
fn local_command(line: &Map<String, Value>) -> Meaning {
    let content = text(line, "content");
    let output = ["local-command-stdout", "local-command-stderr"]
        .into_iter()
        .find_map(|tag| between(content, tag));
    match output.map(str::trim) {
        Some("") => Meaning::Hidden,
        Some(output) => {
            let uuid = text(line, "uuid");
            Meaning::message(json!({"type": "assistant", "uuid": uuid, "message": {"id": uuid,
                "model": SYNTHETIC_MODEL, "role": "assistant", "content": [{"type": "text", "text": output}]}}))
        }
        None => {
            let uuid = line.get("submitUuid").and_then(Value::as_str);
            let typed = typed(Content::from(content), false);
            Meaning::prompt(line, uuid.unwrap_or(text(line, "uuid")), typed)
        }
    }
}

/// What stands between the first opening of a tag and the last closing of it.
fn between<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.rsplit_once(&format!("</{tag}>"))?;
    Some(inside)
}

fn text<'a>(line: &'a Map<String, Value>, key: &str) -> &'a str {
    line.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn take(line: &mut Map<String, Value>, key: &str) -> Value {
    line.get_mut(key).map(Value::take).unwrap_or_default()
}

fn take_in(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

fn put(frame: &mut Value, key: &str, value: Value) {
    if let Some(frame) = frame.as_object_mut() {
        frame.insert(key.to_owned(), value);
    }
}

/// Moves a field, where there is one.
fn carry(line: &mut Map<String, Value>, stored: &str, frame: &mut Value, live: &str) {
    let value = take(line, stored);
    if !value.is_null() {
        put(frame, live, value);
    }
}
