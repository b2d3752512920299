//! The pipeline's cases by number, its modes, and a reference model.
//!
//! Place in the flow: tests only. `Scene` is one session with a scripted user, scripted hooks and one tool.

mod cases;
mod model;
mod modes;
mod wording;

use std::{collections::VecDeque, sync::Arc};

use serde_json::{Value, json};

use super::{hooks::Hooks, *};
use crate::{
    LexicalPaths, PermissionMode,
    pipeline::hooks::HookRun,
    rules::{RuleKind, RuleOrigin},
    settings::{Origin, SettingsSource, Sourced},
};

/// A tool whose own stages can be set.
struct Scripted {
    valid: fn(&Value) -> bool,
    check: Result<(), String>,
}

impl Tool for Scripted {
    fn validate_input(&self, input: &Value) -> Result<(), String> {
        (self.valid)(input).then_some(()).ok_or("refused".into())
    }

    fn check_permissions(&self, _: &Value) -> Result<(), String> {
        self.check.clone()
    }
}

/// A session.
struct Scene {
    pipeline: Pipeline,
    tool: Option<Arc<dyn Tool>>,
    hooks: VecDeque<HookRun>,
    answers: VecDeque<UserAnswer>,
    /// How often the user was asked.
    asked: usize,
}

impl Scene {
    fn new(mode: PermissionMode, rules: &str) -> Self {
        Self::with(mode, rules, |_| {})
    }

    /// Rules as `deny Bash(rm *) + allow Bash`.
    fn with(mode: PermissionMode, rules: &str, adjust: impl FnOnce(&mut PermissionContext)) -> Self {
        let mut context = PermissionContext::new("/repo", mode);
        context.home = Some("/home/u".into());
        context.bypass_available = true;
        for rule in rules.split(" + ").filter(|rule| !rule.is_empty()) {
            let (kind, text) = rule.split_once(' ').unwrap();
            let kind = match kind {
                "allow" => RuleKind::Allow,
                "deny" => RuleKind::Deny,
                _ => RuleKind::Ask,
            };
            context.rules.add(kind, text, RuleOrigin::Arguments);
        }
        adjust(&mut context);
        Self {
            pipeline: Pipeline::new(context),
            tool: Some(Arc::new(Scripted {
                valid: |_| true,
                check: Ok(()),
            })),
            hooks: VecDeque::new(),
            answers: VecDeque::new(),
            asked: 0,
        }
    }

    fn default(rules: &str) -> Self {
        Self::new(PermissionMode::Default, rules)
    }

    fn tool(mut self, valid: fn(&Value) -> bool, check: Result<(), String>) -> Self {
        self.tool = Some(Arc::new(Scripted { valid, check }));
        self
    }

    /// Hooks that end like this, one after the other, for every tool.
    fn hooks(mut self, runs: impl IntoIterator<Item = HookRun>) -> Self {
        self.hooks = runs.into_iter().collect();
        let hooks = vec![json!({ "command": "hook" }); self.hooks.len()];
        let mut context = (**self.pipeline.context()).clone();
        let value = json!({ "PreToolUse": [{ "hooks": hooks }] });
        let origin = Origin {
            source: SettingsSource::User,
            file: std::path::Path::new("/s").into(),
            line: 1,
        };
        context.hooks = Hooks::read(&[Sourced { value, origin }]).0;
        self.pipeline.begin_turn(context);
        self
    }

    fn answers(mut self, answers: impl IntoIterator<Item = UserAnswer>) -> Self {
        self.answers.extend(answers);
        self
    }

    fn call(&mut self, name: &str, input: Value) -> Decision {
        self.call_as(None, name, input)
    }

    fn bash(&mut self, command: &str) -> Decision {
        self.call("Bash", json!({ "command": command }))
    }

    /// A user without an answer left denies.
    fn call_as(&mut self, agent: Option<&str>, name: &str, input: Value) -> Decision {
        let call = ToolCall {
            name: name.into(),
            input,
            tool_use_id: "toolu_1".into(),
            agent: agent.map(str::to_owned),
        };
        let (mut evaluation, mut step) = self.pipeline.start(call, self.tool.clone(), &LexicalPaths);
        loop {
            step = match step {
                Step::Hook(_) => {
                    let run = self.hooks.pop_front().unwrap();
                    self.pipeline.hook_ended(&mut evaluation, &run, &LexicalPaths)
                }
                Step::Ask(_) => {
                    self.asked += 1;
                    let answer = self.answers.pop_front().unwrap_or(DENY);
                    self.pipeline.answered(&mut evaluation, answer, &LexicalPaths)
                }
                Step::Done(decision) => return *decision,
            };
        }
    }

    /// What becomes of a call: `allow`, `deny STAGE`, each after `ask, ` if the user was asked.
    fn ends(&mut self, name: &str, input: Value) -> String {
        let before = self.asked;
        let decision = self.call(name, input);
        let asked = if self.asked > before { "ask, " } else { "" };
        match decision.outcome {
            Outcome::Allow { .. } => format!("{asked}allow"),
            Outcome::Deny { .. } => format!("{asked}deny {}", decision.stage),
        }
    }

    fn bash_ends(&mut self, command: &str) -> String {
        self.ends("Bash", json!({ "command": command }))
    }
}

const DENY: UserAnswer = UserAnswer::Deny {
    message: String::new(),
};
const ALLOW: UserAnswer = UserAnswer::Allow { updated_input: None };

fn exited(code: i32, stdout: &str) -> HookRun {
    HookRun::Exited {
        code,
        stdout: stdout.into(),
        stderr: Vec::new(),
    }
}
