//! The rules that an "always" stands for: one for each part of a command, or one for the tool.
//!
//! Place in the flow: a host that asks by itself offers them. Must not suggest a rule that allows more than the call at
//! hand, but for its repetition.

use super::{Call, RuleKind, RuleOrigin, RuleSet, ToolGroup};
use crate::shell::{Analysis, Invocation};

/// More rules than this are not saved at once.
const MAX_RULES: usize = 5;

impl Call<'_> {
    /// Allow rules for this very call; none where rules cannot spell it out.
    pub fn allow_rules(&self) -> Vec<String> {
        match ToolGroup::of(self.tool) {
            ToolGroup::Command => self.command_rules(),
            ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Reads | ToolGroup::Edits => {
                Vec::new()
            }
            ToolGroup::Other => vec![self.tool.to_owned()],
        }
    }

    fn command_rules(&self) -> Vec<String> {
        let Some(Analysis::Commands(commands)) = self.analysis() else {
            return Vec::new();
        };
        let certain = commands
            .invocations
            .iter()
            .filter(|invocation| invocation.certain);
        let mut rules: Vec<String> = Vec::new();
        for invocation in certain.filter(|invocation| !self.needs_no_rule(invocation)) {
            let text = invocation.written();
            // A star would stand for anything.
            if text.contains('*') || text.is_empty() {
                return Vec::new();
            }
            let rule = format!("{}({})", self.tool, escaped(&text));
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        // Together with what needs no rule they must be enough, or the next time is a question again.
        let mut set = RuleSet::default();
        for rule in &rules {
            set.add(RuleKind::Allow, rule, RuleOrigin::Session);
        }
        let enough = set.allows(self, false).is_some();
        if enough && rules.len() <= MAX_RULES {
            rules
        } else {
            Vec::new()
        }
    }

    fn needs_no_rule(&self, invocation: &Invocation) -> bool {
        let text = serde_json::json!({ "command": invocation.written() });
        RuleSet::default()
            .allows(&Call::new(self.tool, &text, self.workspace), false)
            .is_some()
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if matches!(c, '(' | ')' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
