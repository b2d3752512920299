//! The machine's cases by number, over Claude and alone, and a reference model.
//!
//! Place in the flow: tests only.

mod guard;
mod model;
mod modes;
mod sole;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use super::hooks::{HookRun, Hooks, PreToolUse};
use super::*;
use crate::call::{ToolCall, Workspace};
use crate::testing::rule_set;
use crate::{LexicalPaths, PathResolver, PermissionMode};

fn workspace(paths: &dyn PathResolver) -> Workspace<'_> {
    Workspace {
        cwd: "/repo",
        current: "/repo",
        project_root: "/repo",
        home: Some("/home/u"),
        additional: &[],
        paths,
    }
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

fn file(path: &str) -> Value {
    json!({ "file_path": path })
}

fn exited(code: i32, stdout: &str) -> HookRun {
    HookRun::Exited {
        code,
        stdout: stdout.into(),
        stderr: Vec::new(),
    }
}

/// What a user does about a question: deny, or allow, perhaps with another input.
type Answer = Option<Option<Value>>;

const ALLOW: Answer = Some(None);

/// A session in which the machine is the sole authority.
struct Scene {
    authorizer: Authorizer,
    mode: PermissionMode,
    plan_file: Option<&'static str>,
    said: PreToolUse,
    answers: VecDeque<Answer>,
    /// How often the user was asked.
    asked: usize,
}

impl Scene {
    fn new(mode: PermissionMode, text: &str) -> Self {
        Self::with(mode, text, |_| {})
    }

    fn with(mode: PermissionMode, text: &str, adjust: impl FnOnce(&mut Sole)) -> Self {
        let mut sole = Sole {
            rules: rule_set(text),
            headless: false,
            denial_threshold: DENIAL_THRESHOLD,
        };
        adjust(&mut sole);
        Self {
            authorizer: Authorizer::new(Authority::Sole(sole)),
            mode,
            plan_file: None,
            said: PreToolUse::Approve,
            answers: VecDeque::new(),
            asked: 0,
        }
    }

    fn default(text: &str) -> Self {
        Self::new(PermissionMode::Default, text)
    }

    /// Hooks come to what this one says.
    fn hook(mut self, run: &HookRun) -> Self {
        self.said = PreToolUse::read(run);
        self
    }

    fn answers(mut self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.answers.extend(answers);
        self
    }

    fn bash(&mut self, command: &str) -> Decision {
        self.call_as(None, "Bash", &bash(command))
    }

    fn call_as(&mut self, agent: Option<&str>, tool: &str, input: &Value) -> Decision {
        let mut call = ToolCall::new(tool, input, workspace(&LexicalPaths));
        call.mode = self.mode;
        call.plan_file = self.plan_file;
        call.agent = agent;
        let decision = self.authorizer.decide(&call, self.said.clone());
        if decision.outcome != Outcome::Ask {
            return decision;
        }
        self.asked += 1;
        // A user without an answer left denies.
        match self.answers.pop_front().flatten() {
            Some(changed) => {
                let changed = changed.or(decision.updated_input);
                let call = call.with_input(changed.as_ref().unwrap_or(input));
                let decision = self.authorizer.answered(&call, None);
                Decision {
                    updated_input: changed,
                    ..decision
                }
            }
            None => self.authorizer.answered(&call, Some(String::new())),
        }
    }

    /// What becomes of a call: `allow`, `deny STAGE`, each after `ask, ` if the user was asked.
    fn ends(&mut self, tool: &str, input: &Value) -> String {
        let before = self.asked;
        let decision = self.call_as(None, tool, input);
        let asked = if self.asked > before { "ask, " } else { "" };
        match decision.outcome {
            Outcome::Allow => format!("{asked}allow"),
            Outcome::Deny => format!("{asked}deny {}", decision.stage),
            Outcome::Pass | Outcome::Ask => panic!("{decision:?}"),
        }
    }

    fn bash_ends(&mut self, command: &str) -> String {
        self.ends("Bash", &bash(command))
    }
}

#[test]
fn every_reason_has_its_words_whoever_decides() {
    let asks = rule_set("ask Bash(x) + deny Read(y)");
    let rule = |at: usize| asks.iter().nth(at).cloned().into_iter().collect();
    let text = || "text".to_owned();
    let no_prompt = |reason| Reason::NoPrompt(Box::new(reason));
    let denials = [
        (Reason::NoObject, vec![]),
        (Reason::Outside(text()), vec![]),
        (Reason::Hook(text()), vec![]),
        (Reason::Rule, rule(1)),
        (Reason::Protected(text()), vec![]),
        (Reason::PlanChange, vec![]),
        (Reason::PlanMayChange, vec![]),
        (Reason::PlanServer, vec![]),
        (Reason::User(text()), vec![]),
        (no_prompt(Reason::Rule), rule(0)),
        (no_prompt(Reason::NothingMatched), vec![]),
    ];
    let questions = [
        (Reason::Rule, rule(0)),
        (Reason::Rule, rule(1)),
        (Reason::Hook(text()), vec![]),
        (Reason::Question, vec![]),
        (Reason::Denials(3), vec![]),
        (Reason::UnknownFiles, vec![]),
        (Reason::MayTouchProtected, vec![]),
        (Reason::NothingMatched, vec![]),
        (Reason::Unanalysable("it is nested too deeply"), vec![]),
    ];
    let denials = denials.map(|told| (Outcome::Deny, told));
    let questions = questions.map(|told| (Outcome::Ask, told));
    let mut lines = Vec::new();
    for (outcome, (reason, rules)) in denials.into_iter().chain(questions) {
        for by in [DecidedBy::Policy, DecidedBy::Guard, DecidedBy::Claude] {
            let decision = Decision {
                outcome,
                stage: Stage::Rules,
                reason: reason.clone(),
                by,
                rules: rules.clone(),
                updated_input: None,
            };
            lines.push(format!("{outcome:?} {by:?}: {}", decision.why().unwrap()));
        }
    }
    for reason in [
        Reason::ReadOnly,
        Reason::AcceptedEdit,
        Reason::Bypass,
        Reason::PlanFile,
        Reason::Unasked,
        Reason::Sensitive,
    ] {
        lines.push(reason.to_string());
    }
    insta::assert_snapshot!(lines.join("\n"));
}
