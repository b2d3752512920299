//! Which part of a suggestion is worth offering: what would have settled the very call that is asked about.
//!
//! Place in the flow: `Offer` asks for every durable option, whatever the tool; the rules' own matcher answers. Must not
//! compare a rule with a call itself.

use serde_json::json;

use crate::call::{ToolCall, Workspace};
use crate::dialog::ask::AskContext;
use crate::modes::PermissionMode;
use crate::rules::{Allowed, RuleKind, RuleOrigin, RuleSet};
use crate::updates::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate, Snapshot};

/// What tries updates on the call that is asked about.
pub(super) struct Trial<'a> {
    ask: &'a AskContext<'a>,
    /// The same command may be fed something else next time.
    next_time: ToolCall<'a>,
}

impl<'a> Trial<'a> {
    pub(super) fn of(ask: &'a AskContext<'a>) -> Self {
        Self {
            ask,
            next_time: ask.call.fed_anything(),
        }
    }

    /// The suggestion without what changes nothing, if that is enough for the call. Of a rule that is kept, enough is to let
    /// a part of the call run in another session, too: one that needs something of this session would be saved in vain.
    pub(super) fn effective(&self, suggested: &Snapshot) -> Option<Snapshot> {
        let useful = |rule: &&PermissionRule| self.is_useful(rule);
        let changes_nothing = |update: &PermissionUpdate| match update {
            PermissionUpdate::AddDirectories { directories, .. } => {
                directories.iter().all(|directory| self.is_at_work_in(directory))
            }
            PermissionUpdate::AddRules { .. } => {
                let kept = kept_rules(update);
                !kept.is_empty() && !kept.iter().any(useful)
            }
            PermissionUpdate::ReplaceRules { .. }
            | PermissionUpdate::RemoveRules { .. }
            | PermissionUpdate::SetMode { .. }
            | PermissionUpdate::RemoveDirectories { .. } => false,
        };
        let effective = suggested.only(|_, update| !changes_nothing(update));
        let mut kept = effective.updates().iter().flat_map(kept_rules);
        (kept.all(|rule| useful(&rule)) && self.settles(&effective)).then_some(effective)
    }

    /// The least of it that is enough for the call. A mode goes before a directory, what ends with the session before what is
    /// kept.
    pub(super) fn enough(&self, effective: &Snapshot) -> Snapshot {
        let mut enough = effective.clone();
        for rank in 0..4 {
            for at in (0..enough.updates().len()).rev() {
                let without = enough.only(|index, _| index != at);
                let leaves = enough
                    .updates()
                    .get(at)
                    .is_some_and(|update| reach(update) == rank);
                if leaves && self.settles(&without) {
                    enough = without;
                }
            }
        }
        enough
    }

    /// Whether the call would not have been asked about, had this been in force. What the matcher lets pass anyway Claude
    /// asks about all the same, for a reason of its own.
    pub(super) fn settles(&self, granted: &Snapshot) -> bool {
        let settled = self.settled_by(granted.updates());
        settled.is_some() && settled != self.settled_by(&[])
    }

    fn settled_by(&self, granted: &[PermissionUpdate]) -> Option<Allowed> {
        let call = self.ask.call;
        let mut rules = RuleSet::new();
        let mut additional = call.workspace.additional.to_vec();
        let mut accepts_edits = call.mode == PermissionMode::AcceptEdits;
        for update in granted {
            match update {
                PermissionUpdate::AddRules {
                    rules: added,
                    behavior: PermissionBehavior::Allow,
                    ..
                } => added.iter().for_each(|rule| allow(&mut rules, rule)),
                PermissionUpdate::AddDirectories { directories, .. } => {
                    additional.extend(directories.iter().cloned())
                }
                PermissionUpdate::SetMode { mode, .. } => {
                    accepts_edits = *mode == PermissionMode::AcceptEdits
                }
                PermissionUpdate::AddRules { .. }
                | PermissionUpdate::ReplaceRules { .. }
                | PermissionUpdate::RemoveRules { .. }
                | PermissionUpdate::RemoveDirectories { .. } => return None,
            }
        }
        rules.extend(self.ask.rules);
        let call = self.next_time.within(Workspace {
            additional: &additional,
            ..call.workspace
        });
        // Observed with Claude 2.1.318: only for its own settings a rule takes this question away.
        let may_be_settled = !self.ask.is_safety_check() || call.edits_claude_settings();
        rules.settles(&call, accepts_edits).filter(|_| may_be_settled)
    }

    /// Whether a rule lets a part of the call run by itself.
    fn is_useful(&self, rule: &PermissionRule) -> bool {
        let mut rules = RuleSet::new();
        allow(&mut rules, rule);
        rules.extend(self.ask.rules);
        let settles = |call: &ToolCall<'_>| match rules.settles(call, false) {
            Some(Allowed::ByRules(hits)) => hits.iter().any(|hit| hit.text() == rule.to_string()),
            Some(Allowed::ReadOnly | Allowed::AcceptedEdit) | None => false,
        };
        // Each command of it is a call of its own.
        let commands = self.ask.call.commands();
        let alone = |command: &String| settles(&self.next_time.with_input(&json!({ "command": command })));
        commands.iter().any(alone) || commands.is_empty() && settles(&self.next_time)
    }

    fn is_at_work_in(&self, directory: &str) -> bool {
        let call = self.ask.call;
        call.is_inside(&call.places().subject(directory))
    }
}

/// The farther it reaches, the sooner it is left out.
fn reach(update: &PermissionUpdate) -> u8 {
    match update {
        PermissionUpdate::SetMode { .. } => 0,
        PermissionUpdate::AddDirectories { .. } | PermissionUpdate::RemoveDirectories { .. } => 1,
        PermissionUpdate::AddRules { .. }
        | PermissionUpdate::ReplaceRules { .. }
        | PermissionUpdate::RemoveRules { .. } => {
            if kept_rules(update).is_empty() {
                2
            } else {
                3
            }
        }
    }
}

fn kept_rules(update: &PermissionUpdate) -> Vec<&PermissionRule> {
    match update {
        PermissionUpdate::AddRules {
            rules,
            behavior: PermissionBehavior::Allow,
            destination: PermissionDestination::LocalSettings,
        } => rules.iter().collect(),
        PermissionUpdate::AddRules { .. }
        | PermissionUpdate::ReplaceRules { .. }
        | PermissionUpdate::RemoveRules { .. }
        | PermissionUpdate::SetMode { .. }
        | PermissionUpdate::AddDirectories { .. }
        | PermissionUpdate::RemoveDirectories { .. } => Vec::new(),
    }
}

fn allow(rules: &mut RuleSet, rule: &PermissionRule) {
    // One that counts for nothing allows nothing.
    rules.add(RuleKind::Allow, &rule.to_string(), RuleOrigin::Session);
}
