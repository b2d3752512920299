//! Every recorded transcript gives the view that stands beside it, one item a line.

use std::collections::HashMap;

use serde_json::Value;

use super::recorded;
use crate::messages::{
    AssistantMessage, Content, ContentBlock, Message, SystemEvent, SystemMessage, ToolResultBlock,
    UserMessage,
};
use crate::transcripts::{Entry, Replay};

/// Of the expected view, what a reader of the lines can tell and the live stream does not.
const NOT_IN_THE_STREAM: [&str; 2] = [" (folded into the running turn)", " before it ran"];

#[derive(Default)]
struct View {
    items: Vec<String>,
    /// Where the item of a call stands, and how deep what belongs to it is.
    calls: HashMap<String, (usize, usize)>,
}

impl View {
    fn of(name: &str) -> Self {
        let mut view = Self::default();
        for entry in Replay::open(&recorded(name)).unwrap() {
            match entry {
                Entry::Prompt(prompt) => {
                    let uuid = prompt.uuid.unwrap_or_default();
                    let text = blocks(&prompt.content);
                    view.add(0, format!("user {:.8} {}", uuid.as_str(), cut(&text, 110)));
                }
                Entry::Message(message) => view.message(&message),
                Entry::Summary(text) => view.add(
                    0,
                    format!(
                        "summary (behind the compaction mark, never as the user's words) {}",
                        cut(&text, 60)
                    ),
                ),
                Entry::LeftOut { bytes } => panic!("{bytes} bytes left out"),
            }
        }
        for (at, _) in view.calls.values() {
            let item = &mut view.items[*at];
            if !item.contains(" → ") {
                item.push_str(" no result");
            }
        }
        view
    }

    fn add(&mut self, depth: usize, item: String) {
        self.items.push(format!("{}{item}", "    ".repeat(depth)));
    }

    fn message(&mut self, message: &Message) {
        match message {
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::User(user) => self.results(user),
            Message::System(system) => self.system(system),
            other => panic!("{other:?}"),
        }
    }

    fn assistant(&mut self, said: &AssistantMessage) {
        let parent = said.parent_tool_use_id.get().map(|id| id.as_str());
        let depth = parent.map_or(0, |parent| self.calls[parent].1);
        let (id, length) = match (said.is_synthetic(), said.is_api_error_message.is_true()) {
            (true, true) => ("(synthetic)", 110),
            (true, false) => ("(local command)", 70),
            (false, _) => (said.message.id.get().unwrap().as_str(), 110),
        };
        for block in said.message.content.blocks() {
            match block {
                ContentBlock::Text(text) => {
                    let end = if said.aborted.is_true() {
                        " (cut off by the user)"
                    } else {
                        ""
                    };
                    self.add(depth, format!("agent {id} {}{end}", cut(&text.text, length)));
                }
                ContentBlock::Thinking(thought) => {
                    self.add(depth, format!("thought {id} {}", thought.thinking));
                }
                ContentBlock::ToolUse(call) => {
                    let place = (self.items.len(), depth + 1);
                    self.calls.insert(call.id.as_str().to_owned(), place);
                    self.add(depth, format!("tool {} {}", call.id, call.name));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn results(&mut self, user: &UserMessage) {
        for block in user.message.content.blocks() {
            let ContentBlock::ToolResult(result) = block else {
                panic!("{block:?}")
            };
            let (at, _) = self.calls[result.tool_use_id.as_str()];
            self.items[at].push_str(&outcome(user, result));
        }
    }

    fn system(&mut self, system: &SystemMessage) {
        match &system.event {
            SystemEvent::CompactBoundary(boundary) => {
                let metadata = boundary.compact_metadata.get().unwrap();
                let tokens =
                    [&metadata.pre_tokens, &metadata.post_tokens].map(|tokens| tokens.copied().unwrap());
                let trigger = metadata.trigger.as_str().unwrap();
                self.add(
                    0,
                    format!("compaction {trigger}, {} → {} tokens", tokens[0], tokens[1]),
                );
            }
            SystemEvent::Informational(told) => {
                let level = told.level.as_str().unwrap();
                let content = told.content.as_str().unwrap();
                self.add(0, format!("notice {level} {}", cut(content, 110)));
            }
            SystemEvent::TaskNotification(ended) => {
                let (at, _) = self.calls[ended.tool_use_id.get().unwrap().as_str()];
                let (status, summary) = (ended.status.get().unwrap(), ended.summary.as_str().unwrap());
                self.items[at].push_str(&format!(" ; later {status}: {summary}"));
            }
            // Its result says the same.
            SystemEvent::PermissionDenied(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn outcome(user: &UserMessage, result: &ToolResultBlock) -> String {
    let meta = user.result_meta(&result.tool_use_id).unwrap();
    let status = if result.is_error.is_true() {
        "failed"
    } else {
        "completed"
    };
    let denial = meta.non_execution_kind.get().map_or(String::new(), |kind| {
        let decision = meta.permission_decision.get().unwrap();
        let by = decision.source.as_str().map(|source| format!(" by {source}"));
        let reason = decision.reason_type.as_str().map(|reason| format!("/{reason}"));
        format!(
            " [{kind}{}{}]",
            by.unwrap_or_default(),
            reason.unwrap_or_default()
        )
    });
    let structured = user.tool_use_result.get();
    let text = match result.content.get() {
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Blocks(content)) => blocks(content),
        None => String::new(),
    };
    let diff = structured.map(diff).unwrap_or_default();
    format!(" {status}{denial}{diff} → {}", cut(&text, 70))
}

fn diff(structured: &Value) -> String {
    let hunks = structured.get("structuredPatch").and_then(Value::as_array);
    match hunks {
        Some(hunks) if hunks.is_empty() => " diff new file".to_owned(),
        Some(hunks) => {
            let lines = hunks.iter().flat_map(|hunk| hunk["lines"].as_array().unwrap());
            let lines: Vec<String> = lines.map(Value::to_string).collect();
            format!(" diff [{}]", lines.join(", "))
        }
        None => String::new(),
    }
}

fn blocks(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.clone(),
        other => format!("<{}>", other.kind().unwrap()),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn cut(text: &str, chars: usize) -> String {
    let text = text.replace('\n', "⏎");
    match text.chars().nth(chars) {
        Some(_) => text.chars().take(chars).chain(['…']).collect(),
        None => text,
    }
}

macro_rules! views {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            let name = stringify!($name);
            let expected = recorded(name).path.with_extension("expect.txt");
            let mut expected = std::fs::read_to_string(expected).unwrap();
            for words in NOT_IN_THE_STREAM {
                expected = expected.replace(words, "");
            }
            let lines: Vec<&str> = expected.lines().collect();
            assert_eq!(View::of(name).items, lines);
        }
    )*};
}

views!(
    background,
    basics,
    branches,
    calls,
    checkpoints,
    commands,
    compaction,
    errors,
    fork_by_cli,
    fork_source,
    interrupted,
    killed,
    media,
    plan,
    queue,
    subagents,
    tasks,
);
