//! Rules about paths: `Read(p)` for all tools that read, `Edit(p)` for all that edit, and both for shell commands.
//!
//! Place in the flow: `decide` compares them with the file of a call and with the files that a command opens. The
//! grammar of paths is `crate::paths`.

use super::decide::Reach;
use crate::{
    paths::{Places, RulePath, Subject, normalized},
    shell::{FileUse, Piece, Word},
    wildcard::Glyph,
};

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
        let mut glyphs = absolute(&file.path, places);
        let literal = file.path.literal().map(|text| places.subject(text));
        let named = match &literal {
            Some(subject) => {
                path.may_cover(subject, places) || {
                    // A `~` in quotes is a name.
                    let quoted = file
                        .path
                        .literal()
                        .filter(|text| text.starts_with('~') && !file.path.home);
                    quoted.is_some_and(|text| path.may_cover(&places.subject(&format!("./{text}")), places))
                }
            }
            None => path.may_meet(&glyphs, places),
        };
        if named {
            // `*` stands for no name that begins with a dot, unless the shell has been told otherwise.
            let passed_over = path.is_hidden() && file.path.ends_in_any_name();
            return if passed_over { Reach::Perhaps } else { Reach::Named };
        }
        if !file.access.is_tree() {
            return Reach::No;
        }
        if file.access.writes() {
            let below = path.may_lie_below(&glyphs, places);
            return if below { Reach::Named } else { Reach::No };
        }
        if glyphs.last() != Some(&Glyph::Char('/')) {
            glyphs.push(Glyph::Char('/'));
        }
        glyphs.push(Glyph::Run);
        match path.may_meet(&glyphs, places) {
            // What stands in one place is read with the directory around it; what may stand anywhere need not be there.
            true if path.is_anchored() => Reach::Named,
            true => Reach::Perhaps,
            false => Reach::No,
        }
    }
}

/// A path of which parts may not be known, as an absolute one. Where `..` may lead elsewhere only the end is kept.
fn absolute(word: &Word, places: &Places<'_>) -> Vec<Glyph> {
    if let Some(text) = word.literal() {
        return places.subject(text).given().chars().map(Glyph::Char).collect();
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
        return std::iter::once(Glyph::Run).chain(tail.path_glyphs()).collect();
    }
    if climbs {
        return vec![Glyph::Run];
    }
    let beginning = word.beginning();
    let (directory, _) = beginning.rsplit_once('/').unwrap_or_default();
    let base = if beginning.starts_with('/') {
        normalized(directory)
    } else {
        places.subject(directory).given().to_owned()
    };
    let rest = beginning
        .get(directory.len()..)
        .unwrap_or_default()
        .trim_start_matches('/');
    let separator = if base.ends_with('/') { "" } else { "/" };
    let head: Vec<Glyph> = format!("{base}{separator}{rest}")
        .chars()
        .map(Glyph::Char)
        .collect();
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
    head.into_iter().chain(tail.path_glyphs()).collect()
}
