//! What is wrong in a settings file, and where.
//!
//! Place in the flow: made by `parse`, `merge` and `modes`, shown by the host. A problem never stops a session.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::wording;

/// Something in a settings file that does not count as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The file.
    pub file: Arc<Path>,
    /// The line, counted from 1; `None` when the file could not be read.
    pub line: Option<u32>,
    /// The column in characters, counted from 1, where the JSON itself is wrong.
    pub column: Option<u32>,
    /// The setting, such as `permissions.deny[2]`; `None` when it is the whole file.
    pub key: Option<String>,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wording::problem(self))
    }
}
