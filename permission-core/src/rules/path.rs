//! Rules about paths: `Read(p)` for all tools that read, `Edit(p)` for all that edit, and both for shell commands.
//!
//! Place in the flow: `decide` compares them with the file of a call and with the files that a command opens. The
//! grammar of paths is `crate::paths`.

use super::reach::Reach;
use crate::paths::{Places, RulePath, Subject};
use crate::shell::{Access, FileUse, Piece, Word};
use crate::wildcard::Glyph;

/// The content of a rule about paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPattern(Option<RulePath>);

impl PathPattern {
    pub(super) fn read(content: &str) -> Option<Self> {
        RulePath::parse(content).map(|path| Self(Some(path)))
    }

    /// Every path.
    pub(super) fn anything() -> Self {
        Self(None)
    }

    /// Whether it certainly covers the file.
    pub(super) fn covers(&self, subject: &Subject, places: &Places<'_>) -> bool {
        self.0.as_ref().is_none_or(|path| path.covers(subject, places))
    }

    /// Whether it may cover the file.
    pub(super) fn may_cover(&self, subject: &Subject, places: &Places<'_>) -> bool {
        self.0.as_ref().is_none_or(|path| path.may_cover(subject, places))
    }

    /// Whether it may cover a file that a command opens, or something below it where that is opened, too.
    pub(super) fn reach(&self, file: &FileUse, places: &Places<'_>) -> Reach {
        let Some(path) = &self.0 else {
            return Reach::Named;
        };
        let literal = file.path.literal().map(|text| places.subject(text));
        let ways = absolute(&file.path, places);
        let named = match &literal {
            Some(subject) => path.may_cover(subject, places) || self.covers_quoted_home(file, places),
            None => ways.iter().any(|way| path.may_meet(way, places)),
        };
        if named {
            return self.certainty(file, &ways, places);
        }
        if !file.access.is_tree() {
            return Reach::No;
        }
        let below = ways.iter().map(|way| lies_below(path, way, file.access, places));
        below.max().unwrap_or(Reach::No)
    }

    /// A `~` in quotes is a name.
    fn covers_quoted_home(&self, file: &FileUse, places: &Places<'_>) -> bool {
        let quoted = file
            .path
            .literal()
            .filter(|text| text.starts_with('~') && !file.path.home);
        let covers = |text: &str| {
            let subject = places.subject(&format!("./{text}"));
            self.0
                .as_ref()
                .is_some_and(|path| path.may_cover(&subject, places))
        };
        quoted.is_some_and(covers)
    }

    /// How certain it is that a word stands for what is covered, if it may.
    fn certainty(&self, file: &FileUse, ways: &[Vec<Glyph>], places: &Places<'_>) -> Reach {
        let Some(path) = self.0.as_ref().filter(|_| file.path.literal().is_none()) else {
            return Reach::Named;
        };
        // `*` stands for no name that begins with a dot, unless the shell has been told otherwise.
        let passed_over = path.is_hidden() && file.path.ends_in_any_name();
        // What is known of the word decides, not what it may hold; where it starts unknown, the working directory stands in.
        let start = (ways.iter().any(|way| way.first() == Some(&Glyph::Run)))
            .then(|| places.cwd.chars().chain(['/']).map(Glyph::Char));
        let known = ways.iter().any(|way| {
            let way = way.iter().map(|glyph| match glyph {
                Glyph::Run => Glyph::Char(UNKNOWN),
                glyph => *glyph,
            });
            let known: Vec<Glyph> = start.clone().into_iter().flatten().chain(way).collect();
            path.may_meet(&known, places)
        });
        let directory = file
            .path
            .beginning()
            .rsplit_once('/')
            .map(|(directory, _)| directory);
        let inside = directory
            .is_some_and(|directory| path.may_cover(&places.subject(&format!("{directory}/x")), places));
        match (inside || known, passed_over) {
            (_, true) if !inside => Reach::WithDots,
            (true, _) => Reach::Named,
            (false, _) => Reach::Perhaps,
        }
    }
}

/// A character that stands in no path.
const UNKNOWN: char = '\0';

/// Whether what is covered lies below a directory that is taken as a whole.
fn lies_below(path: &RulePath, directory: &[Glyph], access: Access, places: &Places<'_>) -> Reach {
    if access.writes() {
        let below = path.may_lie_below(directory, places);
        return if below { Reach::Below } else { Reach::No };
    }
    let mut all = directory.to_vec();
    if all.last() != Some(&Glyph::Char('/')) {
        all.push(Glyph::Char('/'));
    }
    all.push(Glyph::Run);
    match path.may_meet(&all, places) {
        // What stands in one place is read with the directory around it; what may stand anywhere need not be there.
        true if path.is_anchored() => Reach::Below,
        true => Reach::Perhaps,
        false => Reach::No,
    }
}

/// A path of which parts may not be known, as an absolute one, and as where its directory really is. Where `..` may lead
/// elsewhere only the end is kept.
fn absolute(word: &Word, places: &Places<'_>) -> Vec<Vec<Glyph>> {
    let glyphs = |path: &str| -> Vec<Glyph> { path.chars().map(Glyph::Char).collect() };
    if let Some(text) = word.literal() {
        let subject = places.subject(text);
        return subject.forms().map(glyphs).collect();
    }
    let unknown = word.pieces.iter().rposition(|piece| *piece == Piece::Anything);
    let climbs = word
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Text(text) if text.contains("..")));
    if let Some(at) = unknown.filter(|_| !climbs) {
        let tail = Word {
            pieces: word.pieces.iter().skip(at + 1).cloned().collect(),
            ..Word::default()
        };
        return vec![std::iter::once(Glyph::Run).chain(tail.path_glyphs()).collect()];
    }
    if climbs {
        return vec![vec![Glyph::Run]];
    }
    let beginning = word.beginning();
    let (directory, _) = beginning.rsplit_once('/').unwrap_or_default();
    let base = if beginning.starts_with('/') && directory.is_empty() {
        places.subject("/")
    } else {
        places.subject(directory)
    };
    let rest = beginning
        .get(directory.len()..)
        .unwrap_or_default()
        .trim_start_matches('/');
    let first_is_text = matches!(word.pieces.first(), Some(Piece::Text(_)));
    let tail = Word {
        pieces: word
            .pieces
            .iter()
            .skip(usize::from(first_is_text))
            .cloned()
            .collect(),
        ..Word::default()
    };
    let way = |base: &str| {
        let separator = if base.ends_with('/') { "" } else { "/" };
        let head = glyphs(&format!("{base}{separator}{rest}"));
        head.into_iter().chain(tail.path_glyphs()).collect()
    };
    base.forms().map(way).collect()
}
