//! JSON for Claude in a file that only this user can read: what may hold secrets never stands in argv.
//!
//! Place in the flow: `process` writes it before the start and keeps it until the end.

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use tempfile::NamedTempFile;

/// A private file; removed on drop, so keep it until the CLI has ended.
#[derive(Debug)]
pub struct PrivateFile(NamedTempFile);

impl PrivateFile {
    /// Writes one. `subject` goes into its name.
    pub fn write(subject: &str, content: &Value) -> io::Result<Self> {
        // Created with mode 0600.
        let mut file = tempfile::Builder::new()
            .prefix(&format!("claude-acp-{subject}-"))
            .suffix(".json")
            .tempfile()?;
        serde_json::to_writer(&mut file, content)?;
        file.flush()?;
        Ok(Self(file))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
