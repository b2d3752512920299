//! What Claude has been shown of files in this session: the text a Write replaces, so that its diff can be shown
//! before it is approved. Learned from Claude's own results (it has to read a file before it may overwrite it),
//! never from the disk. Bounded: old texts are forgotten, and a forgotten file only costs the left side of a diff.

use std::collections::VecDeque;

use serde_json::Value;

use super::{Family, ToolCallRef, input};

/// Enough for what is edited at a time; a single longer file is not kept.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_FILES: usize = 64;

/// The last known texts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles {
    files: VecDeque<(String, String)>,
    bytes: usize,
}

impl SeenFiles {
    /// The text of the file at `path`, exactly as Claude names it, if it is known to exist.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|(known, _)| known == path)
            .map(|(_, text)| text.as_str())
    }

    /// Learns from the structured result of a successful call.
    pub(crate) fn learn(&mut self, call: &ToolCallRef<'_>, structured: &Value) {
        let family = Family::of(call.name);
        if family == Family::Read {
            self.learn_read(structured);
        } else if family == Family::Write {
            let learned = input::text(structured, "filePath").zip(input::any_text(structured, "content"));
            learned
                .into_iter()
                .for_each(|(path, text)| self.keep(path, text.to_owned()));
        } else if family == Family::Edit {
            self.learn_edit(structured);
        }
    }

    fn learn_read(&mut self, structured: &Value) {
        let Some(file) = structured
            .get("file")
            .filter(|_| input::text(structured, "type") == Some("text"))
        else {
            return;
        };
        let Some((path, text)) = input::text(file, "filePath").zip(input::any_text(file, "content")) else {
            return;
        };
        let whole = input::number(file, "startLine") == Some(1)
            && input::number(file, "numLines") == input::number(file, "totalLines");
        let agrees = self.text(path).is_some_and(|known| known.contains(text));
        match (whole, agrees) {
            (true, _) => self.keep(path, text.to_owned()),
            (false, true) => {}
            (false, false) => self.forget(path),
        }
    }

    fn learn_edit(&mut self, structured: &Value) {
        let Some(path) = input::text(structured, "filePath") else {
            return;
        };
        let old = input::any_text(structured, "oldString").unwrap_or_default();
        let new = input::any_text(structured, "newString").unwrap_or_default();
        match input::any_text(structured, "originalFile") {
            Some(before) if !old.is_empty() && before.contains(old) => {
                let all = input::flag(structured, "replaceAll");
                let after = if all {
                    before.replace(old, new)
                } else {
                    before.replacen(old, new, 1)
                };
                self.keep(path, after);
            }
            _ => self.forget(path),
        }
    }

    fn keep(&mut self, path: &str, text: String) {
        self.forget(path);
        if text.len() > MAX_BYTES {
            return;
        }
        self.bytes = self.bytes.saturating_add(text.len());
        self.files.push_back((path.to_owned(), text));
        while self.bytes > MAX_BYTES || self.files.len() > MAX_FILES {
            let Some((_, oldest)) = self.files.pop_front() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(oldest.len());
        }
    }

    fn forget(&mut self, path: &str) {
        let bytes = &mut self.bytes;
        self.files.retain(|(known, text)| {
            let stays = known != path;
            if !stays {
                *bytes = bytes.saturating_sub(text.len());
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn learn(seen: &mut SeenFiles, name: &str, structured: Value) {
        let input = json!({});
        seen.learn(
            &ToolCallRef {
                id: "t",
                name,
                input: &input,
                parent: None,
            },
            &structured,
        );
    }

    fn read(path: &str, text: &str, lines: u64, total: u64) -> Value {
        json!({"type": "text", "file": {"filePath": path, "content": text, "startLine": 1, "numLines": lines, "totalLines": total}})
    }

    #[test]
    fn whole_reads_writes_and_edits_are_remembered() {
        let mut seen = SeenFiles::default();
        learn(&mut seen, "Read", read("/a", "one\ntwo\n", 3, 3));
        assert_eq!(seen.text("/a"), Some("one\ntwo\n"));
        let edit = |all: bool, original: &str| json!({"filePath": "/a", "oldString": "o", "newString": "0", "replaceAll": all, "originalFile": original});
        learn(&mut seen, "Edit", edit(false, "one\ntwo\n"));
        assert_eq!(seen.text("/a"), Some("0ne\ntwo\n"));
        learn(&mut seen, "Edit", edit(true, "one\ntwo\n"));
        assert_eq!(seen.text("/a"), Some("0ne\ntw0\n"));
        learn(
            &mut seen,
            "Write",
            json!({"type": "update", "filePath": "/a", "content": "new"}),
        );
        assert_eq!(seen.text("/a"), Some("new"));
        learn(&mut seen, "Edit", edit(true, "does not match"));
        assert_eq!(seen.text("/a"), Some("d0es n0t match"));
    }

    #[test]
    fn what_is_only_partly_known_is_forgotten() {
        let mut seen = SeenFiles::default();
        learn(&mut seen, "Read", read("/a", "one\n", 2, 2));
        learn(&mut seen, "Read", read("/a", "one", 1, 2));
        assert_eq!(
            seen.text("/a"),
            Some("one\n"),
            "a part that agrees changes nothing"
        );
        learn(&mut seen, "Read", read("/a", "other", 1, 9));
        assert_eq!(seen.text("/a"), None);
        learn(
            &mut seen,
            "Edit",
            json!({"filePath": "/b", "oldString": "x", "originalFile": "y"}),
        );
        assert_eq!(seen.text("/b"), None);
    }

    #[test]
    fn memory_stays_bounded() {
        let mut seen = SeenFiles::default();
        for index in 0..200 {
            learn(
                &mut seen,
                "Write",
                json!({"filePath": format!("/{index}"), "content": "x".repeat(100_000)}),
            );
        }
        learn(
            &mut seen,
            "Write",
            json!({"filePath": "/huge", "content": "x".repeat(MAX_BYTES + 1)}),
        );
        assert!(seen.bytes <= MAX_BYTES && seen.files.len() <= MAX_FILES);
        assert_eq!(
            seen.bytes,
            seen.files.iter().map(|(_, text)| text.len()).sum::<usize>()
        );
        assert!(seen.text("/199").is_some() && seen.text("/huge").is_none() && seen.text("/0").is_none());
    }
}
