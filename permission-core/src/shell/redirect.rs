//! Redirections: the files that they open, and the texts that they feed to a command.
//!
//! Place in the flow: `walk` comes here for every command. Must not take what is fed to a command for a file.

use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoHereDocument, IoRedirect, RedirectList};

use super::scan::Scanner;
use super::walk::Walker;
use super::word::Word;
use super::{Access, Doubt, FileUse, feed, files};

impl Walker<'_> {
    /// The redirections of a compound command, and what they feed to all that it holds.
    pub(super) fn redirect_list(&mut self, redirects: Option<&RedirectList>) -> Vec<Word> {
        let mut input = Vec::new();
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut input);
        }
        input
    }

    pub(super) fn redirect(&mut self, redirect: &IoRedirect, input: &mut Vec<Word>) {
        match redirect {
            IoRedirect::File(_, kind, target) => self.file_redirect(kind, target, input),
            IoRedirect::HereDocument(_, document) => input.push(self.here_document(document)),
            IoRedirect::HereString(_, word) => input.push(self.scan(word)),
            IoRedirect::OutputAndError(word, _) => {
                let word = self.scan(word);
                self.opens(word, Access::Write);
            }
        }
    }

    fn file_redirect(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        input: &mut Vec<Word>,
    ) {
        let access = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => Access::Read,
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Append
            | IoFileRedirectKind::ReadAndWrite
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => Access::Write,
        };
        match target {
            // What an earlier `exec` has put there.
            IoFileRedirectTarget::Fd(number) if *number > 2 && access == Access::Read => {
                input.extend(feed::unknown());
            }
            IoFileRedirectTarget::Fd(_) => {}
            IoFileRedirectTarget::Filename(word) => {
                let word = self.scan(word);
                self.opens(word, access);
            }
            IoFileRedirectTarget::Duplicate(word) => {
                let word = self.scan(word);
                let descriptor = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-');
                if !word.literal().is_some_and(descriptor) {
                    self.opens(word, access);
                } else if access == Access::Read && !matches!(word.text(), "" | "-" | "0" | "1" | "2") {
                    // What an earlier `exec` has put there.
                    input.extend(feed::unknown());
                }
            }
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.doubt(Doubt::Substitution);
                if access == Access::Read {
                    self.list(&subshell.list);
                    input.append(&mut self.prints);
                } else {
                    self.fed_by_others(|walker| walker.list(&subshell.list));
                }
            }
        }
    }

    fn opens(&mut self, path: Word, access: Access) {
        let device = |prefix| path.beginning().starts_with(prefix);
        if device("/dev/tcp") || device("/dev/udp") {
            self.doubt(Doubt::Device);
        }
        if files::is_standard_device(path.text()) {
            return;
        }
        let uses = self.directories.locate(&FileUse { path, access });
        self.found.seen.redirections.extend(uses);
    }

    fn here_document(&mut self, document: &IoHereDocument) -> Word {
        let body = match self.cut.mark(&document.doc.value) {
            Some(number) => {
                self.marks.insert(number);
                self.cut.part(number).to_owned()
            }
            None => document.doc.value.clone(),
        };
        if !document.requires_expansion {
            return Word::plain(&self.cut.restored(&body));
        }
        self.found.seen.expands_document = true;
        let scanned = Scanner::new(self.cut, &mut self.budget).here_document(&body);
        self.take(scanned, &body)
    }
}
