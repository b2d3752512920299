//! Paths as text: making them absolute, and asking the host where symbolic links lead.
//!
//! Place in the flow: labels print rule paths, and the file options ask whether a suggested rule covers the file at
//! hand (`rule`). Must not touch the file system: [`PathResolver`] is the only way out.

mod rule;

pub(crate) use rule::RulePath;

/// Finds the symlink-free form of a path.
pub trait PathResolver {
    /// The absolute `path` without symbolic links. Where the end of it does not exist, the longest existing part
    /// is resolved. `None` where that cannot be told: then nothing counts as covered.
    fn resolve(&self, path: &str) -> Option<String>;
}

/// A world without symbolic links.
#[derive(Clone, Copy, Debug, Default)]
pub struct LexicalPaths;

impl PathResolver for LexicalPaths {
    fn resolve(&self, path: &str) -> Option<String> {
        Some(path.to_owned())
    }
}

/// The directories that paths start from.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) cwd: &'a str,
    /// Where relative paths start.
    current: &'a str,
    pub(crate) project_root: &'a str,
    pub(crate) home: Option<&'a str>,
    resolver: &'a dyn PathResolver,
}

/// A file or directory that a tool is about to use: as given, and where it really is.
pub(crate) struct Subject {
    given: String,
    resolved: Option<String>,
}

impl Subject {
    /// Absolute, as given.
    pub(crate) fn given(&self) -> &str {
        &self.given
    }

    /// The path as given, and where it really is if that is another one.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        let resolved = self
            .resolved
            .as_deref()
            .filter(|resolved| *resolved != self.given);
        std::iter::once(self.given.as_str()).chain(resolved)
    }

    /// Whether it is known where it really is.
    pub(crate) fn is_known(&self) -> bool {
        self.resolved.is_some()
    }

    /// Whether there is but one name for it.
    pub(super) fn is_plain(&self) -> bool {
        self.resolved.as_deref() == Some(&*self.given)
    }

    /// Whether it is known to be what its name says, as far as its last step goes.
    pub(crate) fn is_no_link(&self) -> bool {
        let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
        self.resolved
            .as_deref()
            .is_some_and(|resolved| last(resolved) == last(&self.given))
    }
}

impl<'a> Places<'a> {
    pub(crate) fn new(
        cwd: &'a str,
        project_root: &'a str,
        home: Option<&'a str>,
        resolver: &'a dyn PathResolver,
    ) -> Self {
        Self {
            cwd,
            current: cwd,
            project_root,
            home,
            resolver,
        }
    }

    pub(crate) fn starting_at(self, current: &'a str) -> Self {
        Self { current, ..self }
    }

    /// A path of a tool's input, as both of its forms.
    pub(crate) fn subject(&self, path: &str) -> Subject {
        let given = match (path.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => normalized(&format!("{home}/{rest}")),
            _ if path.starts_with('/') => normalized(path),
            _ => normalized(&format!("{}/{path}", self.current)),
        };
        Subject {
            resolved: self.resolve(&given),
            given,
        }
    }

    fn is_plain(&self, path: &str) -> bool {
        self.resolve(path).as_deref() == Some(path)
    }

    /// Whether the directory holds the subject, through symbolic links too.
    pub(crate) fn directory_covers(&self, directory: &str, subject: &Subject) -> bool {
        self.covers(directory, subject, |base, path| below(base, path).is_some())
    }

    /// Whether the subject is, or may be, among Claude's own settings.
    pub(crate) fn is_claude_settings(&self, subject: &Subject) -> bool {
        let Some(resolved) = &subject.resolved else {
            return true;
        };
        [Some(self.cwd), self.home].into_iter().flatten().any(|root| {
            let settings = normalized(&format!("{root}/.claude"));
            let really = self.resolve(&settings);
            [Some(settings), really]
                .into_iter()
                .flatten()
                .any(|base| in_settings(&base, &subject.given) || in_settings(&base, resolved))
        })
    }

    /// Asks `holds` for both forms of the subject; the resolved one may lie below either form of the base.
    fn covers(&self, base: &str, subject: &Subject, holds: impl Fn(&str, &str) -> bool) -> bool {
        let Some(resolved) = &subject.resolved else {
            return false;
        };
        holds(base, &subject.given)
            && (holds(base, resolved) || self.resolve(base).is_some_and(|really| holds(&really, resolved)))
    }

    /// Asks `holds` for any form of the subject below any form of the base: what may be is enough.
    fn may_cover(&self, base: &str, subject: &Subject, holds: impl Fn(&str, &str) -> bool) -> bool {
        let Some(resolved) = &subject.resolved else {
            return true;
        };
        let really = self.resolve(base);
        [Some(base), really.as_deref()]
            .into_iter()
            .flatten()
            .any(|base| holds(base, &subject.given) || holds(base, resolved))
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.resolver.resolve(path).map(|resolved| normalized(&resolved))
    }
}

/// An absolute path without `.`, `..`, doubled or trailing slashes.
pub fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The rest of `path` below `base`, empty for `base` itself. Both are normalized.
fn below<'p>(base: &str, path: &'p str) -> Option<&'p str> {
    let rest = path.strip_prefix(base.trim_end_matches('/'))?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Like `below`, in any case: some file systems do not tell `.Claude` from `.claude`.
fn in_settings(base: &str, path: &str) -> bool {
    below(&base.to_lowercase(), &path.to_lowercase()).is_some()
}

#[cfg(test)]
mod tests;
