//! A conversation, piece by piece, in flat memory: the live branch of a transcript, subagents at the call that started them.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::branch;
use super::entry::{Entry, Meaning, meaning};
use super::lines::{Span, part, small};
use super::scan::Index;
use super::store::TranscriptFile;
use crate::decode;
use crate::messages::{ContentBlock, Message, SystemEvent, ToolUseId};

/// A longer line is not shown: all of it would have to be held.
const SHOWN_BYTES: u64 = 16 << 20;

/// Reads a conversation from its beginning. Blocks on files.
#[derive(Debug)]
pub struct Replay {
    /// The transcript, and above it those of the subagents whose calls have come up.
    sources: Vec<Source>,
    /// Transcripts of subagents by the calls that started them.
    subagents: HashMap<ToolUseId, PathBuf>,
    /// Entries whose place depends on what follows.
    held: Vec<Entry>,
    ready: VecDeque<Entry>,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    file: File,
    spans: std::vec::IntoIter<Span>,
    /// The call that started the subagent.
    parent: Option<ToolUseId>,
}

impl Replay {
    /// Finds the conversation in a transcript.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(transcript: &TranscriptFile) -> io::Result<Self> {
        Ok(Self {
            sources: vec![Source::open(&transcript.path, None)?],
            subagents: subagents(&transcript.folder().join("subagents")),
            held: Vec::new(),
            ready: VecDeque::new(),
        })
    }

    fn take(&mut self, meaning: Meaning) {
        let entries = match meaning {
            Meaning::Hidden => return,
            Meaning::HostOutput => {
                // A host chose a model, which the transcript tells as a command that nobody typed.
                if matches!(self.held.as_slice(), [Entry::Prompt(prompt)] if prompt.is_command("/model")) {
                    self.held.clear();
                }
                return;
            }
            Meaning::Entries(entries) => entries,
        };
        for entry in entries {
            self.place(entry);
        }
    }

    fn place(&mut self, entry: Entry) {
        let after_boundary = matches!(self.held.first(), Some(Entry::Message(_)));
        match &entry {
            // The command that compacts is written behind the boundary.
            Entry::Prompt(prompt) if after_boundary && prompt.is_command("/compact") => {
                self.pass_on(entry);
                return self.release();
            }
            Entry::Message(_) | Entry::Summary(_) if after_boundary => return self.held.push(entry),
            Entry::Prompt(_) | Entry::Message(_) | Entry::Summary(_) | Entry::LeftOut { .. } => {}
        }
        self.release();
        match waits(&entry) {
            true => self.held.push(entry),
            false => self.pass_on(entry),
        }
    }

    fn release(&mut self) {
        for entry in std::mem::take(&mut self.held) {
            self.pass_on(entry);
        }
    }

    /// What a subagent did follows the call that started it.
    fn pass_on(&mut self, entry: Entry) {
        let called: Vec<(ToolUseId, PathBuf)> = calls(&entry)
            .filter_map(|call| self.subagents.remove_entry(call))
            .collect();
        self.ready.push_back(entry);
        for (call, path) in called.into_iter().rev() {
            match Source::open(&path, Some(call)) {
                Ok(source) => self.sources.push(source),
                Err(error) => tracing::debug!(path = %path.display(), %error, "subagent left out"),
            }
        }
    }
}

impl Iterator for Replay {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while self.ready.is_empty() {
            let Some(source) = self.sources.last_mut() else {
                self.release();
                break;
            };
            match source.next() {
                Some(meaning) => self.take(meaning),
                None => drop(self.sources.pop()),
            }
        }
        self.ready.pop_front()
    }
}

impl Source {
    fn open(path: &Path, parent: Option<ToolUseId>) -> io::Result<Self> {
        let index = Index::read(path)?;
        let spans: Vec<Span> = branch::live(&index)
            .into_iter()
            .filter_map(|node| index.nodes.get(node))
            .map(|node| node.span)
            .collect();
        Ok(Self {
            path: path.to_owned(),
            file: File::open(path)?,
            spans: spans.into_iter(),
            parent,
        })
    }

    fn next(&mut self) -> Option<Meaning> {
        let span = self.spans.next()?;
        if span.bytes > SHOWN_BYTES {
            let entry = Entry::LeftOut { bytes: span.bytes };
            return Some(Meaning::Entries(vec![entry]));
        }
        match self.read(span) {
            Ok(line) => Some(meaning(line, self.parent.as_ref())),
            Err(error) => {
                tracing::debug!(path = %self.path.display(), %error, "line of a transcript left out");
                Some(Meaning::Hidden)
            }
        }
    }

    fn read(&mut self, span: Span) -> io::Result<Value> {
        let mut line = Vec::new();
        part(&mut self.file, span)?.read_to_end(&mut line)?;
        Ok(serde_json::from_str(&decode::sound(&line))?)
    }
}

/// Whether an entry's place depends on what follows: a boundary on the command that made it (in a fork, kept messages come
/// between), a choice of a model on whether it was typed.
fn waits(entry: &Entry) -> bool {
    match entry {
        Entry::Prompt(prompt) => prompt.is_command("/model"),
        Entry::Message(message) => match message.as_ref() {
            Message::System(system) => match &system.event {
                SystemEvent::CompactBoundary(boundary) => boundary
                    .compact_metadata
                    .get()
                    .is_some_and(|metadata| metadata.trigger.as_str() == Some("manual")),
                _ => false,
            },
            _ => false,
        },
        Entry::Summary(_) | Entry::LeftOut { .. } => false,
    }
}

fn calls(entry: &Entry) -> impl Iterator<Item = &ToolUseId> {
    let blocks = match entry {
        Entry::Message(message) => match message.as_ref() {
            Message::Assistant(assistant) => assistant.message.content.blocks(),
            _ => &[],
        },
        Entry::Prompt(_) | Entry::Summary(_) | Entry::LeftOut { .. } => &[],
    };
    blocks.iter().filter_map(|block| match block {
        ContentBlock::ToolUse(call) => Some(&call.id),
        _ => None,
    })
}

/// What a file beside a subagent's transcript says of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubagentMeta {
    tool_use_id: String,
}

fn subagents(folder: &Path) -> HashMap<ToolUseId, PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let read = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".meta.json")?;
        let meta: SubagentMeta = serde_json::from_slice(&small(&path)?).ok()?;
        let transcript = path.with_file_name(format!("{name}.jsonl"));
        Some((ToolUseId::from(meta.tool_use_id), transcript))
    };
    entries.filter_map(|entry| read(entry.path())).collect()
}
