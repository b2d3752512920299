//! What would become of a tool call of a session over the real CLI, stage by stage, with the rules that decide.
//!
//! Place in the flow: `policy explain` hands over what the settings say, a policy and a call, and prints the [`Account`].
//! The guard comes first, then Claude's own rules as Claude reads them, then the two together, as a session runs
//! them. Reading order: `session`, `operator`, `claude`, `verdict`; `wording` holds every sentence. Must not run a hook, and
//! must not count anything.

mod claude;
mod examples;
mod operator;
mod session;
mod verdict;
mod wording;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

pub use examples::unmet_examples;
pub use session::ExplainedSession;
pub use verdict::Verdict;

use crate::call::ToolCall;
use crate::decide::{DecidedBy, Stage};
use crate::modes::PermissionMode;
use crate::rules::Rule;

/// What would become of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    tool: String,
    input: Value,
    place: String,
    mode: PermissionMode,
    /// The rule that decides, if one does.
    rule: Option<Arc<Rule>>,
    /// The guard's part, then Claude's.
    sections: Vec<Section>,
    /// What would become of it.
    pub verdict: Verdict,
    /// Whose rule that is.
    pub by: DecidedBy,
    /// What does not count as it is written, each with its file and line.
    pub warnings: Vec<String>,
}

/// What one party finds, in order.
#[derive(Clone, Debug, PartialEq)]
struct Section {
    title: String,
    lines: Vec<(Stage, String)>,
}

/// Explains a call. Every hook is taken as having no objection.
pub fn explain(session: &ExplainedSession<'_>, tool: &str, input: &Value) -> Account {
    let prepared = session.prepare();
    let mut call = ToolCall::new(tool, input, session.workspace(&prepared.guarded_directories));
    call.mode = prepared.mode;
    call.plan_file = session.plan_file(input);
    let guarded = operator::look(session, &call);
    let call = call.within(session.workspace(&prepared.directories));
    let own = (!guarded.decision.is_deny()).then(|| claude::look(session, &prepared, &call));
    let (verdict, by) = verdict::of(&guarded, own.as_ref());
    let rule = match by {
        DecidedBy::Policy | DecidedBy::Guard => guarded.decision.rule().cloned(),
        DecidedBy::Claude => own.as_ref().and_then(|own| own.decision.rule()).cloned(),
    };
    let sections = [
        Some(guarded.section(session)),
        own.as_ref().map(|own| own.section(&guarded, verdict, by)),
    ];
    Account {
        tool: tool.to_owned(),
        input: input.clone(),
        mode: prepared.mode,
        rule,
        place: wording::place(session.cwd, prepared.mode, &prepared.mode_from),
        sections: sections.into_iter().flatten().collect(),
        verdict,
        by,
        warnings: prepared.warnings,
    }
}

impl Account {
    /// The same for programs.
    pub fn to_json(&self) -> Value {
        let sections = self.sections.iter().map(|Section { title, lines }| {
            let lines = lines.iter();
            let lines: Vec<Value> = lines
                .map(|(stage, text)| json!({ "stage": stage.to_string(), "text": text }))
                .collect();
            json!({ "title": title, "lines": lines })
        });
        json!({
            "tool": self.tool,
            "input": self.input,
            "mode": self.mode.wire_id(),
            "outcome": self.verdict.name(),
            "by": self.by.name(),
            "rule": self.rule.as_ref().map(|rule| rule.to_json()),
            "sections": sections.collect::<Vec<Value>>(),
            "warnings": self.warnings,
        })
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", wording::call(&self.tool, &self.input))?;
        writeln!(f, "{}", self.place)?;
        for Section { title, lines } in &self.sections {
            writeln!(f, "\n{title}")?;
            let mut last = None;
            for (stage, text) in lines {
                let name = if last == Some(*stage) {
                    String::new()
                } else {
                    stage.to_string()
                };
                last = Some(*stage);
                writeln!(f, "  {name:<12}{text}")?;
            }
        }
        write!(f, "\n{}", wording::result(self.verdict, self.by))
    }
}

#[cfg(test)]
mod tests;
