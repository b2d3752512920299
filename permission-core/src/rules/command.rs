//! Rules about shell commands: `npm run build`, `git *`, `npm test:*`, `* --version`.
//!
//! Place in the flow: `decide` compares them with each command of an analysed text. An allow compares the command as it
//! was written; a limit compares every reading of it.

use crate::shell::{Invocation, Word, is_harmless};
use crate::wildcard::{Glyph, fits, may_meet, stars};

/// The content of a rule about commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandPattern {
    text: String,
    glyphs: Vec<Glyph>,
    /// The pattern without a ` *` at its end, which stands for any arguments, also none.
    base: Option<Vec<Glyph>>,
    /// The same for commands whose blanks are made single and whose quotes are taken away.
    plain: Vec<Glyph>,
    plain_base: Option<Vec<Glyph>>,
}

/// So many options and their values may stand before a subcommand.
const MAX_OPTIONS: usize = 12;

/// Longer commands are compared in part; the rest may be anything.
const MAX_WORDS: usize = 64;

impl CommandPattern {
    pub(super) fn read(content: &str) -> Self {
        let text = match content.strip_suffix(":*") {
            Some(base) => format!("{base} *"),
            None => content.to_owned(),
        };
        let plain = collapsed(&text).replace(['\'', '"', '\\'], "");
        let base = |text: &str| text.strip_suffix(" *").map(stars);
        Self {
            glyphs: stars(&text),
            base: base(&text),
            plain: stars(&plain),
            plain_base: base(&plain),
            text,
        }
    }

    /// Whether the command is allowed as it stands.
    pub(super) fn allows(&self, invocation: &Invocation) -> bool {
        let harmless = invocation
            .assignments
            .iter()
            .all(|assignment| is_harmless(&assignment.name));
        let written = invocation.written();
        let whole =
            fits(&self.glyphs, &written) || self.base.as_ref().is_some_and(|base| fits(base, &written));
        harmless && !written.is_empty() && whole && self.spells(invocation, &written)
    }

    /// Whether the rule spells out what decides what else the command runs.
    fn spells(&self, invocation: &Invocation, written: &str) -> bool {
        let literal = self.text.split('*').next().unwrap_or_default();
        invocation.spelled == 0 || self.text == written || literal.starts_with(&invocation.must_spell())
    }

    /// Whether some reading of the words may be meant.
    pub(super) fn may_mean(&self, words: &[Word]) -> bool {
        let Some(first) = words.first() else {
            return false;
        };
        let base_name = first.base_name();
        // In quotes, whatever stands before the last slash, this is the command's name.
        let named = first.literal().is_none()
            && is_quoted(first)
            && base_name.literal().is_some_and(|name| !self.ends_in(name));
        if !named && self.may_be_with_options(words) {
            return true;
        }
        base_name != *first && {
            let mut renamed: Vec<Word> = words.iter().take(MAX_WORDS + 1).cloned().collect();
            if let Some(first) = renamed.first_mut() {
                *first = base_name;
            }
            self.may_be_with_options(&renamed)
        }
    }

    /// Whether the command that the rule names may be one of this name, in whatever directory.
    fn ends_in(&self, name: &str) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default();
        first.contains('*') || first.rsplit('/').next() == Some(name)
    }

    /// The same with options between a command and its subcommand, as in `git -C . push`.
    fn may_be_with_options(&self, words: &[Word]) -> bool {
        if self.may_be(words) {
            return true;
        }
        let is_option = |word: &Word| word.beginning().starts_with('-');
        let names_more = self
            .text
            .split_whitespace()
            .nth(1)
            .is_some_and(|next| !next.starts_with(['*', '-']));
        let Some((first, rest)) = words
            .split_first()
            .filter(|(_, rest)| rest.first().is_some_and(is_option))
        else {
            return false;
        };
        let options = rest.iter().take(MAX_OPTIONS).enumerate();
        names_more
            && options
                .take_while(|(at, word)| {
                    is_option(word) || rest.get(at.wrapping_sub(1)).is_some_and(is_option)
                })
                .any(|(at, _)| {
                    let left = rest.iter().skip(at + 1).take(MAX_WORDS);
                    let left: Vec<Word> = std::iter::once(first).chain(left).cloned().collect();
                    self.may_be(&left)
                })
    }

    /// Whether a text as a whole may be meant.
    pub(super) fn may_mean_text(&self, text: &str) -> bool {
        let text = collapsed(text);
        let plain: String = text.replace(['\'', '"', '\\'], "");
        let raw = fits(&self.glyphs, &text) || self.base.as_ref().is_some_and(|base| fits(base, &text));
        raw || fits(&self.plain, &plain) || self.plain_base.as_ref().is_some_and(|base| fits(base, &plain))
    }

    /// Whether the text is what the pattern says, but for blanks.
    pub(super) fn is_written(&self, text: &str) -> bool {
        let (text, pattern) = (collapsed(text), collapsed(&self.text));
        fits(&stars(&pattern), &text)
            || pattern
                .strip_suffix(" *")
                .is_some_and(|base| fits(&stars(base), &text))
    }

    fn may_be(&self, words: &[Word]) -> bool {
        let first = words.first().and_then(|word| word.glyphs().next());
        if let (Some(Glyph::Char(expected)), Some(Glyph::Char(found))) = (self.plain.first(), first)
            && *expected != found
        {
            return false;
        }
        let glyphs = joined(words);
        may_meet(&self.plain, &glyphs)
            || self
                .plain_base
                .as_ref()
                .is_some_and(|base| may_meet(base, &glyphs))
    }
}

/// The words as one text of which parts may not be known. Blanks and quotes inside a word do not count.
fn joined(words: &[Word]) -> Vec<Glyph> {
    let mut glyphs = Vec::new();
    for word in words.iter().take(MAX_WORDS) {
        if !glyphs.is_empty() {
            glyphs.push(Glyph::Char(' '));
        }
        let plain = |glyph: &Glyph| !matches!(glyph, Glyph::Char('\'' | '"' | '\\'));
        glyphs.extend(word.glyphs().filter(plain).map(|glyph| match glyph {
            Glyph::Char(c) if c.is_whitespace() => Glyph::Char(' '),
            glyph => glyph,
        }));
    }
    if words.len() > MAX_WORDS {
        glyphs.push(Glyph::Run);
    }
    glyphs
}

/// Whether all of it stands in double quotes, so that it is one word whatever it holds.
fn is_quoted(word: &Word) -> bool {
    let inner = word.raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
    // These stand for several words even there.
    inner.is_some_and(|inner| !inner.contains(['"', '@']))
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
