//! Reads one word (or the body of a here-document) character by character: quotes, expansions, substitutions.
//!
//! Place in the flow: `walk` hands it the grammar's tokens. Linear but for the ends of `$(…)`, which the grammar must
//! confirm. Must not miss a substitution: where it loses track it says so, and all the rest may be anything.

use std::str::Chars;

use super::cut::Cut;
use super::word::{Piece, Word};
use super::{Doubt, ansi, grammar};

/// What a word holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanned {
    pub(super) word: Word,
    /// Texts of substitutions, with marks.
    pub(super) inner: Vec<String>,
    pub(super) doubts: Vec<Doubt>,
    /// The marks that were met where single quotes are.
    pub(super) marks: Vec<usize>,
    /// The word could not be followed to its end.
    pub(super) lost: bool,
}

/// Reads words, all with one budget for questions to the grammar.
pub(super) struct Scanner<'a> {
    cut: &'a Cut,
    budget: &'a mut usize,
    found: Scanned,
    /// Behind something that is not understood: only substitutions are looked for.
    opaque: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(cut: &'a Cut, budget: &'a mut usize) -> Self {
        Self {
            cut,
            budget,
            found: Scanned::default(),
            opaque: false,
        }
    }

    /// A word as the grammar has it.
    pub(super) fn word(mut self, raw: &str) -> Scanned {
        let mut chars = raw.chars();
        self.beginning(&mut chars);
        while let Some(c) = chars.next() {
            self.unquoted(c, &mut chars);
        }
        self.found.word.raw = self.cut.restored(raw);
        self.found
    }

    /// The body of a here-document whose end is not quoted.
    pub(super) fn here_document(mut self, body: &str) -> Scanned {
        let mut chars = body.chars();
        while let Some(c) = chars.next() {
            self.inside_double(c, &mut chars);
        }
        self.found.word.raw = body.to_owned();
        self.found
    }

    /// `~`, and `=name`, which is a path in zsh.
    fn beginning(&mut self, chars: &mut Chars<'_>) {
        let rest = chars.as_str();
        if let Some(after) = rest.strip_prefix('~') {
            chars.next();
            if after.is_empty() || after.starts_with('/') {
                self.found.word.home = true;
                self.text('~');
            } else {
                self.anything();
            }
        } else if rest.len() > 1 && rest.starts_with('=') && !rest.starts_with("==") {
            self.doubt(Doubt::Expansion);
            self.anything();
        }
    }

    fn unquoted(&mut self, c: char, chars: &mut Chars<'_>) {
        match c {
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(escaped) => self.text(escaped),
                None => self.text('\\'),
            },
            '\'' if self.opaque => {}
            '\'' => self.single(chars),
            '"' => self.double(chars),
            '$' => self.dollar(chars, false),
            '`' => self.backquote(chars, false),
            '*' | '?' => self.piece(Piece::FileNames),
            '[' if chars.as_str().contains(']') => self.piece(Piece::FileNames),
            '{' if chars.as_str().contains('}') && chars.as_str().contains([',', '.']) => self.opaque(),
            c => self.text(c),
        }
    }

    fn single(&mut self, chars: &mut Chars<'_>) {
        let Some((inner, _)) = chars.as_str().split_once('\'') else {
            return self.lose();
        };
        match self.cut.mark(inner) {
            Some(number) => {
                self.found.marks.push(number);
                let part = self.cut.part(number).to_owned();
                self.text_str(&part);
            }
            None => self.text_str(inner),
        }
        chars.nth(inner.chars().count());
    }

    fn double(&mut self, chars: &mut Chars<'_>) {
        self.text_str("");
        while let Some(c) = chars.next() {
            if c == '"' {
                return;
            }
            self.inside_double(c, chars);
        }
        self.lose();
    }

    fn inside_double(&mut self, c: char, chars: &mut Chars<'_>) {
        match c {
            '\\' => match chars.as_str().chars().next() {
                Some('\n') => {
                    chars.next();
                }
                Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                    chars.next();
                    self.text(escaped);
                }
                Some(_) | None => self.text('\\'),
            },
            '$' => self.dollar(chars, true),
            '`' => self.backquote(chars, true),
            c => self.text(c),
        }
    }

    fn dollar(&mut self, chars: &mut Chars<'_>, quoted: bool) {
        let rest = chars.as_str();
        let name = rest.chars().take_while(|c| is_name(*c)).count();
        match rest.chars().next() {
            Some('(') => self.substitution(chars),
            Some('{') => self.braces(chars),
            Some('[') => {
                self.doubt(Doubt::Arithmetic);
                self.opaque();
            }
            Some('\'') if !quoted && !self.opaque => self.ansi(chars),
            // Localized text: what it becomes is up to a catalogue.
            Some('"') if !quoted => self.anything(),
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                chars.next();
                self.anything();
            }
            Some(_) if name > 0 => {
                chars.nth(name - 1);
                self.anything();
            }
            Some(_) | None => self.text('$'),
        }
    }

    /// `$(…)`: as far as the grammar takes it as a program. The longest reading is right: a parenthesis that the
    /// grammar does not stumble over is quoted or paired.
    fn substitution(&mut self, chars: &mut Chars<'_>) {
        self.doubt(Doubt::Substitution);
        self.anything();
        chars.next();
        let rest = chars.as_str();
        let mut end = rest;
        while let Some((inner, _)) = end.rsplit_once(')') {
            if *self.budget == 0 {
                break;
            }
            *self.budget -= 1;
            if grammar::read(inner).is_ok() {
                self.found.inner.push(inner.to_owned());
                chars.nth(inner.chars().count());
                return;
            }
            end = inner;
        }
        self.lose();
    }

    fn backquote(&mut self, chars: &mut Chars<'_>, quoted: bool) {
        self.doubt(Doubt::Substitution);
        self.anything();
        let mut inner = String::new();
        while let Some(c) = chars.next() {
            match c {
                '`' => return self.found.inner.push(inner),
                '\\' => match chars.next() {
                    Some(escaped @ ('`' | '\\' | '$')) => inner.push(escaped),
                    Some('"') if quoted => inner.push('"'),
                    Some(other) => inner.extend(['\\', other]),
                    None => inner.push('\\'),
                },
                c => inner.push(c),
            }
        }
        self.found.inner.push(inner);
        self.lose();
    }

    /// `${…}`: a plain name, or something that is only searched.
    fn braces(&mut self, chars: &mut Chars<'_>) {
        let inner = chars.as_str().get(1..).unwrap_or_default();
        let name = inner.split('}').next().unwrap_or_default();
        let plain = !name.is_empty() && name.chars().all(is_name);
        if plain && name.len() < inner.len() {
            chars.nth(name.len() + 1);
            return self.anything();
        }
        self.doubt(Doubt::Expansion);
        self.opaque();
    }

    fn ansi(&mut self, chars: &mut Chars<'_>) {
        chars.next();
        match ansi::decode(chars) {
            Some(text) => self.text_str(&text),
            None => self.lose(),
        }
    }

    fn text(&mut self, c: char) {
        if !self.opaque {
            self.found.word.push(c);
        }
    }

    fn text_str(&mut self, text: &str) {
        if !self.opaque {
            self.found.word.push_str(text);
        }
    }

    fn piece(&mut self, piece: Piece) {
        if !self.opaque {
            self.found.word.push_piece(piece);
        }
    }

    fn anything(&mut self) {
        self.piece(Piece::Anything);
    }

    fn opaque(&mut self) {
        self.anything();
        self.opaque = true;
    }

    fn doubt(&mut self, doubt: Doubt) {
        self.found.doubts.push(doubt);
    }

    fn lose(&mut self) {
        self.doubt(Doubt::Unparsable);
        self.opaque();
        self.found.lost = true;
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
