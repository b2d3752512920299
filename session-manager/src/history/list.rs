//! `session/list`: the stored conversations, newest first, page by page.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::messages::ClaudeSessionId;
use claude_sdk_bridge::transcripts::{Summary, TranscriptFile, TranscriptStore, related_folders};
use jiff::Timestamp;
use serde_json::json;

use super::Records;
use crate::setup::SetupError;

/// How many sessions a page has.
const PAGE: usize = 200;

/// Where a page begins: behind this session. Sessions that come up meanwhile do not move it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor {
    modified: Duration,
    id: ClaudeSessionId,
}

/// Answers `session/list`.
///
/// # Errors
/// When the folder is relative or the cursor none of ours.
pub(crate) async fn list(
    stored: (TranscriptStore, Records),
    request: schema::ListSessionsRequest,
) -> Result<schema::ListSessionsResponse, RpcError> {
    if let Some(relative) = request.cwd.as_ref().filter(|cwd| !cwd.is_absolute()) {
        return Err(SetupError::RelativeCwd(relative.clone()).into());
    }
    let after = match &request.cursor {
        Some(cursor) => Some(Cursor::parse(cursor).ok_or_else(|| unknown_cursor(cursor))?),
        None => None,
    };
    let page = tokio::task::spawn_blocking(move || page(&stored, request.cwd.as_deref(), after.as_ref()));
    page.await.map_err(|error| errors::internal(error, None))
}

fn unknown_cursor(cursor: &str) -> RpcError {
    let message = format!("unknown `session/list` cursor: `{cursor}`; begin again without one");
    errors::invalid_params(message, Some(json!({"cursor": cursor})))
}

fn page(
    (store, records): &(TranscriptStore, Records),
    cwd: Option<&Path>,
    after: Option<&Cursor>,
) -> schema::ListSessionsResponse {
    let folders = cwd.map(related_folders);
    let files = public(store.list(folders.as_deref()), &records.chained());
    let mut files = files.into_iter().peekable();
    if let Some(after) = after {
        while files.next_if(|file| Cursor::of(file) >= *after).is_some() {}
    }
    let mut sessions = Vec::new();
    let mut last = None;
    while sessions.len() < PAGE
        && let Some(file) = files.next()
    {
        sessions.extend(info(&file, folders.as_deref()));
        last = Some(Cursor::of(&file));
    }
    let more = files.peek().and(last).map(|last| last.to_string());
    schema::ListSessionsResponse::new(sessions).next_cursor(more)
}

/// The transcripts under the ids that clients know: a session that has gone on to another conversation is one row, with
/// the newest conversation in which somebody has said something.
fn public(
    mut files: Vec<TranscriptFile>,
    chained: &HashMap<ClaudeSessionId, ClaudeSessionId>,
) -> Vec<TranscriptFile> {
    files.retain(|file| !chained.contains_key(&file.id) || matches!(Summary::read(file), Ok(Some(_))));
    for file in &mut files {
        if let Some(session) = chained.get(&file.id) {
            file.id = session.clone();
        }
    }
    let mut known = HashSet::new();
    files.retain(|file| known.insert(file.id.clone()));
    files.sort_by_key(|file| Reverse(Cursor::of(file)));
    files
}

/// A session as the list shows it, if it is one and belongs to one of the folders.
pub(super) fn info(file: &TranscriptFile, folders: Option<&[PathBuf]>) -> Option<schema::SessionInfo> {
    let summary = Summary::read(file)
        .inspect_err(|error| tracing::debug!(path = %file.path.display(), %error, "transcript not listed"))
        .ok()??;
    // Several folders have the same name among Claude's projects.
    if folders.is_some_and(|folders| !folders.contains(&summary.folder())) {
        return None;
    }
    let info = schema::SessionInfo::new(file.id.as_str().to_owned(), summary.cwd);
    Some(info.title(summary.title).updated_at(written_at(file.modified)))
}

fn written_at(modified: SystemTime) -> Option<String> {
    let at = Timestamp::try_from(modified).ok()?;
    let at = Timestamp::from_millisecond(at.as_millisecond()).ok()?;
    Some(format!("{at:.3}"))
}

impl Cursor {
    fn of(file: &TranscriptFile) -> Self {
        Self {
            modified: file.modified.duration_since(UNIX_EPOCH).unwrap_or_default(),
            id: file.id.clone(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (modified, id) = text.split_once(':')?;
        let (seconds, nanos) = modified.split_once('.')?;
        let nanos = nanos.parse().ok().filter(|nanos| *nanos < 1_000_000_000)?;
        Some(Self {
            modified: Duration::new(seconds.parse().ok()?, nanos),
            id: ClaudeSessionId::from(id),
        })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let modified = &self.modified;
        write!(
            f,
            "{}.{}:{}",
            modified.as_secs(),
            modified.subsec_nanos(),
            self.id
        )
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::history::Record;

    fn store(sessions: usize) -> (tempfile::TempDir, (TranscriptStore, Records)) {
        let claude = tempfile::tempdir().unwrap();
        let folder = claude.path().join("projects/-a-b");
        fs::create_dir_all(&folder).unwrap();
        for session in 0..sessions {
            let cwd = if session % 2 == 0 { "/a/b" } else { "/a-b" };
            let path = folder.join(format!("00000000-0000-4000-8000-{session:012}.jsonl"));
            let line =
                json!({"type": "user", "uuid": "u", "cwd": cwd, "message": {"content": session.to_string()}});
            fs::write(&path, line.to_string()).unwrap();
            // Two by two of the same time.
            let modified = UNIX_EPOCH + Duration::from_secs(u64::try_from(session / 2).unwrap());
            fs::File::options()
                .append(true)
                .open(path)
                .unwrap()
                .set_modified(modified)
                .unwrap();
        }
        let store = (TranscriptStore::new(claude.path()), Records::new(claude.path()));
        (claude, store)
    }

    fn titles(store: &(TranscriptStore, Records), cwd: Option<&Path>) -> Vec<Vec<usize>> {
        let mut pages = Vec::new();
        let mut after = None;
        loop {
            let page = page(store, cwd, after.as_ref());
            let titles = page
                .sessions
                .iter()
                .map(|session| session.title.as_ref().unwrap());
            pages.push(titles.map(|title| title.parse().unwrap()).collect());
            match page.next_cursor {
                Some(next) => after = Some(Cursor::parse(&next).unwrap()),
                None => return pages,
            }
        }
    }

    #[test]
    fn pages_go_on_where_the_last_one_ended() {
        let (_claude, store) = store(2 * PAGE + 1);
        let pages = titles(&store, None);
        let all: Vec<usize> = pages.concat();
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [PAGE, PAGE, 1]);
        assert_eq!(all, (0..=2 * PAGE).rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_conversation_that_was_copied_is_one_row() {
        let (claude, store) = store(2);
        let (from, to) = (
            claude.path().join("projects/-a-b"),
            claude.path().join("projects/-c"),
        );
        fs::create_dir(&to).unwrap();
        for file in fs::read_dir(from).unwrap().flatten() {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
        assert_eq!(titles(&store, None).concat().len(), 2);
    }

    #[test]
    fn a_session_that_has_gone_on_to_other_conversations_is_one_row() {
        let (claude, store) = store(6);
        let id = |number: usize| ClaudeSessionId::from(format!("00000000-0000-4000-8000-{number:012}"));
        let record = Record {
            conversations: vec![id(0), id(2), id(4)],
            ..Record::default()
        };
        store.1.write(&id(0), &record).unwrap();
        let unsaid = claude.path().join(format!("projects/-a-b/{}.jsonl", id(4)));
        fs::write(unsaid, "{}\n").unwrap();
        assert_eq!(titles(&store, None).concat(), [5, 3, 2, 1]);
        let page = page(&store, None, None);
        assert_eq!(page.sessions[2].session_id.to_string(), id(0).as_str());
    }

    #[test]
    fn a_full_last_page_has_no_cursor() {
        let (_claude, store) = store(PAGE);
        assert_eq!(titles(&store, None).len(), 1);
    }

    #[test]
    fn folders_of_the_same_name_are_kept_apart() {
        let (_claude, store) = store(6);
        assert_eq!(titles(&store, Some(Path::new("/a/b"))), [[4, 2, 0]]);
        assert_eq!(titles(&store, Some(Path::new("/a-b"))), [[5, 3, 1]]);
        assert_eq!(titles(&store, Some(Path::new("/nowhere"))), [[0; 0]]);
    }

    #[test]
    fn a_row_says_where_and_when() {
        let (_claude, store) = store(4);
        let page = page(&store, None, None);
        insta::assert_json_snapshot!(page.sessions[0], @r#"
        {
          "sessionId": "00000000-0000-4000-8000-000000000003",
          "cwd": "/a-b",
          "title": "3",
          "updatedAt": "1970-01-01T00:00:01.000Z"
        }
        "#);
    }

    #[tokio::test]
    async fn a_relative_folder_and_a_foreign_cursor_are_refused() {
        let (_claude, store) = store(0);
        let asked = |cwd: Option<&str>, cursor: Option<&str>| {
            let request = schema::ListSessionsRequest::new()
                .cwd(cwd.map(PathBuf::from))
                .cursor(cursor.map(str::to_owned));
            list(store.clone(), request)
        };
        let mut refused = Vec::new();
        for (cwd, cursor) in [
            (Some("a"), None),
            (None, Some("offset:1")),
            (None, Some("")),
            (None, Some("1.2000000000:x")),
        ] {
            refused.push(asked(cwd, cursor).await.unwrap_err().message().to_owned());
        }
        insta::assert_snapshot!(refused.join("\n"), @r"
        Invalid params: `cwd` must be an absolute path, but received: a
        Invalid params: unknown `session/list` cursor: `offset:1`; begin again without one
        Invalid params: unknown `session/list` cursor: ``; begin again without one
        Invalid params: unknown `session/list` cursor: `1.2000000000:x`; begin again without one
        ");
    }
}
