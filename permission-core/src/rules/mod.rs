//! Permission rules: from the texts of settings to what they say about a tool call, and where that stands.
//!
//! Place in the flow: a host reads [`RuleSet`]s from `settings`; the machine asks them about a [`ToolCall`].
//! Reading order: `grammar` (one rule), `names`, `command`, `path` and `value` (what a content means), `reach` (what a limit may be about), `decide` (deny, ask, allow), `part` (which part decides); `claude` and `flaws` say how
//! Claude itself takes a rule. An allow needs certainty; deny and ask need only a possibility. Must not know modes,
//! prompts or hooks.

mod claude;
mod command;
mod decide;
mod flaws;
mod grammar;
mod names;
mod part;
mod path;
mod reach;
mod value;
mod wording;

use std::fmt;
use std::sync::Arc;

pub use decide::{Allowed, Hit};
pub use flaws::judged;
pub(crate) use part::Part;
pub(crate) use reach::Files;
pub(crate) use wording::doubt;

use serde_json::{Value, json};

use crate::call::ToolCall;
use crate::settings::{Origin, RuleTexts, Sourced};
use crate::tools::ToolGroup;
use crate::updates::PermissionBehavior;
use grammar::Meaning;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// The call runs without a question.
    Allow,
    /// The call does not run.
    Deny,
    /// There is a question, whatever else is allowed.
    Ask,
}

impl From<PermissionBehavior> for RuleKind {
    fn from(behavior: PermissionBehavior) -> Self {
        match behavior {
            PermissionBehavior::Allow => Self::Allow,
            PermissionBehavior::Deny => Self::Deny,
            PermissionBehavior::Ask => Self::Ask,
        }
    }
}

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuleOrigin {
    /// A line of a settings file or of a policy.
    File(Origin),
    /// The command line.
    Arguments,
    /// A decision of the user's in this session.
    Session,
}

/// One rule as it was written, with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    kind: RuleKind,
    text: String,
    origin: RuleOrigin,
    meaning: Meaning,
}

/// Something in a rule that does not count as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// The rule's text.
    pub text: String,
    /// What it was to do.
    pub kind: RuleKind,
    /// Where it stands.
    pub origin: RuleOrigin,
    /// What is wrong, and what is done instead.
    pub message: &'static str,
}

/// Rules of any number of sources, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    rules: Vec<Arc<Rule>>,
}

impl Rule {
    /// Reads a rule. `None` for an allow rule that counts for nothing; deny and ask rules always count.
    pub fn read(kind: RuleKind, text: &str, origin: RuleOrigin) -> (Option<Self>, Option<RuleProblem>) {
        let (meaning, message) = grammar::read(kind, text);
        let problem = message.map(|message| RuleProblem {
            text: text.to_owned(),
            kind,
            origin: origin.clone(),
            message,
        });
        let rule = meaning.map(|meaning| Self {
            kind,
            text: text.to_owned(),
            origin,
            meaning,
        });
        (rule, problem)
    }

    /// What it does.
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The rule for programs: what it does, its text, and its file and line where it has one.
    pub(crate) fn to_json(&self) -> Value {
        let mut rule = json!({ "kind": self.kind.to_string(), "text": self.text });
        if let (RuleOrigin::File(origin), Some(rule)) = (&self.origin, rule.as_object_mut()) {
            rule.insert("file".to_owned(), json!(origin.file.display().to_string()));
            rule.insert("line".to_owned(), json!(origin.line));
        }
        rule
    }

    /// Where it comes from.
    pub fn origin(&self) -> &RuleOrigin {
        &self.origin
    }
}

/// Each rule text with its kind, in the order in which kinds decide.
fn by_kind(texts: &RuleTexts) -> impl Iterator<Item = (RuleKind, &Sourced<String>)> {
    let lists = [
        (RuleKind::Deny, &texts.deny),
        (RuleKind::Ask, &texts.ask),
        (RuleKind::Allow, &texts.allow),
    ];
    lists
        .into_iter()
        .flat_map(|(kind, list)| list.iter().map(move |rule| (kind, rule)))
}

impl RuleSet {
    /// No rules.
    pub const fn new() -> Self {
        Self { rules: Vec::new() }
    }

    /// Reads the rule texts of settings. Every problem is reported; none of them loosens anything.
    pub fn read(texts: &RuleTexts) -> (Self, Vec<RuleProblem>) {
        let mut set = Self::default();
        let mut problems = Vec::new();
        for (kind, Sourced { value, origin }) in by_kind(texts) {
            problems.extend(set.add(kind, value, RuleOrigin::File(origin.clone())));
        }
        (set, problems)
    }

    /// Adds a rule; a problem does not keep a deny or ask rule out.
    pub fn add(&mut self, kind: RuleKind, text: &str, origin: RuleOrigin) -> Option<RuleProblem> {
        let (rule, problem) = Rule::read(kind, text, origin);
        self.rules.extend(rule.map(Arc::new));
        problem
    }

    /// Adds all rules of another set.
    pub fn extend(&mut self, other: &Self) {
        self.rules.extend(other.rules.iter().cloned());
    }

    /// The rules.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.rules.iter()
    }

    fn of(&self, kind: RuleKind) -> impl Iterator<Item = &Arc<Rule>> {
        self.rules.iter().filter(move |rule| rule.kind == kind)
    }
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wording::rule(self))
    }
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wording::problem(self))
    }
}

#[cfg(test)]
mod tests;
