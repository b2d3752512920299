//! The path grammar of rules: `//x` is absolute, `~/x` the home, `/x` the project, `x` and `./x` (which
//! is the same) the working directory; the rest is a gitignore pattern.
//!
//! Place in the flow: a `Read` or `Edit` rule is read once; its label prints it with the root made plain, and the
//! file options ask whether it covers a file. Must not accept what it cannot print unmistakably.

use ignore::gitignore::GitignoreBuilder;

use super::{Places, Subject, below, normalized};
use crate::wildcard::{Glyph, may_meet};

/// The content of a path rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RulePath {
    root: Root,
    pattern: String,
    /// Whether the pattern starts at the root; otherwise it matches at any depth below.
    anchored: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    FileSystem,
    Home,
    Project,
    Cwd,
}

const GLOB: [char; 4] = ['*', '?', '[', ']'];

impl RulePath {
    /// Reads a rule's content. `*` alone is no path: Claude takes it as the whole tool.
    pub(crate) fn parse(content: &str) -> Option<Self> {
        let (root, marked, pattern) = split_root(content);
        let pattern = pattern.strip_prefix("./").filter(|_| !marked).unwrap_or(pattern);
        let ambiguous = !marked && pattern.starts_with(['!', '#', '~']);
        if content == "*" || ambiguous || !is_plain_pattern(pattern) {
            return None;
        }
        let inner_slash = pattern.trim_end_matches('/').contains('/');
        Some(Self {
            root,
            pattern: pattern.to_owned(),
            anchored: marked || inner_slash || pattern == "**",
        })
    }

    /// The path for people. `None` where the text would read back as something else.
    pub(crate) fn shown(&self, places: &Places<'_>) -> Option<String> {
        match self.root {
            Root::FileSystem => Some(format!("/{}", self.pattern)),
            Root::Home => Some(format!("~/{}", self.pattern)),
            Root::Project | Root::Cwd => self.shown_in_project(places),
        }
    }

    /// Whether it is about one place, not about a name at any depth.
    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// Whether the last name of the path begins with a dot.
    pub(crate) fn is_hidden(&self) -> bool {
        let last = self.pattern.trim_end_matches('/').rsplit('/').next();
        last.is_some_and(|last| last.starts_with('.'))
    }

    /// Whether some part of the path is Claude's settings directory.
    pub(crate) fn names_claude_settings(&self) -> bool {
        self.pattern
            .split('/')
            .any(|part| part.eq_ignore_ascii_case(".claude"))
    }

    /// Whether the rule covers the subject, through symbolic links too.
    pub(crate) fn covers(&self, subject: &Subject, places: &Places<'_>) -> bool {
        let Some(root) = self.root_directory(places) else {
            return false;
        };
        let (fixed, glob) = if self.anchored {
            split_fixed(&self.pattern)
        } else {
            ("", &*self.pattern)
        };
        let base = normalized(&format!("{root}/{fixed}"));
        places.covers(&base, subject, |base, path| {
            below(base, path).is_some_and(|rest| glob_covers(glob, self.anchored, rest))
        })
    }

    /// Whether the rule may cover the subject, by its name or by what it links to. As with Claude, `F` may be `f`.
    pub(crate) fn may_cover(&self, subject: &Subject, places: &Places<'_>) -> bool {
        let Some(root) = self.root_directory(places) else {
            return true;
        };
        let (fixed, glob) = if self.anchored {
            split_fixed(&self.pattern)
        } else {
            ("", &*self.pattern)
        };
        let base = normalized(&format!("{root}/{fixed}"));
        // Mostly nothing is a link, and a comparison of texts is enough to say no.
        if subject.is_plain() && places.is_plain(&base) {
            let given: Vec<Glyph> = subject.given().chars().map(Glyph::Char).collect();
            if !self.may_meet(&given, places) {
                return false;
            }
        }
        let glob = glob.to_lowercase();
        places.may_cover(&base, subject, |base, path| {
            let (base, path) = (base.to_lowercase(), path.to_lowercase());
            below(&base, &path).is_some_and(|rest| glob_covers(&glob, self.anchored, rest))
        })
    }

    /// Whether a change of a whole directory may change what the rule covers. A pattern for any depth only counts where
    /// the directory holds all that it is about: hardly a directory could be removed otherwise.
    pub(crate) fn may_lie_below(&self, directory: &[Glyph], places: &Places<'_>) -> bool {
        let mut below = directory.to_vec();
        if below.last() != Some(&Glyph::Char('/')) {
            below.push(Glyph::Char('/'));
        }
        below.push(Glyph::Run);
        if self.anchored {
            return self.may_meet(&below, places);
        }
        let Some(root) = self.root_directory(places) else {
            return true;
        };
        let root: Vec<Glyph> = normalized(root).chars().map(Glyph::Char).collect();
        let root = in_one_case(&root);
        may_meet(&root, &in_one_case(directory)) || may_meet(&root, &in_one_case(&below))
    }

    /// Whether the rule may cover an absolute path of which only parts are known.
    pub(crate) fn may_meet(&self, path: &[Glyph], places: &Places<'_>) -> bool {
        let mut pattern: Vec<Glyph> = match self.root_directory(places) {
            Some(root) => normalized(root)
                .trim_end_matches('/')
                .chars()
                .map(Glyph::Char)
                .collect(),
            None => vec![Glyph::Run],
        };
        pattern.push(Glyph::Char('/'));
        if !self.anchored {
            pattern.push(Glyph::Run);
        }
        let directory = self.pattern.trim_end_matches('/');
        let directory = directory.strip_suffix("/**").unwrap_or(directory);
        pattern.extend(glyphs(directory));
        let (mut pattern, path) = (in_one_case(&pattern), in_one_case(path));
        let whole = may_meet(&pattern, &path);
        pattern.extend([Glyph::Char('/'), Glyph::Run]);
        whole || may_meet(&pattern, &path)
    }

    /// Relative where that reads back as the same rule, absolute otherwise.
    fn shown_in_project(&self, places: &Places<'_>) -> Option<String> {
        let one_root = normalized(places.cwd) == normalized(places.project_root);
        let anchored_as_text = self.pattern.trim_end_matches('/').contains('/');
        let says_nothing = self.pattern.chars().all(|c| matches!(c, '*' | '/'));
        let ambiguous = self.pattern.starts_with(['!', '#', '~']);
        if one_root && anchored_as_text == self.anchored && !says_nothing && !ambiguous {
            return Some(self.pattern.clone());
        }
        let root = normalized(self.root_directory(places)?);
        let any_depth = if self.anchored { "" } else { "**/" };
        let separator = if root == "/" { "" } else { "/" };
        is_plain_root(&root).then(|| format!("{root}{separator}{any_depth}{}", self.pattern))
    }

    fn root_directory<'a>(&self, places: &Places<'a>) -> Option<&'a str> {
        match self.root {
            Root::FileSystem => Some("/"),
            Root::Home => places.home,
            Root::Project => Some(places.project_root),
            Root::Cwd => Some(places.cwd),
        }
    }
}

/// The root, whether a marker names it, and the pattern below it.
fn split_root(content: &str) -> (Root, bool, &str) {
    let markers = [("//", Root::FileSystem), ("~/", Root::Home), ("/", Root::Project)];
    markers
        .into_iter()
        .find_map(|(marker, root)| Some((root, true, content.strip_prefix(marker)?)))
        .unwrap_or((Root::Cwd, false, content))
}

/// No steps out of the root, and none of the characters on which gitignore readers disagree.
fn is_plain_pattern(pattern: &str) -> bool {
    let path = pattern.strip_suffix('/').unwrap_or(pattern);
    let steps_are_plain = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    steps_are_plain && !path.contains(['\\', '{', '}']) && brackets_are_closed(path)
}

/// A root that is printed in front of a pattern must not read like one.
fn is_plain_root(root: &str) -> bool {
    !root.contains(GLOB) && !root.contains(['\\', '{', '}'])
}

fn brackets_are_closed(pattern: &str) -> bool {
    let mut open = false;
    for c in pattern.chars() {
        match (c, open) {
            ('[', false) => open = true,
            (']', true) => open = false,
            ('[', true) | (']', false) | ('/', true) => return false,
            (_, _) => {}
        }
    }
    !open
}

/// Splits an anchored pattern before its first step with a glob character.
fn split_fixed(pattern: &str) -> (&str, &str) {
    let Some(glob) = pattern.find(GLOB) else {
        return (pattern, "");
    };
    let (head, _) = pattern.split_at(glob);
    match head.rfind('/') {
        Some(slash) => {
            let (fixed, rest) = pattern.split_at(slash);
            (fixed, rest.trim_start_matches('/'))
        }
        None => ("", pattern),
    }
}

/// The same in lower case.
fn in_one_case(glyphs: &[Glyph]) -> Vec<Glyph> {
    let lower = |glyph: &Glyph| -> Vec<Glyph> {
        match glyph {
            Glyph::Char(c) => c.to_lowercase().map(Glyph::Char).collect(),
            Glyph::One | Glyph::Name | Glyph::Run => vec![*glyph],
        }
    };
    glyphs.iter().flat_map(lower).collect()
}

/// The pattern for a comparison that rather finds too much: a set of characters is any one.
fn glyphs(pattern: &str) -> Vec<Glyph> {
    let mut glyphs = Vec::new();
    let mut set = false;
    for c in pattern.chars() {
        match c {
            ']' if set => set = false,
            _ if set => {}
            '[' => {
                set = true;
                glyphs.push(Glyph::One);
            }
            '?' => glyphs.push(Glyph::One),
            '*' if glyphs.last() == Some(&Glyph::Name) => {
                glyphs.pop();
                glyphs.push(Glyph::Run);
            }
            '*' => glyphs.push(Glyph::Name),
            // `a/**/b` is `a/b`, too.
            '/' if glyphs.last() == Some(&Glyph::Run) => {}
            c => glyphs.push(Glyph::Char(c)),
        }
    }
    glyphs
}

/// Whether the pattern covers `path`, both relative to the same directory. A directory counts as covered by the
/// pattern for all that is in it.
fn glob_covers(glob: &str, anchored: bool, path: &str) -> bool {
    if matches!(glob, "" | "**") {
        return true;
    }
    if path.is_empty() {
        return false;
    }
    let directory = glob.strip_suffix("/**").map(|directory| format!("/{directory}"));
    let lines = [
        Some(if anchored {
            format!("/{glob}")
        } else {
            glob.to_owned()
        }),
        directory,
    ];
    let mut builder = GitignoreBuilder::new("/");
    for line in lines.into_iter().flatten() {
        if builder.add_line(None, &line).is_err() {
            return false;
        }
    }
    builder
        .build()
        .is_ok_and(|matcher| matcher.matched_path_or_any_parents(path, false).is_ignore())
}
