//! Control structures, groups and tests: what stands in them is walked, and each leaves a doubt.
//!
//! Place in the flow: `walk` comes here and is called back for the lists inside. Must visit every part.

use brush_parser::ast::{CompoundCommand, ExtendedTestExpr, ForClauseCommand, Word as WordNode};

use super::walk::Walker;
use super::word::Word;
use super::{Assignment, Doubt, Invocation, builtins};

impl Walker<'_> {
    pub(super) fn compound(&mut self, compound: &CompoundCommand) {
        self.doubt(doubt_of(compound));
        match compound {
            // The grammar takes some nested subshells for arithmetic.
            CompoundCommand::Arithmetic(arithmetic) => {
                self.doubt(Doubt::Arithmetic);
                let (start, end) = (arithmetic.loc.start.index, arithmetic.loc.end.index);
                let text: String = self
                    .source
                    .get(start..end)
                    .unwrap_or(&self.source)
                    .iter()
                    .collect();
                self.coarse(&text);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                for expression in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    self.scan_text(&expression.value);
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                self.values(clause);
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.scan(&clause.value);
                for case in &clause.cases {
                    case.patterns.iter().for_each(|word| {
                        self.scan(word);
                    });
                    case.cmd.iter().for_each(|list| self.list(list));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for branch in clause.elses.iter().flatten() {
                    branch.condition.iter().for_each(|list| self.list(list));
                    self.list(&branch.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => {
                coprocess.name.iter().for_each(|word| {
                    self.scan(word);
                });
                self.as_reading(|walker| {
                    walker.fed_by_others(|walker| walker.command(&coprocess.body));
                });
            }
        }
    }

    /// A loop gives a variable its values.
    fn values(&mut self, clause: &ForClauseCommand) {
        self.sets(&clause.variable_name, Word::plain(""));
        for value in clause.values.iter().flatten() {
            let value = self.capture(value, "");
            self.sets(&clause.variable_name, value);
        }
    }

    fn sets(&mut self, name: &str, value: Word) {
        let assignment = Assignment {
            name: name.to_owned(),
            word: Word {
                raw: format!("{name}={}", value.raw),
                ..value
            },
        };
        self.found.seen.invocations.push(Invocation {
            assignments: vec![assignment],
            certain: self.certain,
            stands: self.stands,
            ..Invocation::default()
        });
    }

    pub(super) fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.tested(word),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.tested(left);
                self.tested(right);
            }
        }
    }

    /// `[[ 'a[$(id)]' -eq 1 ]]` expands what is quoted.
    fn tested(&mut self, word: &WordNode) {
        let word = self.scan(word);
        builtins::expand(self, word.text());
    }
}

fn doubt_of(compound: &CompoundCommand) -> Doubt {
    match compound {
        CompoundCommand::IfClause(_) | CompoundCommand::WhileClause(_) | CompoundCommand::UntilClause(_) => {
            Doubt::Branch
        }
        CompoundCommand::Subshell(_) => Doubt::Subshell,
        CompoundCommand::ForClause(_) => Doubt::Loop,
        CompoundCommand::Arithmetic(_)
        | CompoundCommand::ArithmeticForClause(_)
        | CompoundCommand::BraceGroup(_)
        | CompoundCommand::CaseClause(_)
        | CompoundCommand::Coprocess(_) => Doubt::ControlStructure,
    }
}
