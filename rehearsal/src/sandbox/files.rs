//! Read, Write and Edit inside a sandbox.
//!
//! Place in the flow: `run` calls them once they may run; `tools` asks [`located`] and [`edited`] before. Every path is
//! looked up again here, through symbolic links, because something may have changed since it was allowed.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use claude_sdk_bridge::paths::FileSystemPaths;
use permission_core::{PathResolver, normalized};
use serde_json::{Map, Value, json};

use super::patch;
use crate::engine::{Places, ToolOutput};

/// No longer file is read or edited.
const MAX_BYTES: u64 = 256 * 1024;

/// So many lines are read if the call does not say.
const DEFAULT_LINES: u64 = 2000;

/// Where the path of a call leads, if that is in the sandbox.
pub(super) fn located(places: &Places, path: &str) -> Result<PathBuf, String> {
    let resolved = FileSystemPaths.resolve(&normalized(&places.absolute(path)));
    resolved
        .map(PathBuf::from)
        .filter(|resolved| resolved.starts_with(&places.root))
        .ok_or_else(|| {
            format!("`{path}` is outside of the sandbox, where the file tools of this rehearsal work")
        })
}

/// Writes files, by their paths in the project or below `~/`; one that begins with `#!` can be run.
pub(super) fn lay_out(places: &Places, files: &BTreeMap<String, String>) -> io::Result<()> {
    for (path, text) in files {
        let file = located(places, path).map_err(io::Error::other)?;
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&file, text)?;
        if text.starts_with("#!") {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

pub(super) fn read(places: &Places, input: &Map<String, Value>) -> Result<ToolOutput, String> {
    let path = field(input, "file_path");
    let text = text_of(places, path)?;
    let lines: Vec<&str> = text.split('\n').collect();
    let number = |key: &str| input.get(key).and_then(Value::as_u64);
    let first = size(number("offset").unwrap_or(1).max(1)) - 1;
    let shown = lines
        .iter()
        .enumerate()
        .skip(first)
        .take(size(number("limit").unwrap_or(DEFAULT_LINES)));
    let shown: Vec<(usize, &&str)> = shown.collect();
    if shown.is_empty() {
        return Err(format!("The file has only {} lines.", lines.len()));
    }
    let numbered: Vec<String> = shown
        .iter()
        .map(|(place, line)| format!("{}\t{line}", place + 1))
        .collect();
    let plain: Vec<&str> = shown.iter().map(|(_, line)| **line).collect();
    Ok(success(
        numbered.join("\n"),
        json!({
            "type": "text",
            "file": {
                "filePath": path, "content": plain.join("\n"), "numLines": shown.len(), "startLine": first + 1,
                "totalLines": lines.len(),
            },
        }),
    ))
}

pub(super) fn write(places: &Places, input: &Map<String, Value>) -> Result<ToolOutput, String> {
    let (path, content) = (field(input, "file_path"), field(input, "content"));
    let file = located(places, path)?;
    let before = if file.exists() {
        Some(text_of(places, path)?)
    } else {
        None
    };
    put(&file, content)?;
    let (kind, said) = match before {
        None => ("create", format!("File created successfully at: {path}")),
        Some(_) => (
            "update",
            format!("The file {path} has been updated successfully."),
        ),
    };
    let patch = before
        .as_deref()
        .map_or_else(|| json!([]), |before| patch::structured(before, content));
    Ok(success(
        said,
        json!({
            "type": kind, "filePath": path, "content": content, "structuredPatch": patch, "originalFile": before,
            "userModified": false,
        }),
    ))
}

pub(super) fn edit(places: &Places, input: &Map<String, Value>) -> Result<ToolOutput, String> {
    let path = field(input, "file_path");
    let (before, after) = edited(places, input)?;
    put(&located(places, path)?, &after)?;
    Ok(success(
        format!("The file {path} has been updated successfully."),
        json!({
            "filePath": path, "oldString": field(input, "old_string"), "newString": field(input, "new_string"),
            "originalFile": before, "structuredPatch": patch::structured(&before, &after), "userModified": false,
            "replaceAll": replaces_all(input),
        }),
    ))
}

/// The file of an edit before and after it.
pub(super) fn edited(places: &Places, input: &Map<String, Value>) -> Result<(String, String), String> {
    let (old, new) = (field(input, "old_string"), field(input, "new_string"));
    if old == new {
        return Err("No changes to make: old_string and new_string are exactly the same.".to_owned());
    }
    if old.is_empty() {
        return Err("old_string is empty; use Write to make a file.".to_owned());
    }
    let before = text_of(places, field(input, "file_path"))?;
    let after = match (before.matches(old).count(), replaces_all(input)) {
        (0, _) => return Err(format!("String to replace not found in file.\nString: {old}")),
        (1, _) | (_, true) => before.replace(old, new),
        (count, false) => {
            return Err(format!(
                "Found {count} matches of the string to replace, but replace_all is false. Give more of what stands around it, or set replace_all.\nString: {old}"
            ));
        }
    };
    Ok((before, after))
}

/// A text of an input.
pub(super) fn field<'a>(input: &'a Map<String, Value>, key: &str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn success(text: String, structured: Value) -> ToolOutput {
    ToolOutput {
        text,
        structured,
        is_error: false,
    }
}

/// The text of a file that is not too long.
pub(super) fn text_of(places: &Places, path: &str) -> Result<String, String> {
    let file = located(places, path)?;
    let facts = std::fs::metadata(&file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "File does not exist. Note: your current working directory is {}.",
            places.project
        ),
        _ => error.to_string(),
    })?;
    if !facts.is_file() {
        return Err("This is not a file.".to_owned());
    }
    if facts.len() > MAX_BYTES {
        return Err(format!("The file is longer than {MAX_BYTES} bytes."));
    }
    let bytes = std::fs::read(&file).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "The file is not text.".to_owned())
}

fn put(file: &Path, text: &str) -> Result<(), String> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    }
    std::fs::write(file, text).map_err(|error| error.to_string())
}

fn replaces_all(input: &Map<String, Value>) -> bool {
    input.get("replace_all") == Some(&Value::Bool(true))
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
