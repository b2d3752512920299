//! Mistakes that cost a file more than the setting at hand, and names that say nothing.
//!
//! Place in the flow: `parse` comes here while it walks a file, and at its end. What a managed file says is kept as far
//! as it can be read: it limits. Must not read a setting that `parse` uses.

use super::document::Node;
use super::parse::{PERMISSIONS, Reader};
use super::{SettingsSource, Sourced, kinds, wording};
use crate::modes::ModeSetting;

impl<'a> Reader<'a> {
    /// Claude takes nothing from a file with such a setting.
    pub(super) fn refuse(&mut self, key: &str, node: Node<'a>, message: impl AsRef<str>) {
        self.refused.get_or_insert(self.lines.line_of(node));
        let managed = self.file.source == SettingsSource::Managed;
        self.wrong(key, node, wording::refused(message.as_ref(), managed));
    }

    /// Takes back what Claude does not take from such a file. Our own reading of the mode stays.
    pub(super) fn settle(&mut self) {
        let managed = self.file.source == SettingsSource::Managed;
        let Some(line) = self.refused.filter(|_| !managed) else {
            return;
        };
        let kept = |mode: &Sourced<ModeSetting>| self.spelled || mode.value == ModeSetting::Unknown;
        let mode = self.file.values.default_mode.take_if(|mode| kept(mode));
        self.file.say_nothing(line);
        self.file.values.default_mode = mode;
    }

    /// Says of names that are hardly meant as they are written what they stand for.
    pub(super) fn names(&mut self, members: &[(String, Node<'a>)]) {
        let below = members.iter().filter(|(name, _)| name == PERMISSIONS);
        let below: Vec<(String, Node<'a>)> = below.filter_map(|(_, node)| node.members()).flatten().collect();
        for (list, parent) in [(members, ""), (&below, PERMISSIONS)] {
            for (name, node) in list {
                if let Some(meant) = kinds::meant(parent, name) {
                    let key = wording::below(parent, name);
                    self.wrong(&key, *node, wording::unknown_name(&meant));
                }
            }
        }
    }

    /// Settings that are not ours to use.
    pub(super) fn kinds(&mut self, members: &[(String, Node<'a>)]) {
        if self.file.source == SettingsSource::Managed {
            return;
        }
        for (name, node) in members {
            let value = node.value().unwrap_or_default();
            if let Some(message) = kinds::wrong_kind(name, &value) {
                self.refuse(name, *node, message);
            }
        }
        let hooks = members.iter().rfind(|(name, _)| name == "hooks");
        if let Some((_, node)) = hooks
            && let Some((key, message)) = kinds::wrong_hooks(&node.value().unwrap_or_default())
        {
            self.refuse(&key, *node, message);
        }
    }
}
