//! One word of a shell text: what of it is literal, and what only the shell will know.
//!
//! Place in the flow: `scan` makes words from the grammar's tokens; rules and the tables of commands compare them.
//! Must not guess: whatever is not literal is a piece that may be anything.

use crate::wildcard::Glyph;

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Exactly this text, quotes removed.
    Text(String),
    /// The names of files: any text without a slash.
    FileNames,
    /// Any text, also none, also several words.
    Anything,
}

/// A word as written, and what it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// The blanks before it.
    pub(crate) gap: String,
    /// With its quotes.
    pub(crate) raw: String,
    pub(crate) pieces: Vec<Piece>,
    /// The word begins with a `~` that the shell replaces by the home directory.
    pub(crate) home: bool,
}

impl Word {
    /// A word that stands for itself.
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            gap: " ".to_owned(),
            raw: text.to_owned(),
            pieces: vec![Piece::Text(text.to_owned())],
            home: false,
        }
    }

    /// A word of which nothing is known.
    pub(crate) fn unknown(raw: &str) -> Self {
        Self {
            gap: " ".to_owned(),
            raw: raw.to_owned(),
            pieces: vec![Piece::Anything],
            home: false,
        }
    }

    /// The text, if all of it is literal.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The literal text, or nothing.
    pub(crate) fn text(&self) -> &str {
        self.literal().unwrap_or_default()
    }

    /// The literal text that the word begins with.
    pub(crate) fn beginning(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::FileNames | Piece::Anything) | None => "",
        }
    }

    /// Whether the word may turn into an option, or into several words.
    pub(crate) fn may_be_option(&self) -> bool {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text.starts_with('-'),
            Some(Piece::FileNames | Piece::Anything) => true,
            None => false,
        }
    }

    /// The word as part of a command that a pattern is compared with: file names may be many words.
    pub(crate) fn glyphs(&self) -> impl Iterator<Item = Glyph> + '_ {
        self.glyphs_with(Glyph::Run)
    }

    /// The word as a path that a pattern is compared with.
    pub(crate) fn path_glyphs(&self) -> impl Iterator<Item = Glyph> + '_ {
        self.glyphs_with(Glyph::Name)
    }

    fn glyphs_with(&self, names: Glyph) -> impl Iterator<Item = Glyph> + '_ {
        self.pieces.iter().flat_map(move |piece| {
            let (text, more) = match piece {
                Piece::Text(text) => (text.as_str(), None),
                Piece::FileNames => ("", Some(names)),
                Piece::Anything => ("", Some(Glyph::Run)),
            };
            text.chars().map(Glyph::Char).chain(more)
        })
    }

    /// The literal end of the word: the text after the last slash. What stands before it is only a place.
    pub(crate) fn base_name(&self) -> Self {
        let Some(at) = self.pieces.iter().rposition(|piece| match piece {
            Piece::Text(text) => text.contains('/'),
            Piece::FileNames | Piece::Anything => false,
        }) else {
            return self.clone();
        };
        let mut pieces: Vec<Piece> = self.pieces.iter().skip(at).cloned().collect();
        if let Some(Piece::Text(text)) = pieces.first_mut() {
            *text = text.rsplit('/').next().unwrap_or_default().to_owned();
        }
        Self {
            gap: self.gap.clone(),
            raw: self.raw.clone(),
            pieces,
            home: false,
        }
    }

    /// Whether the last name of the path begins with a pattern for file names.
    pub(crate) fn ends_in_any_name(&self) -> bool {
        let name = self.base_name();
        let mut pieces = name
            .pieces
            .iter()
            .skip_while(|piece| matches!(piece, Piece::Text(text) if text.is_empty()));
        pieces.next() == Some(&Piece::FileNames) && !name.pieces.contains(&Piece::Anything)
    }

    pub(super) fn push(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            Some(Piece::FileNames | Piece::Anything) | None => self.pieces.push(Piece::Text(c.to_string())),
        }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(c));
        if self.pieces.is_empty() {
            self.pieces.push(Piece::Text(String::new()));
        }
    }

    pub(super) fn push_piece(&mut self, piece: Piece) {
        if self.pieces.last() != Some(&piece) {
            self.pieces.push(piece);
        }
    }
}
