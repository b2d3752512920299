//! One settings file: its text to values with their places, and its problems.
//!
//! Place in the flow: the host reads files and calls [`SettingsFile::parse`] for each; `merge` takes the results. What
//! cannot be used costs itself and a problem, never the rest; unknown keys belong to others. Must not judge by source
//! what a file may say (that is `merge`), except that a broken file loosens nothing.

use std::{path::Path, sync::Arc};

use serde_json::Value;

use super::{
    EnvValue, Origin, SettingsProblem, SettingsSource, SettingsValues, Sourced,
    document::{Lines, Node},
    repair, words,
};
use crate::modes::{ModeSetting, PermissionMode};

const PERMISSIONS: &str = "permissions";
const ALLOW: &str = "permissions.allow";
const DIRECTORIES: &str = "permissions.additionalDirectories";
const DEFAULT_MODE: &str = "permissions.defaultMode";

/// What one settings file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// Whose file it is.
    pub source: SettingsSource,
    /// The file.
    pub file: Arc<Path>,
    /// What it says, before any question of trust.
    pub values: SettingsValues,
    /// What is wrong in it.
    pub problems: Vec<SettingsProblem>,
}

impl SettingsFile {
    /// Reads the text of `file`. Never fails: what cannot be used is among the problems.
    pub fn parse(source: SettingsSource, file: &Path, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut result = Self::empty(source, file);
        // An empty file says nothing; editors leave one for a moment while they save.
        if text.trim().is_empty() {
            return result;
        }
        let error = match Node::read(text) {
            Ok(root) => {
                Reader::new(&mut result, text).root(root);
                return result;
            }
            Err(error) => error,
        };
        let lines = Lines::new(text);
        let offset = lines.offset_of(&error);
        let position = lines.position(offset);
        result.problems.push(SettingsProblem {
            file: result.file.clone(),
            line: Some(position.line),
            column: Some(position.column),
            key: None,
            message: words::broken(&error),
        });
        if let Some(part) = repair::readable_part(text, offset)
            && let Ok(root) = Node::read(&part)
        {
            Reader::new(&mut result, &part).root(root);
        }
        result.loosen_nothing(position.line);
        result
    }

    /// A file that is there and could not be read, for the reason `why`, such as `is too large`.
    pub fn unreadable(source: SettingsSource, file: &Path, why: &str) -> Self {
        let mut result = Self::empty(source, file);
        result.problems.push(SettingsProblem {
            file: result.file.clone(),
            line: None,
            column: None,
            key: None,
            message: why.to_owned(),
        });
        result.loosen_nothing(1);
        result
    }

    fn empty(source: SettingsSource, file: &Path) -> Self {
        Self {
            source,
            file: file.into(),
            values: SettingsValues::default(),
            problems: Vec::new(),
        }
    }

    /// Takes back whatever loosens: the part of the file that limits it may be the part that is lost.
    fn loosen_nothing(&mut self, broken_at: u32) {
        let allow = std::mem::take(&mut self.values.rules.allow);
        let directories = std::mem::take(&mut self.values.additional_directories);
        let mode = self.values.default_mode.take_if(|mode| mode.value.loosens());
        let dropped = [
            (ALLOW, allow.first().map(|rule| rule.origin.line)),
            (
                DIRECTORIES,
                directories.first().map(|directory| directory.origin.line),
            ),
            (DEFAULT_MODE, mode.map(|mode| mode.origin.line)),
        ];
        for (key, line) in dropped {
            if let Some(line) = line {
                self.problem(line, Some(key), words::LOOSENING_IGNORED);
            }
        }
        if self.source == SettingsSource::Managed {
            let origin = self.origin(broken_at);
            self.values.bypass_disabled.get_or_insert_with(|| origin.clone());
            self.values.auto_disabled.get_or_insert(origin);
            self.problem(broken_at, None, words::BROKEN_POLICY);
        }
    }

    fn origin(&self, line: u32) -> Origin {
        Origin {
            source: self.source,
            file: self.file.clone(),
            line,
        }
    }

    fn problem(&mut self, line: u32, key: Option<&str>, message: impl Into<String>) {
        self.problems.push(SettingsProblem {
            file: self.file.clone(),
            line: Some(line),
            column: None,
            key: key.map(str::to_owned),
            message: message.into(),
        });
    }
}

/// Walks the JSON of one file and fills its values.
struct Reader<'a> {
    file: &'a mut SettingsFile,
    lines: Lines<'a>,
}

/// The members of an object of which each name is asked for by its full key.
struct Object<'a> {
    prefix: &'static str,
    members: Vec<(String, Node<'a>)>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a mut SettingsFile, text: &'a str) -> Self {
        Self {
            file,
            lines: Lines::new(text),
        }
    }

    fn root(&mut self, root: Node<'a>) {
        let Some(members) = root.members() else {
            let line = self.lines.line_of(root);
            self.file.problem(line, None, words::NOT_AN_OBJECT);
            self.file.loosen_nothing(line);
            return;
        };
        let top = Object { prefix: "", members };
        if let Some(node) = self.member(&top, PERMISSIONS) {
            self.permissions(node);
        }
        self.switches(&top, "disableBypassPermissionsMode", "disableAutoMode");
        self.file.values.managed_rules_only = self.managed_rules_only(&top);
        self.file.values.model = self.text(&top, "model");
        self.file.values.effort_level = self.text(&top, "effortLevel");
        self.file.values.available_models = self.available_models(&top);
        self.env(&top);
        self.hooks(&top);
    }

    fn permissions(&mut self, node: Node<'a>) {
        let Some(members) = node.members() else {
            self.wrong(PERMISSIONS, node, words::NOT_AN_OBJECT);
            let line = self.lines.line_of(node);
            return self.file.loosen_nothing(line);
        };
        let permissions = Object {
            prefix: "permissions.",
            members,
        };
        self.file.values.rules.allow = self.texts(&permissions, ALLOW).unwrap_or_default();
        self.file.values.rules.deny = self.texts(&permissions, "permissions.deny").unwrap_or_default();
        self.file.values.rules.ask = self.texts(&permissions, "permissions.ask").unwrap_or_default();
        self.file.values.additional_directories = self.texts(&permissions, DIRECTORIES).unwrap_or_default();
        self.file.values.default_mode = self.default_mode(&permissions);
        self.switches(
            &permissions,
            "permissions.disableBypassPermissionsMode",
            "permissions.disableAutoMode",
        );
    }

    fn default_mode(&mut self, object: &Object<'a>) -> Option<Sourced<ModeSetting>> {
        let node = self.member(object, DEFAULT_MODE)?;
        let value = node.value().unwrap_or_default();
        let setting = PermissionMode::from_setting(Some(&value));
        if setting == ModeSetting::Unknown {
            self.wrong(DEFAULT_MODE, node, words::unknown_mode(value.as_str()));
        }
        Some(self.sourced(node, setting))
    }

    /// The two switches by their full keys. They count at the top level and under `permissions`.
    fn switches(&mut self, object: &Object<'a>, bypass: &str, auto: &str) {
        if let Some(origin) = self.disabled(object, bypass) {
            self.file.values.bypass_disabled.get_or_insert(origin);
        }
        if let Some(origin) = self.disabled(object, auto) {
            self.file.values.auto_disabled.get_or_insert(origin);
        }
    }

    fn disabled(&mut self, object: &Object<'a>, key: &str) -> Option<Origin> {
        let node = self.member(object, key)?;
        if node
            .value()
            .is_some_and(|value| value.as_str() == Some("disable"))
        {
            return Some(self.origin(node));
        }
        self.wrong(key, node, words::NOT_DISABLE);
        None
    }

    /// Anything but `false` counts: this switch only takes away.
    fn managed_rules_only(&mut self, object: &Object<'a>) -> Option<Origin> {
        const KEY: &str = "allowManagedPermissionRulesOnly";
        if self.file.source != SettingsSource::Managed {
            return None;
        }
        let node = self.member(object, KEY)?;
        match node.value() {
            Some(Value::Bool(false)) => return None,
            Some(Value::Bool(true)) => {}
            Some(_) | None => self.wrong(KEY, node, words::NOT_A_SWITCH),
        }
        Some(self.origin(node))
    }

    /// A managed list that cannot be read allows no model by name: it is there to restrict.
    fn available_models(&mut self, object: &Object<'a>) -> Option<Vec<Sourced<String>>> {
        const KEY: &str = "availableModels";
        let given = object.last(KEY).is_some();
        let models = self.texts(object, KEY);
        if given && self.file.source == SettingsSource::Managed {
            return Some(models.unwrap_or_default());
        }
        models
    }

    fn env(&mut self, object: &Object<'a>) {
        const KEY: &str = "env";
        let Some(node) = self.member(object, KEY) else {
            return;
        };
        let Some(members) = node.members() else {
            return self.wrong(KEY, node, words::NOT_AN_OBJECT);
        };
        for (name, node) in members {
            let text = match node.value() {
                Some(Value::String(text)) => text,
                Some(scalar @ (Value::Number(_) | Value::Bool(_))) => scalar.to_string(),
                Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => {
                    self.wrong(&words::member(KEY, &name), node, words::NOT_A_VARIABLE);
                    continue;
                }
            };
            let value = self.sourced(node, EnvValue(text));
            self.file.values.env.insert(name, value);
        }
    }

    fn hooks(&mut self, object: &Object<'a>) {
        const KEY: &str = "hooks";
        let Some(node) = self.member(object, KEY) else {
            return;
        };
        match node.value() {
            Some(value @ Value::Object(_)) => {
                let hooks = self.sourced(node, value);
                self.file.values.hooks.push(hooks);
            }
            Some(_) | None => self.wrong(KEY, node, words::NOT_AN_OBJECT),
        }
    }

    fn text(&mut self, object: &Object<'a>, key: &str) -> Option<Sourced<String>> {
        let node = self.member(object, key)?;
        self.text_of(key, node)
    }

    fn texts(&mut self, object: &Object<'a>, key: &str) -> Option<Vec<Sourced<String>>> {
        let node = self.member(object, key)?;
        let Some(elements) = node.elements() else {
            self.wrong(key, node, words::NOT_A_LIST);
            return None;
        };
        let elements = elements.into_iter().enumerate();
        Some(
            elements
                .filter_map(|(index, node)| self.text_of(&words::element(key, index), node))
                .collect(),
        )
    }

    fn text_of(&mut self, key: &str, node: Node<'a>) -> Option<Sourced<String>> {
        match node.value() {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(self.sourced(node, text)),
            Some(_) | None => {
                self.wrong(key, node, words::NOT_TEXT);
                None
            }
        }
    }

    /// The member that counts among those of the same name: the last one.
    fn member(&mut self, object: &Object<'a>, key: &str) -> Option<Node<'a>> {
        let node = object.last(key)?;
        if object.times(key) > 1 {
            self.wrong(key, node, words::REPEATED);
        }
        Some(node)
    }

    fn sourced<T>(&self, node: Node<'a>, value: T) -> Sourced<T> {
        Sourced {
            value,
            origin: self.origin(node),
        }
    }

    fn origin(&self, node: Node<'a>) -> Origin {
        self.file.origin(self.lines.line_of(node))
    }

    fn wrong(&mut self, key: &str, node: Node<'a>, message: impl Into<String>) {
        let line = self.lines.line_of(node);
        self.file.problem(line, Some(key), message);
    }
}

impl<'a> Object<'a> {
    fn last(&self, key: &str) -> Option<Node<'a>> {
        self.named(key).next_back()
    }

    fn times(&self, key: &str) -> usize {
        self.named(key).count()
    }

    fn named(&self, key: &str) -> impl DoubleEndedIterator<Item = Node<'a>> {
        let name = key.strip_prefix(self.prefix);
        self.members
            .iter()
            .filter(move |(member, _)| Some(member.as_str()) == name)
            .map(|&(_, node)| node)
    }
}
