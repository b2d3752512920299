//! What comes with every policy: the settings that could widen it are out of reach.
//!
//! Place in the flow: the machine asks before the policy's own rules. What names a protected file is denied; what may only come
//! across one, or mentions it in a way that no grammar reads, is asked about.

use super::Policy;
use crate::call::{ToolCall, Workspace};
use crate::rules::{Hit, RuleKind, RuleOrigin, RuleSet};
use crate::tools::ToolGroup;

/// The protected places of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protected {
    rules: RuleSet,
    /// What they were made for.
    around: (String, Vec<String>),
    /// Texts that name one, in lower case.
    names: Vec<String>,
}

/// Claude's settings in a directory.
const SETTINGS: [&str; 2] = [".claude", ".mcp.json"];

impl Protected {
    /// Those of a session in this workspace, made anew only for another one.
    pub(crate) fn fit(&mut self, policy: &Policy, workspace: &Workspace<'_>) {
        let same = self.around.0 == workspace.cwd && self.around.1 == workspace.additional;
        if same && !self.names.is_empty() {
            return;
        }
        let mut texts: Vec<String> = SETTINGS.map(|name| format!("Edit({name})")).to_vec();
        texts.extend(["Edit(~/.claude/**)".to_owned(), "Edit(~/.claude.json)".to_owned()]);
        // Claude looks for some of its settings in every directory above.
        for directory in ancestors(workspace.cwd) {
            let directory = literal(directory);
            texts.extend(SETTINGS.map(|name| format!("Edit(//{directory}{name})")));
        }
        for directory in workspace.additional {
            let directory = literal(directory.trim_end_matches('/'));
            texts.extend(SETTINGS.map(|name| format!("Edit(//{directory}/**/{name})")));
        }
        texts.extend(
            policy
                .protected
                .iter()
                .map(|path| format!("Edit(//{})", literal(path))),
        );
        // A schedule is kept in a file of Claude's.
        texts.push("CronCreate(durable:true)".to_owned());
        let mut rules = RuleSet::default();
        for text in &texts {
            rules.add(RuleKind::Deny, text, RuleOrigin::Arguments);
        }
        let names = policy.protected.iter().map(String::as_str);
        let names = names
            .chain(SETTINGS)
            .chain([".claude.json"])
            .map(str::to_lowercase);
        *self = Self {
            rules,
            around: (workspace.cwd.to_owned(), workspace.additional.to_vec()),
            names: names.collect(),
        };
    }

    /// The protection that a call names, unless all that it changes is a working tree of Claude's.
    pub(crate) fn denies(&self, call: &ToolCall<'_>) -> Option<Hit> {
        let hit = self.rules.denies_by_name(call)?;
        (!call.writes_only(in_worktree)).then_some(hit)
    }

    /// Whether a call may change something protected without naming it, or mentions it.
    pub(crate) fn may_touch(&self, call: &ToolCall<'_>) -> bool {
        if call.only_reads() || call.writes_only(in_worktree) {
            return false;
        }
        self.rules.asks(call).is_some() || self.is_mentioned(call)
    }

    /// Only in commands: what stands in the text of a file does nothing by itself.
    fn is_mentioned(&self, call: &ToolCall<'_>) -> bool {
        let text = call
            .text("command")
            .filter(|_| ToolGroup::of(call.tool) == ToolGroup::Command);
        let Some(text) = text.map(str::to_lowercase) else {
            return false;
        };
        self.names.iter().any(|name| text.contains(name.as_str()))
    }
}

/// The directories above one, without the slash at the beginning and with one at the end.
fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    let below_root = directory.trim_matches('/');
    let ends = below_root
        .char_indices()
        .filter(|(_, c)| *c == '/')
        .map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(ends)
        .filter_map(move |end| below_root.get(..end))
}

/// A path in a rule. A character that patterns use stands for any one, so that it stands for itself, too.
fn literal(path: &str) -> String {
    path.trim_start_matches('/')
        .replace(['*', '[', ']', '\\', '{', '}', '(', ')'], "?")
}

/// Whether a path lies in a working tree that Claude has made, and not among the settings in it.
fn in_worktree(path: &str) -> bool {
    let Some((_, rest)) = path.rsplit_once("/.claude/worktrees/") else {
        return false;
    };
    let mut inside = rest.split('/').skip(1).peekable();
    inside.peek().is_some() && !inside.any(|step| SETTINGS.iter().any(|name| step.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_above_are_told() {
        assert_eq!(ancestors("/a/b/c").collect::<Vec<_>>(), ["", "a/", "a/b/"]);
        assert_eq!(ancestors("/a").collect::<Vec<_>>(), [""]);
        assert_eq!(ancestors("/").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_worktree_is_free_but_for_the_settings_in_it() {
        let rows = [
            ("/r/.claude/worktrees/x/src/a.rs", true),
            ("/r/.claude/worktrees/x/.claude/settings.json", false),
            ("/r/.claude/worktrees/x/.mcp.json", false),
            ("/r/.claude/worktrees/x", false),
            ("/r/.claude/worktrees", false),
            ("/r/.claude/settings.json", false),
        ];
        for (path, expected) in rows {
            assert_eq!(in_worktree(path), expected, "{path}");
        }
    }
}
