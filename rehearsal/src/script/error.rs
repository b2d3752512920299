//! What is said about a script that cannot be used.
//!
//! Place in the flow: returned by `Script::load`, `Script::parse` and `Script::builtin`; shown to whoever wrote the
//! script. Every text says where to look and what may stand there.

use std::fmt;
use std::path::PathBuf;

use super::builtin;

/// What was a key once, and what is written instead of it.
const DROPPED: [(&str, &str); 2] = [
    (
        "unknown field `real`",
        "no tool runs in a rehearsal, so `real` is gone; write `\"decide\": true` to have rules decide about the call, and what comes out of it as `result`",
    ),
    (
        "unknown field `files`",
        "no tool runs in a rehearsal, so `files` are gone; write what a tool finds as the `result` of its call",
    ),
];

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script `{}`; check the path", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is not a script.
    #[error("the script `{name}` has a mistake in {place}: {problem}")]
    Mistake {
        /// The file or the built-in script.
        name: String,
        /// Where in it.
        place: Place,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// There is no built-in script of this name.
    #[error(
        "there is no built-in script `{name}`; use one of {}, or the path of a file",
        quoted_names()
    )]
    UnknownBuiltin {
        /// The name.
        name: String,
    },
}

/// A place in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1; 0 for the script as a whole.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The path of the value, e.g. `turns[0].steps[2].tool`; empty at the top.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return f.write_str("its outermost object");
        }
        write!(f, "line {} column {}", self.line, self.column)?;
        if self.path.is_empty() {
            Ok(())
        } else {
            write!(f, ", at `{}`", self.path)
        }
    }
}

impl ScriptError {
    /// The same on one line, in the order in which tools and editors read it: file, line, column, what is wrong.
    #[must_use]
    pub fn finding(&self) -> String {
        match self {
            Self::Mistake { name, place, problem } => {
                let at = if place.path.is_empty() {
                    String::new()
                } else {
                    format!("at `{}`: ", place.path)
                };
                // The script as a whole stands where it begins.
                let (line, column) = (place.line.max(1), place.column.max(1));
                format!("{name}:{line}:{column}: {at}{problem}")
            }
            Self::Unreadable { path, source } => {
                format!("{}: cannot be read: {source}; check the path", path.display())
            }
            Self::UnknownBuiltin { .. } => self.to_string(),
        }
    }

    pub(crate) fn mistake(name: &str, text: &str, path: String, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let mut problem = error.to_string();
        let position = format!(" at line {line} column {column}");
        if let Some(without) = problem.strip_suffix(&position) {
            problem = without.to_owned();
        }
        if let Some((_, instead)) = DROPPED.iter().find(|(gone, _)| problem.starts_with(gone)) {
            problem = (*instead).to_owned();
        }
        if problem == "expected value" && goes_on_with_comma(text, line, column) {
            problem = "a step has a single key; make the next one a step of its own".to_owned();
        }
        let place = Place {
            line,
            column,
            // The top is a lone dot.
            path: if path == "." { String::new() } else { path },
        };
        Self::Mistake {
            name: name.to_owned(),
            place,
            problem,
        }
    }
}

/// Whether a comma comes next. That is what serde stumbles over when an enum has two keys.
fn goes_on_with_comma(text: &str, line: usize, column: usize) -> bool {
    let rest = text
        .lines()
        .nth(line.saturating_sub(1))
        .and_then(|line| line.as_bytes().get(column..));
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b","))
}

fn quoted_names() -> String {
    builtin::names()
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
