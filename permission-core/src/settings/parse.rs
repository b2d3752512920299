//! One settings file: its text to values with their places, and its problems.
//!
//! Place in the flow: the host reads files and calls [`SettingsFile::parse`] for each; `merge` takes the results. As
//! for Claude, a file that breaks off, or in which a setting is of the wrong kind, says nothing at all; unknown keys
//! belong to others. Must not judge by source what a file may say (that is `merge`), except that a managed file that
//! cannot be used loosens nothing.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::document::{Lines, Node};
use super::{Origin, SettingsProblem, SettingsSource, SettingsValues, Sourced, wording};
use crate::modes::{ModeSetting, PermissionMode};

pub(super) const PERMISSIONS: &str = "permissions";
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
            message: wording::broken(&error),
        });
        result.say_nothing(position.line);
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
        result.say_nothing(1);
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

    /// Takes everything back: the part that limits may be the part that is wrong or lost.
    pub(super) fn say_nothing(&mut self, broken_at: u32) {
        self.values = SettingsValues::default();
        if self.source == SettingsSource::Managed {
            let origin = self.origin(broken_at);
            self.values.bypass_disabled.get_or_insert_with(|| origin.clone());
            self.values.auto_disabled.get_or_insert(origin);
            self.problem(broken_at, None, wording::BROKEN_POLICY);
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
pub(super) struct Reader<'a> {
    pub(super) file: &'a mut SettingsFile,
    pub(super) lines: Lines<'a>,
    /// The line of the first setting that costs Claude the whole file.
    pub(super) refused: Option<u32>,
    /// The mode is spelled as Claude does not read it, but we do.
    pub(super) spelled: bool,
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
            refused: None,
            spelled: false,
        }
    }

    fn root(&mut self, root: Node<'a>) {
        let Some(members) = root.members() else {
            let line = self.lines.line_of(root);
            self.file.problem(line, None, wording::NOT_AN_OBJECT);
            self.file.say_nothing(line);
            return;
        };
        self.names(&members);
        self.kinds(&members);
        let top = Object { prefix: "", members };
        if let Some(node) = self.member(&top, PERMISSIONS) {
            self.permissions(node);
        }
        self.switches(&top, "disableBypassPermissionsMode", "disableAutoMode");
        self.file.values.managed_rules_only = self.managed_rules_only(&top);
        self.others(&top);
        self.hooks(&top);
        self.settle();
    }

    fn permissions(&mut self, node: Node<'a>) {
        let Some(members) = node.members() else {
            self.refuse(PERMISSIONS, node, wording::NOT_AN_OBJECT);
            let line = self.lines.line_of(node);
            return self.file.say_nothing(line);
        };
        let permissions = Object {
            prefix: "permissions.",
            members,
        };
        self.file.values.rules.allow = self.texts(&permissions, "permissions.allow").unwrap_or_default();
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
        let exact = value
            .as_str()
            .is_some_and(|name| name == "manual" || PermissionMode::from_wire_id(name).is_some());
        if setting == ModeSetting::Unknown {
            self.refuse(DEFAULT_MODE, node, wording::unknown_mode(value.as_str()));
        } else if !exact {
            self.spelled = self.refused.is_none();
            self.refuse(DEFAULT_MODE, node, wording::SPELLED_MODE);
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
        // At the top level Claude does not mind.
        if key == "disableBypassPermissionsMode" {
            self.wrong(key, node, wording::NOT_DISABLE);
        } else {
            self.refuse(key, node, wording::NOT_DISABLE);
        }
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
            Some(_) | None => self.wrong(KEY, node, wording::NOT_A_SWITCH),
        }
        Some(self.origin(node))
    }

    /// Settings that are Claude's to use: only what is wrong with them is told.
    fn others(&mut self, object: &Object<'a>) {
        const ENV: &str = "env";
        for key in ["model", "effortLevel"] {
            if let Some(node) = self.member(object, key) {
                self.text_of(key, node);
            }
        }
        self.texts(object, "availableModels");
        let Some(node) = self.member(object, ENV) else {
            return;
        };
        let Some(members) = node.members() else {
            return self.refuse(ENV, node, wording::NOT_AN_OBJECT);
        };
        for (name, node) in members {
            let scalar = matches!(
                node.value(),
                Some(Value::String(_) | Value::Number(_) | Value::Bool(_))
            );
            if !scalar {
                self.wrong(&wording::member(ENV, &name), node, wording::NOT_A_VARIABLE);
            }
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
            Some(_) | None => self.wrong(KEY, node, wording::NOT_AN_OBJECT),
        }
    }

    fn texts(&mut self, object: &Object<'a>, key: &str) -> Option<Vec<Sourced<String>>> {
        let node = self.member(object, key)?;
        let Some(elements) = node.elements() else {
            self.refuse(key, node, wording::NOT_A_LIST);
            return None;
        };
        let elements = elements.into_iter().enumerate();
        Some(
            elements
                .filter_map(|(index, node)| self.text_of(&wording::element(key, index), node))
                .collect(),
        )
    }

    fn text_of(&mut self, key: &str, node: Node<'a>) -> Option<Sourced<String>> {
        match node.value() {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(self.sourced(node, text)),
            Some(Value::String(_)) | None => {
                self.wrong(key, node, wording::NOT_TEXT);
                None
            }
            Some(_) => {
                // Of rules, Claude leaves out the one.
                let list = key.split('[').next().unwrap_or(key);
                if matches!(list, DIRECTORIES | "model" | "availableModels") {
                    self.refuse(key, node, wording::NOT_TEXT);
                } else {
                    self.wrong(key, node, wording::NOT_TEXT);
                }
                None
            }
        }
    }

    /// The member that counts among those of the same name: the last one.
    fn member(&mut self, object: &Object<'a>, key: &str) -> Option<Node<'a>> {
        let node = object.last(key)?;
        if object.times(key) > 1 {
            self.wrong(key, node, wording::REPEATED);
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

    pub(super) fn wrong(&mut self, key: &str, node: Node<'a>, message: impl Into<String>) {
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
