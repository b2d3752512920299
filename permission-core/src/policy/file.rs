//! The text of a policy file, read strictly: a policy with a mistake is no policy.
//!
//! Place in the flow: the host reads the file once, at its start, and does not start with mistakes. Every mistake is
//! told with its place, its key and what is allowed, all of them at once. Must not guess what was meant.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Policy, examples, rule_text, tool_names, wording};
use crate::decide::DENIAL_THRESHOLD;
use crate::decide::hooks::{HookEvent, Hooks};
use crate::modes::{ModeSetting, PermissionMode};
use crate::rules::{RuleKind, RuleOrigin};
use crate::settings::document::{Lines, Node};
use crate::settings::{Origin, SettingsFile, SettingsSource, Sourced};

/// Something in a policy file that must be corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyMistake {
    /// The file.
    pub file: Arc<Path>,
    /// The line, counted from 1.
    pub line: u32,
    /// The key, such as `permissions.deny[2]`; `None` for the whole file.
    pub key: Option<String>,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// Managed settings are an argument of Claude's, and systems take no longer ones than 128 KiB.
const MAX_MANAGED_BYTES: usize = 120 * 1024;

const TOP: [&str; 4] = ["permissions", "hooks", "examples", "$schema"];
const PERMISSIONS: [&str; 11] = [
    "allow",
    "deny",
    "ask",
    "additionalDirectories",
    "defaultMode",
    "disableBypassPermissionsMode",
    "denialThreshold",
    "headless",
    "confine",
    "autoAllow",
    "clientMcpServers",
];
/// What a hook's limit may be, in seconds.
const TIMEOUTS: std::ops::RangeInclusive<f64> = 0.05..=86_400.0;

const GROUP: [&str; 2] = ["matcher", "hooks"];
const HOOK: [&str; 3] = ["type", "command", "timeout"];

impl Policy {
    /// Reads the text of a policy file.
    pub fn read(file: &Path, text: &str) -> Result<Self, Vec<PolicyMistake>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader {
            file: file.into(),
            lines: Lines::new(text),
            policy: Self {
                denial_threshold: DENIAL_THRESHOLD,
                protected: file.to_str().map(str::to_owned).into_iter().collect(),
                ..Self::default()
            },
            mistakes: Vec::new(),
        };
        match Node::read(text) {
            Ok(root) => {
                reader.root(root);
                reader.policy.settings = Some(settings(file, text));
            }
            Err(error) => {
                let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
                reader.mistake(line, None, wording::bad_json(&error));
            }
        }
        let managed = reader.policy.managed_settings().to_string();
        if managed.len() > MAX_MANAGED_BYTES {
            reader.mistake(1, Some("permissions"), wording::too_long(MAX_MANAGED_BYTES));
        }
        if reader.mistakes.is_empty() {
            return Ok(reader.policy);
        }
        reader.mistakes.sort_by_key(|mistake| mistake.line);
        Err(reader.mistakes)
    }
}

/// What is no setting of Claude's in it, was read strictly above.
fn settings(file: &Path, text: &str) -> SettingsFile {
    SettingsFile {
        problems: Vec::new(),
        ..SettingsFile::parse(SettingsSource::Managed, file, text)
    }
}

struct Reader<'a> {
    file: Arc<Path>,
    lines: Lines<'a>,
    policy: Policy,
    mistakes: Vec<PolicyMistake>,
}

type Members<'a> = Vec<(String, Node<'a>)>;

impl<'a> Reader<'a> {
    fn root(&mut self, root: Node<'a>) {
        for (name, node) in self.object(root, "", &TOP) {
            match name.as_str() {
                "permissions" => self.permissions(node),
                "hooks" => self.hooks(node),
                "examples" => self.examples(node),
                _ => {}
            }
        }
    }

    fn examples(&mut self, node: Node<'a>) {
        for (node, key) in self.elements(node, "examples") {
            let members = self.object(node, &key, &examples::KEYS);
            match examples::read(&members, self.origin(node), &key) {
                Ok(example) => self.policy.examples.push(example),
                Err(missing) => self.wrong(node, &key, missing),
            }
        }
    }

    fn permissions(&mut self, node: Node<'a>) {
        for (name, node) in self.object(node, "permissions", &PERMISSIONS) {
            let key = format!("permissions.{name}");
            match name.as_str() {
                "allow" => self.rules(RuleKind::Allow, node, &key),
                "deny" => self.rules(RuleKind::Deny, node, &key),
                "ask" => self.rules(RuleKind::Ask, node, &key),
                "additionalDirectories" => self.directories(node, &key),
                "defaultMode" => match PermissionMode::from_setting(node.value().as_ref()) {
                    ModeSetting::Mode(mode) => self.policy.default_mode = Some(mode),
                    ModeSetting::Absent | ModeSetting::Unknown => self.wrong(node, &key, wording::bad_mode()),
                },
                "disableBypassPermissionsMode" => match node.value() {
                    Some(Value::String(text)) if text == "disable" => self.policy.bypass_disabled = true,
                    Some(_) | None => self.wrong(node, &key, wording::NOT_DISABLE),
                },
                "denialThreshold" => match node.value().and_then(|value| value.as_u64()) {
                    Some(count) => self.policy.denial_threshold = u32::try_from(count).unwrap_or(u32::MAX),
                    None => self.wrong(node, &key, wording::NOT_A_COUNT),
                },
                "headless" => self.policy.headless = self.switch(node, &key),
                "confine" => self.policy.confine = self.switch(node, &key),
                "autoAllow" => self.policy.auto_allow = self.switch(node, &key),
                "clientMcpServers" => self.policy.client_mcp_servers = self.switch(node, &key),
                _ => {}
            }
        }
    }

    fn rules(&mut self, kind: RuleKind, node: Node<'a>, key: &str) {
        for (text, node, key) in self.texts(node, key) {
            let origin = RuleOrigin::File(self.origin(node));
            let problem = self.policy.rules.add(kind, &text, origin);
            let problem = problem.map(|problem| wording::bad_rule(problem.message));
            let mistake = rule_text::tool_mistake(&text).or(problem);
            if let Some(mistake) = mistake.or_else(|| rule_text::mistake(kind, &text)) {
                self.wrong(node, &key, mistake);
            }
        }
    }

    fn directories(&mut self, node: Node<'a>, key: &str) {
        for (text, node, key) in self.texts(node, key) {
            if text.starts_with('/') || text.starts_with("~/") {
                self.policy.additional_directories.push(text);
            } else {
                self.wrong(node, &key, wording::NOT_ABSOLUTE);
            }
        }
    }

    fn hooks(&mut self, node: Node<'a>) {
        let events = [HookEvent::PreToolUse, HookEvent::PostToolUse];
        for (name, node) in self.object(node, "hooks", &events.map(HookEvent::name)) {
            let key = format!("hooks.{name}");
            for (group, key) in self.elements(node, &key) {
                self.group(&name, group, &key);
            }
        }
    }

    fn group(&mut self, event: &str, group: Node<'a>, key: &str) {
        for (name, node) in self.object(group, key, &GROUP) {
            if name == "hooks" {
                let hooks = self.elements(node, &format!("{key}.hooks"));
                if hooks.is_empty() {
                    self.wrong(node, &format!("{key}.hooks"), wording::NO_HOOKS);
                }
                for (hook, key) in hooks {
                    self.hook(hook, &key);
                }
            } else if let Some(Value::String(matcher)) = node.value()
                && let Some(mistake) = tool_names::matcher_mistake(&matcher)
            {
                self.wrong(node, &format!("{key}.matcher"), mistake);
            }
        }
        let origin = self.origin(group);
        let value = json!({ event: [group.value()] });
        let (hooks, problems) = Hooks::read(&[Sourced { value, origin }]);
        for problem in problems {
            self.wrong(group, key, problem.message);
        }
        self.policy.hooks.extend(hooks);
    }

    fn hook(&mut self, hook: Node<'a>, key: &str) {
        for (name, node) in self.object(hook, key, &HOOK) {
            let limit = node.value().and_then(|value| value.as_f64());
            if name == "timeout" && !limit.is_some_and(|limit| TIMEOUTS.contains(&limit)) {
                self.wrong(node, &format!("{key}.timeout"), wording::NOT_A_TIME);
            }
        }
    }

    /// The members of an object that may have these names only, each once.
    fn object(&mut self, node: Node<'a>, key: &str, names: &[&str]) -> Members<'a> {
        let Some(members) = node.members() else {
            self.wrong(node, key, wording::NOT_AN_OBJECT);
            return Vec::new();
        };
        let mut known: Members<'a> = Vec::new();
        for (name, node) in members {
            let full = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            if !names.contains(&name.as_str()) {
                self.wrong(node, &full, wording::unknown_key(names));
            } else if known.iter().any(|(other, _)| *other == name) {
                self.wrong(node, &full, wording::REPEATED);
            } else {
                known.push((name, node));
            }
        }
        known
    }

    fn elements(&mut self, node: Node<'a>, key: &str) -> Vec<(Node<'a>, String)> {
        let Some(elements) = node.elements() else {
            self.wrong(node, key, wording::NOT_A_LIST);
            return Vec::new();
        };
        let elements = elements.into_iter().enumerate();
        elements
            .map(|(at, node)| (node, format!("{key}[{at}]")))
            .collect()
    }

    fn texts(&mut self, node: Node<'a>, key: &str) -> Vec<(String, Node<'a>, String)> {
        let mut texts = Vec::new();
        for (node, key) in self.elements(node, key) {
            match node.value() {
                Some(Value::String(text)) if !text.trim().is_empty() => texts.push((text, node, key)),
                Some(_) | None => self.wrong(node, &key, wording::NOT_TEXT),
            }
        }
        texts
    }

    fn switch(&mut self, node: Node<'a>, key: &str) -> bool {
        match node.value() {
            Some(Value::Bool(on)) => on,
            Some(_) | None => {
                self.wrong(node, key, wording::NOT_A_SWITCH);
                false
            }
        }
    }

    fn origin(&self, node: Node<'a>) -> Origin {
        Origin {
            source: SettingsSource::Managed,
            file: Arc::clone(&self.file),
            line: self.lines.line_of(node),
        }
    }

    fn wrong(&mut self, node: Node<'a>, key: &str, message: impl Into<String>) {
        let line = self.lines.line_of(node);
        self.mistake(line, (!key.is_empty()).then_some(key), message.into());
    }

    fn mistake(&mut self, line: u32, key: Option<&str>, message: String) {
        self.mistakes.push(PolicyMistake {
            file: Arc::clone(&self.file),
            line,
            key: key.map(str::to_owned),
            message,
        });
    }
}

impl fmt::Display for PolicyMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wording::mistake(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::merge;

    const FILE: &str = "/etc/policy.json";

    fn mistakes(text: &str) -> Vec<String> {
        let mistakes = Policy::read(Path::new(FILE), text).map(|_| ()).unwrap_err();
        mistakes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_policy_says_what_it_says() {
        let text = r#"{
            "permissions": {
                "deny": ["Bash(rm *)"], "ask": ["WebFetch"], "allow": ["Read"], "additionalDirectories": ["/srv", "~/x"],
                "defaultMode": "plan", "disableBypassPermissionsMode": "disable", "denialThreshold": 5, "headless": true,
                "confine": true, "autoAllow": true, "clientMcpServers": true
            },
            "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "audit", "timeout": 5 }] }] }
        }"#;
        let policy = Policy::read(Path::new(FILE), text).unwrap();
        assert_eq!(policy.rules.iter().count(), 3);
        assert_eq!(policy.additional_directories, ["/srv", "~/x"]);
        assert_eq!(
            (policy.default_mode, policy.denial_threshold),
            (Some(PermissionMode::Plan), 5)
        );
        assert!(policy.bypass_disabled && policy.headless && policy.confine && policy.auto_allow);
        assert!(policy.client_mcp_servers);
        let settings = merge(policy.settings).values;
        assert_eq!(settings.rules.deny[0].origin.line, 3);
        assert_eq!(
            settings.default_mode.unwrap().value,
            ModeSetting::Mode(PermissionMode::Plan)
        );
        assert!(settings.bypass_disabled.is_some());
        assert_eq!(policy.protected, [FILE]);
        let hooks = policy.hooks.matching(HookEvent::PreToolUse, "Bash");
        assert_eq!(hooks.iter().map(|hook| hook.origin.line).collect::<Vec<_>>(), [7]);
        assert_eq!(Policy::read(Path::new(FILE), "{}").unwrap().denial_threshold, 3);
    }

    #[test]
    fn a_policy_that_no_command_line_holds_is_told_so() {
        let rules = |count: usize| {
            let rules: Vec<String> = (0..count).map(|at| format!("Bash(command-{at} *)")).collect();
            Policy::read(
                Path::new(FILE),
                &json!({ "permissions": { "deny": rules } }).to_string(),
            )
        };
        assert!(rules(4_000).is_ok());
        let mistakes = rules(6_000).map(|_| ()).unwrap_err();
        insta::assert_snapshot!(mistakes[0].to_string(), @"`/etc/policy.json`, line 1: `permissions` the deny and ask rules together are longer than the 122880 bytes that Claude's command line takes; use fewer, wider rules");
    }

    #[test]
    fn mistakes_come_in_the_order_of_lines() {
        let text = "{\n\"hooks\": {\"PreToolUse\": [{\n\"matcher\": \"bash\",\n\"hooks\": [{\n\"cmd\": \"x\"}]}]},\n\"permissions\": {\n\"deny\": [\n\"Bash(\",\n\"bash\"],\n\"denny\": []},\n\"other\": 1}";
        let mistakes = Policy::read(Path::new(FILE), text).map(|_| ()).unwrap_err();
        let lines: Vec<u32> = mistakes.iter().map(|mistake| mistake.line).collect();
        assert!(lines.is_sorted() && lines.len() > 5, "{lines:?}");
    }

    #[test]
    fn case_88_every_mistake_is_told_with_its_place() {
        let texts = [
            "",
            "[]",
            "{\n \"permisions\": {}\n}",
            "{\"permissions\": {\n\"denny\": []}}",
            "{\"permissions\": {\"deny\": \"x\"}}",
            "{\"permissions\": {\"deny\": [\"Bash(\",\n 5]}}",
            "{\"permissions\": {\"allow\": [\"B*\"]}}",
            "{\"permissions\": {\"headless\": \"yes\", \"headless\": true}}",
            "{\"permissions\": {\"defaultMode\": \"nonsense\"}}",
            "{\"permissions\": {\"disableBypassPermissionsMode\": true}}",
            "{\"permissions\": {\"denialThreshold\": -1}}",
            "{\"permissions\": {\"additionalDirectories\": [\"x\"]}}",
            "{\"hooks\": {\"SessionStart\": []}}",
            "{\"hooks\": {\"PreToolUse\": [{\"match\": \"Bash\", \"hooks\": [{\"cmd\": \"x\"}]}]}}",
            "{\"hooks\": {\"PreToolUse\": [\n{\"matcher\": \"[\", \"hooks\": [{\"command\": \"x\"}]}, {\"hooks\": []}]}}",
            "{\"permissions\": {\"deny\": [\"x\"]}",
            "{\"permissions\": {\"deny\": [\"bash(rm *)\", \"mcp_jira\"]}}",
            "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"bash\", \"hooks\": [{\"command\": \"x\"}]}, {\"matcher\": \"Bash, Edit\", \"hooks\": [{\"command\": \"x\"}]}]}}",
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"x\", \"timeout\": \"5\"}, {\"command\": \"x\", \"timeout\": 0}]}]}}",
            "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Edit | Write\", \"hooks\": [{\"command\": \"x\"}]}]}}",
            "{\"permissions\": {\"deny\": [\"Bash(git:* push)\"]}}",
            "{\"examples\": [{\"command\": \"ls\"},\n {\"command\": \"ls\", \"tool\": \"Bash\"},\n {\"tool\": \"Bash\", \"becomes\": \"ask\"},\n {\"command\": \"ls\", \"becomes\": \"run\"}]}",
        ];
        let told: Vec<String> = texts.iter().flat_map(|text| mistakes(text)).collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
