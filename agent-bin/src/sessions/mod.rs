//! `sessions`: the conversations that Claude has written down, as a list, as Markdown and as a page. Nothing is started
//! and nothing of Claude's is written.

mod conversation;
mod html;
mod markdown;
#[cfg(test)]
mod tests;
mod timeline;
mod wording;

use std::borrow::Cow;
use std::fs;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use acp_proto::schema::{Diff, SessionInfo};
use anyhow::Context as _;
use chat::Change;
use claude_sdk_bridge::messages::ClaudeSessionId;
use claude_sdk_bridge::transcripts::TranscriptStore;
use session_manager::history;

use self::conversation::Conversation;
use crate::args::SessionsCommand;
use crate::{exit, surroundings};

/// What stands above a conversation.
struct About {
    id: String,
    title: String,
    cwd: String,
    updated: String,
}

impl About {
    fn line(&self) -> String {
        format!("{} · {} · {}", self.cwd, self.updated, self.id)
    }
}

/// Does what was asked for; gives the exit code.
///
/// # Errors
/// When there is no such conversation, it cannot be read, or the answer cannot be written.
pub(crate) fn run(command: SessionsCommand) -> anyhow::Result<u8> {
    let claude = surroundings::settings()
        .claude_directory()
        .context(wording::NO_HOME)?;
    let store = TranscriptStore::new(&claude);
    match command {
        SessionsCommand::List { all, json } => {
            let cwd =
                std::env::current_dir().context("cannot use the current directory; change to another one")?;
            list(&store, (!all).then_some(cwd.as_path()), json)
        }
        SessionsCommand::Show { id } => {
            let (about, conversation) = read(&store, &id)?;
            print(&markdown::page(&about, &conversation))
        }
        SessionsCommand::Export { id, output } => {
            let (about, conversation) = read(&store, &id)?;
            let page = html::page(&about, &conversation);
            match output {
                Some(file) => {
                    let inside = fs::canonicalize(&claude)
                        .and_then(|claude| Ok(fs::canonicalize(&file)?.starts_with(claude)));
                    anyhow::ensure!(!inside.unwrap_or(false), wording::claudes(&file));
                    write(&file, &page)
                }
                None => print(&page),
            }
        }
    }
}

fn list(store: &TranscriptStore, cwd: Option<&Path>, json: bool) -> anyhow::Result<u8> {
    let mut text = String::new();
    for session in history::stored(store, cwd) {
        if json {
            text.push_str(&serde_json::to_string(&session).context("a session cannot be written as JSON")?);
        } else {
            text.push_str(&row(&session, cwd.is_none()));
        }
        text.push('\n');
    }
    match (text.is_empty(), json, cwd) {
        (true, false, Some(_)) => print(&format!("{}\n", wording::NONE_HERE)),
        (true, false, None) => print(&format!("{}\n", wording::NONE)),
        _ => print(&text),
    }
}

/// A row of the list.
fn row(info: &SessionInfo, with_folder: bool) -> String {
    let updated = info.updated_at.as_deref().unwrap_or_default();
    // To the minute: seconds tell nobody anything.
    let updated = updated.get(..16).unwrap_or(updated).replace('T', " ");
    let title = chat::printable_line(info.title.as_deref().unwrap_or_default());
    let folder = match with_folder {
        true => format!("    {}", chat::printable_line(&info.cwd.to_string_lossy())),
        false => String::new(),
    };
    format!("{}  {updated}  {title}{folder}", info.session_id)
}

/// The lines of a change, or why they are not told apart.
fn changed(diff: &Diff) -> Vec<(Change, String)> {
    chat::changes(diff)
        .unwrap_or_else(|many| vec![(Change::Gap, wording::too_large(many.before, many.after))])
}

/// A conversation, whole.
fn read(store: &TranscriptStore, id: &str) -> anyhow::Result<(About, Conversation)> {
    anyhow::ensure!(
        claude_sdk_bridge::transcripts::is_session_id(id),
        wording::no_id(id)
    );
    let file = store
        .find(&ClaudeSessionId::from(id))
        .with_context(|| wording::unknown(id))?;
    let unreadable = |error: io::Error| anyhow::anyhow!(wording::unreadable(&file.path, &error));
    let info = history::about(&file)
        .map_err(unreadable)?
        .with_context(|| wording::unknown(id))?;
    let told = history::told(&file, &info.cwd).map_err(unreadable)?;
    let conversation = Conversation::of(told);
    let about = About {
        id: id.to_owned(),
        title: info.title.unwrap_or_default(),
        cwd: info.cwd.to_string_lossy().into_owned(),
        updated: info.updated_at.unwrap_or_default(),
    };
    Ok((about, conversation))
}

/// Writes to standard output: nothing in it moves a terminal's cursor.
fn print(text: &str) -> anyhow::Result<u8> {
    let mut out = io::stdout().lock();
    let text = match out.is_terminal() {
        true => chat::printable(text),
        false => Cow::Borrowed(text),
    };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // A reader that has seen enough is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit::DONE),
        written => written
            .map(|()| exit::DONE)
            .context("the answer cannot be written to standard output"),
    }
}

/// What was said is nobody else's to read.
fn write(file: &Path, page: &str) -> anyhow::Result<u8> {
    let unwritable = |error: io::Error| anyhow::anyhow!(wording::unwritable(file, &error));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file).map_err(unwritable)?;
    file.write_all(page.as_bytes()).map_err(unwritable)?;
    Ok(exit::DONE)
}
