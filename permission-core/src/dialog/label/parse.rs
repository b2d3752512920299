//! Reads a label back: which rules, directories and modes it promises, and for how long.
//!
//! Place in the flow: tests only. Written from the grammar, not from the code that prints it; must share nothing
//! with that code, or the round trip proves nothing.

use std::collections::BTreeSet;

/// One promised effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Promise {
    Rule {
        local: bool,
        tool: String,
        content: Option<String>,
    },
    Directory(String),
    AcceptEdits,
}

/// What the reader knows besides the label: the tool of the request, and the working directory.
pub(crate) struct Reader<'a> {
    pub(crate) tool: &'a str,
    pub(crate) cwd: &'a str,
}

const BEGINNINGS: [&str; 3] = ["don't ask again for ", "allow ", "turn on "];

impl Reader<'_> {
    /// What the label promises. Panics where the label is no sentence of the grammar.
    pub(crate) fn read(&self, label: &str) -> BTreeSet<Promise> {
        let parts = label.strip_prefix("Yes, and ").expect("begins with Yes");
        if let Some(session) = parts.strip_prefix("for this session ") {
            return self.parts(session, false);
        }
        match parts.split_once("; for this session also ") {
            None => self.parts(parts, true),
            Some((local, session)) => {
                let mut promises = self.parts(local, true);
                promises.extend(self.parts(session, false));
                promises
            }
        }
    }

    fn parts(&self, text: &str, local: bool) -> BTreeSet<Promise> {
        let parts = split(text);
        assert_eq!(joined(&parts), text, "parts are joined as a list");
        let distinct: BTreeSet<&String> = parts.iter().collect();
        assert_eq!(distinct.len(), parts.len(), "no part stands twice: {text}");
        parts.iter().map(|part| self.part(part, local)).collect()
    }

    fn part(&self, part: &str, local: bool) -> Promise {
        if part == "turn on Accept edits" {
            return session_only(local, Promise::AcceptEdits);
        }
        if let Some(path) = part.strip_prefix("allow access to ") {
            assert!(path.starts_with('/'), "absolute: {path}");
            return session_only(local, Promise::Directory(path.to_owned()));
        }
        let rule = |tool: &str, content: Option<String>| Promise::Rule {
            local,
            tool: tool.to_owned(),
            content,
        };
        if let Some(path) = part.strip_prefix("allow reading ") {
            return rule("Read", self.path(path));
        }
        if let Some(path) = part.strip_prefix("allow editing ") {
            return rule(
                "Edit",
                self.path(path.strip_suffix(" (Claude's own settings)").unwrap_or(path)),
            );
        }
        let thing = part
            .strip_prefix("don't ask again for ")
            .expect("one of the grammar's parts");
        match self.tool {
            "Bash" | "PowerShell" => rule(self.tool, Some(command(thing))),
            "Skill" => rule(self.tool, Some(skill(thing))),
            "WebFetch" => rule(self.tool, Some(format!("domain:{thing}"))),
            "SandboxNetworkAccess" => rule(self.tool, Some(thing.to_owned())),
            _ => rule(thing, None),
        }
    }

    fn path(&self, shown: &str) -> Option<String> {
        match shown {
            "anything" => None,
            _ if shown.starts_with(['/', '~']) => Some(shown.to_owned()),
            _ if shown.trim_end_matches('/').contains('/') => Some(format!("{}/{shown}", self.cwd)),
            _ => Some(format!("{}/**/{shown}", self.cwd)),
        }
    }
}

fn command(thing: &str) -> String {
    if let Some(exact) = thing.strip_prefix("the command ") {
        return exact.to_owned();
    }
    if let Some(pattern) = thing.strip_prefix("commands matching ") {
        return pattern.to_owned();
    }
    format!("{} *", thing.strip_suffix(" commands").expect("a prefix"))
}

fn skill(thing: &str) -> String {
    match thing.strip_prefix("the skill ") {
        Some(exact) => exact
            .strip_suffix(", with any arguments")
            .unwrap_or(exact)
            .to_owned(),
        None => thing.strip_suffix(" skills").expect("a prefix").to_owned(),
    }
}

fn session_only(local: bool, promise: Promise) -> Promise {
    assert!(!local, "only for the session: {promise:?}");
    promise
}

/// Splits wherever a separator is followed by the beginning of a part.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let separator = [", and ", " and ", ", "].into_iter().find(|separator| {
            rest.strip_prefix(separator)
                .is_some_and(|next| BEGINNINGS.iter().any(|beginning| next.starts_with(beginning)))
        });
        match separator {
            Some(separator) => {
                parts.push(String::new());
                rest = rest.split_at(separator.len()).1;
            }
            None => {
                parts.last_mut().unwrap().push(c);
                rest = rest.split_at(c.len_utf8()).1;
            }
        }
    }
    parts
}

fn joined(parts: &[String]) -> String {
    match parts {
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [head @ .., last] => format!("{}, and {last}", head.join(", ")),
        [] => String::new(),
    }
}
