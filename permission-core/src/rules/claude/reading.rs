//! A command as Claude reads it, and whether it can be read at all.
//!
//! Place in the flow: what is illegible to Claude is allowed by no content of a rule, and its files are compared with none.
//! Must not be asked for a policy.

use std::borrow::Cow;

use super::{FED, certain};
use crate::rules::ToolCall;
use crate::shell::{Analysis, Assignment, Doubt, Invocation, Piece, Word, analyse};

/// A command as Claude reads it.
pub(super) struct Reading<'c> {
    pub(super) text: Cow<'c, str>,
    pub(super) analysis: Cow<'c, Analysis>,
}

/// Variables that change what other commands do.
const UNSETTABLE: [&str; 13] = [
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "FPATH",
    "GLOBIGNORE",
    "HISTFILE",
    "HOME",
    "IFS",
    "OPTIND",
    "PATH",
    "RANDOM",
    "SHELL",
    "UID",
];

impl<'c> Reading<'c> {
    /// Claude knows the home directory and this one, and takes `$(cat <<'EOF' …)` for a text.
    pub(super) fn of(call: &'c ToolCall<'_>) -> Option<Self> {
        let text = call.text("command")?;
        let analysis = call.analysis()?;
        let known = with_directories(call, &without_documents(text));
        Some(if known == text {
            Self {
                text: text.into(),
                analysis: Cow::Borrowed(analysis),
            }
        } else {
            Self {
                analysis: Cow::Owned(analyse(&known)),
                text: known.into(),
            }
        })
    }

    /// Whether Claude can tell every word of every command, where only these doubts are left.
    pub(super) fn is_legible(&self, doubts: &[Doubt]) -> bool {
        let plain = match self.analysis.as_ref() {
            Analysis::Commands(_) => true,
            Analysis::Unanalysable(found) => found.doubts.iter().all(|doubt| doubts.contains(doubt)),
        };
        let ordered = !has_escaped_blank(&self.text) && !self.text.lines().any(goes_on_behind_document);
        let known = |invocation: &Invocation| {
            // What `xargs` adds is not written.
            let mut written = invocation.words.iter().filter(|word| word.raw != FED);
            let set = !invocation.words.is_empty() || is_settable(&invocation.assignments);
            set && written.all(is_known)
        };
        let expands = self.analysis.seen().expands_document;
        plain && ordered && !expands && certain(&self.analysis).all(known)
    }
}

fn is_known(word: &Word) -> bool {
    // A comment inside quotes hides what stands before it.
    let hides = || {
        word.raw
            .lines()
            .skip(1)
            .any(|line| line.trim_start().starts_with('#'))
    };
    !word.pieces.contains(&Piece::Anything) && !word.raw.contains("$'") && !is_braced(&word.raw) && !hides()
}

/// `{a,b}`, which is several words.
fn is_braced(raw: &str) -> bool {
    let inside = raw.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    inside.is_some_and(|(inside, _)| inside.contains(',') || inside.contains(".."))
}

/// Whether Claude lets a command set this, where it does nothing else.
fn is_settable(assignments: &[Assignment]) -> bool {
    let [Assignment { name, word }] = assignments else {
        return assignments.is_empty();
    };
    let own = ["LD_", "DYLD_", "LC_"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    let (_, value) = word.raw.split_once('=').unwrap_or_default();
    let captured = value.starts_with(['`']) || value.starts_with("$(");
    let known = is_known(word) || captured;
    known && !own && !UNSETTABLE.contains(&name.trim_end_matches('+')) && !value.contains('~')
}

/// The text with a word for each `$(cat <<'EOF' …)`.
fn without_documents(text: &str) -> String {
    let document = |text: &str| {
        let (before, behind) = text.split_once("$(cat <<'")?;
        let (delimiter, rest) = behind.split_once('\'')?;
        let body = rest.strip_prefix('\n')?;
        let (_, after) = body.split_once(&format!("\n{delimiter}\n)"))?;
        Some(format!("{before}text{after}"))
    };
    let mut text = text.to_owned();
    while let Some(shorter) = document(&text) {
        text = shorter;
    }
    text
}

/// The text with the home directory for `$HOME`, and this one for `"$PWD/…`.
fn with_directories(call: &ToolCall<'_>, text: &str) -> String {
    let here = text.replace("\"$PWD/", &format!("\"{}/", call.workspace.cwd));
    let Some(home) = call.workspace.home else {
        return here;
    };
    let mut parts = here.split("$HOME");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let longer = part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        text.push_str(if longer { "$HOME" } else { home });
        text.push_str(part);
    }
    text
}

/// A backslash before a blank, in quotes too; but for the end of a line behind a blank.
fn has_escaped_blank(text: &str) -> bool {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some('\n') if c == '\\' && matches!(before, ' ' | '\t') => {}
            Some(next) if c == '\\' && next.is_whitespace() => return true,
            Some(_) | None => {}
        }
        before = c;
    }
    false
}

/// More words behind the start of a here-document.
fn goes_on_behind_document(line: &str) -> bool {
    let document = |(_, rest): &(&str, &str)| !rest.starts_with('<');
    let Some((_, rest)) = line.split_once("<<").filter(document) else {
        return false;
    };
    let delimiter = rest.trim_start_matches('-').trim_start();
    delimiter.split_whitespace().nth(1).is_some()
}
