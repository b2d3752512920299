//! Glob and Grep inside a sandbox.
//!
//! Place in the flow: `run` calls them once they may run; `tools` asks [`base`] and [`pattern`] before. Links are not
//! followed, so that a search stays where it begins; what is found comes in the order of names, the same every time.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::files::{field, located, success};
use crate::engine::{Places, ToolOutput};

/// So many files are looked at, and so many things found, at most.
const MAX_FILES: usize = 10_000;
const MAX_FOUND: usize = 250;

/// No longer file is searched.
const MAX_BYTES: u64 = 1024 * 1024;

pub(super) fn glob(places: &Places, input: &Map<String, Value>) -> Result<ToolOutput, String> {
    let (directory, pattern) = base(places, input)?;
    let wanted = matcher(&directory, &format!("/{pattern}"))?;
    let mut found: Vec<String> = Vec::new();
    let files = files(&directory)?;
    for file in files
        .iter()
        .filter(|file| wanted.matched(file, false).is_ignore())
    {
        found.push(file.display().to_string());
    }
    let truncated = found.len() > MAX_FOUND;
    found.truncate(MAX_FOUND);
    let text = if found.is_empty() {
        "No files found".to_owned()
    } else {
        found.join("\n")
    };
    Ok(success(
        text,
        json!({ "filenames": found, "durationMs": 0, "numFiles": found.len(), "truncated": truncated }),
    ))
}

pub(super) fn grep(places: &Places, input: &Map<String, Value>) -> Result<ToolOutput, String> {
    let path = Some(field(input, "path")).filter(|path| !path.is_empty());
    let base = located(places, path.unwrap_or("."))?;
    let pattern = pattern(input)?;
    let filter = Some(field(input, "glob")).filter(|glob| !glob.is_empty());
    let filter = filter.map(|glob| matcher(&base, glob)).transpose()?;
    let candidates = if base.is_file() { vec![base] } else { files(&base)? };
    let mut hits: Vec<(PathBuf, Vec<(usize, String)>)> = Vec::new();
    for file in candidates {
        let fits = filter
            .as_ref()
            .is_none_or(|filter| filter.matched(&file, false).is_ignore());
        let lines = if fits { lines(&file, &pattern) } else { Vec::new() };
        if !lines.is_empty() {
            hits.push((file, lines));
        }
    }
    Ok(told(&hits, input))
}

/// The directory that a search for names begins in, and the pattern below it.
pub(super) fn base(places: &Places, input: &Map<String, Value>) -> Result<(PathBuf, String), String> {
    let pattern = field(input, "pattern");
    let path = Some(field(input, "path")).filter(|path| !path.is_empty());
    let steps: Vec<&str> = pattern.split('/').collect();
    let is_plain = |step: &&&str| !step.contains(['*', '?', '[', '{']);
    // The last step is what is looked for, even if it is plain.
    let fixed = steps
        .iter()
        .take(steps.len().saturating_sub(1))
        .take_while(is_plain)
        .count();
    let (fixed, rest) = steps.split_at(fixed);
    let fixed = fixed.join("/");
    let directory = match path {
        _ if pattern.starts_with('/') || pattern.starts_with('~') => format!("{fixed}/"),
        Some(path) => format!("{path}/{fixed}"),
        None => format!("./{fixed}"),
    };
    if rest.contains(&"..") {
        return Err("A pattern must not climb with `..` behind a wildcard.".to_owned());
    }
    Ok((located(places, &directory)?, rest.join("/")))
}

/// The expression of a search in files.
pub(super) fn pattern(input: &Map<String, Value>) -> Result<Regex, String> {
    RegexBuilder::new(field(input, "pattern"))
        .case_insensitive(input.get("-i") == Some(&Value::Bool(true)))
        .build()
        .map_err(|error| format!("The pattern is not a regular expression: {error}"))
}

fn matcher(directory: &Path, pattern: &str) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new(directory);
    let added = builder.add_line(None, pattern).map(drop);
    added
        .and_then(|()| builder.build())
        .map_err(|error| format!("The pattern cannot be used: {error}"))
}

/// All files below a directory, by name.
fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    if !directory.is_dir() {
        return Err(format!("Directory does not exist: {}", directory.display()));
    }
    let walk = WalkBuilder::new(directory)
        .standard_filters(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .build();
    let is_file = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    let entries = walk.filter_map(Result::ok).take(MAX_FILES).filter(is_file);
    Ok(entries.map(ignore::DirEntry::into_path).collect())
}

fn lines(file: &Path, pattern: &Regex) -> Vec<(usize, String)> {
    let small = std::fs::metadata(file).is_ok_and(|facts| facts.len() <= MAX_BYTES);
    let text = if small {
        std::fs::read_to_string(file).unwrap_or_default()
    } else {
        String::new()
    };
    let lines = text.lines().enumerate();
    let hits = lines.filter(|(_, line)| pattern.is_match(line));
    hits.map(|(place, line)| (place + 1, line.to_owned())).collect()
}

fn told(hits: &[(PathBuf, Vec<(usize, String)>)], input: &Map<String, Value>) -> ToolOutput {
    let limit = input.get("head_limit").and_then(Value::as_u64);
    let limit = limit
        .and_then(|limit| usize::try_from(limit).ok())
        .filter(|limit| *limit > 0);
    let limit = limit.unwrap_or(MAX_FOUND).min(MAX_FOUND);
    let names: Vec<String> = hits.iter().map(|(file, _)| file.display().to_string()).collect();
    let mode = Some(field(input, "output_mode")).filter(|mode| !mode.is_empty());
    let mode = mode.unwrap_or("files_with_matches");
    let mut listed: Vec<String> = match mode {
        "content" => hits
            .iter()
            .flat_map(|(file, lines)| {
                lines
                    .iter()
                    .map(move |(number, line)| format!("{}:{number}:{line}", file.display()))
            })
            .collect(),
        "count" => hits
            .iter()
            .map(|(file, lines)| format!("{}:{}", file.display(), lines.len()))
            .collect(),
        _ => names.clone(),
    };
    listed.truncate(limit);
    let content = listed.join("\n");
    let found = match (listed.len(), mode) {
        (0, "content") => "No matches found".to_owned(),
        (0, _) => "No files found".to_owned(),
        (1, "files_with_matches") => format!("Found 1 file\n{content}"),
        (count, "files_with_matches") => format!("Found {count} files\n{content}"),
        _ => content.clone(),
    };
    let mut structured = json!({ "mode": mode, "numFiles": names.len(), "filenames": names });
    if let (Value::Object(fields), "content" | "count") = (&mut structured, mode) {
        fields.insert("content".to_owned(), json!(content));
        fields.insert("numLines".to_owned(), json!(listed.len()));
    }
    success(found, structured)
}
