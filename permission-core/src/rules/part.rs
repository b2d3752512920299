//! Which part of a command a deny or ask rule is about.
//!
//! Place in the flow: `explain` asks for the rule that decides. Must not decide: `reach` has done that.

use super::grammar::Content;
use super::reach::{Reach, opened, unknown_files};
use super::{Rule, ToolCall, ToolGroup};
use crate::shell::{Analysis, Word};

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A command that the rule names.
    Command(String),
    /// A file that the rule names, or may name.
    File(String),
    /// Words that may be a command of the rule's.
    Perhaps(String),
    /// What may run anything, where that is one command.
    Anything(Option<String>),
}

impl ToolCall<'_> {
    /// The part that the rule is about; `None` where it is about the call as a whole.
    pub(crate) fn part(&self, rule: &Rule) -> Option<Part> {
        let command = self.command()?;
        let seen = command.analysis.seen();
        let anything = || match &command.analysis {
            Analysis::Unanalysable(found) if found.anything => Some(Part::Anything(found.whatever.clone())),
            Analysis::Unanalysable(_) | Analysis::Commands(_) => None,
        };
        let found = match &rule.meaning.content {
            Content::Command(pattern) => {
                let mut invocations = seen.invocations.iter();
                let named = invocations.find(|invocation| pattern.may_mean(&invocation.words));
                let mut fragments = seen.fragments.iter();
                let mut words = || {
                    fragments.find_map(|fragment| {
                        let starts = 0..fragment.len();
                        let mut suffixes = starts.map(|at| fragment.get(at..).unwrap_or_default());
                        suffixes.find(|words| pattern.may_mean(words))
                    })
                };
                let whole = || pattern.may_mean_text(&command.text).then_some(None);
                named
                    .map(|invocation| Some(Part::Command(invocation.written())))
                    .or_else(whole)
                    .unwrap_or_else(|| {
                        anything().or_else(|| words().map(|words| Part::Perhaps(written(words))))
                    })
            }
            Content::Path(pattern) => {
                let reads = rule.meaning.tool.group() == ToolGroup::Reads;
                let places = self.places();
                let Some(uses) = opened(command, reads) else {
                    return anything();
                };
                let others = unknown_files(&command.analysis);
                let mut files = uses.iter().chain(&others);
                let file = files.find(|file| pattern.reach(file, &places) > Reach::WithDots);
                file.map(|file| Part::File(file.path.raw.clone()))
            }
            Content::Whole | Content::Host(_) | Content::Name(_) | Content::Nothing => None,
        };
        found.filter(|part| *part != Part::Command(command.text.clone()))
    }
}

fn written(words: &[Word]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.raw.as_str()).collect();
    words.join(" ")
}
