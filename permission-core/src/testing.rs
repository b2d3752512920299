//! What the tests share: a scene (one permission question in `/repo`), short forms for suggestions, and a listing
//! of the offered options.
//!
//! Place in the flow: tests only. Must not repeat a rule of the code under test.

use std::collections::HashMap;

use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::{Value, json};

use crate::call::{ToolCall, Workspace};
use crate::rules::{RuleKind, RuleOrigin, RuleSet};
use crate::{AskContext, LexicalPaths, PathResolver, PreparedRequest, prepare};

/// A fixed seed, so that a run says the same every time; `PROPTEST_RNG_SEED` is for exploring.
pub(crate) fn properties(cases: u32) -> ProptestConfig {
    let explored = std::env::var_os("PROPTEST_RNG_SEED").is_some();
    let rng_seed = if explored {
        ProptestConfig::default().rng_seed
    } else {
        RngSeed::Fixed(17)
    };
    ProptestConfig {
        cases,
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// One permission question, with the working directory `/repo` and the home `/home/u`.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) suggestions: Option<Value>,
}

impl Scene {
    pub(crate) fn new(tool: &str, input: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            input,
            suggestions: None,
        }
    }

    pub(crate) fn bash() -> Self {
        Self::new("Bash", json!({ "command": "npm test" }))
    }

    /// A command for which that is suggested.
    pub(crate) fn running(command: &str, updates: impl IntoIterator<Item = Value>) -> Self {
        Self::new("Bash", json!({ "command": command })).suggesting(updates)
    }

    pub(crate) fn suggesting(mut self, updates: impl IntoIterator<Item = Value>) -> Self {
        self.suggestions = Some(Value::Array(updates.into_iter().collect()));
        self
    }

    pub(crate) fn prepare(&self) -> PreparedRequest {
        self.prepare_with(|_| {})
    }

    pub(crate) fn prepare_with(&self, adjust: impl for<'a> FnOnce(&mut AskContext<'a>)) -> PreparedRequest {
        let call = call(&self.tool, &self.input, &LexicalPaths);
        let mut ask = AskContext::new(&call, "toolu_1");
        ask.plan.clear_context = true;
        ask.suggestions = self.suggestions.as_ref();
        adjust(&mut ask);
        if ask.plan.fresh_modes.is_empty() {
            ask.plan.fresh_modes = ask.plan.offered_modes;
        }
        prepare(&ask).unwrap()
    }

    /// The question under rules of the settings.
    pub(crate) fn under(&self, rules: &RuleSet) -> PreparedRequest {
        let call = call(&self.tool, &self.input, &LexicalPaths);
        let mut ask = AskContext::new(&call, "toolu_1");
        ask.suggestions = self.suggestions.as_ref();
        ask.rules = rules;
        prepare(&ask).unwrap()
    }

    /// The options as `id` (one-time) or `id: name` (the others), in order.
    pub(crate) fn offers(&self) -> Vec<String> {
        listing(&self.prepare())
    }

    /// The label of the durable option, if there is one.
    pub(crate) fn label(&self) -> Option<String> {
        durable_label(&self.prepare())
    }
}

/// A call in `/repo`, of a user whose home is `/home/u`.
pub(crate) fn call<'a>(tool: &'a str, input: &'a Value, paths: &'a dyn PathResolver) -> ToolCall<'a> {
    let workspace = Workspace {
        cwd: "/repo",
        current: "/repo",
        project_root: "/repo",
        home: Some("/home/u"),
        additional: &[],
        paths,
    };
    ToolCall::new(tool, input, workspace)
}

/// The options as `id` (with the usual name) or `id: name`, in order.
pub(crate) fn listing(request: &PreparedRequest) -> Vec<String> {
    let show = |option: &crate::PermissionOption| match (option.id.as_str(), &*option.name) {
        ("allow-once", "Yes") | ("reject", "No") => option.id.as_str().to_owned(),
        (id, name) => format!("{id}: {name}"),
    };
    request.options().iter().map(show).collect()
}

/// The label of the `allow-with-updates` option, if there is one.
pub(crate) fn durable_label(request: &PreparedRequest) -> Option<String> {
    let durable = |option: &&crate::PermissionOption| option.id == crate::OptionId::AllowWithUpdates;
    request
        .options()
        .iter()
        .find(durable)
        .map(|option| option.name.clone())
}

/// Rules as `deny Bash(rm *) + allow Read`.
pub(crate) fn rule_set(text: &str) -> RuleSet {
    let mut rules = RuleSet::default();
    for rule in text.split(" + ").filter(|rule| !rule.is_empty()) {
        let (kind, text) = rule.split_once(' ').unwrap();
        let kind = match kind {
            "allow" => RuleKind::Allow,
            "deny" => RuleKind::Deny,
            _ => RuleKind::Ask,
        };
        rules.add(kind, text, RuleOrigin::Arguments);
    }
    rules
}

/// An allow rule for the session; no content makes it a rule for the whole tool.
pub(crate) fn r(tool: &str, content: &str) -> Value {
    rules("session", "allow", &[(tool, content)])
}

/// An allow rule in the project's local settings.
pub(crate) fn l(tool: &str, content: &str) -> Value {
    rules("localSettings", "allow", &[(tool, content)])
}

pub(crate) fn rules(destination: &str, behavior: &str, rules: &[(&str, &str)]) -> Value {
    let rule = |&(tool, content): &(&str, &str)| {
        if content.is_empty() {
            json!({ "toolName": tool })
        } else {
            json!({ "toolName": tool, "ruleContent": content })
        }
    };
    let rules: Vec<Value> = rules.iter().map(rule).collect();
    json!({ "type": "addRules", "rules": rules, "behavior": behavior, "destination": destination })
}

/// A mode for the session.
pub(crate) fn m(mode: &str) -> Value {
    json!({ "type": "setMode", "mode": mode, "destination": "session" })
}

/// Working directories for the session.
pub(crate) fn d(directories: &[&str]) -> Value {
    json!({ "type": "addDirectories", "directories": directories, "destination": "session" })
}

/// Symbolic links by their absolute paths; every other path is itself. A link to nothing cannot be resolved.
pub(crate) struct Links(HashMap<&'static str, Option<&'static str>>);

impl Links {
    pub(crate) fn new(links: &[(&'static str, Option<&'static str>)]) -> Self {
        Self(links.iter().copied().collect())
    }
}

impl PathResolver for Links {
    fn resolve(&self, path: &str) -> Option<String> {
        let longest = self
            .0
            .iter()
            .filter(|(link, _)| path == **link || path.starts_with(&format!("{link}/")))
            .max_by_key(|(link, _)| link.len());
        match longest {
            None => Some(path.to_owned()),
            Some((link, target)) => target.map(|target| path.replacen(link, target, 1)),
        }
    }
}
