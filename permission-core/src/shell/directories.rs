//! Where relative paths start: what commands change to before or while they run.
//!
//! Place in the flow: `runs` tells of every command and asks where its files are. Must keep every directory that a path
//! may start from.

use super::arguments::{self, Role};
use super::word::{Piece, Word};
use super::{Doubt, FileUse, Unanalysable};

/// The directories that relative paths may start from.
#[derive(Clone, Debug, Default)]
pub(super) struct Directories {
    changed: Vec<Word>,
    git: bool,
}

/// More changes than this are not followed.
const MAX_CHANGES: usize = 4;

impl Directories {
    /// Goes where an option of the command says; `leave` takes what this gives.
    pub(super) fn enter(&mut self, words: &[Word]) -> Option<Vec<Word>> {
        let (name, arguments) = words.split_first()?;
        let goes: Vec<Word> = arguments::read(name.base_name().text(), arguments)
            .into_iter()
            .filter(|argument| argument.role == Role::Goes)
            .map(|argument| argument.word)
            .collect();
        if goes.is_empty() {
            return None;
        }
        let before = self.changed.clone();
        goes.iter().for_each(|target| self.change(target));
        Some(before)
    }

    /// Back to where it was before the command.
    pub(super) fn leave(&mut self, before: Option<Vec<Word>>) {
        if let Some(before) = before {
            self.changed = before;
        }
    }

    fn change(&mut self, target: &Word) {
        let known = target.literal().is_some();
        let target = if known { target.clone() } else { Word::unknown("") };
        let within: Vec<Word> = self.changed.iter().map(|base| below(base, &target)).collect();
        self.changed.push(target);
        self.changed.extend(within);
        if self.changed.len() > MAX_CHANGES {
            self.changed = vec![Word::unknown("")];
        }
    }

    /// Takes notice of `cd` and its kin.
    pub(super) fn note(&mut self, words: &[Word]) {
        let mut words = words
            .iter()
            .filter(|word| !matches!(word.text(), "builtin" | "command"));
        match words.next().map(Word::text) {
            Some("cd" | "pushd" | "popd" | "chdir") => {
                let target = words.find(|word| !word.beginning().starts_with('-'));
                self.change(&target.cloned().unwrap_or_else(|| Word::unknown("")));
            }
            Some("git") => self.git = true,
            Some(_) | None => {}
        }
    }

    /// The use in every directory that it may be in.
    pub(super) fn locate(&self, file: &FileUse) -> Vec<FileUse> {
        let bases = self.changed.iter().map(|base| FileUse {
            path: below(base, &file.path),
            access: file.access,
        });
        std::iter::once(file.clone()).chain(bases).collect()
    }

    /// Git does what the configuration of the directory says that it is in.
    pub(super) fn check(&self, found: &mut Unanalysable) {
        if self.git && !self.changed.is_empty() {
            found.doubts.push(Doubt::ChangedDirectory);
        }
    }
}

pub(super) fn below(base: &Word, path: &Word) -> Word {
    if path.home || path.beginning().starts_with('/') {
        return path.clone();
    }
    let mut pieces = base.pieces.clone();
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push('/'),
        Some(Piece::FileNames | Piece::Anything) | None => pieces.push(Piece::Text("/".to_owned())),
    }
    let mut joined = Word {
        pieces,
        ..base.clone()
    };
    for piece in &path.pieces {
        match piece {
            Piece::Text(text) => joined.push_str(text),
            Piece::FileNames | Piece::Anything => joined.push_piece(piece.clone()),
        }
    }
    joined
}
