//! Stored conversations for a reader who is no client: the same list and the same updates, without a session.

use std::fs::File;
use std::io;
use std::path::Path;

use acp_proto::schema::{SessionInfo, SessionUpdate};
use claude_sdk_bridge::messages::Message;
use claude_sdk_bridge::transcripts::{Entry, Replay, TranscriptFile, TranscriptStore, related_folders};
use jiff::Timestamp;

use super::list::info;
use super::shown::Shown;
use crate::tools::TerminalSupport;
use crate::translate::Translator;

/// An update of a stored conversation, and what its transcript knows beyond the protocol.
#[derive(Clone, Debug)]
pub struct Told {
    /// When it was.
    pub at: Option<Timestamp>,
    /// The user was asked before it came to this.
    pub asked: bool,
    /// What an editor would get.
    pub update: SessionUpdate,
}

/// The stored conversations, the newest first: those of a folder and its repository's other worktrees, or all. Blocks on
/// files.
pub fn stored(store: &TranscriptStore, cwd: Option<&Path>) -> impl Iterator<Item = SessionInfo> + use<> {
    let folders = cwd.map(related_folders);
    let files = store.list(folders.as_deref()).into_iter();
    files.filter_map(move |file| info(&file, folders.as_deref()))
}

/// What a list says of a conversation; nothing where nobody has said anything in it.
///
/// # Errors
/// When the transcript cannot be read.
pub fn about(transcript: &TranscriptFile) -> io::Result<Option<SessionInfo>> {
    File::open(&transcript.path)?;
    Ok(info(transcript, None))
}

/// The conversation as an editor without a display terminal would get it. Blocks on files.
///
/// # Errors
/// When the transcript cannot be read.
pub fn told(transcript: &TranscriptFile, cwd: &Path) -> io::Result<impl Iterator<Item = Told> + use<>> {
    let id = transcript.id.as_str().to_owned();
    let translator = Translator::new(id.into(), cwd.to_owned(), TerminalSupport::None);
    let mut entries = Replay::open(transcript)?;
    let mut shown = Some(Shown::new(translator));
    let pieces = std::iter::from_fn(move || {
        if let Some(entry) = entries.next() {
            let (at, asked) = (time(&entry), is_asked(&entry));
            return Some((at, asked, shown.as_mut()?.entry(entry)));
        }
        shown.take().map(|mut shown| (None, false, shown.end()))
    });
    Ok(pieces
        .flat_map(|(at, asked, updates)| updates.into_iter().map(move |update| Told { at, asked, update })))
}

fn time(entry: &Entry) -> Option<Timestamp> {
    let text = match entry {
        Entry::Prompt(prompt) => prompt.at.as_deref(),
        Entry::Message(message) => match message.as_ref() {
            Message::Assistant(assistant) => assistant.timestamp.as_str(),
            Message::User(user) => user.timestamp.as_str(),
            _ => None,
        },
        Entry::Summary(_) | Entry::LeftOut { .. } => None,
    };
    text?.parse().ok()
}

/// Whether this is the result of a call that the user decided about.
fn is_asked(entry: &Entry) -> bool {
    let Entry::Message(message) = entry else {
        return false;
    };
    let Message::User(user) = message.as_ref() else {
        return false;
    };
    user.tool_result_meta.known().any(|meta| {
        let decision = meta.permission_decision.get();
        let source = decision.and_then(|decision| decision.source.as_str());
        source.is_some_and(|source| source.starts_with("user_"))
    })
}
