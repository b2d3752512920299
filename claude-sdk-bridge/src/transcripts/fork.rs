//! A new conversation with the history of another: its live branch copied into a transcript of its own, whole (the CLI's
//! own fork forgets what is before a compaction), with ids of its own. The one thing here that writes, and only new files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::branch;
use super::lines::part;
use super::scan::{Index, Kind};
use super::store::TranscriptFile;
use crate::decode;
use crate::messages::ClaudeSessionId;

/// Why a conversation was not copied.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// It has no such message.
    #[error("the conversation has no message `{0}`")]
    NoMessage(String),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Fields that name other lines.
const LINKS: [&str; 4] = [
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sourceToolAssistantUUID",
];

/// Copies a conversation, up to and with the message `until` (the API's id of it, or a line's), under a new id and title.
///
/// # Errors
/// When there is no such message, or a file cannot be read or written.
pub fn fork(
    from: &TranscriptFile,
    id: &ClaudeSessionId,
    title: &str,
    until: Option<&str>,
) -> Result<TranscriptFile, ForkError> {
    let index = Index::read(&from.path)?;
    let mut live = branch::live(&index);
    if let Some(until) = until {
        let end = last_of(&index, &live, until).ok_or_else(|| ForkError::NoMessage(until.to_owned()))?;
        live.truncate(end + 1);
    }
    let names: HashMap<&str, String> = index
        .uuids()
        .filter(|(_, node)| live.binary_search(node).is_ok())
        .map(|(uuid, _)| (uuid, uuid::Uuid::new_v4().to_string()))
        .collect();
    let folder = from.path.parent().unwrap_or(Path::new("."));
    // Private, as the CLI's are, and not there before it is whole.
    let mut copy = BufWriter::new(NamedTempFile::new_in(folder)?);
    let mut file = File::open(&from.path)?;
    for node in live.iter().filter_map(|node| index.nodes.get(*node)) {
        let mut line = String::new();
        part(&mut file, node.span)?.read_to_string(&mut line)?;
        let mut line = decode::parse(&line).map_err(io::Error::from)?;
        rename(&mut line, &names, (&from.id, id));
        writeln!(copy, "{line}")?;
    }
    let title = json!({"type": "custom-title", "customTitle": title, "sessionId": id});
    writeln!(copy, "{title}")?;
    let copy = copy.into_inner().map_err(io::IntoInnerError::into_error)?;
    let path = from.path.with_file_name(format!("{id}.jsonl"));
    let written = copy.persist_noclobber(&path).map_err(io::Error::from)?;
    Ok(TranscriptFile {
        id: id.clone(),
        path,
        modified: written.metadata()?.modified()?,
    })
}

/// Where in the live branch the last line of a message is.
fn last_of(index: &Index, live: &[usize], message: &str) -> Option<usize> {
    let id = index.known(message)?;
    live.iter().rposition(|node| {
        let of_message = index
            .nodes
            .get(*node)
            .is_some_and(|node| node.kind == Kind::Assistant { message: Some(id) });
        of_message || index.node(id) == Some(*node)
    })
}

/// Gives a line its new ids. A line that it names and that is not copied is nowhere.
fn rename(line: &mut Value, names: &HashMap<&str, String>, (from, to): (&ClaudeSessionId, &ClaudeSessionId)) {
    let old = line.get("uuid").cloned().unwrap_or_default();
    for link in LINKS {
        if let Some(value) = line.get_mut(link) {
            let new = value.as_str().and_then(|uuid| names.get(uuid));
            *value = new.map_or(Value::Null, |uuid| json!(uuid));
        }
    }
    if let Some(metadata) = line.get_mut("compactMetadata") {
        rename_inside(metadata, names);
    }
    if let Some(line) = line.as_object_mut() {
        line.insert("sessionId".to_owned(), json!(to));
        line.insert(
            "forkedFrom".to_owned(),
            json!({"sessionId": from, "messageUuid": old}),
        );
    }
}

/// What a compaction kept is named in several places.
fn rename_inside(value: &mut Value, names: &HashMap<&str, String>) {
    match value {
        Value::String(text) => {
            if let Some(new) = names.get(text.as_str()) {
                text.clone_from(new);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_inside(item, names)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename_inside(field, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
