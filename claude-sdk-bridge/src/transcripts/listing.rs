//! What a list says of a session, from the two ends of its transcript.
//!
//! The CLI repeats what it knows of a session at the end of the file, so the last piece nearly always holds it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::entry::{Entry, Meaning, meaning};
use super::lines::small;
use super::store::{TranscriptFile, resolved};
use crate::decode;

/// How much is read at either end.
const END_BYTES: u64 = 64 << 10;

/// Longer titles are cut.
/// So far is looked for the first line of a conversation.
const START_BYTES: u64 = 16 << 20;

const TITLE_CHARS: usize = 256;

/// The title of a session that began with an image only.
const IMAGE: &str = "Image";

/// A session, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The folder that the session works in.
    pub cwd: PathBuf,
    /// One line: what the user named it, else what Claude did, else its first prompt.
    pub title: String,
}

impl Summary {
    /// Its folder without links, to be compared.
    pub fn folder(&self) -> PathBuf {
        resolved(&self.cwd)
    }

    /// Reads the ends of a transcript. `None` where there is nothing to show: a subagent's, or one in which nobody has said
    /// anything.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(transcript: &TranscriptFile) -> io::Result<Option<Self>> {
        let mut file = File::open(&transcript.path)?;
        let bytes = file.metadata()?.len();
        let mut found = Found::default();
        if bytes <= 2 * END_BYTES {
            found.piece(&mut file, End::Tail)?;
        } else {
            found.piece(&mut (&mut file).take(END_BYTES), End::Head)?;
            if found.cwd.is_none() {
                found.long_start(&mut file)?;
            }
            file.seek(SeekFrom::Start(bytes - END_BYTES))?;
            found.piece(&mut file, End::Tail)?;
        }
        let sidecar = || {
            let text = small(&transcript.folder().join("custom-title.json"))?;
            serde_json::from_slice::<Line<'_>>(&text).ok()?.custom_title
        };
        Ok(found.summary(sidecar))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Head,
    Tail,
}

#[derive(Default)]
struct Found {
    cwd: Option<String>,
    relocated: Option<String>,
    sidechain: Option<bool>,
    custom: Option<String>,
    custom_at_the_end: bool,
    ai: Option<String>,
    summary: Option<String>,
    first: Option<String>,
    command: Option<String>,
    last: Option<String>,
}

impl Found {
    /// Lines that are cut are none.
    fn piece(&mut self, piece: &mut impl Read, end: End) -> io::Result<()> {
        let mut read = Vec::new();
        piece.take(2 * END_BYTES).read_to_end(&mut read)?;
        let lines = read.split(|byte| *byte == b'\n');
        lines.for_each(|line| self.line(line, end));
        Ok(())
    }

    /// A first prompt that is longer than the end it stands in: what was pasted, a picture. It tells the folder and the title.
    fn long_start(&mut self, file: &mut File) -> io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        let mut start = BufReader::new(file).take(START_BYTES);
        let mut line = Vec::new();
        while self.cwd.is_none() && start.read_until(b'\n', &mut line)? > 0 {
            self.line(&line, End::Head);
            line.clear();
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], end: End) {
        let line = decode::sound(line);
        let Ok(line) = serde_json::from_str::<Line<'_>>(&line) else {
            return;
        };
        match line.kind.as_str() {
            "custom-title" => {
                self.custom = line.custom_title.or(self.custom.take());
                self.custom_at_the_end |= end == End::Tail;
            }
            "ai-title" => self.ai = line.ai_title.or(self.ai.take()),
            "summary" => self.summary = line.summary.or(self.summary.take()),
            "last-prompt" => self.last = line.last_prompt.or(self.last.take()),
            "relocated" => self.relocated = line.relocated_cwd.or(self.relocated.take()),
            "user" | "assistant" | "attachment" | "system" | "progress" => self.chained(line),
            _ => {}
        }
    }

    fn chained(&mut self, line: Line<'_>) {
        self.cwd = self.cwd.take().or(line.cwd);
        self.sidechain.get_or_insert(line.is_sidechain);
        let untold = self.first.is_none() && !line.is_meta && line.kind == "user";
        let whole = untold.then(|| line.message.map(RawValue::get)).flatten();
        let Some(message) = whole.and_then(|message| serde_json::from_str::<Value>(message).ok()) else {
            return;
        };
        let line = serde_json::json!({"type": "user", "message": message, "origin": line.origin,
            "isCompactSummary": line.is_compact_summary});
        let Meaning::Entries(entries) = meaning(line, None) else {
            return;
        };
        if let Some(Entry::Prompt(prompt)) = entries.first() {
            let texts: Vec<&str> = prompt
                .content
                .iter()
                .filter_map(|block| block.as_text())
                .collect();
            let text = one_line(&texts.join(" "));
            match text.as_deref() {
                Some(text) if text.starts_with('/') && prompt.content.len() == 1 => {
                    self.command.get_or_insert(text.to_owned());
                }
                _ => self.first = text.or_else(|| Some(IMAGE.to_owned())),
            }
        }
    }

    fn summary(self, sidecar: impl FnOnce() -> Option<String>) -> Option<Summary> {
        if self.sidechain == Some(true) {
            return None;
        }
        let custom = match self.custom_at_the_end {
            true => self.custom,
            false => sidecar().or(self.custom),
        };
        // An empty name takes a name back. A conversation of nothing but `/clear` is none.
        let command = self.command.filter(|command| command != "/clear");
        let titles = [custom, self.ai, self.first, command, self.summary, self.last];
        let title = titles.iter().flatten().find_map(|title| one_line(title))?;
        let cwd = self.relocated.or(self.cwd)?;
        Some(Summary {
            cwd: PathBuf::from(cwd),
            title,
        })
    }
}

/// A text as one line of bounded length; `None` where it is blank.
fn one_line(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let mut line = words.next()?.to_owned();
    for word in words {
        if line.len() > TITLE_CHARS * 4 {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    if line.chars().nth(TITLE_CHARS).is_some() {
        line = line.chars().take(TITLE_CHARS - 1).collect();
        line.push('…');
    }
    Some(line)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: String,
    cwd: Option<String>,
    is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
    origin: Option<Value>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    summary: Option<String>,
    last_prompt: Option<String>,
    relocated_cwd: Option<String>,
}
